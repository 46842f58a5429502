"""The paper's worked examples, Figures 1 to 3.

The available text has no images. Figure 1 and the numbers of Figures 2 and 3 are in the text. The rankings of Figures 2, 3a to
3c, 3g and 3h follow from their descriptions. The classes of Figures 3d to 3f are shown only in the image. The ranking of
Figure 3i is also shown only in the image, so we use a ranking of ours with the same number of thresholds.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.reproduce.claim import NOT_TESTABLE, Claim, judge_fact
from fairtrial.reproduce.experiment import ResultTable

_PERFECT = (1,) * 5 + (0,) * 5
_DESCENDING = (0.95, 0.80, 0.75, 0.70, 0.60, 0.40, 0.35, 0.30, 0.20, 0.10)  # the first two are the paper's, the others ours
_STATED = "in the text"
_UNDEFINED = math.nan
_TOLERANCE = 5e-4  # the paper rounds to three decimal places
_QUANTITIES = {"thresholds": "thresholds", "taks": "taKS", "abc": "ABC", "auc": "AUC", "ks": "KS", "sse": "SSE"}
_NOTE = (
    "Numbers printed in the paper are in brackets. `data` gives the source of the classes and scores. ABC is the area between "
    "the curves of TPR and FPR. SSE is the sum of squared errors of the scores; it is given only if the text states all "
    "scores. Figures 3d to 3f are missing because the available text does not give their classes."
)


@dataclass(frozen=True)
class WorkedExample:
    """An example of the paper: a ranking, its true labels and the printed quantities."""

    figure: str
    description: str
    data: str
    y_true: tuple[int, ...]
    scores: tuple[float, ...]
    printed: Mapping[str, float] = field(default_factory=dict)

    def compute(self) -> dict[str, float]:
        """Compute all quantities; NaN if undefined."""
        from fairtrial import measures

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            return {
                "thresholds": len(measures.tpr_fpr_curve(self.y_true, self.scores)),
                **{name: float(getattr(measures, name)(self.y_true, self.scores)) for name in ("taks", "abc", "auc", "ks")},
                "sse": float(((np.array(self.y_true) - np.array(self.scores)) ** 2).sum()),
            }

    def count_agreeing(self) -> tuple[int, int]:
        """Count the printed quantities that agree with ours, and all printed quantities."""
        values = self.compute()
        agreeing = [
            math.isclose(values[name], number, abs_tol=_TOLERANCE) or (math.isnan(number) and math.isnan(values[name]))
            for name, number in self.printed.items()
        ]
        return sum(agreeing), len(agreeing)


def list_examples() -> list[WorkedExample]:
    """List the examples whose ranking is given in the available text.

    >>> [example.figure for example in list_examples()]
    ['1a', '1b', '1c', '2', '3a', '3b', '3c', '3g', '3h', '3i']
    """
    inferred, own = "follows from the text", "ours"
    four, tied = (1, 1, 0, 0), (0.8, *_DESCENDING[1:])
    (figure_2,) = find_figure_2()
    worst, equal, random = (0.0,) * 5 + (1.0,) * 5, (0.5,) * 10, (0.8, 0.8, 0.6, 0.6, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2)
    undefined = {"thresholds": 2, "taks": _UNDEFINED, "abc": _UNDEFINED, "auc": 0.5}
    zero = {"thresholds": 5, "taks": 0, "abc": 0, "auc": 0.5}
    return [
        WorkedExample("1a", "optimal model", _STATED, four, (1, 1, 0, 0), {"thresholds": 3, "taks": 1}),
        WorkedExample("1b", "two scores", _STATED, four, (0.7, 0.7, 0.4, 0.4), {"thresholds": 3, "taks": 1, "sse": 0.50}),
        WorkedExample("1c", "four scores", _STATED, four, (0.9, 0.8, 0.3, 0.2), {"thresholds": 5, "sse": 0.18}),
        WorkedExample("2", "ten cases", inferred, figure_2, _DESCENDING, {"thresholds": 11, "taks": 1 / 3, "ks": 3 / 5}),
        WorkedExample("3a", "optimal model", _STATED, _PERFECT, (1,) * 5 + (0,) * 5, {"thresholds": 3, "taks": 1, "abc": 0.5}),
        WorkedExample("3b", "perfect ranking", inferred, _PERFECT, _DESCENDING, {"thresholds": 11, "taks": 0.556}),
        WorkedExample("3c", "first two scores equal", inferred, _PERFECT, tied, {"thresholds": 10, "taks": 0.6, "abc": 0.533}),
        WorkedExample("3g", "worst model", _STATED, _PERFECT, worst, {"thresholds": 3, "taks": -1}),
        WorkedExample("3h", "all scores equal", _STATED, _PERFECT, equal, undefined),
        WorkedExample("3i", "random prediction", own, (1, 0, 1, 0, 1, 0, 1, 1, 0, 0), random, zero),
    ]


def enumerate_rankings(positives: int = 5, negatives: int = 5) -> Iterator[tuple[int, ...]]:
    """Enumerate all orders of the true labels.

    >>> sum(1 for _ in enumerate_rankings())
    252
    """
    n = positives + negatives
    for positions in combinations(range(n), positives):
        yield tuple(int(position in positions) for position in range(n))


def compute_distances(y_true: Sequence[int]) -> list[float]:
    """Compute TPR - FPR after each case of a ranking without equal scores.

    >>> compute_distances((1, 1, 0, 0))
    [0.5, 1.0, 0.5, 0.0]
    """
    labels = np.array(y_true)
    tpr, fpr = np.cumsum(labels) / labels.sum(), np.cumsum(1 - labels) / (1 - labels).sum()
    return [round(float(distance), 12) for distance in tpr - fpr]


def find_figure_2() -> list[tuple[int, ...]]:
    """Find the rankings that agree with the text about Figure 2.

    According to the text, five of ten cases are positive, and taKS is 1/3. At the sixth threshold, TPR is 4/5, FPR is 1/5, and
    the distance between them is largest.

    >>> find_figure_2()
    [(1, 1, 0, 1, 1, 0, 0, 1, 0, 0)]
    """
    rankings = []
    for y_true in enumerate_rankings():
        distances = compute_distances(y_true)
        is_maximal = sum(y_true[:5]) == 4 and max(distances) == distances[4] and distances.count(distances[4]) == 1
        if is_maximal and math.isclose(sum(distances) / 9, 1 / 3):
            rankings.append(y_true)
    return rankings


def count_figure_3_e_and_f() -> tuple[int, int]:
    """Count the rankings that the text about Figures 3e and 3f allows.

    Return the number of rankings for which 3e has a larger taKS than 3f, and the number of all allowed rankings. In 3e, cases 1
    and 2 have the same score. In 3f, cases 4 and 5 have the same score. The ranking performance is the same in 3d to 3f, so
    equal scores belong to the same class. The models make ranking errors, so the perfect ranking is not allowed.

    >>> count_figure_3_e_and_f()
    (25, 51)
    """
    rankings = [y for y in enumerate_rankings() if y[0] == y[1] and y[3] == y[4] and y != _PERFECT]
    larger = [y for y in rankings if compute_distances(y)[0] < compute_distances(y)[3]]  # the smaller distance is left out
    return len(larger), len(rankings)


def build_claims() -> tuple[Claim, ...]:
    """Judge the printed numbers of Figures 1 to 3, and two statements about taKS and ABC."""
    examples = {example.figure: example for example in list_examples()}
    values = {figure: example.compute() for figure, example in examples.items()}
    n_larger, n_allowed = count_figure_3_e_and_f()
    mean = float(np.mean([sum(compute_distances(y_true)) / 9 for y_true in enumerate_rankings()]))
    is_misleading = values["3c"]["taks"] > values["3b"]["taks"] and values["3c"]["sse"] > values["3b"]["sse"]
    return (
        Claim(
            "Section 3: a suboptimal model can have a larger ABC than the optimal model (Figures 3a and 3c)",
            judge_fact(values["3c"]["abc"] > values["3a"]["abc"] and values["3c"]["taks"] < values["3a"]["taks"]),
            f"ABC {values['3c']['abc']:.3f} and {values['3a']['abc']:.3f}, taKS {values['3c']['taks']:.3f} and "
            f"{values['3a']['taks']:.3f}",
        ),
        Claim(
            "Section 3: taKS can be larger for the model with the larger SSE (Figures 3b and 3c)",
            judge_fact(is_misleading),
            f"taKS {values['3b']['taks']:.3f} and {values['3c']['taks']:.3f}; the SSE is larger by "
            f"{values['3c']['sse'] - values['3b']['sse']:.4f} in 3c, because only the score of case 1 differs (0.95 and 0.80)",
        ),
        Claim(
            "Section 3: the expected taKS of a random model is 0",
            judge_fact(abs(mean) < 1e-9),
            f"mean over all {sum(1 for _ in enumerate_rankings())} rankings of five positive and five negative cases: "
            f"{abs(mean):.3f}",
        ),
        _judge_printed("Figure 1: thresholds, taKS and SSE", [examples[figure] for figure in ("1a", "1b", "1c")]),
        _judge_printed(
            "Figure 2: thresholds, KS and taKS",
            [examples["2"]],
            "; exactly one ranking of five positive and five negative cases has the rates that the text states",
        ),
        _judge_printed("Figures 3a to 3c: thresholds, taKS and ABC", [examples[figure] for figure in ("3a", "3b", "3c")]),
        Claim(
            "Figures 3d to 3f: the model in 3e has a larger taKS than the model in 3f",
            NOT_TESTABLE,
            f"the classes are only in the image; true for {n_larger} of the {n_allowed} rankings that the text allows",
            kind="printed",
        ),
        _judge_printed("Figures 3g and 3h: thresholds, taKS, ABC and AUC", [examples["3g"], examples["3h"]]),
        Claim(
            "Figure 3i: a random prediction with five thresholds has taKS 0, ABC 0 and AUC 0.5",
            NOT_TESTABLE,
            "the ranking is only in the image; a ranking of ours with five thresholds has "
            f"taKS {values['3i']['taks']:.0f}, ABC {values['3i']['abc']:.0f} and AUC {values['3i']['auc']:.1f}",
            kind="printed",
        ),
    )


def _judge_printed(text: str, examples: Sequence[WorkedExample], note: str = "") -> Claim:
    counts = [example.count_agreeing() for example in examples]
    agreeing, printed = (sum(column) for column in zip(*counts, strict=True))
    return Claim(text, judge_fact(agreeing == printed), f"{agreeing} of {printed} printed numbers agree{note}", kind="printed")


def build_table() -> ResultTable:
    """Tabulate the computed quantities with the printed ones in brackets."""
    import pandas as pd

    rows = []
    for example in list_examples():
        values = example.compute()
        if example.data != _STATED:
            del values["sse"]  # it would depend on scores that the text does not state
        cells = {
            title: _format_quantity(name, values[name], example.printed)
            for name, title in _QUANTITIES.items()
            if name in values
        }
        rows.append({"figure": example.figure, "model": example.description, "data": example.data, "SSE": ""} | cells)
    frame = pd.DataFrame(rows, columns=["figure", "model", "data", *_QUANTITIES.values()])
    return ResultTable("worked-examples", "Figures 1 to 3: taKS and ABC of the worked examples", frame, _NOTE, is_main=True)


def _format_quantity(name: str, value: float, printed: Mapping[str, float]) -> str:
    def format_number(number: float) -> str:
        return "undefined" if math.isnan(number) else f"{number:.0f}" if name == "thresholds" else f"{number:.3f}"

    return format_number(value) + (f" ({format_number(printed[name])})" if name in printed else "")


def draw_examples() -> Any:
    """Draw TPR and FPR by threshold for each example of Figures 2 and 3."""
    import altair as alt
    import pandas as pd

    from fairtrial.measures import tpr_fpr_curve
    from fairtrial.report.figures.base import PALETTE, build_axis, build_chart, build_title, style_chart, to_records

    frames = []
    for example in list_examples()[3:]:
        values = example.compute()
        taks = _format_quantity("taks", values["taks"], {})
        curve = tpr_fpr_curve(example.y_true, example.scores)[["position", "tpr", "fpr"]]
        lines = curve.rename(columns={"tpr": "TPR", "fpr": "FPR"}).melt("position", var_name="rate", value_name="value")
        frames.append(lines.assign(panel=f"{example.figure}: taKS {taks}"))
    frame = pd.concat(frames, ignore_index=True)
    colour = alt.Color(
        "rate:N",
        title=None,
        scale=alt.Scale(domain=["TPR", "FPR"], range=list(PALETTE[:2])),
        legend=alt.Legend(orient="bottom"),
    )
    lines = build_chart(to_records(frame, frame.columns)).mark_line(point=True, strokeWidth=2)
    lines = lines.encode(build_axis("x", "position", "Threshold"), build_axis("y", "value", "Rate"), colour)
    panels = lines.properties(width=170, height=130).facet(
        facet=alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(frame["panel"]))), columns=4
    )
    subtitle = "Thresholds are equally spaced; the area between the curves is ABC, their mean distance inside is taKS"
    return style_chart(panels.properties(title=build_title("TPR and FPR in the worked examples", subtitle)))
