"""Measures of users: loaded by path, refused with a reason, compared with AUC, warned of."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairtrial.data import Dataset
from fairtrial.errors import InputError, SuspectInputWarning, UndefinedMeasureWarning, UnknownNameError
from fairtrial.reproduce.ranking_real.cells import CHOSEN, CellResult, compute_cell
from fairtrial.reproduce.ranking_real.datasets import encode_dataset
from fairtrial.reproduce.ranking_real.user_measures import (
    UserMeasure,
    check_measures,
    compare_with_auc,
    load_measure,
    load_measures,
)

ENDS = [20, 40, 55]


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, (3, 55)).astype(np.uint8)
    scores = np.clip(rng.normal(0.3 + 0.3 * y_true[:, None, :], 0.3, (3, 2, 55)), 0, 1).round(1)
    return y_true, scores


def average_folds(function, y_true, scores):
    parts = [slice(0, 20), slice(20, 40), slice(40, 55)]
    return [
        [np.mean([function(y_true[r, part], scores[r, which, part]) for part in parts]) for which in range(2)]
        for r in range(len(y_true))
    ]


def test_fairtrials_measures_equal_scikit_learns(scored):
    np.testing.assert_allclose(load_measure("fairtrial.measures.auc")(*scored, ENDS), average_folds(roc_auc_score, *scored))
    np.testing.assert_allclose(load_measure("brier")(*scored, ENDS), average_folds(brier_score_loss, *scored))
    assert load_measure("brier").direction == -1
    assert load_measure("auc").direction == 1


def test_any_function_can_be_added(scored):
    result = load_measure("sklearn.metrics.roc_auc_score")
    assert result.name == "roc_auc_score"
    np.testing.assert_allclose(result(*scored, ENDS), average_folds(roc_auc_score, *scored))


@pytest.mark.parametrize("path", ["auc", "sklearn.metrics.roc_auc_score"])
def test_folds_of_one_class_are_left_out(scored, path):
    y_true, scores = scored
    y_true[1, :20] = 1
    result = load_measure(path)(y_true, scores, ENDS)
    parts = [slice(20, 40), slice(40, 55)]
    assert result[1, 0] == pytest.approx(np.mean([roc_auc_score(y_true[1, part], scores[1, 0, part]) for part in parts]))
    y_true[1] = 1
    assert np.isnan(load_measure(path)(y_true, scores, ENDS)[1]).all()


def test_modules_of_the_current_folder_are_found(scored, tmp_path, monkeypatch):
    (tmp_path / "of_my_own_ranking.py").write_text("def gap(y, s):\n    return s[y == 1].mean() - s[y == 0].mean()\n")
    monkeypatch.chdir(tmp_path)
    result = load_measure("of_my_own_ranking.gap")(*scored, ENDS)
    np.testing.assert_allclose(result, average_folds(lambda y, s: s[y == 1].mean() - s[y == 0].mean(), *scored))


@pytest.mark.parametrize(
    ("path", "message"),
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
def test_what_is_not_a_measure_is_refused(path, message):
    with pytest.raises(InputError, match=message):
        load_measure(path)


def test_unknown_names_get_a_hint():
    with pytest.raises(UnknownNameError, match=r"did you mean 'auch?'"):
        load_measure("aucc")


def test_a_function_that_fails_is_named(scored):
    with pytest.raises(InputError, match=r"math.hypot must give a number for 20 classes and scores, got TypeError: .*"):
        load_measure("math.hypot")(*scored, ENDS)


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


def load_names(*paths):
    return [measure.name for measure in load_measures(paths)]


@pytest.mark.parametrize("path", ["auc", "roc_auc", "fairtrial.measures.auc", "auch", "sauc", "ks", "taks"])
def test_the_papers_measures_are_refused(path):
    with pytest.raises(
        InputError, match=f"^{path} is .*, one of the paper's six measures: it is compared anyway, leave it out$"
    ):
        load_measures([path])


def test_the_refused_measures_equal_those_of_the_table(tmp_path):
    """The kernel computes the registered measures, so adding them would change nothing."""
    X, y = load_breast_cancer(return_X_y=True)
    data = encode_dataset("tumours", Dataset.from_table(X[:150, :4], y[:150]))
    measures = [load_measure(measure) for measure in ("auc", "auch", "sauc", "ks", "taks")]
    result = compute_cell(data, 1, CHOSEN, 6, 3, tmp_path, measures)
    np.testing.assert_allclose(result.values[6:], result.values[1:6], atol=1e-12)
    np.testing.assert_array_equal(result.errors[:, 6:], result.errors[:, 1:6])


@pytest.mark.usefixtures("own_modules")
def test_a_measure_is_added_once():
    assert load_names("brier", "brier", "fairtrial.measures.brier", "of_my_own_first.again") == ["brier"]
    assert load_names("of_my_own_first.gap", "of_my_own_first.gap") == ["gap"]


@pytest.mark.usefixtures("own_modules")
def test_equal_names_are_replaced_by_paths():
    assert load_names("of_my_own_first.gap", "of_my_own_second.gap") == ["of_my_own_first.gap", "of_my_own_second.gap"]
    assert load_names("of_my_own_first.auc", "brier") == ["of_my_own_first.auc", "brier"]
    assert load_names("of_my_own_first.Experiment") == ["of_my_own_first.Experiment"]  # a column of the table
    assert load_names("h_measure") == ["fairtrial.measures.h_measure"]  # other costs than the paper's


@pytest.mark.usefixtures("own_modules")
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("of_my_own_first.fails", "of_my_own_first.fails must give a number for 20 classes and scores, got RuntimeError: no"),
        ("of_my_own_first.many", "of_my_own_first.many must give a number for 20 classes and scores, got TypeError"),
        ("of_my_own_first.absent", "no measure can be imported as 'of_my_own_first.absent'"),
        ("fairtrial.measures.accuracy", "must be a measure of scores"),
    ],
)
def test_measures_are_checked_before_anything_runs(path, message):
    with pytest.raises(InputError, match=message):
        check_measures(["brier", path])
    check_measures(["brier", "of_my_own_first.holes"])


@pytest.mark.usefixtures("own_modules")
def test_a_measure_that_is_undefined_in_a_fold_with_both_classes_is_undefined(scored):
    y_true, scores = scored
    scores[:, :, [0, 20, 40]] = 0.25
    scores[1, 0, 20] = 0.5
    result = load_measure("of_my_own_first.holes")(y_true, scores, ENDS)
    np.testing.assert_array_equal(result, [[1, 1], [np.nan, 1], [1, 1]])
    y_true[1, 20:40] = 0  # one class alone: left out
    np.testing.assert_array_equal(load_measure("of_my_own_first.holes")(y_true, scores, ENDS), np.ones((3, 2)))


@pytest.mark.parametrize(
    ("name", "hint"), [("brier_score", "brier"), ("precision_average", "average_precision"), ("loss", "log_loss")]
)
def test_hints_are_measures_of_scores(name, hint):
    with pytest.raises(UnknownNameError, match=f"no measure of scores is called '{name}'.*: did you mean '{hint}'\\?"):
        load_measure(name)


def test_only_fairtrials_measures_declare_their_direction():
    assert load_measure("brier").declares_direction
    assert load_measure("average_precision").declares_direction
    assert not load_measure("sklearn.metrics.roc_auc_score").declares_direction


NAN = float("nan")


def make_cell_with_measure(errors, auc=(0.0, 0.0, 0.0, 1.0), experiment=1):
    all_errors = np.zeros((4, 7))
    all_errors[:, 1], all_errors[:, 6] = auc, errors
    return CellResult("Pima", experiment, all_errors, np.zeros(7), np.zeros(7))


def compare(errors, clean=(0.0, 0.0, 0.0, 0.0), *, declares_direction=False, auc=(0.0, 0.0, 0.0, 1.0)):
    measure = UserMeasure("mine", lambda _, scores: scores[:, 0], declares_direction=declares_direction)
    noisy_cell, clean_cell = make_cell_with_measure(errors, auc), make_cell_with_measure(clean, experiment=0)
    (result,) = compare_with_auc([measure], [noisy_cell], [clean_cell])
    return result


def assert_no_warning(result):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.warn()


def test_a_measure_is_compared_with_auc_by_a_paired_interval():
    result = compare([0.5, 0.5, 1.0, 0.0])
    low, high = stats.t.interval(0.95, 3, 25, stats.sem([50.0, 50.0, 100.0, -100.0]))
    assert (result.noisy.value, result.auc.value, result.difference.value) == (50, 25, 25)
    assert (result.difference.low, result.difference.high) == pytest.approx((low, high))
    assert result.difference.sign == 0
    assert_no_warning(result)


@pytest.mark.parametrize(("errors", "auc", "sign"), [([1, 1, 1, 0.5], [0.0] * 4, 1), ([0, 0, 0, 0.5], [1.0] * 4, -1)])
def test_the_sign_of_a_significant_difference(errors, auc, sign):
    assert compare(errors, auc=auc).difference.sign == sign


def test_undefined_comparisons_are_counted_and_left_out_for_auc():
    result = compare([1.0, 0.0, NAN, NAN])
    assert (result.noisy.value, result.auc.value) == (50, 0)
    assert (result.n_undefined, result.n_comparisons) == (2, 8)
    with pytest.warns(UndefinedMeasureWarning, match="mine is undefined in 2 of 8 comparisons: no rate includes them"):
        result.warn()


def test_a_measure_that_is_never_defined_has_no_rate():
    result = compare([NAN] * 4, [NAN] * 4)
    assert np.isnan([result.noisy.value, result.clean.value, result.auc.value]).all()
    with pytest.warns(UndefinedMeasureWarning, match="8 of 8"):
        result.warn()
    assert np.isnan(compare([NAN] * 4).noisy.value)


@pytest.mark.parametrize(
    ("noisy", "clean", "rates"),
    [
        ([1.0] * 4, [1.0] * 4, r"\(100.0 % with noise and 100.0 % without noise\)"),
        ([1.0, 1.0, 0.5, 0.0], [0.0] * 4, r"\(62.5 % with noise\)"),
        ([0.0] * 4, [1.0, 1.0, 1.0, 0.0], r"\(75.0 % without noise\)"),
    ],
)
def test_a_possible_loss_is_warned_of(noisy, clean, rates):
    result = compare(noisy, clean)
    with pytest.warns(SuspectInputWarning, match=f"mine prefers the worse .* {rates}: higher must be better"):
        result.warn()
    assert result.may_be_loss


def test_a_measure_that_declares_its_direction_is_not_a_possible_loss():
    result = compare([1.0] * 4, [1.0] * 4, declares_direction=True)
    assert_no_warning(result)
    assert not result.may_be_loss
