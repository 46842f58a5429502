"""Repeat Table 1 of Berrar: data sets, cells, user measures, tables, claims and page."""

import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, roc_auc_score

from fairtrial.data import Dataset
from fairtrial.errors import InputError, SuspectInputWarning, UndefinedMeasureWarning, UnknownNameError
from fairtrial.reproduce import Reproduction, load_experiments, reproduce
from fairtrial.reproduce.claim import CONTRADICTED, DIRECTION, INCONCLUSIVE, NOT_TESTABLE, REPRODUCED
from fairtrial.reproduce.experiment import Request, read_published
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.ranking_errors import MEASURES, index_measure
from fairtrial.reproduce.ranking_real import cells, claims as ranking_claims, datasets as ranking_datasets
from fairtrial.reproduce.ranking_real.cells import (
    ALTERNATIVES,
    CHOSEN,
    CellResult,
    compute_cell,
    compute_errors,
    estimate_over_cells,
    estimate_over_repeats,
)
from fairtrial.reproduce.ranking_real.claims import (
    build_claims,
    build_printed_claims,
    estimate_correlation,
    judge_correlations,
    judge_easiest,
    judge_hard_sauc,
    judge_hardest,
    judge_lowest_auc,
    judge_most,
    judge_noise_target,
    judge_order,
    judge_ratio,
    judge_target,
    list_published_hardest,
    summarise_claims,
)
from fairtrial.reproduce.ranking_real.datasets import (
    DATASET_NAMES,
    UCI_FILES,
    encode_cylinder_variants,
    encode_dataset,
    load_encoded_datasets,
    vary_columns_and_rows,
)
from fairtrial.reproduce.ranking_real.experiment import draw_agreement, draw_means, summarise
from fairtrial.reproduce.ranking_real.tables import (
    EXPERIMENT_TITLES,
    build_cylinder_table,
    compare_cells,
    compare_interpretations,
    compute_mean_errors,
    format_cells,
    list_differing_cells,
    read_table1,
)
from fairtrial.reproduce.ranking_real.user_measures import (
    UserMeasure,
    check_measures,
    compare_with_auc,
    load_measure,
    load_measures,
)
from tests.reproduce import read_numbers

PUBLISHED = read_published("berrar_table1").set_index(["experiment", "dataset"])


def make_cell(experiment, dataset, percents, repeats=1000):
    """Make a cell with these error rates, whose repeats are independent of those of other cells."""
    errors = np.zeros((repeats, len(percents)))
    for column, percent in enumerate(percents):
        errors[: round(percent * repeats / 100), column] = 1
    np.random.default_rng([experiment, *dataset.encode()]).shuffle(errors)
    return CellResult(dataset, experiment, errors, np.zeros(len(percents)), np.zeros(len(percents)))


def copy_published(experiment, dataset):
    return make_cell(experiment, dataset, PUBLISHED.loc[experiment, dataset])


@pytest.fixture
def cylinder_variants():
    X = pd.DataFrame(
        {
            "timestamp": pd.Categorical(["1", "2", "3", "4", "5"]),
            "job_number": [1.0, 2, 3, 4, 5],
            "ink": pd.Categorical(["red", None, "blue", "red", "red"]),
            "humidity": [1.5, 2.5, None, 1.5, 2.5],
        }
    )
    labels = ["band", "none", "none", "band", "none"]
    return vary_columns_and_rows(Dataset.from_table(X, labels, nominal=["timestamp", "ink"]))


# Data sets


# Rows and attributes as the UCI repository states them.
SIZES = {
    "Sonar": (208, 60),
    "Spect": (267, 22),
    "Heart": (270, 13),
    "Liver": (345, 6),
    "Ionosphere": (351, 34),
    "House": (435, 16),
    "Cylinder": (540, 39),
    "Credit": (690, 15),
    "Transfusion": (748, 4),
    "Pima": (768, 8),
}


def test_the_names_are_those_of_table_1():
    assert list(DATASET_NAMES) == list(dict.fromkeys(read_published("berrar_table1")["dataset"]))


def test_all_ten_data_sets_are_as_in_the_uci_repository(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    datasets, missing = load_encoded_datasets()
    assert missing == {}
    assert {name: dataset.codes.shape[::-1] for name, dataset in datasets.items()} == SIZES
    assert list(datasets) == list(DATASET_NAMES)
    spect = datasets["Spect"]
    assert int(spect.classes.sum()) == 55  # UCI: 55 normal, 212 abnormal
    assert spect.columns.nominal.all()
    assert int((datasets["House"].codes < 0).sum()) == 392


def test_without_any_data_set_there_is_a_stand_in_or_an_error(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(ranking_datasets, "CATALOGUE_NAMES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(ranking_datasets, "SPECT_NAMES", {"train": ["no-such-set"], "test": ["no-such-set"]})
    datasets, missing = load_encoded_datasets(stand_in=True)
    assert list(datasets) == ["wdbc"]
    assert set(missing) == {"Sonar", "Spect"}
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        load_encoded_datasets()


def test_the_reason_for_a_missing_data_set_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = load_encoded_datasets(stand_in=True)
    for part in ("Congressional Voting Records", "uci/vote.arff", "FAIRTRIAL_DATA"):
        assert part in missing["House"]
    assert "uci/spect.train.arff and uci/spect.test.arff" in missing["Spect"]
    assert not any("?" in reason for reason in missing.values())  # no similar name is suggested


def test_a_corrupted_file_keeps_its_own_reason(tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "vote.arff").write_text("@relation vote\n@attribute a {x\n@data\nx\n")
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    _, missing = load_encoded_datasets(stand_in=True)
    assert "vote.arff" in missing["House"]
    assert "was not found" not in missing["House"]


@pytest.mark.parametrize("name", DATASET_NAMES)
def test_the_files_in_the_reasons_exist(name, shared_data):
    for file in UCI_FILES[name][1].split(" and "):
        assert (shared_data / file).is_file()


def test_codes_lead_back_to_the_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=50).round(1), "hue": pd.Categorical(rng.choice(list("rg"), 50), categories=list("rgb"))}
    )
    frame.loc[::7, "x"] = np.nan
    frame.loc[::9, "hue"] = np.nan
    encoded = encode_dataset("things", Dataset.from_table(frame, rng.choice(["a", "b"], 50, p=[0.7, 0.3])))
    levels, offsets = encoded.columns.levels, encoded.columns.offsets
    x = np.where(encoded.codes[0] >= 0, levels[offsets[0] + encoded.codes[0]], np.nan)
    np.testing.assert_array_equal(x, frame["x"])
    assert [None if code < 0 else "rgb"[code] for code in encoded.codes[1]] == [
        None if pd.isna(value) else value for value in frame["hue"]
    ]
    assert encoded.columns.nominal.tolist() == [0, 1]
    assert offsets[2] - offsets[1] == 3  # a category without a row counts, as for WEKA


