"""Measures of probabilities, row by row. `y` holds codes, `p` a line of probabilities for each row, `w` weights."""

import math


def _mean(w, contributions):
    return math.fsum(a * b for a, b in zip(w, contributions, strict=True) if a > 0) / math.fsum(w)


def _errors(y, line):
    return [q - (c == y) for c, q in enumerate(line)]


def brier(y, p, w):
    k = len(p[0])
    squares = [sum(e**2 for e in _errors(a, line)) for a, line in zip(y, p, strict=True)]
    return _mean(w, squares) / (2 if k == 2 else 1)


def rmse(y, p, w):
    k = len(p[0])
    return math.sqrt(_mean(w, [sum(e**2 for e in _errors(a, line)) / k for a, line in zip(y, p, strict=True)]))


def mae(y, p, w):
    k = len(p[0])
    return _mean(w, [sum(abs(e) for e in _errors(a, line)) / k for a, line in zip(y, p, strict=True)])


def log_loss(y, p, w):
    return _mean(w, [-math.log(line[a]) if line[a] > 0 else math.inf for a, line in zip(y, p, strict=True)])


def spherical_score(y, p, w):
    return _mean(w, [line[a] / math.hypot(*line) for a, line in zip(y, p, strict=True)])


def information(after, before):
    """Kononenko and Bratko's contribution of one case."""
    if after >= before:
        return math.log2(after / before)
    return -math.log2((1 - after) / (1 - before))


def information_score(y, p, w):
    share = [math.fsum(b for a, b in zip(y, w, strict=True) if a == c) / math.fsum(w) for c in range(len(p[0]))]
    if max(share) == 1:
        return math.nan
    told = [information(line[a], share[a]) if b > 0 else 0.0 for a, line, b in zip(y, p, w, strict=True)]
    return _mean(w, told)


def calibration_error(y, p, w, bins=10):
    """Naeini's ECE over (0, .1], (.1, .2] ... of the positive class, or of the likeliest class of more than two."""
    if len(p[0]) == 2:
        forecast, came_true = [line[1] for line in p], list(y)
    else:
        forecast = [max(line) for line in p]
        came_true = [int(list(line).index(max(line)) == a) for a, line in zip(y, p, strict=True)]
    error = 0.0
    for b in range(bins):
        low, high = b / bins, (b + 1) / bins
        inside = [i for i, f in enumerate(forecast) if low < f <= high or (b == 0 and f == 0)]
        weight = math.fsum(w[i] for i in inside)
        if weight > 0:
            error += abs(math.fsum(w[i] * (forecast[i] - came_true[i]) for i in inside))
    return error / math.fsum(w)


def ranked_probability_score(y, p, w):
    """Murphy 1971: squared differences of the two distribution functions, divided by the number of thresholds."""
    thresholds = range(len(p[0]) - 1)
    scores = [
        sum((math.fsum(line[: t + 1]) - (a <= t)) ** 2 for t in thresholds) / len(thresholds)
        for a, line in zip(y, p, strict=True)
    ]
    return _mean(w, scores)


def _skill(loss, y, p, w):
    """1 minus the loss divided by the loss of a model that predicts the class proportions for every row."""
    k = len(p[0])
    proportions = [math.fsum(b for a, b in zip(y, w, strict=True) if a == c) / math.fsum(w) for c in range(k)]
    if sum(q > 0 for q in proportions) < 2:
        return math.nan
    return 1 - loss(y, p, w) / loss(y, [proportions] * len(y), w)


def d2_log_loss(y, p, w):
    return _skill(log_loss, y, p, w)


def d2_brier(y, p, w):
    return _skill(brier, y, p, w)


def set_coverage(y, p, w, threshold=0.1):
    return _mean(w, [float(line[a] >= threshold) for a, line in zip(y, p, strict=True)])


def set_width(_y, p, w, threshold=0.1):
    return _mean(w, [float(sum(q >= threshold for q in line)) for line in p])


def probabilistic_auc(y, p, w):
    """Mean of (1 + p+ - p-) / 2 over the pairs of a row of a class and a row of another, then over the classes."""
    values = []
    for c in range(len(p[0])):
        pairs = [
            (w[i] * w[j], (1 + p[i][c] - p[j][c]) / 2)
            for i in range(len(y))
            for j in range(len(y))
            if y[i] == c and y[j] != c and w[i] * w[j] > 0
        ]
        if not pairs:
            return math.nan
        values.append(_mean([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    return math.fsum(values) / len(values)


ALL = {
    "brier": brier,
    "rmse": rmse,
    "mae": mae,
    "log_loss": log_loss,
    "spherical_score": spherical_score,
    "probabilistic_auc": probabilistic_auc,
    "information_score": information_score,
    "calibration_error": calibration_error,
    "ranked_probability_score": ranked_probability_score,
    "d2_log_loss": d2_log_loss,
    "d2_brier": d2_brier,
    "set_coverage": set_coverage,
    "set_width": set_width,
}
