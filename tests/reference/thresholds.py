"""Thresholds by brute force: every candidate is tried, and every case is counted one by one."""

import math


def count_cells(y_true, scores, threshold, weights=None):
    """Weights of true and false positives, false and true negatives."""
    cells = {"tp": 0.0, "fp": 0.0, "fn": 0.0, "tn": 0.0}
    for i, (label, score) in enumerate(zip(y_true, scores, strict=True)):
        name = ("t" if (score >= threshold) == bool(label) else "f") + ("p" if score >= threshold else "n")
        cells[name] += 1.0 if weights is None else weights[i]
    return cells


def cost_of(cells, costs):
    """Cost of all cases."""
    return costs[0] * cells["fp"] + costs[1] * cells["fn"]


def best_threshold(y_true, scores, goal, value, weights=None):
    """The threshold, among all scores and infinity, that a goal selects; None if no threshold reaches it."""
    candidates = [*sorted(set(scores), reverse=True)]
    tables = {t: count_cells(y_true, scores, t, weights) for t in [math.inf, *candidates]}
    if goal == "costs":
        least = min(cost_of(cells, value) for cells in tables.values())
        ties = [t for t, cells in tables.items() if math.isclose(cost_of(cells, value), least, rel_tol=1e-9, abs_tol=1e-12)]
        return max((t for t in ties if t < math.inf), default=math.inf)
    reached = []
    for t in candidates:
        cells = tables[t]
        alerts, total = cells["tp"] + cells["fp"], sum(cells.values())
        if goal == "recall" and cells["tp"] / (cells["tp"] + cells["fn"]) >= value - 1e-12:
            reached.append(t)
        if goal == "precision" and cells["tp"] / alerts >= value - 1e-12:
            reached.append(t)
        if goal == "alerts" and 1000 * alerts / total <= value + 1e-9:
            reached.append(t)
    if not reached:
        return None
    return max(reached) if goal == "recall" else min(reached)
