"""The chapter's statements on estimating error, each judged by numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtrial.reproduce.estimates.ensembles import BASES
from fairtrial.reproduce.estimates.estimating import LEVEL, REPEATS
from fairtrial.reproduce.estimates.judging import Kind, Pooled, biased, compare, summary
from fairtrial.reproduce.estimates.worked import relative_absolute_error
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.estimates.selection import Selected

_STABLE = ("bagged naive Bayes", "bagged nearest neighbour")
_REPEATED = f"10-fold, {REPEATS} times"


@dataclass(frozen=True, eq=False)
class Draws:
    """All draws. `signal` leaves out the problem where nothing can be learnt: no training size changes the error there."""

    frame: pd.DataFrame

    @cached_property
    def signal(self) -> pd.DataFrame:
        """Draws of the problems in which something can be learnt."""
        return self.frame[self.frame["problem"] != "no signal"]

    @cached_property
    def smallest(self) -> pd.DataFrame:
        """Draws of the smallest samples."""
        return self.frame[self.frame["n"].isin([self.frame["n"].min()])]

    def compare(self, one: str, other: str, kind: Kind) -> Pooled:
        """One method against another over all cells."""
        return compare(self.frame, one, other, kind)


def claims(draws: Draws, ensembles: pd.DataFrame, chosen: Selected) -> tuple[Claim, ...]:
    """All of them, in the chapter's order."""
    return (
        *_hold_out(draws),
        *_cross_validation(draws),
        *_bootstrap(draws),
        _coverage(draws.frame),
        _selection(chosen),
        *_ensembles(ensembles),
        _relative_error(),
    )


def _hold_out(draws: Draws) -> list[Claim]:
    bias = biased(draws.signal, "hold-out 2/3")
    less = compare(draws.signal, "hold-out 2/3", "hold-out 9/10", "bias")
    more = draws.compare("hold-out 9/10", "hold-out 2/3", "deviation")
    chance = draws.compare("hold-out 2/3", "subsampling", "deviation")
    plain = draws.compare("subsampling, not stratified", "subsampling", "rmse")
    return [
        Claim(
            "Hold-out is pessimistic: a part of the rows does not train",
            judged(bias.sign),
            f"estimated minus true error, {bias.points()}",
        ),
        Claim(
            "More rows for training, fewer for the test: a more accurate model, an estimate with more variance",
            judged(min(less.sign, more.sign)),
            f"error estimated with 2/3 minus 9/10 of the rows, {less.points()}; "
            f"standard deviation of 9/10 to 2/3, {more.ratio()}",
        ),
        Claim(
            "The outcome of hold-out depends on the one split; random subsampling addresses this",
            judged(chance.sign),
            f"standard deviation of hold-out to subsampling, {chance.ratio()}",
        ),
        Claim(
            "A class that is over-represented in training affects the estimate: stratification is of use",
            judged(plain.sign),
            f"root mean squared error of subsampling without to with stratification, {plain.ratio()}",
        ),
    ]


def _cross_validation(draws: Draws) -> list[Claim]:
    less = compare(draws.signal, "hold-out 2/3", "10-fold", "bias")
    ten, five = (draws.compare("leave-one-out", each, "deviation") for each in ("10-fold", "5-fold"))
    far = [draws.compare("leave-one-out", each, "rmse") for each in ("10-fold", "5-fold")]
    again = draws.compare("10-fold", _REPEATED, "rmse")
    biases = {name: biased(draws.signal, name) for name in ("leave-one-out", "10-fold", "5-fold")}
    told = "; ".join(f"{name} {100 * each.value:+.2f}" for name, each in biases.items())
    return [
        Claim(
            "Cross-validation exploits all rows: it is less pessimistic than hold-out",
            judged(less.sign),
            f"hold-out 2/3 minus 10-fold, {less.points()}; bias in points: {told}",
        ),
        Claim(
            "Leave-one-out has a high variance",
            judged(min(ten.sign, five.sign) if ten.sign * five.sign > 0 else 0),
            f"standard deviation of leave-one-out to 10-fold, {ten.ratio()}; to 5-fold, {five.ratio()}",
        ),
        Claim(
            "For this reason 5 or 10 folds are preferred to leave-one-out",
            judged(min(each.sign for each in far) if far[0].sign * far[1].sign > 0 else 0),
            f"root mean squared error of leave-one-out to 10-fold, {far[0].ratio()}; to 5-fold, {far[1].ratio()}",
        ),
        Claim(
            "Repeating cross-validation gives a better estimate",
            judged(again.sign),
            f"root mean squared error of 10-fold once to {REPEATS} times, {again.ratio()}",
        ),
    ]


