"""Intervals of the generalisation error of a study: nested cross-validation, conservative z and the corrected resampled t.

Expected values come from scikit-learn fits on the stored splits and from the reimplementation of the papers' formulas in
`tests/reference/generalisation.py`; tests/resampling/test_generalisation.py compares the formulas with mlr3inferr.
"""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

from fairtrial import Study
from fairtrial.cli import app
from fairtrial.data import Dataset
from fairtrial.errors import InputError, SpecError
from fairtrial.report.sections import scores
from fairtrial.report.source import describe_source
from fairtrial.resampling import NestedCV, PairedSubsampling, Repeated
from tests.reference import generalisation as reference

ROWS, FOLDS = 45, 3
NESTED = {"scheme": "nested-cv", "folds": FOLDS, "repeats": 2}
PAIRED = {"scheme": "conservative-z", "repeats_in": 4, "repeats_out": 3, "ratio": 0.75}


def make_data():
    rng = np.random.default_rng(8)
    y = np.arange(ROWS) % 2
    return rng.normal(size=(ROWS, 2)) + 1.2 * y[:, None], y


def make_study(resampling, measures=("error_rate",), learners=None, data=None):
    data = {"blobs": Dataset.from_table(*make_data(), name="blobs")} if data is None else data
    learners = {"bayes": GaussianNB(), "stump": "decision-stump"} if learners is None else learners
    return Study(data, learners, resampling=resampling, measures=list(measures), seed=3, name="intervals")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("generalisation")


@pytest.fixture(scope="module")
def nested(folder):
    return make_study(NESTED, ["error_rate", "auc"]).run(folder / "nested.fairtrial", jobs=1, progress=False)


@pytest.fixture(scope="module")
def paired(folder):
    return make_study(PAIRED, ["auc", "accuracy"]).run(folder / "paired.fairtrial", jobs=1, progress=False)


def list_splits(results):
    """List repeat, fold, training and test rows of all stored splits."""
    keys = results.trials()[["repeat", "fold"]].drop_duplicates().itertuples(index=False, name=None)
    return [(repeat, fold, *results.archive.split("blobs", repeat, fold)) for repeat, fold in keys]


def fit(train, test):
    X, y = make_data()
    return y[test], GaussianNB().fit(X[train], y[train]).predict_proba(X[test])


LOSSES = {
    "error_rate": lambda y, p: (p.argmax(axis=1) != y) * 1.0,
    "accuracy": lambda y, p: (p.argmax(axis=1) == y) * 1.0,
    "brier": lambda y, p: (p[:, 1] - y) ** 2,
    "log_loss": lambda y, p: -np.log(p[np.arange(len(y)), y]),
}


@pytest.mark.parametrize("measure", LOSSES)
def test_nested_cv_of_a_study(nested, measure):
    losses = {(repeat, fold): LOSSES[measure](*fit(train, test)).tolist() for repeat, fold, train, test in list_splits(nested)}
    inner = {fold: range(FOLDS + fold * (FOLDS - 1), FOLDS + (fold + 1) * (FOLDS - 1)) for fold in range(FOLDS)}
    pairs = [
        [(losses[repeat, fold], [value for number in inner[fold] for value in losses[repeat, number]]) for fold in range(FOLDS)]
        for repeat in range(2)
    ]
    expected = np.clip(reference.nested_cv(pairs, ROWS, 0.9), 0, None)
    table = nested.generalisation(measure, alpha=0.1)
    assert table["learner"].tolist() == ["bayes", "stump"]
    assert set(table["method"]) == {"nested cross-validation"}
    assert table.loc[0, "splits"] == 2 * FOLDS**2
    assert table.loc[0, ["estimate", "low", "high"]].tolist() == pytest.approx(expected.tolist())


def test_conservative_z_of_a_study(paired):
    aucs = {}
    for _, fold, train, test in list_splits(paired):
        y, probabilities = fit(train, test)
        aucs.setdefault(fold, []).append(roc_auc_score(y, probabilities[:, 1]))
    halves = [(aucs[1 + 2 * pair], aucs[2 + 2 * pair]) for pair in range(3)]
    expected = np.clip(reference.conservative_z(aucs[0], halves, 0.95), 0, 1)
    table = paired.generalisation()
    assert set(table["method"]) == {"conservative z"}
    assert table.loc[0, ["estimate", "low", "high"]].tolist() == pytest.approx(expected.tolist())


