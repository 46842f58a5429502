"""Measures of other people: found by path, batched where they can be, refused in a sentence."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.ranking.joining import joined_measure

ENDS = [20, 40, 55]


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    truths = rng.integers(0, 2, (3, 55)).astype(np.uint8)
    scores = np.clip(rng.normal(0.3 + 0.3 * truths[:, None, :], 0.3, (3, 2, 55)), 0, 1).round(1)
    return truths, scores


def by_hand(function, truths, scores):
    parts = [slice(0, 20), slice(20, 40), slice(40, 55)]
    return [
        [np.mean([function(truths[r, part], scores[r, which, part]) for part in parts]) for which in range(2)]
        for r in range(len(truths))
    ]


def test_fairtrials_measures_equal_scikit_learns(scored):
    np.testing.assert_allclose(joined_measure("fairtrial.measures.auc")(*scored, ENDS), by_hand(roc_auc_score, *scored))
    np.testing.assert_allclose(joined_measure("brier")(*scored, ENDS), by_hand(brier_score_loss, *scored))
    assert joined_measure("brier").direction == -1
    assert joined_measure("auc").direction == 1


def test_any_function_joins(scored):
    found = joined_measure("sklearn.metrics.roc_auc_score")
    assert found.name == "roc_auc_score"
    np.testing.assert_allclose(found(*scored, ENDS), by_hand(roc_auc_score, *scored))


@pytest.mark.parametrize("path", ["auc", "sklearn.metrics.roc_auc_score"])
def test_folds_of_one_class_are_left_out(scored, path):
    truths, scores = scored
    truths[1, :20] = 1
    found = joined_measure(path)(truths, scores, ENDS)
    parts = [slice(20, 40), slice(40, 55)]
    assert found[1, 0] == pytest.approx(np.mean([roc_auc_score(truths[1, part], scores[1, 0, part]) for part in parts]))
    truths[1] = 1
    assert np.isnan(joined_measure(path)(truths, scores, ENDS)[1]).all()


def test_modules_of_the_current_folder_are_found(scored, tmp_path, monkeypatch):
    (tmp_path / "of_my_own_ranking.py").write_text("def gap(y, s):\n    return s[y == 1].mean() - s[y == 0].mean()\n")
    monkeypatch.chdir(tmp_path)
    found = joined_measure("of_my_own_ranking.gap")(*scored, ENDS)
    np.testing.assert_allclose(found, by_hand(lambda y, s: s[y == 1].mean() - s[y == 0].mean(), *scored))


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no_such_package.measure", "no measure can be imported as 'no_such_package.measure': No module named"),
        ("fairtrial.measures.nothing", "no measure can be imported as 'fairtrial.measures.nothing': module"),
        ("not a path.x", "must be named by its import path, package.module.name, got 'not a path.x'"),
        (".auc", "must be named by its import path"),
        ("math.pi", "math.pi must be a function of \\(y_true, scores\\) or a fairtrial measure, got 3.14"),
        ("sklearn.svm.SVC", "must be a function"),
        ("fairtrial.measures.accuracy", "fairtrial.measures.accuracy must be a measure of scores, got one of labels"),
    ],
)
def test_what_is_no_measure_is_refused(path, told):
    with pytest.raises(InputError, match=told):
        joined_measure(path)


def test_unknown_names_get_a_hint():
    with pytest.raises(UnknownNameError, match=r"did you mean 'auch?'"):
        joined_measure("aucc")


def test_a_function_that_fails_is_named(scored):
    with pytest.raises(InputError, match=r"math.hypot must give a number for 20 classes and scores, got TypeError: .*"):
        joined_measure("math.hypot")(*scored, ENDS)
