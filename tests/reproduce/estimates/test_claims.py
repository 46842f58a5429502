"""Claims on simulated numbers of which the answer is known."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.estimates.claims import judge_claims, judge_ensembles
from fairtrial.reproduce.estimates.draws import Draws
from fairtrial.reproduce.estimates.ensembles import BASES
from fairtrial.reproduce.estimates.simulation import METHODS, SelectedModelError

NAMES = (
    *("hold-out", "more rows", "subsampling", "stratification", "cross-validation", "leave-one-out", "folds preferred"),
    *("repeating", "bootstrap", ".632 optimistic", "coverage", "selection", "ensembles", "stable", "relative error"),
)
# As the chapter describes it: bias and standard deviation of each method.
USUAL = dict.fromkeys(METHODS, (0.0, 0.05)) | {
    "hold-out 2/3": (0.03, 0.1),
    "hold-out 9/10": (0.01, 0.2),
    "subsampling": (0.03, 0.05),
    "subsampling, not stratified": (0.03, 0.07),
    "leave-one-out": (0.0, 0.07),
    "10-fold, 5 times": (0.0, 0.045),
    ".632": (-0.02, 0.03),
    ".632+": (0.0, 0.03),
}
UNBIASED = IntervalEstimate(0.5, 0.49, 0.51)
SELECTED = SelectedModelError(IntervalEstimate(0.4, 0.39, 0.41), UNBIASED)


def make_draws(methods=USUAL):
    rng = np.random.default_rng(1)
    rows = [
        ("p", n, learner, replicate, method, value, value - 2 * deviation, value + 2 * deviation, 0.3)
        for n in (25, 50)
        for learner in ("nearest neighbour", "C4.5")
        for method, (bias, deviation) in methods.items()
        for replicate, value in enumerate(0.3 + bias + deviation * rng.standard_normal(600))
    ]
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]
    return pd.DataFrame(rows, columns=columns)


def make_ensembles(gain=5.0, stable_gain=0.0):
    rows = []
    for name in {*BASES, *BASES.values()}:
        mean = stable_gain if name in ("bagged naive Bayes", "bagged nearest neighbour") else gain
        gains = {"gain": mean, "low": mean - 1, "high": mean + 1} if name in BASES else {}
        rows.append({"problem": "p", "learner": name, "error": 0.2, "noise": 0.1, "bias": 0.05, "variance": 0.05} | gains)
    return pd.DataFrame(rows)


def judge(frame, ensembles=None, selected=SELECTED, **options):
    ensembles = make_ensembles() if ensembles is None else ensembles
    return dict(zip(NAMES, judge_claims(Draws(frame), ensembles, selected, **options), strict=True))


def list_outcomes(claims, names):
    return {name: claims[name].reproduced for name in names}


@pytest.fixture(scope="module")
def usual():
    return judge(make_draws())


def test_simulation_as_the_chapter_describes_it(usual):
    names = [name for name in NAMES if name not in ("coverage", "relative error")]
    assert list_outcomes(usual, names) == dict.fromkeys(names, True)
    assert usual["relative error"].reproduced is False


def test_simulated_claims_are_inconclusive_on_request(usual):
    for name, claim in judge(make_draws(), conclusive=False).items():
        assert claim.reproduced is (False if name == "relative error" else None)
        assert claim.details.startswith(usual[name].details)


def test_simulation_that_contradicts_the_chapter():
    other = USUAL | {"hold-out 2/3": (-0.03, 0.04), "leave-one-out": (0.0, 0.02), ".632": (0.1, 0.1)}
    selected = SelectedModelError(IntervalEstimate(0.55, 0.54, 0.56), UNBIASED)
    claims = judge(make_draws(other), make_ensembles(gain=-5.0), selected)
    names = ("hold-out", "subsampling", "leave-one-out", "folds preferred", "bootstrap", "selection", "ensembles", "stable")
    assert list_outcomes(claims, names) == dict.fromkeys(names, False)


def judge_mixed(methods):
    """C4.5 as the chapter describes it, the nearest neighbour with other numbers for these methods."""
    usual, other = make_draws(), make_draws(USUAL | methods)
    frames = [usual[usual["learner"] == "C4.5"], other[other["learner"] == "nearest neighbour"]]
    return judge(pd.concat(frames, ignore_index=True))


@pytest.mark.parametrize(("deviation", "outcome"), [(0.05, None), (0.045, False)])
def test_leave_one_out_is_judged_by_learner(deviation, outcome):
    """Pooled, C4.5 alone would decide both claims: a ratio of 1.4, and of 1 or 0.9 for the nearest neighbour."""
    claims = judge_mixed({"leave-one-out": (0.0, deviation)})
    for name in ("leave-one-out", "folds preferred"):
        assert claims[name].reproduced is outcome
        assert claims[name].details.count("by learner: C4.5 1.") == 2
        assert claims[name].details.count(", nearest neighbour ") == 2
    assert claims["repeating"].reproduced is True


def test_other_comparisons_are_judged_by_learner():
    claims = judge_mixed({"hold-out 2/3": (-0.01, 0.1), ".632": (-0.1, 0.03), "subsampling, not stratified": (0.03, 0.05)})
    expected = {"hold-out": False, "bootstrap": False, "stratification": None}
    assert list_outcomes(claims, expected) == expected


def test_the_other_hold_out_is_reported_with_a_reason_only_if_it_is_optimistic(usual):
    assert "not judged, hold-out with 9/10 of the rows: +" in usual["hold-out"].details
    assert "possible reason" not in usual["hold-out"].details
    details = judge(make_draws(USUAL | {"hold-out 9/10": (-0.05, 0.2)}))["hold-out"].details
    assert "not judged, hold-out with 9/10 of the rows: -" in details
    assert "a possible reason, not tested, is that stratified test sets" in details


def test_the_lowest_coverage_is_reported_with_its_interval():
    """480 of 600 in one cell, all elsewhere: Wilson's interval by hand."""
    frame = make_draws().assign(low=0.0, high=1.0)
    is_cell = (frame["method"] == "hold-out 2/3") & (frame["n"] == 50) & (frame["learner"] == "C4.5")
    is_missed = is_cell & (frame["replicate"] < 120)
    claim = judge(frame.assign(low=frame["low"].where(~is_missed, 0.9)))["coverage"]
    assert "hold-out 2/3 80.0% (76.6% to 83.0%) on p, 50 rows, C4.5" in claim.details


