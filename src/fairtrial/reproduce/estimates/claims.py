"""The chapter's statements on estimating error, each judged by numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairtrial.reproduce.coarse import undecided
from fairtrial.reproduce.estimates.by_learner import ByLearner, by_learner, every_learner
from fairtrial.reproduce.estimates.claims_on_ensembles import claims_on_ensembles
from fairtrial.reproduce.estimates.estimating import LEVEL, METHODS, REPEATS
from fairtrial.reproduce.estimates.judging import Kind, biased, compare, covered, summary
from fairtrial.reproduce.estimates.worked import relative_absolute_error
from fairtrial.reproduce.interval import Interval, all_above, all_hold
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.estimates.selection import Selected

_REPEATED = f"10-fold, {REPEATS} times"
_ON_A_TEST_SET = ("hold-out 2/3", "hold-out 9/10")  # where the chapter's binomial interval is meant for
_LEARNABLE = "on the problems with something to learn"
_SHORT = 0.01  # a coverage that falls short by less than this still counts as kept
_NEAR = 0.02  # a mean error that is nearer to the true one than this counts as right


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

    def compare(self, one: str, other: str, kind: Kind) -> ByLearner:
        """One method against another over all cells; in bias, over those where something can be learnt."""
        return by_learner(self.signal if kind == "bias" else self.frame, lambda own: compare(own, one, other, kind))


def claims(draws: Draws, ensembles: pd.DataFrame, chosen: Selected, *, judged: bool = True) -> tuple[Claim, ...]:
    """All of them, in the chapter's order; not `judged`, what is simulated stays open, whatever a few samples seem to show."""
    simulated = (
        *_hold_out(draws),
        *_cross_validation(draws),
        *_bootstrap(draws),
        _coverage(draws.frame),
        _selection(chosen),
        *claims_on_ensembles(ensembles),
    )
    told = simulated if judged else undecided(simulated)
    return (*told, _relative_error())


def _hold_out(draws: Draws) -> list[Claim]:
    bias = by_learner(draws.signal, lambda own: biased(own, "hold-out 2/3"))
    less = draws.compare("hold-out 2/3", "hold-out 9/10", "bias")
    more = draws.compare("hold-out 9/10", "hold-out 2/3", "deviation")
    chance = draws.compare("hold-out 2/3", "subsampling", "deviation")
    plain = draws.compare("subsampling, not stratified", "subsampling", "rmse")
    return [
        Claim(
            "Hold-out is pessimistic, since a part of the rows does not train: the bias of hold-out with 2/3 of the rows is "
            f"above 0 for every learner, {_LEARNABLE}",
            every_learner(bias),
            f"estimated minus true error, {bias.points()}; {_nine_tenths(draws)}",
        ),
        Claim(
            "More rows for training, fewer for the test (9/10 instead of 2/3): for every learner a smaller estimated error, "
            f"{_LEARNABLE}, and a larger standard deviation, on all problems",
            every_learner(less, more),
            f"error estimated with 2/3 minus 9/10 of the rows, {less.points()}; "
            f"standard deviation of 9/10 to 2/3, {more.ratio()}",
        ),
        Claim(
            "The outcome of hold-out depends on the one split; random subsampling has a smaller standard deviation for every "
            "learner",
            every_learner(chance),
            f"standard deviation of hold-out 2/3 to subsampling, {chance.ratio()}",
        ),
        Claim(
            "A class that is over-represented in training affects the estimate: stratification makes its root mean "
            "squared error smaller for every learner",
            every_learner(plain),
            f"root mean squared error of subsampling without to with stratification, {plain.ratio()}",
        ),
    ]


def _nine_tenths(draws: Draws) -> str:
    """What the other split has on the same cells, which the claim is not judged by."""
    found = biased(draws.signal, "hold-out 9/10")
    reason = (
        "; too optimistic on average: a likely reason, not tested, is that stratified test rows share the class shares of the "
        "sample"
    )
    return f"not judged, hold-out with 9/10 of the rows: {found.points()}{reason if found.below else ''}"


