"""How often a learner wins on data sets chosen in its favour."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial.reproduce.claim import Claim, IntervalEstimate, judge_direction, mark_inconclusive
from fairtrial.reproduce.experiment import Request, ResultTable, read_published
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import PageSection

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]
N_LEARNERS = (2, 4, 8)
N_CHOSEN = {20: (20, 15, 10, 6), 40: (40, 30, 20, 10, 6)}  # by the number of available data sets
GAPS = {"equal to the others": 0.0, "worse by half a standard deviation": 0.5}
_MEDIOCRE = "worse by half a standard deviation"
_MIN_REPLICATES = 1000


def build_sections(inputs: TutorialInputs) -> Iterator[PageSection]:
    """Choose data sets in a simulation, and among the ten printed domains."""
    yield build_cherry_picking(inputs.request)


def build_cherry_picking(request: Request) -> PageSection:
    """Simulate how often a learner is best on the data sets that favour it most."""
    n_replicates = request.pick(smoke=100, quick=4000, full=20_000)
    frame = simulate_choices(n_replicates, request.seed)
    domains = choose_domains(read_published("tutorial_ten_domains_accuracy").set_index("dataset"))
    claims: tuple[Claim, ...] = (judge_mediocre(frame),)
    if n_replicates < _MIN_REPLICATES:
        claims = mark_inconclusive(claims, f"inconclusive with {n_replicates} simulated studies")
    rows = frame[(frame["available"] == 20) & (frame["learner is"] == _MEDIOCRE)].set_index(["learners", "chosen"]).to_dict()
    values = {
        "n_replicates": n_replicates,
        "all_4": 100 * rows["best"][4, 20],
        "half_4": 100 * rows["best"][4, 10],
        "six_2": 100 * rows["significantly best"][2, 6],
        "domains": domains.to_dict("records"),
    }
    tables = (
        ResultTable("cherry_picking", "Choosing data sets to win", _tabulate(frame)),
        ResultTable("cherry_picking_rates", "Choosing data sets to win: all rates", frame, digits=4, on_page=False),
        ResultTable("cherry_picking_domains", "Choosing among the ten domains", domains, digits=2),
    )
    figures = {"A mediocre learner on the most favourable of 20 data sets": _draw(frame)}
    return PageSection("cherry_picking", values, tables, claims, figures)


def simulate_choices(n_replicates: int, seed: int) -> pd.DataFrame:
    """Compute how often a learner is best, or significantly best, with 95 % limits.

    All combinations of the numbers of learners, available data sets and chosen data sets are simulated. Scores are independent
    and normal with standard deviation 1. The given learner is as good as the others, or its mean is lower by half a standard
    deviation.
    """
    import pandas as pd

    from fairtrial.measures.intervals import compute_clopper_pearson_limits

    lines = []
    for n_available, numbers in N_CHOSEN.items():
        for k in N_LEARNERS:
            scores = np.random.default_rng([seed, 17, n_available, k]).normal(size=(n_replicates, n_available, k))
            for name, gap in GAPS.items():
                shifted = scores - gap * (np.arange(k) == 0)
                for m in numbers:
                    line: dict[str, Any] = {"learners": k, "available": n_available, "chosen": m, "learner is": name}
                    chosen = choose_favourable(shifted, m)
                    rates = {"best": is_best(chosen), "significantly best": is_significantly_best(chosen)}
                    for column, outcomes in rates.items():
                        low, high = compute_clopper_pearson_limits(int(outcomes.sum()), n_replicates, 0.95)
                        line |= {column: float(outcomes.mean()), f"{column}, low": float(low), f"{column}, high": float(high)}
                    lines.append(line)
    return pd.DataFrame(lines)


def choose_favourable(scores: FloatArray, m: int) -> FloatArray:
    """Choose the m data sets on which learner 0 ranks best.

    If ranks are equal, choose the data sets with the largest lead. `scores` has the shape (studies, data sets, learners).

    >>> choose_favourable(np.array([[[0.9, 0.5], [0.6, 0.7], [0.8, 0.7]]]), 2)[0, :, 0].tolist()
    [0.9, 0.8]
    """
    rivals = scores[..., 1:]
    n_better = (rivals > scores[..., :1]).sum(axis=2)
    lead = scores[..., 0] - rivals.max(axis=2)
    order = np.lexsort((-lead, n_better), axis=1)[:, :m]
    return np.take_along_axis(scores, order[..., None], axis=1)


def is_best(scores: FloatArray) -> npt.NDArray[np.bool_]:
    """Return for each study whether learner 0 has the smallest mean rank."""
    ranks = (-scores).argsort(axis=2).argsort(axis=2).mean(axis=1)
    return np.asarray(ranks[:, 0] < ranks[:, 1:].min(axis=1) - 1e-9)


def is_significantly_best(scores: FloatArray, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Return for each study whether learner 0 is significantly better than every other learner.

    The tests are exact Wilcoxon tests with Holm's adjustment.
    """
    differences = scores[..., :1] - scores[..., 1:]
    n = scores.shape[1]
    ranks = np.abs(differences).argsort(axis=1).argsort(axis=1) + 1
    negative_sums = (ranks * (differences < 0)).sum(axis=1)
    p_values = np.sort(np.minimum(1, 2 * _compute_signed_rank_cdf(n)[negative_sums]), axis=1)
    n_pairs = p_values.shape[1]
    is_better = (differences > 0).sum(axis=1) * 1.0
    supports = (is_better.min(axis=1) > 0) & (negative_sums.max(axis=1) < n * (n + 1) / 4)
    return np.asarray(supports & (p_values <= alpha / (n_pairs - np.arange(n_pairs))).all(axis=1))


