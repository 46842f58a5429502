"""What is told of measures that joined: beside AUC, undefined ones counted, losses suspected."""

import warnings

import numpy as np
import pytest
from scipy import stats

from fairtrial.errors import SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.joined_words import joined_words, standings, warn_of
from fairtrial.reproduce.ranking.joining import JoinedMeasure

NAN = float("nan")


def cell(own, auc=(0.0, 0.0, 0.0, 1.0), experiment=1):
    errors = np.zeros((4, 7))
    errors[:, 1], errors[:, 6] = auc, own
    return Outcome("Pima", experiment, errors, np.zeros(7), np.zeros(7))


def found(own, clean=(0.0, 0.0, 0.0, 0.0), *, declared=False, auc=(0.0, 0.0, 0.0, 1.0)):
    measure = JoinedMeasure("mine", lambda _, scores: scores[:, 0], declared=declared)
    return standings([measure], [cell(own, auc)], [cell(clean, experiment=0)])


def quiet(standing):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of(standing)


def test_nothing_joined_nothing_told():
    assert joined_words([]) == []
    quiet([])


def test_a_measure_stands_beside_auc_with_a_paired_interval():
    differences = [50.0, 50.0, 100.0, -100.0]
    low, high = stats.t.interval(0.95, 3, 25, stats.sem(differences))
    rules, told = joined_words(found([0.5, 0.5, 1.0, 0.0]))
    assert "of a function higher values must be better" in rules
    assert told == (
        "mine: its mean error over all cells with noise is 50.00 %, AUC's 25.00 %; the difference of paired repeats is "
        f"+25.00 ({low:+.2f} to {high:+.2f}) points, so that the two are not told apart."
    )
    quiet(found([0.5, 0.5, 1.0, 0.0]))


@pytest.mark.parametrize(("own", "verdict"), [([1, 1, 1, 0.5], "it errs more than AUC"), ([0, 0, 0, 0.5], "it errs less than")])
def test_the_verb_follows_the_interval(own, verdict):
    auc = [0.0] * 4 if "more" in verdict else [1.0, 1.0, 1.0, 1.0]
    assert verdict in joined_words(found(own, auc=auc))[1]


def test_undefined_comparisons_are_counted_and_auc_is_that_of_the_others():
    standing = found([1.0, 0.0, NAN, NAN])
    told = joined_words(standing)[1]
    assert "is 50.00 %, AUC's 0.00 %" in told
    assert "It is undefined in 2 of 8 comparisons" in told
    with pytest.warns(UndefinedMeasureWarning, match="mine is undefined in 2 of 8 comparisons: they count in no rate"):
        warn_of(standing)


def test_a_measure_that_is_never_defined_has_no_rate():
    standing = found([NAN] * 4, [NAN] * 4)
    assert joined_words(standing)[1] == "mine is undefined in all 8 comparisons: it has no error rate."
    with pytest.warns(UndefinedMeasureWarning, match="8 of 8"):
        warn_of(standing)
    assert "nowhere defined in some cells with noise" in joined_words(found([NAN] * 4))[1]


@pytest.mark.parametrize(
    ("noisy", "clean", "where"),
    [
        ([1.0] * 4, [1.0] * 4, r"\(100.0 % with noise and 100.0 % without noise\)"),
        ([1.0, 1.0, 0.5, 0.0], [0.0] * 4, r"\(62.5 % with noise\)"),
        ([0.0] * 4, [1.0, 1.0, 1.0, 0.0], r"\(75.0 % without noise\)"),
    ],
)
def test_a_loss_is_suspected(noisy, clean, where):
    standing = found(noisy, clean)
    with pytest.warns(SuspectInputWarning, match=f"mine: it prefers the worse .* {where}: higher must be better"):
        warn_of(standing)
    assert "a loss joined without its sign turned looks like this" in joined_words(standing)[1]


def test_a_measure_that_declares_its_direction_is_not_suspected():
    standing = found([1.0] * 4, [1.0] * 4, declared=True)
    quiet(standing)
    assert "a loss" not in joined_words(standing)[1]