def _cross_validation(draws: Draws) -> list[Claim]:
    less = draws.compare("hold-out 2/3", "10-fold", "bias")
    ten, five = (draws.compare("leave-one-out", each, "deviation") for each in ("10-fold", "5-fold"))
    far = [draws.compare("leave-one-out", each, "rmse") for each in ("10-fold", "5-fold")]
    again = draws.compare("10-fold", _REPEATED, "rmse")
    biases = {name: biased(draws.signal, name) for name in ("leave-one-out", "10-fold", "5-fold")}
    means = "; ".join(f"{name} {100 * each.whole.value:+.2f}" for name, each in biases.items())
    return [
        Claim(
            "Cross-validation exploits all rows: the bias of 10-fold is below that of hold-out with 2/3 of the rows for every "
            f"learner, {_LEARNABLE}",
            every_learner(less),
            f"hold-out 2/3 minus 10-fold, {less.points()}; mean bias in points: {means}",
        ),
        Claim(
            "Leave-one-out has a high variance: above that of 10-fold and of 5-fold for every learner",
            every_learner(ten, five),
            f"standard deviation of leave-one-out to 10-fold, {ten.ratio()}; to 5-fold, {five.ratio()}",
        ),
        Claim(
            "For this reason 5 or 10 folds are preferred to leave-one-out: both have a smaller root mean squared error for "
            "every learner",
            every_learner(*far),
            f"root mean squared error of leave-one-out to 10-fold, {far[0].ratio()}; to 5-fold, {far[1].ratio()}",
        ),
        Claim(
            "Repeating cross-validation gives a better estimate: a smaller root mean squared error for every learner",
            every_learner(again),
            f"root mean squared error of 10-fold once to {REPEATS} times, {again.ratio()}",
        ),
    ]


def _bootstrap(draws: Draws) -> list[Claim]:
    plain = by_learner(draws.smallest, lambda own: compare(own, "10-fold", ".632", "rmse"))
    plus = by_learner(draws.smallest, lambda own: compare(own, "10-fold", ".632+", "rmse"))
    rows = int(draws.frame["n"].min())
    heart = draws.signal[draws.signal["learner"] == "nearest neighbour"]
    good, better = (biased(heart, name) for name in (".632", ".632+"))
    apart = compare(heart, ".632+", ".632", "bias")
    return [
        Claim(
            f"The bootstrap is recommended when the sample is small: with {rows} rows .632 has a smaller root mean squared "
            "error than 10-fold for every learner",
            every_learner(plain),
            f"{rows} rows, root mean squared error of 10-fold to that of .632, {plain.ratio()}; not judged, to that of .632+, "
            f"{plus.ratio()}",
        ),
        Claim(
            "Not in the chapter: .632 is too good for the nearest neighbour, which knows its rows by heart (mean bias below "
            "0); .632+ is less so (its bias is above that of .632)",
            all_hold([good.below, apart.above]),
            f".632, {good.points()}; .632+, {better.points()}; .632+ minus .632, {apart.points()}",
        ),
    ]


def _coverage(frame: pd.DataFrame) -> Claim:
    """Whether the chapter's intervals, binomial ones on the rows of a test set, hold the true error as often as they say."""
    found = {name: covered(frame, name) for name in METHODS if name != "resubstitution"}
    own, others = (
        "; ".join(f"{name} {each.told('{:.1%}')}" for name, each in found.items() if (name in _ON_A_TEST_SET) is side)
        for side in (True, False)
    )
    lowest = "; ".join(f"{name} {_lowest(frame[frame['method'] == name])}" for name in _ON_A_TEST_SET)
    return Claim(
        f"Of binomial intervals on a test set at a confidence level of {LEVEL:.0%}, {LEVEL:.0%} contain the true value (at "
        f"least {LEVEL - _SHORT:.0%} of those of both hold-outs, on average over cells)",
        all_above(found[name].less(LEVEL - _SHORT) for name in _ON_A_TEST_SET),
        f"mean share over all cells that hold the true error of the learner trained on the whole sample: {own}; lowest of all "
        f"cells: {lowest}; not judged here, the intervals of the other methods: {others}",
    )


def _lowest(own: pd.DataFrame) -> str:
    """The cell in which one method's intervals hold the true error least often."""
    row = min(summary(own).to_dict("records"), key=lambda each: each["coverage"])
    share = Interval(row["coverage"], row["coverage_low"], row["coverage_high"])
    return f"{share.told('{:.1%}')} on {row['problem']}, {row['n']} rows, {row['learner']}"


def _selection(chosen: Selected) -> Claim:
    validation, test = (each.less(chosen.truth) for each in (chosen.validation, chosen.test))
    too_good = None if validation.above is None else not validation.above
    return Claim(
        "The error on the validation set that chose the model underestimates the true one; that on new rows is within "
        f"{_NEAR:g} of it",
        all_hold([too_good, test.within(_NEAR)]),
        f"true error {chosen.truth}; the winner of twenty errs on {chosen.validation.told('{:.3f}')} of the validation set, "
        f"and on {chosen.test.told('{:.3f}')} of new rows",
    )


def _relative_error() -> Claim:
    found = relative_absolute_error()
    return Claim(
        "The relative absolute error lies between 0 and 1",
        found <= 1,
        f"truths 1, 2, 3 and predictions 3, 2, 1 give {found:g}: it exceeds 1 for all that is worse than the mean",
    )