def test_the_rarer_class_is_positive():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert encode_dataset("few", Dataset.from_table(table, ["yes", "no", "no"])).classes.tolist() == [1, 0, 0]
    assert encode_dataset("few", Dataset.from_table(table, ["no", "yes", "yes"])).classes.tolist() == [1, 0, 0]


def test_more_than_two_classes_raise_an_error():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="flowers"):
        encode_dataset("flowers", Dataset.from_table(table, ["a", "b", "c"]))


def test_variants_of_cylinder(cylinder_variants):
    without_names, complete, named = cylinder_variants.values()
    assert [variant.codes.shape for variant in (without_names, complete, named)] == [(2, 5), (4, 3), (4, 5)]
    assert without_names.codes[0].tolist()[1] == -1
    assert (complete.codes >= 0).all()
    ink, humidity = named.codes[2:]
    assert len(set(ink.tolist())) == 3
    assert (ink >= 0).all()
    assert np.flatnonzero(humidity < 0).tolist() == [2]
    assert len({variant.content_hash for variant in cylinder_variants.values()}) == 3


def test_277_rows_of_cylinder_are_complete(shared_data, monkeypatch):
    """The UCI repository states 277 rows without missing values."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    shapes = [variant.codes.shape for variant in encode_cylinder_variants().values()]
    assert shapes == [(35, 540), (39, 277), (39, 540)]


# Cells


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return encode_dataset("tumours", Dataset.from_table(X[:150, :4], y[:150]))


def test_rounding_does_not_decide():
    first, second = (0.1 + 0.2) / 10, 0.3 / 10
    assert first != second
    assert compute_errors(np.array([[[first], [second]]])).tolist() == [[0.5]]
    assert compute_errors(np.array([[[second], [first + 1e-9]]])).tolist() == [[1.0]]


def test_losses_are_better_when_lower_and_undefined_ones_are_no_ties():
    means = np.array([[[0.2, 0.2, np.nan, 0.5, np.inf], [0.1, 0.1, 0.5, np.nan, np.inf]]])
    np.testing.assert_array_equal(compute_errors(means, [1, -1, 1, 1, 1]), [[0.0, 1.0, np.nan, np.nan, np.nan]])


def test_rates_are_of_the_repeats_in_which_a_measure_is_defined():
    nan = np.nan
    errors = np.array([[1.0, nan, nan], [0.0, 1.0, nan], [0.5, 0.5, nan], [0.0, nan, nan]])
    result = CellResult("a", 1, errors, np.zeros(3), np.zeros(3))
    np.testing.assert_array_equal(result.rates, [0.375, 0.75, nan])
    assert result.n_defined == (4, 2, 0)


def test_undefined_errors_are_kept_as_such(data, tmp_path, monkeypatch):
    means = np.full((3, 2, 6), 0.5)
    means[1, 0, 2] = np.nan
    monkeypatch.setattr(cells, "_compute_means", lambda *_: means)
    first = compute_cell(data, 1, CHOSEN, 3, 1, tmp_path)
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    again = compute_cell(data, 1, CHOSEN, 3, 1, tmp_path)
    np.testing.assert_array_equal(again.errors, first.errors)
    assert np.isnan(again.errors).sum() == 1
    assert np.isnan(again.errors[1, 2])


def test_a_finished_cell_is_reused(data, tmp_path, monkeypatch):
    first = compute_cell(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    again = compute_cell(data, 1, CHOSEN, 7, 3, tmp_path / "cells")
    np.testing.assert_array_equal(first.errors, again.errors)
    np.testing.assert_array_equal(first.values, again.values)
    for other in ((2, CHOSEN, 7, 3), (1, ALTERNATIVES[0], 7, 3), (1, CHOSEN, 8, 3), (1, CHOSEN, 7, 4)):
        with pytest.raises(TypeError):
            compute_cell(data, *other, tmp_path / "cells")


def test_a_corrupted_file_is_computed_again(data, tmp_path):
    first = compute_cell(data, 3, CHOSEN, 5, 1, tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"half a file")
    np.testing.assert_array_equal(compute_cell(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(compute_cell(data, 3, CHOSEN, 5, 1, tmp_path).errors, first.errors)


def test_further_measures_come_last_and_change_nothing(data, tmp_path):
    class Loss:
        direction = -1

        def __call__(self, y_true, scores, ends):
            assert y_true.shape == (5, 150)
            assert scores.shape == (5, 2, 150)
            assert ends == list(range(15, 151, 15))
            return np.tile([0.5, 0.4], (5, 1))

    plain, more = compute_cell(data, 2, CHOSEN, 5, 1, tmp_path), compute_cell(data, 2, CHOSEN, 5, 1, tmp_path, [Loss()])
    np.testing.assert_array_equal(more.errors[:, :6], plain.errors)
    assert more.errors[:, 6].tolist() == [1.0] * 5
    assert more.values[6] == 0.5


def test_more_repeats_continue_the_fewer(data, tmp_path):
    many, few = (compute_cell(data, 4, CHOSEN, size, 1, tmp_path) for size in (70, 50))
    np.testing.assert_array_equal(many.errors[:50], few.errors)
    assert len(many.errors) == 70
    np.testing.assert_allclose(many.rates, many.errors.mean(axis=0))


def test_interpretations_differ(data, tmp_path):
    result = [compute_cell(data, 1, interpretation, 20, 1, tmp_path).values for interpretation in (CHOSEN, *ALTERNATIVES)]
    assert all((first != second).any() for i, first in enumerate(result[:3]) for second in result[i + 1 : 3])
    severity = result[4]
    np.testing.assert_array_equal(severity[1:], result[0][1:])  # only H changes
    assert severity[0] != result[0][0]


def test_a_file_without_deviations_is_used_if_they_are_not_needed(data, tmp_path, monkeypatch):
    noisy, clean = (compute_cell(data, experiment, CHOSEN, 5, 1, tmp_path) for experiment in (1, 0))
    for path in tmp_path.iterdir():
        with np.load(path) as saved:
            older = {name: saved[name] for name in ("doubled", "values")}
        np.savez_compressed(path, **older)
    again = compute_cell(data, 0, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(again.deviations, clean.deviations)
    assert np.isfinite(clean.deviations).all()
    monkeypatch.setattr(cells, "_compute_means", None)  # computing again would fail
    result = compute_cell(data, 1, CHOSEN, 5, 1, tmp_path)
    np.testing.assert_array_equal(result.errors, noisy.errors)
    assert np.isnan(result.deviations).all()


def test_deviations_are_over_repeats(data, tmp_path):
    class Values:
        direction = 1

        def __call__(self, y_true, scores, ends):
            return np.array([[1.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [6.0, 0.0]])

    result = compute_cell(data, 0, CHOSEN, 4, 1, tmp_path, [Values()])
    assert result.deviations[6] == pytest.approx(np.std([1, 2, 6], ddof=1))


def test_means_over_repeats_are_students():
    values = [0.0, 0.5, 1.0, 1.0, 0.0]
    low, high = stats.t.interval(0.95, 4, 50, 100 * stats.sem(values))
    assert (estimate_over_repeats(values).low, estimate_over_repeats(values).high) == pytest.approx((low, high))
    assert estimate_over_repeats([1.0] * 4).is_positive is None


def test_means_over_cells_leave_out_what_is_undefined():
    """By hand: two cells of 3 and 2 defined repeats, variances 1/3 and 1/8, degrees of degrees_of_freedom after Welch."""
    nan = math.nan
    first, second = np.array([0.0, 1.0, nan, 1.0]), np.array([0.5, nan, nan, 0.0])
    parts = np.array([(1 / 3) / 3, (1 / 8) / 2])
    degrees_of_freedom = parts.sum() ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2)
    half = stats.t.ppf(0.975, degrees_of_freedom) * math.sqrt(parts.sum()) / 2
    mean = (2 / 3 + 1 / 4) / 2
    estimate = estimate_over_cells([first, second])
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (100 * mean, 100 * (mean - half), 100 * (mean + half))
    )
    assert math.isnan(estimate_over_cells([first, np.full(4, nan)]).value)
    whole = np.array([[0.0, 1.0, 1.0, 1.0], [0.5, 0.0, 0.0, 1.0]])
    assert estimate_over_cells(list(whole)) == estimate_over_repeats(whole.mean(axis=0))


def test_one_defined_repeat_has_no_interval():
    estimate = estimate_over_cells([np.array([1.0, math.nan]), np.array([0.0, 1.0])])
    assert estimate.value == 75.0
    assert math.isnan(estimate.low)


# User measures


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
    "path",
    [
        "no_such_package.measure",
        "fairtrial.measures.nothing",
        "not a path.x",
        ".auc",
        "math.pi",
        "sklearn.svm.SVC",
        "fairtrial.measures.accuracy",
    ],
)
def test_anything_but_a_measure_of_scores_raises_an_error(path):
    with pytest.raises(InputError, match=re.escape(path)):
        load_measure(path)


def test_unknown_names_get_a_hint():
    with pytest.raises(UnknownNameError, match=r"'auch?'"):
        load_measure("aucc")


def test_a_function_that_fails_is_named(scored):
    with pytest.raises(InputError, match=r"math.hypot .*TypeError"):
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
def test_the_papers_measures_cannot_be_added(path):
    with pytest.raises(InputError, match=path):
        load_measures([path])


def test_the_papers_measures_equal_the_registered_ones(tmp_path):
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
    ("path", "reason"),
    [
        ("of_my_own_first.fails", "RuntimeError"),
        ("of_my_own_first.many", "TypeError"),
        ("of_my_own_first.absent", ""),
        ("fairtrial.measures.accuracy", ""),
    ],
)
def test_measures_are_checked_before_the_run(path, reason):
    with pytest.raises(InputError, match=f"{path}.*{reason}"):
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
    with pytest.raises(UnknownNameError, match=f"'{name}'.*'{hint}'"):
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
    with pytest.warns(UndefinedMeasureWarning, match="mine .*2 of 8"):
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
        ([1.0] * 4, [1.0] * 4, {"with noise": 100.0, "without noise": 100.0}),
        ([1.0, 1.0, 0.5, 0.0], [0.0] * 4, {"with noise": 62.5}),
        ([0.0] * 4, [1.0, 1.0, 1.0, 0.0], {"without noise": 75.0}),
    ],
)
def test_a_possible_loss_causes_a_warning(noisy, clean, rates):
    result = compare(noisy, clean)
    with pytest.warns(SuspectInputWarning, match="mine") as caught:
        result.warn()
    assert result.may_be_loss
    assert result.rates_above_half == rates
    assert read_numbers(str(caught[0].message)) == list(rates.values())


def test_a_measure_that_declares_its_direction_is_not_a_possible_loss():
    result = compare([1.0] * 4, [1.0] * 4, declares_direction=True)
    assert_no_warning(result)
    assert not result.may_be_loss


# Tables


def test_the_published_table_agrees_with_itself():
    results = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    cells = compare_cells(results)
    assert len(cells) == 240
    assert cells["within"].all()
    assert cells["difference"].abs().max() <= 0.051  # halves of a repeat cannot be made of whole errors
    assert cells["dataset"].drop_duplicates().tolist() == list(PUBLISHED.loc[1].index)
    assert len(list_differing_cells(cells)) == 0


def test_cells_that_differ_are_starred_and_listed():
    ours = PUBLISHED.loc[1, "Sonar"].to_numpy(copy=True)
    ours[3] = 50.0
    cells = compare_cells([make_cell(1, "Sonar", ours)])
    assert cells["within"].tolist() == [True, True, True, False, True, True]
    assert format_cells(cells, MEASURES)["sAUC"].tolist() == ["50.00 (10.70) *"]
    assert format_cells(cells, MEASURES)["AUC"].tolist() == ["8.80 (8.80)"]
    listed = list_differing_cells(cells)
    assert listed[["experiment", "measure", "difference"]].to_numpy().tolist() == [["#1", "sAUC", pytest.approx(39.3)]]


def test_a_further_measure_has_no_published_rate():
    cells = compare_cells([make_cell(2, "Pima", [0, 0, 0, 0, 0, 0, 12.5])], measures=[*MEASURES, "mine"])
    assert format_cells(cells, [*MEASURES, "mine"])["mine"].tolist() == ["12.50"]
    assert len(list_differing_cells(cells)) == 0


def test_a_data_set_that_is_not_in_the_paper_has_no_published_rate():
    cells = compare_cells([make_cell(1, "wdbc", [1, 2, 3, 4, 5, 6])])
    assert cells["published"].isna().all()
    assert format_cells(cells, MEASURES)["KS"].tolist() == ["5.00"]


def test_means_are_over_the_data_sets_that_exist():
    results = [make_cell(experiment, dataset, [10] * 6) for experiment in (1, 2, 3, 4) for dataset in ("Sonar", "Spect")]
    means = compute_mean_errors(results)
    assert means["value"].tolist() == pytest.approx([10.0] * 24)
    first = means.iloc[0]
    assert first["published"] == pytest.approx((10.30 + 13.90) / 2)
    half = 1.96 * math.sqrt(2 * 0.1 * 0.9 / 1000) / 2  # of two independent proportions
    assert (first["low"], first["high"]) == pytest.approx((10 - 100 * half, 10 + 100 * half), abs=0.1)


def test_cells_within_sampling_error_are_counted_by_interpretation():
    good, bad = copy_published(1, "Liver"), make_cell(1, "Liver", [0] * 6)
    table = compare_interpretations({CHOSEN: [good], ALTERNATIVES[0]: [bad]})
    assert table["within"].tolist() == [6, 0]
    assert table["cells"].tolist() == [6, 6]
    assert table["largest distance"].tolist() == pytest.approx([0, 70.2])


def add_measure(experiment, dataset, own):
    """Make a cell of the six without errors, and a further measure with these."""
    errors = np.column_stack([np.zeros((len(own), 6)), own])
    return CellResult(dataset, experiment, errors, np.zeros(7), np.zeros(7))


def test_within_is_missing_without_published_rates():
    names = [*MEASURES, "mine"]
    cells = compare_cells([make_cell(2, "Pima", [0] * 7), make_cell(2, "wdbc", [0] * 7)], measures=names)
    assert cells["within"].isna().tolist() == [False] * 6 + [True] * 8
    assert cells.to_csv(index=False).count(",\n") == 8  # the last field is empty


def test_an_undefined_rate_stays_in_the_table():
    names = [*MEASURES, "mine"]
    cells = compare_cells([add_measure(1, "Sonar", [np.nan] * 4), add_measure(1, "Pima", [1, np.nan, 0.5, 0])], measures=names)
    assert len(cells) == 14
    assert format_cells(cells, names)["mine"].tolist() == ["undefined", "50.00"]
    assert cells.loc[cells["measure"] == "mine", "repeats"].tolist() == [0, 3]
    assert len(list_differing_cells(cells[cells["measure"] == "mine"])) == 0


def test_means_contain_further_measures_and_their_limits_are_rates():
    results = [add_measure(experiment, "Sonar", [0, 0, 0, 1]) for experiment in (1, 2, 3, 4)]
    means = compute_mean_errors(results, measures=[*MEASURES, "mine"])
    own = means[means["measure"] == "mine"]
    assert own["value"].tolist() == [25.0] * 4
    assert own["low"].tolist() == [0.0] * 4  # Student's would be below
    assert own["high"].tolist() == [100.0] * 4
    assert own["published"].isna().all()


def test_variants_of_cylinder_are_compared(cylinder_variants):
    datasets = dict(zip(("near", "far"), cylinder_variants.values(), strict=False))
    results = {
        "near": [copy_published(e, "Cylinder") for e in (1, 2, 3, 4)],
        "far": [make_cell(e, "Cylinder", [0, 0, 0, 50, 0, 0]) for e in (1, 2, 3, 4)],
    }
    table = build_cylinder_table(results, datasets).frame
    assert table["variant"].tolist() == ["near"] * 4 + ["far"] * 4
    assert table[["rows", "columns"]].drop_duplicates().to_numpy().tolist() == [[5, 2], [3, 4]]
    assert table["sAUC"].str.endswith("*").tolist() == [False] * 4 + [True] * 4


# Claims


def make_clean_cells(values, deviation=0.01):
    cells = []
    for dataset, auc in values.items():
        values_of_measures = np.zeros(6)
        values_of_measures[index_measure("auc")] = auc
        cells.append(CellResult(dataset, 0, np.zeros((10, 6)), values_of_measures, np.full(6, deviation)))
    return cells


CLEAN = {"Liver": 0.64, "Transfusion": 0.71, "Sonar": 0.8}


@pytest.fixture(scope="module")
def on_the_papers_table():
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    return build_claims(noisy, make_clean_cells(CLEAN))


def test_the_papers_table_contradicts_none_of_its_claims(on_the_papers_table):
    verdicts = {name: claim.verdict for name, claim in on_the_papers_table.items()}
    assert CONTRADICTED not in verdicts.values()
    reproduced = {name for name, verdict in verdicts.items() if verdict == REPRODUCED}
    assert {"most", "hard sAUC", "easiest", "lowest AUC", "classes", "attributes", "AUC robust", "taKS robust"} <= reproduced
    assert verdicts["H and AUC"] == REPRODUCED
    assert verdicts["H and taKS"] == REPRODUCED


def test_the_hardest_data_sets_depend_on_the_measure(on_the_papers_table):
    claim = on_the_papers_table["hardest"]
    assert claim.verdict == INCONCLUSIVE
    assert claim.variants["main run"] == claim.variants["sAUC"] == REPRODUCED
    assert claim.variants["AUC"] == claim.variants["H-measure"] == CONTRADICTED


def test_numbers_that_the_paper_quotes(on_the_papers_table):
    numbers = {name: read_numbers(claim.details)[:2] for name, claim in on_the_papers_table.items()}
    assert numbers["hard sAUC"] == [64.8, 78.3]
    assert numbers["Spect"] == [10.90, 3.30]
    assert numbers["House"] == [1.40, 0.20]


def test_the_text_is_compared_with_the_papers_own_table():
    quoted, hardest, robust = build_printed_claims()
    assert [claim.verdict for claim in (quoted, hardest, robust)] == [REPRODUCED, CONTRADICTED, REPRODUCED]
    assert hardest.details == "true only for sAUC"
    assert {claim.kind for claim in (quoted, hardest, robust)} == {"printed"}
    auc = PUBLISHED["auc"].mean()
    assert f"AUC {auc:.2f} %" in robust.details


def test_other_numbers_give_other_verdicts():
    rates = [5, 20, 5, 5, 5, 20]
    noisy = [make_cell(e, d, rates) for e in (1, 2, 3, 4) for d in ("Liver", "Transfusion", "Credit", "Spect", "House")]
    clean = make_clean_cells({"Liver": 0.9, "Transfusion": 0.9, "Spect": 0.5})
    verdicts = {name: claim.verdict for name, claim in build_claims(noisy, clean).items()}
    for name in ("most", "hard sAUC", "easiest", "lowest AUC", "AUC robust", "taKS robust", "H and AUC", "House"):
        assert verdicts[name] == CONTRADICTED, name
    assert verdicts["classes"] == INCONCLUSIVE


def test_another_interpretation_makes_a_claim_inconclusive(on_the_papers_table):
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    other = [make_cell(e, d, [5, 20, 5, 5, 5, 20]) for e in (1, 2, 3, 4) for d in DATASET_NAMES]
    claims = build_claims(noisy, make_clean_cells(CLEAN), {"stratified": noisy, "e1071": other})
    assert on_the_papers_table["AUC robust"].sensitivity == ""
    assert claims["AUC robust"].verdict == INCONCLUSIVE
    assert claims["AUC robust"].sensitivity == "main run: reproduced; e1071: contradicted"


def test_without_the_data_sets_claims_are_not_testable():
    noisy = [make_cell(e, "wdbc", [0] * 6, repeats=5) for e in (1, 2, 3, 4)]
    claims = build_claims(noisy, make_clean_cells({"wdbc": 0.9}))
    assert REPRODUCED not in {claim.verdict for claim in claims.values()}
    missing = ("hard sAUC", "hardest", "easiest", "lowest AUC", "Spect", "House")
    assert [claims[name].verdict for name in missing] == [NOT_TESTABLE] * 6
    assert len({claims[name].details for name in missing}) == 1  # the same reason


def test_smoke_runs_decide_nothing():
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    claims = build_claims(noisy, make_clean_cells(CLEAN), is_smoke=True)
    assert {claim.verdict for claim in claims.values()} == {INCONCLUSIVE}


def make_sets(percents, repeats=1000):
    """Make the cells of one data set for each list of error rates of the six measures."""
    return [make_cell(e, f"set {i}", rates, repeats) for i, rates in enumerate(percents) for e in (1, 2, 3, 4)]


def test_small_and_similar_errors_on_most_data_sets():
    good, high, uneven = [5] * 6, [40] * 6, [1, 1, 1, 18, 1, 1]
    assert judge_most(make_sets([good] * 3 + [high] * 2)).verdict == REPRODUCED
    assert judge_most(make_sets([good] * 2 + [high] * 2)).verdict == CONTRADICTED  # half is not most
    assert judge_most(make_sets([good] * 2 + [uneven] * 3)).verdict == CONTRADICTED
    nearly = [19] * 6  # below 20 %, but the interval is not
    assert judge_most(make_sets([good] * 2 + [nearly] * 2 + [high])).verdict == DIRECTION
    barely = [21] * 6
    assert judge_most(make_sets([good] * 2 + [barely] * 2 + [high])).verdict == INCONCLUSIVE
    assert judge_most(make_sets([good] * 3)).verdict == NOT_TESTABLE
    assert "contradicted on set 3 and set 4" in judge_most(make_sets([good] * 3 + [high] * 2)).details


def make_hard_cells(percents, repeats=1000, sets=("Liver", "Transfusion")):
    """Make the cells of both hard data sets with these errors of sAUC in the four experiments."""
    return [make_cell(e, d, [0, 0, 0, percent, 0, 0], repeats) for d in sets for e, percent in enumerate(percents, 1)]


@pytest.mark.parametrize(
    ("percents", "repeats", "verdict"),
    [
        ([70] * 4, 1000, REPRODUCED),
        ([52] * 4, 1000, REPRODUCED),  # no cell is significant alone, but all cells together are
        ([51] * 4, 200, DIRECTION),
        ([70, 70, 70, 49], 1000, REPRODUCED),
        ([70, 70, 70, 30], 1000, INCONCLUSIVE),  # one experiment to the contrary
        ([30] * 4, 1000, CONTRADICTED),
    ],
)
def test_sauc_on_the_hard_data_sets_is_judged_by_a_combined_test(percents, repeats, verdict):
    assert judge_hard_sauc(make_hard_cells(percents, repeats)).verdict == verdict


def test_sauc_on_the_hard_data_sets_needs_both_and_all_experiments():
    assert judge_hard_sauc(make_hard_cells([70] * 4, sets=["Liver"])).verdict == NOT_TESTABLE
    assert judge_hard_sauc(make_hard_cells([70] * 3)).verdict == NOT_TESTABLE


@pytest.mark.parametrize(
    ("percent", "repeats", "verdict"),
    [(0, 1000, REPRODUCED), (0, 4, DIRECTION), (1.2, 1000, INCONCLUSIVE), (5, 1000, CONTRADICTED)],
)
def test_negligible_errors_on_credit(percent, repeats, verdict):
    cells = [make_cell(e, "Credit", [percent] * 6, repeats) for e in (1, 2, 3, 4)]
    assert judge_easiest(cells).verdict == verdict


def make_ratio_cell(first, second, repeats=1000):
    return [make_cell(2, "House", [second, first, 0, 0, 0, 0], repeats)]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(40, 1, REPRODUCED), (1.4, 0.1, DIRECTION), (1.4, 0.2, INCONCLUSIVE), (1, 10, CONTRADICTED), (0, 0, NOT_TESTABLE)],
)
def test_a_ratio_of_errors(first, second, verdict):
    assert judge_ratio(make_ratio_cell(first, second), "House", "auc", "h_measure", 7).verdict == verdict


def make_targets(whole, training, repeats=1000):
    cells = []
    for position, name in enumerate(("Sonar", "Spect", "Pima")):
        cells += [make_cell(1, name, [whole[position]] * 6, repeats), make_cell(2, name, [training[position]] * 6, repeats)]
    return cells


@pytest.mark.parametrize(
    ("whole", "training", "verdict"),
    [
        ((20, 20, 20), (10, 10, 10), REPRODUCED),
        ((30, 30, 5), (10, 10, 15), REPRODUCED),  # the claim is about the mean
        ((10.5, 10.5, 10.5), (10, 10, 10), DIRECTION),
        ((10, 10, 10), (10.5, 10.5, 10.5), INCONCLUSIVE),
        ((10, 10, 10), (20, 20, 20), CONTRADICTED),
    ],
)
def test_noise_in_the_whole_data_set_is_judged_by_the_mean_over_data_sets(whole, training, verdict):
    judgement = judge_noise_target(make_targets(whole, training), 1, 2)
    assert judgement.verdict == verdict
    assert ("opposite on Pima" in judgement.details) == (whole[2] == 5)


@pytest.mark.parametrize(
    ("auc", "h_measure", "verdict"),
    [(3, 5, REPRODUCED), (3, 3.1, DIRECTION), (3, 8.3, INCONCLUSIVE), (3, 15, CONTRADICTED), (10, 3, CONTRADICTED)],
)
def test_slightly_higher_on_average(auc, h_measure, verdict):
    rng = np.random.default_rng(1)
    cells = []
    for e in (1, 2):
        for name in ("Sonar", "Spect", "Pima"):
            errors = np.zeros((1000, 6))
            for column, percent in ((0, h_measure), (1, auc)):
                errors[rng.permutation(1000)[: round(10 * percent)], column] = 1
            cells.append(CellResult(name, e, errors, np.zeros(6), np.zeros(6)))
    assert judge_order(cells, (1, 2), "auc", ("h_measure",), slightly=True).verdict == verdict


def test_vague_words_say_how_they_are_judged(on_the_papers_table):
    for name in ("most", "hard sAUC", "easiest", "H and AUC", "H and taKS", "AUC robust", "taKS robust"):
        assert "judged as: " in on_the_papers_table[name].text


def make_cells(hard, other, repeats=1000):
    return [
        make_cell(e, name, [rate] * 6, repeats)
        for e in (1, 2, 3, 4)
        for name, rate in (("Liver", hard), ("Transfusion", hard), ("Pima", other))
    ]


@pytest.mark.parametrize("measure", [None, "auc"])
def test_the_hardest_data_sets(measure):
    assert judge_hardest(make_cells(50, 10), measure).verdict == REPRODUCED
    assert judge_hardest(make_cells(11, 10), measure).verdict == DIRECTION
    assert judge_hardest(make_cells(10, 11), measure).verdict == INCONCLUSIVE
    assert judge_hardest(make_cells(10, 50), measure).verdict == CONTRADICTED
    assert judge_hardest(make_cells(50, 10)[1:], measure).verdict == NOT_TESTABLE  # a cell is missing


def test_the_hardest_data_sets_in_the_papers_own_table(monkeypatch):
    assert list_published_hardest() == ["sauc"]
    table = read_table1()
    table.loc[table["dataset"].isin(["Liver", "Transfusion"]), "value"] = 99.0
    monkeypatch.setattr(ranking_claims.tables, "read_table1", lambda: table)
    assert len(list_published_hardest()) == 6
    assert build_printed_claims()[1].verdict == REPRODUCED
    table["value"] = 1.0
    assert list_published_hardest() == []
    assert build_printed_claims()[1].details == "true for no measure"


@pytest.mark.parametrize(
    ("other", "deviation", "verdict"),
    [(0.8, 0.01, REPRODUCED), (0.71, 0.1, DIRECTION), (0.69, 0.1, INCONCLUSIVE), (0.5, 0.01, CONTRADICTED)],
)
def test_the_lowest_auc(other, deviation, verdict):
    clean = make_clean_cells({"Liver": 0.64, "Transfusion": 0.7, "Sonar": other}, deviation)
    assert judge_lowest_auc(clean).verdict == verdict


def test_our_target_is_three_in_four_cells():
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    claim = judge_target(compare_cells(noisy))
    assert (claim.verdict, claim.kind) == (REPRODUCED, "target")
    assert read_numbers(claim.details)[:2] == [240, 240]
    assert judge_target(compare_cells([make_cell(1, "Liver", [0] * 6)])).verdict == CONTRADICTED
    assert judge_target(compare_cells([make_cell(1, "Liver", [0] * 6, 400)])).verdict == INCONCLUSIVE  # fewer repeats
    assert judge_target(compare_cells([make_cell(1, "wdbc", [0] * 6)])).verdict == NOT_TESTABLE


def test_the_answer_follows_the_verdicts(on_the_papers_table):
    noisy = [copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index]
    answer = summarise_claims(on_the_papers_table, compare_cells(noisy))
    assert answer.startswith(
        "240 of 240 error rates of Table 1 agree within sampling error. If both experiments were the same, at least about 228"
    )
    assert "Reproduced: overall, AUC is the most robust of the usual measures" in answer
    few = summarise_claims(on_the_papers_table, compare_cells([make_cell(1, "Liver", [18] * 6, repeats=50)]))
    assert "in 50 of the paper's 1,000 repeats" in few
    nothing = summarise_claims(on_the_papers_table, compare_cells([make_cell(1, "wdbc", [0] * 6)]))
    assert nothing.startswith("None of the paper's data sets was found.")


DATASETS = tuple("abcdefgh")


def test_the_correlation_is_spearmans_with_a_jackknife_interval_over_data_sets():
    rng = np.random.default_rng(1)
    rates = rng.integers(0, 9, size=(16, 2)).astype(float)
    datasets = np.repeat(DATASETS, 2)
    correlation = estimate_correlation(rates, datasets)
    assert correlation.value == pytest.approx(stats.spearmanr(rates).statistic)
    left_out = np.array([stats.spearmanr(rates[datasets != name]).statistic for name in DATASETS])
    error = np.sqrt(7 / 8 * ((left_out - left_out.mean()) ** 2).sum())  # Efron and Stein 1981
    half = stats.t.ppf(0.975, 7) * error
    assert (correlation.low, correlation.high) == pytest.approx((correlation.value - half, min(correlation.value + half, 1)))


def make_rated_cells(compute_rate):
    return [
        make_cell(e, name, [compute_rate(row, column) for column in range(6)], 100)
        for e in (1, 2)
        for row, name in enumerate(DATASETS)
    ]


def test_correlations_are_judged():
    assert judge_correlations(make_rated_cells(lambda row, column: 5 * row + column)).verdict == REPRODUCED
    mixed = make_rated_cells(lambda row, column: 5 * row + 2 if column else 50 - 5 * row)
    assert judge_correlations(mixed).verdict == CONTRADICTED
    order = [3, 1, 4, 0, 6, 2, 7, 5]
    unclear = make_rated_cells(lambda row, column: 5 * row if column else 5 * order[row])
    assert judge_correlations(unclear).verdict == DIRECTION
    assert judge_correlations(make_rated_cells(lambda *_: 3)).verdict == NOT_TESTABLE
    assert judge_correlations(make_rated_cells(lambda row, _: 5 * row)[:3]).verdict == NOT_TESTABLE


# The experiment


@pytest.fixture
def no_datasets(monkeypatch):
    monkeypatch.delenv("FAIRTRIAL_DATA", raising=False)
    monkeypatch.setattr(ranking_datasets, "CATALOGUE_NAMES", {"Sonar": ["no-such-set"]})
    monkeypatch.setattr(ranking_datasets, "SPECT_NAMES", {"train": ["no-such-set"], "test": ["no-such-set"]})


@pytest.mark.usefixtures("no_datasets")
def test_smoke_runs_without_the_papers_data_sets(tmp_path):
    reproduction = reproduce(
        "ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False, measures=["average_precision"]
    )
    table = reproduction.frame("table1")
    assert table["data set"].unique().tolist() == ["wdbc"]
    assert "average_precision" in table.columns
    assert "average_precision" in reproduction.frame("means")["measure"].tolist()
    assert set(reproduction.skipped) == {"Sonar", "Spect"}
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert reproduction.values["n_compared"] == 0
    assert f"{reproduction.values['user_results'][0].noisy.value:.2f} %" in page


@pytest.mark.usefixtures("no_datasets")
def test_larger_scales_need_the_data_sets(tmp_path):
    with pytest.raises(InputError, match="FAIRTRIAL_DATA"):
        reproduce("ranking-real", scale="quick", out=tmp_path, jobs=1, progress=False)


def test_bad_paths_raise_an_error_before_the_run(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.at_all"):
        reproduce("ranking-real", scale="full", out=tmp_path, progress=False, measures=["nowhere.at_all"])


def test_smoke_runs_on_all_ten_data_sets(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    reproduction = reproduce("ranking-real", scale="smoke", out=tmp_path, jobs=2, progress=False)
    assert len(reproduction.frame("cells")) == 240
    assert len(reproduction.frame("readings")) == 2
    assert len(reproduction.figures) == 2
    assert len(list((tmp_path / "cells").iterdir())) == 90 + 12
    assert reproduction.frame("cylinder")["variant"].nunique() == 4
    assert {claim.verdict for claim in reproduction.claims if claim.kind != "printed"} <= {INCONCLUSIVE, NOT_TESTABLE}
    assert [table.name for table in reproduction.tables if table.is_main] == ["table1"]
    means = reproduction.frame("means")
    assert means["low"].min() == 0
    assert reproduction.skipped == {}


def test_error_rates_on_liver_are_near_the_papers(shared_data, monkeypatch, tmp_path):
    """Sampling alone: a mean distance of 400 and 1,000 repeats over 24 cells, and sAUC above one half throughout."""
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    liver = load_encoded_datasets()[0]["Liver"]
    results = [compute_cell(liver, experiment, CHOSEN, 400, 3, tmp_path) for experiment in (1, 2, 3, 4)]
    cells = compare_cells(results)
    assert cells["difference"].abs().mean() < 5
    assert (cells.loc[cells["measure"] == "sauc", "ours"] > 55).all()
    assert (cells.loc[cells["measure"] != "sauc", "ours"] < 35).all()
    assert np.isfinite(cells["low"]).all()


@pytest.mark.usefixtures("no_datasets")
def test_a_measure_without_values_is_reported_and_causes_a_warning(tmp_path, monkeypatch):
    (tmp_path / "of_my_own_holes.py").write_text("def never(y, s):\n    return float('nan')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UndefinedMeasureWarning, match="never .*20 of 20"):
        reproduction = reproduce(
            "ranking-real", scale="smoke", out=tmp_path / "out", jobs=1, progress=False, measures=["of_my_own_holes.never"] * 2
        )
    assert reproduction.frame("table1")["never"].tolist() == ["undefined"] * 4
    cells = reproduction.frame("cells")
    assert len(cells) == 28
    assert cells.loc[cells["measure"] == "never", "ours"].isna().all()
    [result] = reproduction.values["user_results"]
    assert result.n_undefined == result.n_comparisons == 20
    assert "never" in (tmp_path / "out" / "index.md").read_text(encoding="utf-8")


def render(results, folder, repeats=1000, interpretations=None):
    """Return the values of the page and its text."""
    if interpretations is None:
        interpretations = compare_interpretations({CHOSEN: results})
    values = summarise(compare_cells(results), interpretations, repeats)
    values |= {"n_datasets": 10, "repeats": repeats, "user_results": [], "cylinder_variants": {}, "alternatives": ALTERNATIVES}
    page = write_page(load_experiments()["ranking-real"], Request("full", folder), Reproduction(values, ()), [1.0])
    return values, page.read_text(encoding="utf-8")


def test_the_page_reports_full_agreement(tmp_path):
    values, page = render([copy_published(experiment, dataset) for experiment, dataset in PUBLISHED.index], tmp_path)
    assert (values["n_within"], values["n_compared"]) == (240, 240)
    assert values["house"] is values["cylinder_sauc"] is values["best_alternative"] is None
    assert "0 of 240 cells differ" in page
    assert all(interpretation.name in page for interpretation in ALTERNATIVES)
    assert not any(name in page for name in ("**Cylinder", "**House"))


def test_the_page_reports_which_cells_differ(tmp_path):
    values, page = render([make_cell(experiment, "Cylinder", [0] * 6, 400) for experiment in (1, 2, 3, 4)], tmp_path, 400)
    assert values["n_higher"] == 0
    assert len(values["cylinder_sauc"]) == 4
    for text in ("4 of 4", "0.00 to 0.00 %", "2.50 to 7.90 %"):
        assert text in page
    values, page = render([make_cell(1, "Liver", [0] * 6)], tmp_path)
    assert "6 of 6 cells differ" in page


def test_the_row_of_house_is_compared_with_experiment_1(tmp_path):
    values, page = render([copy_published(1, "House"), make_cell(2, "House", [0] * 6)], tmp_path)
    assert values["house"] == {"with_second": 3, "with_first": 6}
    assert "**House" in page


def test_the_page_names_the_best_alternative(tmp_path):
    names = [interpretation.description for interpretation in (CHOSEN, *ALTERNATIVES[:2])]
    counts = {"within": [4, 3, 5], "cells": 6, "mean distance": 1.0, "largest distance": 2.0}
    interpretations = pd.DataFrame({"interpretation": names, **counts})
    values, page = render([copy_published(1, "Pima")], tmp_path, interpretations=interpretations)
    best = values["best_alternative"]
    assert (best["interpretation"], best["within"], best["chosen_within"]) == (names[2], 5, 4)
    assert names[2] in page


def collect_rows(chart):
    return [row for values in chart.to_dict()["datasets"].values() for row in values]


def test_a_point_for_each_cell():
    lines = [(1, "Sonar", measure, 10.0 + i, 9.0, 8.0, 12.0) for i, measure in enumerate(MEASURES)]
    cells = pd.DataFrame(lines, columns=["experiment", "dataset", "measure", "ours", "published", "lowest", "highest"])
    points = {row["ours"] for row in collect_rows(draw_agreement(cells, 100)) if "dataset" in row}
    assert points == {10.0, 11.0, 12.0, 13.0, 14.0, 15.0}


def test_a_panel_for_each_experiment_with_all_measures():
    lines = [(title, measure, 5.0, 4.0, 6.0, 5.5) for title in EXPERIMENT_TITLES.values() for measure in MEASURES]
    lines += [(title, "package.mine", 7.0, 6.0, 8.0, float("nan")) for title in EXPERIMENT_TITLES.values()]
    means = pd.DataFrame(lines, columns=["experiment", "measure", "value", "low", "high", "published"])
    rows = collect_rows(draw_means(means))
    assert {row["experiment"] for row in rows} == set(EXPERIMENT_TITLES.values())
    further = [row for row in rows if row["learner"] == "package.mine"]
    assert [row["value"] for row in further] == [7.0] * 4
    assert all(row["published"] is None for row in further)
