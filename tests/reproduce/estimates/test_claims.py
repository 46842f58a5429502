import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.estimates.claims import Draws, claims
from fairtrial.reproduce.estimates.ensembles import BASES
from fairtrial.reproduce.estimates.estimating import METHODS
from fairtrial.reproduce.estimates.selection import Selected
from fairtrial.reproduce.interval import Interval

# As the chapter has it: bias and standard deviation of each method.
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
RIGHT = Interval(0.5, 0.49, 0.51)
CHOSEN = Selected(Interval(0.4, 0.39, 0.41), RIGHT)


def draws(methods=USUAL):
    rng = np.random.default_rng(1)
    lines = []
    for n in (25, 50):
        for learner in ("nearest neighbour", "C4.5"):
            for method, (bias, spread) in methods.items():
                for replicate, value in enumerate(0.3 + bias + spread * rng.standard_normal(600)):
                    lines.append(("p", n, learner, replicate, method, value, value - 2 * spread, value + 2 * spread, 0.3))
    return Draws(
        pd.DataFrame(lines, columns=["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "truth"])
    )


FEW = Draws(draws().frame.query("replicate < 5"))


def ensembles(gain=5.0, stable=0.0):
    lines = []
    for name in {*BASES, *BASES.values()}:
        mean = stable if name in ("bagged naive Bayes", "bagged nearest neighbour") else gain
        ends = {"gain": mean, "low": mean - 1, "high": mean + 1} if name in BASES else {}
        lines.append({"problem": "p", "learner": name, "error": 0.2, "noise": 0.1, "bias": 0.05, "variance": 0.05} | ends)
    return pd.DataFrame(lines)


def by_words(found, words):
    return next(each for each in found if words in each.text).holds


@pytest.fixture(scope="module")
def found():
    return claims(draws(), ensembles(), CHOSEN)


def test_a_world_as_the_chapter_has_it(found):
    holding = [
        "Hold-out is pessimistic",
        "More rows for training",
        "random subsampling",
        "stratification makes",
        "exploits all rows",
        "high variance",
        "preferred",
        "Repeating",
        "small",
        ".632 is too good",
        "validation set",
        "outperform",
        "unstable",
    ]
    assert {words: by_words(found, words) for words in holding} == dict.fromkeys(holding, True)
    assert by_words(found, "relative absolute error") is False


def test_not_judged_all_that_is_simulated_stays_open(found):
    held = {each.text: each for each in found}
    for each in claims(draws(), ensembles(), CHOSEN, judged=False):
        assert each.holds is (False if "relative absolute error" in each.text else None)
        assert each.evidence.startswith(held[each.text].evidence)


def test_claims_say_how_they_are_judged(found):
    texts = " ".join(each.text for each in found)
    assert "a high variance: above that of 10-fold and of 5-fold for every learner" in texts
    assert "hold-out with 2/3 of the rows is above 0 for every learner, on the problems with something to learn" in texts
    assert "at least 94% of those of both hold-outs, on average over cells" in texts
    assert "within 0.02 of it" in texts
    assert "with 25 rows .632 has a smaller root mean squared error than 10-fold" in texts


def test_another_world_refutes():
    other = USUAL | {"hold-out 2/3": (-0.03, 0.04), "leave-one-out": (0.0, 0.02), ".632": (0.1, 0.1)}
    found = claims(draws(other), ensembles(gain=-5.0), Selected(Interval(0.55, 0.54, 0.56), RIGHT))
    refuted = [
        "Hold-out is pessimistic",
        "random subsampling",
        "high variance",
        "preferred",
        "small",
        "validation set",
        "outperform",
    ]
    assert {words: by_words(found, words) for words in refuted} == dict.fromkeys(refuted, False)
    assert by_words(found, "unstable") is False


def evidence(found, words):
    return next(each for each in found if words in each.text).evidence


def mixed(methods):
    """C4.5 as the chapter has it, the nearest neighbour with other numbers for these methods."""
    usual, other = draws().frame, draws(USUAL | methods).frame
    frames = [usual[usual["learner"] == "C4.5"], other[other["learner"] == "nearest neighbour"]]
    return claims(Draws(pd.concat(frames, ignore_index=True)), ensembles(), CHOSEN)


@pytest.mark.parametrize(("spread", "holds"), [(0.05, None), (0.045, False)])
def test_leave_one_out_is_judged_by_learner(spread, holds):
    """Pooled, C4.5 alone would carry both claims: a ratio of 1.4 there, of 1 or 0.9 for the nearest neighbour."""
    found = mixed({"leave-one-out": (0.0, spread)})
    for words in ("high variance", "preferred"):
        assert by_words(found, words) is holds
        told = evidence(found, words)
        assert told.count("by learner: C4.5 1.") == 2
        assert told.count(", nearest neighbour ") == 2
    assert by_words(found, "Repeating") is True


def test_other_comparisons_are_judged_by_learner():
    found = mixed({"hold-out 2/3": (-0.01, 0.1), ".632": (-0.1, 0.03), "subsampling, not stratified": (0.03, 0.05)})
    assert by_words(found, "Hold-out is pessimistic") is False
    assert by_words(found, "small") is False
    assert by_words(found, "stratification makes") is None


def test_the_other_split_is_told_beside_and_its_reason_only_where_it_is_optimistic(found):
    told = evidence(found, "Hold-out is pessimistic")
    assert "not judged, hold-out with 9/10 of the rows: +" in told
    assert "likely reason" not in told
    low = claims(draws(USUAL | {"hold-out 9/10": (-0.05, 0.2)}), ensembles(), CHOSEN)
    told = evidence(low, "Hold-out is pessimistic")
    assert "not judged, hold-out with 9/10 of the rows: -" in told
    assert "a likely reason, not tested, is that stratified test rows" in told


def test_the_lowest_cell_is_told_with_its_interval():
    """480 of 600 in one cell, all elsewhere: Wilson's interval by hand."""
    frame = draws().frame.assign(low=0.0, high=1.0)
    cell = (frame["method"] == "hold-out 2/3") & (frame["n"] == 50) & (frame["learner"] == "C4.5")
    missed = cell & (frame["replicate"] < 120)
    found = claims(Draws(frame.assign(low=frame["low"].where(~missed, 0.9))), ensembles(), CHOSEN)
    assert "hold-out 2/3 80.0% (76.6% to 83.0%) on p, 50 rows, C4.5" in evidence(found, "confidence level")


def wide(methods, reach, frame=None):
    """The coverage claim where intervals of these methods reach so far to both sides, and those of others hold all."""
    frame = draws().frame if frame is None else frame
    near = frame["method"].isin(methods)
    low, high = ((frame["estimate"] + side * reach).where(near, end) for side, end in ((-1, 0.0), (1, 1.0)))
    return by_words(claims(Draws(frame.assign(low=low, high=high)), ensembles(), CHOSEN), "confidence level")


def test_coverage_is_judged_on_the_chapters_intervals():
    assert wide([], 0.0) is True
    assert wide(["hold-out 9/10"], 0.001) is False
    assert wide(["10-fold", "subsampling", ".632"], 0.001) is True  # not what the chapter states


def test_coverage_stays_open_where_few_samples_tell():
    frame = draws().frame
    assert wide([], 0.0, frame[frame["replicate"] < 5]) is None
    # Two standard deviations around the true value of one without bias hold it in 95.4 %: too near to tell with 240 samples.
    even = draws(USUAL | {"hold-out 2/3": (0.0, 0.1)}).frame
    assert wide(["hold-out 2/3"], 0.2, even[even["replicate"] < 60]) is None


def chosen(validation, test):
    return by_words(claims(FEW, ensembles(), Selected(Interval(*validation), Interval(*test))), "validation set")


def test_selection_has_three_verdicts():
    good, right = (0.4, 0.39, 0.41), (0.5, 0.49, 0.51)
    assert chosen(good, right) is True
    assert chosen((0.49, 0.47, 0.51), right) is None
    assert chosen(good, (0.49, 0.45, 0.53)) is None
    assert chosen(good, (0.4, 0.39, 0.41)) is False


def test_a_correction_that_may_be_chance_stays_open():
    """.632+ as .632: whether it is less too good cannot be told, whatever the two means are."""
    same = draws(USUAL | {".632+": USUAL[".632"]})
    assert by_words(claims(same, ensembles(), CHOSEN), ".632 is too good") is None


def test_what_cannot_be_told_stays_open():
    same = dict.fromkeys(METHODS, (0.0, 0.05))
    found = claims(draws(same), ensembles(gain=0.5, stable=0.0), CHOSEN)
    assert by_words(found, "outperform") is None
    assert by_words(found, "unstable") is None