def _bootstrap(draws: Draws) -> list[Claim]:
    small = {name: compare(draws.smallest, "10-fold", name, "rmse") for name in (".632", ".632+")}
    rows = int(draws.frame["n"].min())
    told = "; ".join(f"{name}, {each.ratio()}" for name, each in small.items())
    heart = draws.signal[draws.signal["learner"] == "nearest neighbour"]
    plain, plus = (biased(heart, name) for name in (".632", ".632+"))
    return [
        Claim(
            "The bootstrap is recommended when the sample is small",
            judged(small[".632"].sign),
            f"{rows} rows, root mean squared error of 10-fold to that of {told}",
        ),
        Claim(
            "Not in the chapter: .632 is too good for the nearest neighbour, which knows its rows by heart; .632+ is less so",
            judged(-plain.sign) if abs(plus.value) < abs(plain.value) else False,
            f".632, {plain.points()}; .632+, {plus.points()}",
        ),
    ]


def _coverage(frame: pd.DataFrame) -> Claim:
    """Whether intervals hold the true error as often as they say, for those of the chapter: binomial ones on test rows."""
    means = summary(frame[frame["method"] != "resubstitution"], ["method"])
    short = means[means["coverage_high"] < LEVEL]
    told = ", ".join(f"{row['method']} {row['coverage']:.1%}" for row in means.to_dict("records"))
    return Claim(
        f"Of intervals at a confidence level of {LEVEL:.0%}, {LEVEL:.0%} contain the true value",
        short.empty,
        f"share over all cells: {told}",
    )


def _selection(chosen: Selected) -> Claim:
    (validation, _, top), (test, low, high) = chosen.validation, chosen.test
    return Claim(
        "The error on the validation set that chose the model underestimates the true one; new rows do not",
        top < chosen.truth and low <= chosen.truth <= high,
        f"true error {chosen.truth}; the winner of twenty errs on {validation:.3f} of the validation set, "
        f"and on {test:.3f} ({low:.3f} to {high:.3f}) of new rows",
    )


def _ensembles(frame: pd.DataFrame) -> list[Claim]:
    gained = frame[frame["learner"].isin(["bagged C4.5", "boosted C4.5"])]
    signs = [int(row["low"] > 0) - int(row["high"] < 0) for row in gained.to_dict("records")]
    return [
        Claim("Bagging and boosting outperform the single classifier", judged(min(signs)), f"points gained: {_gains(gained)}"),
        _unstable(frame),
    ]


def _unstable(frame: pd.DataFrame) -> Claim:
    """Whether bagging gains more on trees than on learners that Breiman (1996) calls stable."""
    ends = {(row["problem"], row["learner"]): (row["low"], row["high"]) for row in frame.to_dict("records")}
    sides = []
    for problem in frame["problem"].unique():
        low, high = ends[problem, "bagged C4.5"]
        sides += [int(low > ends[problem, name][1]) - int(high < ends[problem, name][0]) for name in _STABLE]
    spread = frame[frame["learner"].isin([BASES[name] for name in ("bagged C4.5", *_STABLE)])]
    told = ", ".join(
        f"{name} {100 * value:.1f}" for name, value in spread.groupby("learner", sort=False)["variance"].mean().items()
    )
    return Claim(
        "What bagging gains depends on how unstable the base learner is: more for trees than for learners called stable",
        judged(min(sides)),
        f"variance of the single learners in points: {told}; points gained: "
        f"{_gains(frame[frame['learner'].isin(['bagged C4.5', *_STABLE])])}",
    )


def _gains(lines: pd.DataFrame) -> str:
    return "; ".join(
        f"{row['learner']}, {row['problem']} {row['gain']:.1f} ({row['low']:.1f} to {row['high']:.1f})"
        for row in lines.to_dict("records")
    )


def _relative_error() -> Claim:
    found = relative_absolute_error()
    return Claim(
        "The relative absolute error lies between 0 and 1",
        found <= 1,
        f"truths 1, 2, 3 and predictions 3, 2, 1 give {found:g}: it exceeds 1 for all that is worse than the mean",
    )


def judged(sign: int) -> bool | None:
    """Holds, does not, or open, by the side of 0 that an interval lies on.

    >>> judged(1), judged(-1), judged(0)
    (True, False, None)
    """
    return {1: True, -1: False, 0: None}[sign]
