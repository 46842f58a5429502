"""Measures of other people: found by path, batched where they can be, refused in a sentence."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairtrial.data import Dataset
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.ranking.cells import CHOSEN, outcome
from fairtrial.reproduce.ranking.coded import coded
from fairtrial.reproduce.ranking.joining import check_measures, joined_measure, joined_measures

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


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """Two modules of the current folder with measures of the same names."""
    mine = """
import math
from fairtrial.measures import brier as again, h_measure
def gap(y, s):
    return s[y == 1].mean() - s[y == 0].mean()
def auc(y, s):
    return float(s[y == 1].min())
def Experiment(y, s):
    return 1.0
def fails(y, s):
    raise RuntimeError("no")
def many(y, s):
    return s
def holes(y, s):
    return math.nan if s[0] == 0.5 else 1.0
"""
    for name in ("of_my_own_first", "of_my_own_second"):
        (tmp_path / f"{name}.py").write_text(mine)
    monkeypatch.chdir(tmp_path)


def names(*paths):
    return [each.name for each in joined_measures(paths)]


@pytest.mark.parametrize("path", ["auc", "roc_auc", "fairtrial.measures.auc", "auch", "sauc", "ks", "taks"])
def test_the_papers_own_measures_need_not_join(path):
    with pytest.raises(
        InputError, match=f"^{path} is .*, one of the paper's six measures: it is compared anyway, leave it out$"
    ):
        joined_measures([path])


def test_those_that_are_refused_are_those_of_the_table(tmp_path):
    """The kernel's values are the registered measures': a joined twin would say the same."""
    X, y = load_breast_cancer(return_X_y=True)
    data = coded("tumours", Dataset.from_table(X[:150, :4], y[:150]))
    twins = [joined_measure(each) for each in ("auc", "auch", "sauc", "ks", "taks")]
    found = outcome(data, 1, CHOSEN, 6, 3, tmp_path, twins)
    np.testing.assert_allclose(found.values[6:], found.values[1:6], atol=1e-12)
    np.testing.assert_array_equal(found.errors[:, 6:], found.errors[:, 1:6])


@pytest.mark.usefixtures("own_modules")
def test_a_measure_joins_once():
    assert names("brier", "brier", "fairtrial.measures.brier", "of_my_own_first.again") == ["brier"]
    assert names("of_my_own_first.gap", "of_my_own_first.gap") == ["gap"]


@pytest.mark.usefixtures("own_modules")
def test_where_names_clash_the_path_is_the_label():
    assert names("of_my_own_first.gap", "of_my_own_second.gap") == ["of_my_own_first.gap", "of_my_own_second.gap"]
    assert names("of_my_own_first.auc", "brier") == ["of_my_own_first.auc", "brier"]
    assert names("of_my_own_first.Experiment") == ["of_my_own_first.Experiment"]  # a column of the table
    assert names("h_measure") == ["fairtrial.measures.h_measure"]  # other costs than the paper's


@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("of_my_own_first.fails", "of_my_own_first.fails must give a number for 20 classes and scores, got RuntimeError: no"),
        ("of_my_own_first.many", "of_my_own_first.many must give a number for 20 classes and scores, got TypeError"),
        ("of_my_own_first.absent", "no measure can be imported as 'of_my_own_first.absent'"),
        ("fairtrial.measures.accuracy", "must be a measure of scores"),
    ],
)
def test_measures_are_checked_before_anything_runs(path, told):
    with pytest.raises(InputError, match=told):
        check_measures(["brier", path])
    check_measures(["brier", "of_my_own_first.holes"])


@pytest.mark.usefixtures("own_modules")
def test_a_hole_in_a_fold_of_both_classes_is_no_value(scored):
    truths, scores = scored
    scores[:, :, [0, 20, 40]] = 0.25
    scores[1, 0, 20] = 0.5
    found = joined_measure("of_my_own_first.holes")(truths, scores, ENDS)
    np.testing.assert_array_equal(found, [[1, 1], [np.nan, 1], [1, 1]])
    truths[1, 20:40] = 0  # one class alone: left out
    np.testing.assert_array_equal(joined_measure("of_my_own_first.holes")(truths, scores, ENDS), np.ones((3, 2)))


@pytest.mark.parametrize(
    ("name", "near"), [("brier_score", "brier"), ("precision_average", "average_precision"), ("loss", "log_loss")]
)
def test_hints_are_measures_of_scores(name, near):
    with pytest.raises(UnknownNameError, match=f"no measure of scores is called '{name}'.*: did you mean '{near}'\\?"):
        joined_measure(name)


def test_only_fairtrials_measures_declare_their_direction():
    assert joined_measure("brier").declared
    assert joined_measure("average_precision").declared
    assert not joined_measure("sklearn.metrics.roc_auc_score").declared