def judge_coverage(methods, half, frame=None):
    """Judge the coverage if intervals of these methods have a half width, and those of others cover everything."""
    frame = make_draws() if frame is None else frame
    is_narrow = frame["method"].isin(methods)
    low, high = ((frame["estimate"] + sign * half).where(is_narrow, end) for sign, end in ((-1, 0.0), (1, 1.0)))
    return judge(frame.assign(low=low, high=high))["coverage"].reproduced


def test_coverage_is_judged_by_the_chapters_intervals():
    assert judge_coverage([], 0.0) is True
    assert judge_coverage(["hold-out 9/10"], 0.001) is False
    assert judge_coverage(["10-fold", "subsampling", ".632"], 0.001) is True  # the chapter does not claim this


def test_coverage_of_few_samples_is_inconclusive():
    frame = make_draws()
    assert judge_coverage([], 0.0, frame[frame["replicate"] < 5]) is None
    # Two standard deviations around an unbiased estimate cover 95.4 %: 240 samples are too few to decide.
    unbiased = make_draws(USUAL | {"hold-out 2/3": (0.0, 0.1)})
    assert judge_coverage(["hold-out 2/3"], 0.2, unbiased[unbiased["replicate"] < 60]) is None


@pytest.mark.parametrize(
    ("validation", "test", "outcome"),
    [
        ((0.4, 0.39, 0.41), (0.5, 0.49, 0.51), True),
        ((0.49, 0.47, 0.51), (0.5, 0.49, 0.51), None),
        ((0.4, 0.39, 0.41), (0.49, 0.45, 0.53), None),
        ((0.4, 0.39, 0.41), (0.4, 0.39, 0.41), False),
    ],
)
def test_selection_has_three_outcomes(validation, test, outcome):
    selected = SelectedModelError(IntervalEstimate(*validation), IntervalEstimate(*test))
    assert judge(make_draws().query("replicate < 5"), selected=selected)["selection"].reproduced is outcome


def test_a_correction_that_may_be_chance_is_inconclusive():
    """.632+ as .632: whether it is less optimistic is unknown, whatever the two means are."""
    assert judge(make_draws(USUAL | {".632+": USUAL[".632"]}))[".632 optimistic"].reproduced is None


def test_small_gains_are_inconclusive():
    claims = judge_ensembles(make_ensembles(gain=0.5, stable_gain=0.0))
    assert [claim.reproduced for claim in claims] == [None, None]


VARIANCES = {"C4.5": 0.15, "naive Bayes": 0.02, "nearest neighbour": 0.03}


def judge_stability(bayes=(0.0, -0.5, 0.5), variances=VARIANCES):
    trees = (5.0, 4.0, 6.0)
    gains = {"bagged C4.5": trees, "boosted C4.5": trees, "bagged naive Bayes": bayes, "bagged nearest neighbour": (0, -1, 1)}
    single = [{"problem": "p", "learner": name, "variance": value} for name, value in variances.items()]
    ensembles = [
        {"problem": "p", "learner": name, "variance": 0.01} | dict(zip(("gain", "low", "high"), gain, strict=True))
        for name, gain in gains.items()
    ]
    return judge_ensembles(pd.DataFrame(single + ensembles))[1]


@pytest.mark.parametrize(("bayes", "outcome"), [((0.0, -0.5, 0.5), True), ((5.0, 4.0, 6.0), None), ((9.0, 8.0, 10.0), False)])
def test_trees_gain_more_than_stable_learners(bayes, outcome):
    assert judge_stability(bayes).reproduced is outcome


def test_a_learner_with_half_the_variance_of_trees_is_not_stable():
    assert "not stable here" not in judge_stability().details
    details = judge_stability(variances=VARIANCES | {"nearest neighbour": 0.109}).details
    assert "nearest neighbour 10.9; nearest neighbour, with more than half the variance of C4.5, is not stable" in details
    assert "naive Bayes, with more than half" not in details


def test_deciding_limits_are_not_rounded_to_zero():
    details = judge_stability(bayes=(-0.03, -0.06, -0.002)).details
    assert "bagged naive Bayes, p -0.030 (-0.060 to -0.002)" in details