@cache
def _compute_signed_rank_cdf(n: int) -> FloatArray:
    """Compute the distribution of the signed-rank sum of n differences without ties.

    >>> float(_compute_signed_rank_cdf(6)[0] * 64)
    1.0
    """
    counts = np.ones(1)
    for rank in range(1, n + 1):
        extended = np.zeros(len(counts) + rank)
        extended[: len(counts)] += counts
        extended[rank:] += counts
        counts = extended
    return np.asarray(np.cumsum(counts) / counts.sum())


def judge_mediocre(frame: pd.DataFrame) -> Claim:
    """Judge whether the worst of k learners is best more often than 1/k.

    Of 20 data sets, 10 are chosen. Without a choice, each of k equally good learners is best with probability 1/k.
    """
    rows = frame[(frame["available"] == 20) & (frame["chosen"] == 10) & (frame["learner is"] == _MEDIOCRE)]
    rates = {
        int(row["learners"]): IntervalEstimate(row["best"], row["best, low"], row["best, high"])
        for row in rows.to_dict("records")
    }
    return Claim(
        "Even mediocre learners can be shown to be competitive by selecting the test domains (judged as: a learner that is "
        "worse by half a standard deviation is best on the most favourable 10 of 20 data sets with a probability above 1/k, "
        "that of k equally good learners without a choice)",
        judge_direction(rate.subtract(1 / k) for k, rate in rates.items()),
        "probability " + "; ".join(f"{rate.format('{:.3f}')} among {k} learners" for k, rate in rates.items()),
    )


def choose_domains(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Find for each learner the largest set of domains on which it has the best mean rank."""
    import pandas as pd

    ranks = accuracies.rank(axis=1, ascending=False)
    lines = []
    for learner in ranks:
        rivals = ranks.drop(columns=learner)
        largest: tuple[str, ...] = ()
        for size in range(len(ranks), 0, -1):
            subsets = (list(subset) for subset in combinations(range(len(ranks)), size))
            winning = [
                subset for subset in subsets if ranks[learner].iloc[subset].mean() < rivals.iloc[subset].mean().min() - 1e-9
            ]
            if winning:
                best = min(winning, key=lambda subset: float(ranks[learner].iloc[subset].mean()))
                largest = tuple(map(str, ranks.index[best]))
                break
        lines.append((str(learner), float(ranks[learner].mean()), len(largest), ", ".join(largest)))
    return pd.DataFrame(lines, columns=["learner", "mean rank, all domains", "best on at most", "for example"])


def _tabulate(frame: pd.DataFrame) -> pd.DataFrame:
    """Format both rates for 20 available data sets in percent.

    The rate of being significantly best is in parentheses.
    """
    import pandas as pd

    rows = frame[frame["available"] == 20]
    lines = []
    for (name, k), group in rows.groupby(["learner is", "learners"], sort=False):
        cells = {
            f"{row['chosen']} chosen": f"{100 * row['best']:.0f} % ({100 * row['significantly best']:.0f} %)"
            for row in group.to_dict("records")
        }
        lines.append({"learner": name, "learners": k, **cells})
    return pd.DataFrame(lines)


def _draw(frame: pd.DataFrame) -> Any:
    """Draw both rates of the mediocre learner against the number of chosen data sets."""
    import altair as alt

    from fairtrial.report.figures.base import build_chart, style_chart

    rows = frame[(frame["available"] == 20) & (frame["learner is"] == _MEDIOCRE)]
    records = [
        {"chosen": int(row["chosen"]), "learners": f"{row['learners']} learners", "rate": row[column], "outcome": column}
        for row in rows.to_dict("records")
        for column in ("best", "significantly best")
    ]
    lines = build_chart(records).mark_line(point=True, strokeWidth=2)
    x = alt.X("chosen:Q", title="Data sets chosen of 20", scale=alt.Scale(domain=[20, 5]))
    y = alt.Y("rate:Q", title="Probability", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color("learners:N", title=None, scale=alt.Scale(range=["#0072b2", "#d55e00", "#009e73"]))
    chart = lines.encode(x, y, colour, column=alt.Column("outcome:N", title=None))
    return style_chart(chart.properties(width=260, height=220))