def test_other_schemes_have_the_corrected_t_interval(tmp_path):
    results = make_study({"folds": 5, "repeats": 2}).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    table = results.scores("accuracy")
    values = table.loc[table["learner"] == "bayes", "value"].to_numpy()
    error = np.sqrt((1 / 10 + 9 / 36) * values.var(ddof=1))
    expected = [values.mean(), *(values.mean() + np.array([-1, 1]) * stats.t.ppf(0.975, 9) * error)]
    line = results.generalisation("accuracy").iloc[0]
    assert (line["method"], line["splits"], line["note"]) == ("corrected resampled t", 10, "")
    assert line[["estimate", "low", "high"]].tolist() == pytest.approx([*expected[:2], min(1, expected[2])])
    assert line["standard_error"] == pytest.approx(error)


def test_scores_and_the_verdict_use_only_the_splits_of_all_rows(nested, paired):
    assert len(nested.trials()) == 2 * 2 * FOLDS**2
    assert len(nested.scores("accuracy")) == len(nested.scored_trials()) == 2 * 2 * FOLDS
    assert sorted(set(nested.scores("accuracy")["fold"])) == [0, 1, 2]
    assert len(paired.trials()) == 2 * 4 * 7
    assert set(paired.scores("accuracy")["fold"]) == {0}
    assert nested.verdict("error_rate").test_result is not None
    assert len(nested.curves("roc")["learner"].unique()) == 2
    expected = np.mean(
        [LOSSES["error_rate"](*fit(train, test)).mean() for _, fold, train, test in list_splits(nested) if fold < 3]
    )
    assert nested.wide("error_rate").loc["blobs", "bayes"] == pytest.approx(expected)


def test_one_of_several_schemes(nested, tmp_path):
    schemes = [{"scheme": "stratified", "folds": 3}, {**NESTED, "name": "intervals"}]
    results = make_study(schemes).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    assert set(results.generalisation()["method"]) == {"corrected resampled t"}
    table = results.generalisation(resampling="intervals")
    assert set(table["method"]) == {"nested cross-validation"}
    assert table["estimate"].tolist() == pytest.approx(nested.generalisation()["estimate"].tolist())
    assert len(results.scores()) == 2 * (3 + 2 * FOLDS)


@pytest.mark.parametrize(
    ("splitter", "declared"),
    [(Repeated(NestedCV(3), 2), NESTED), (PairedSubsampling(4, 3, 0.75), PAIRED)],
)
def test_splitters_as_objects_are_the_declared_schemes(splitter, declared):
    first, second = (make_study(resampling).plan() for resampling in (splitter, declared))
    assert first.get_keys(0).tobytes() == second.get_keys(0).tobytes()


@pytest.mark.parametrize("measure", ["auc", "rmse", "balanced_accuracy"])
def test_nested_cv_refuses_other_measures(nested, measure):
    with pytest.raises(InputError, match=f"measure must be a mean over rows .* got {measure}: .* 'conservative-z'"):
        nested.generalisation(measure)


def test_failed_trials_and_constant_scores_have_no_interval(tmp_path):
    X, _ = make_data()
    easy = Dataset.from_table(X * 0 + (np.arange(ROWS) % 2)[:, None], np.arange(ROWS) % 2, name="easy")
    learners = {"tree": "decision-tree", "fails": GaussianNB(priors=[0.5])}
    scheme = {"scheme": "conservative-z", "repeats_in": 1, "repeats_out": 1}
    results = make_study(scheme, learners=learners, data={"easy": easy}).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    tree, fails = results.generalisation().itertuples(index=False)
    assert (tree.estimate, tree.note) == (0, "no interval because the scores do not vary")
    assert np.isnan([tree.low, tree.high, fails.estimate, fails.low, fails.high]).all()
    assert fails.note == "3 trials failed"


def test_infinite_losses_have_no_interval(tmp_path):
    results = make_study(NESTED, learners=["decision-tree"]).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    line = results.generalisation("log_loss").iloc[0]
    assert np.isnan(line["estimate"])
    assert line["note"].startswith("undefined or infinite on ")
    clipped = results.generalisation("log_loss", clip=0.01).iloc[0]
    assert clipped["low"] <= clipped["estimate"] <= clipped["high"]


def test_conservative_z_leaves_out_splits_without_a_value(tmp_path):
    """With five positive rows, some test sets contain no positive row, so the AUC is undefined there."""
    X, _ = make_data()
    y = np.arange(ROWS) % 9 // 8
    study = make_study(PAIRED, learners={"bayes": GaussianNB()}, data={"blobs": Dataset.from_table(X, y, name="blobs")})
    results = study.run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    aucs, undefined = {fold: [] for fold in range(7)}, 0
    for _, fold, train, test in list_splits(results):
        if len(set(y[test])) == 2:
            probabilities = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
            aucs[fold].append(roc_auc_score(y[test], probabilities[:, -1]))  # one class in training: ties
        undefined += len(set(y[test])) == 1
    assert undefined
    assert all(aucs.values())
    expected = reference.conservative_z(aucs[0], [(aucs[fold], aucs[fold + 1]) for fold in (1, 3, 5)], 0.95)
    line = results.generalisation("auc").iloc[0]
    assert line["note"] == f"undefined on {undefined} of 28 splits, which are left out"
    assert line[["estimate", "low", "high"]].tolist() == pytest.approx(np.clip(expected, 0, 1).tolist())


def test_conditions_have_their_own_intervals(tmp_path):
    study = Study(
        {"blobs": Dataset.from_table(*make_data(), name="blobs")},
        {"bayes": GaussianNB()},
        conditions={"class-noise": [0.0, 0.4]},
        resampling=NESTED,
        seed=3,
    )
    results = study.run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    clean = results.generalisation("accuracy")
    noisy = results.generalisation("accuracy", condition="class-noise", level=0.4)
    assert clean["splits"].tolist() == noisy["splits"].tolist() == [2 * FOLDS**2]
    assert clean["estimate"].tolist() != noisy["estimate"].tolist()


def test_command_line_shows_the_intervals(nested, folder):
    path = str(folder / "nested.fairtrial")
    shown = CliRunner().invoke(app, ["results", path, "--show", "generalisation", "--csv"])
    lines = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [line["learner"] for line in lines] == ["bayes", "stump"]
    assert float(lines[0]["low"]) == pytest.approx(nested.generalisation().loc[0, "low"])
    table = CliRunner().invoke(app, ["results", path, "--show", "generalisation"])
    assert table.exit_code == 0
    assert "nested cross-validation" in table.stdout
    refused = CliRunner().invoke(app, ["results", path, "--show", "generalisation", "--measure", "auc"])
    assert refused.exit_code == 2
    assert "mean over rows" in refused.stderr


def find_section(results):
    section = scores.build_section(describe_source(results))
    return next((part for part in section.subsections if part.key == "scores-generalisation"), None)


def test_report_names_the_interval(nested, paired):
    section = find_section(nested)
    assert set(section.tables[0].frame["method"]) == {"nested cross-validation"}
    assert section.tables[0].frame["measure"].nunique() == 1  # AUC is not a mean over rows
    assert "conservative-z" in section.notes[0]
    assert find_section(paired).tables[0].frame["measure"].tolist() == ["AUC", "AUC", "accuracy", "accuracy"]


def test_report_of_folds_has_no_such_section(tmp_path):
    results = make_study({"folds": 3}).run(tmp_path / "a.fairtrial", jobs=1, progress=False)
    assert find_section(results) is None


STUDY = """
data = ["iris"]
learners = ["gaussian-nb"]
[resampling]
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('scheme = "nested-cv"\nfolds = 2', "the number of folds must be at least 3, got 2"),
        ('scheme = "nested-cv"\nfolds = 100', "the number of folds must be at most 75"),
        ('scheme = "conservative-z"\nrepeats = 5', "repeats must be 1 for conservative-z, got 5: set repeats_in"),
        ('scheme = "conservative-z"\nratio = 0.4', "ratio must be at least 2/3 and below 1, got 0.4"),
        ('scheme = "conservative-z"\nrepeats_in = 50000', "repeats_in must give at most 100,000 splits"),
    ],
)
def test_study_files_with_bad_parameters_are_refused(text, message, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY + text)
    with pytest.raises((SpecError, InputError)) as error:
        Study.read(tmp_path / "study.toml").plan()
    assert message in str(error.value)


@pytest.mark.parametrize("scheme", ["nested-cv", "conservative-z"])
def test_data_sets_with_groups_are_refused(scheme):
    X, y = make_data()
    patient = pd.Series(np.arange(ROWS) // 3, name="patient")
    dataset = Dataset.from_table(X, y, groups=patient, name="blobs")
    with pytest.raises(SpecError, match=f"blobs must not declare groups for the scheme '{scheme}'.*got 'patient': use the"):
        make_study({"scheme": scheme}, data={"blobs": dataset}).plan()
