"""Studies of rows that are not independent: groups and time of a data set, the schemes that use them, and the verdict."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import t
from sklearn import model_selection

from fairtrial import Study, open_results
from fairtrial.data import Dataset, read
from fairtrial.errors import SpecError
from fairtrial.report.check import registry
from fairtrial.resampling import GroupKFold, TemporalSplit
from fairtrial.significance import corrected_resampled_t
from fairtrial.study.spec.schemes import build_scheme

N_GROUPS = 30

STUDY = """
seed = 1
measures = ["accuracy"]

[data.visits]
file = "visits.csv"
target = "outcome"
groups = "patient"
time = "date"

[learners]
c45 = {}
gaussian-nb = {}
"""


def make_visits(sizes=None, seed=0):
    """Visits of 30 patients on consecutive days, in random order; `trait` identifies the patient and tells nothing else."""
    rng = np.random.default_rng(seed)
    sizes = np.full(N_GROUPS, 4) if sizes is None else np.asarray(sizes)
    patient = rng.permutation(np.repeat(np.arange(N_GROUPS), sizes))
    n = len(patient)
    return pd.DataFrame(
        {
            "patient": [f"p{number:02}" for number in patient],
            "date": pd.date_range("2025-01-01", periods=n).strftime("%Y-%m-%d"),
            "trait": rng.normal(size=N_GROUPS)[patient] + rng.normal(scale=0.001, size=n),
            "dose": rng.normal(size=n),
            "outcome": np.array(["ill", "well"])[(rng.permutation(N_GROUPS) % 2)[patient]],
        }
    ).sample(frac=1, random_state=seed)


@pytest.fixture
def folder(tmp_path):
    """A folder with visits.csv. It is not the working folder, because every other one needs a new fork server (1.3 s)."""
    make_visits().to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path


def write_study(folder, resampling, text=STUDY):
    (folder / "study.toml").write_text(f"{text}\n[resampling]\n{resampling}\n")
    return Study.read(folder / "study.toml")


def list_splits(study):
    """List the splits of the only data set, and its rows."""
    [planned] = study.plan().data
    return list(planned.splits), planned.dataset


# --- Columns of a data set ---


def test_declared_columns_are_not_attributes(folder):
    [entry] = write_study(folder, "folds = 2").resolve().data
    assert list(entry.dataset.X) == ["trait", "dose"]
    assert (entry.dataset.groups.name, entry.dataset.time.name) == ("patient", "date")
    table = pd.read_csv(folder / "visits.csv")
    assert entry.dataset.groups.tolist() == table["patient"].tolist()
    seconds = (pd.to_datetime(table["date"]) - pd.Timestamp(0)).dt.total_seconds()
    assert entry.dataset.time.tolist() == seconds.tolist()


@pytest.mark.parametrize("resampling", ["folds = 5", 'scheme = "group"\nfolds = 5'])
def test_learners_do_not_see_groups(folder, resampling):
    text = STUDY.replace(
        "c45 = {}\ngaussian-nb = {}", 'tree = { learner = "decision-tree" }\nbase = { learner = "gaussian-nb" }'
    )
    results = write_study(folder, resampling, text).run(folder / "study.fairtrial", progress=False, jobs=1)
    facts = results.archive.datasets[0].facts
    assert (facts["numeric"], facts["nominal"]) == (2, 0)
    assert open_results(folder / "study.fairtrial").archive.datasets[0].group_column == "patient"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('groups = "patent"', "visits.csv, got 'patent': did you mean 'patient'?"),
        ('groups = "outcome"', "data.visits.groups: groups must differ from the class column, got 'outcome'"),
        ('groups = "date"', "groups and time must be different columns, got 'date' for both"),
    ],
)
def test_invalid_columns_are_reported_with_their_line(folder, line, text):
    with pytest.raises(SpecError, match=re.escape(text)):
        write_study(folder, "folds = 2", STUDY.replace('groups = "patient"', line)).resolve()


# --- Schemes ---


@pytest.mark.parametrize(
    "resampling",
    [
        'scheme = "group"\nfolds = 5\nrepeats = 3',
        'scheme = "group"\nfolds = 5\nbalance = false',
        'scheme = "stratified-group"\nfolds = 5\nrepeats = 2',
        'scheme = "leave-group-out"',
        'splitter = "sklearn.model_selection.GroupShuffleSplit"\nn_splits = 7\ntest_size = 0.2\nrepeats = 2',
        'splitter = "sklearn.model_selection.StratifiedGroupKFold"\nn_splits = 4\nshuffle = true\nrepeats = 2',
        'splitter = "sklearn.model_selection.LeaveOneGroupOut"',
    ],
)
def test_no_group_is_in_both_sets_of_a_split(folder, resampling):
    splits, data = list_splits(write_study(folder, resampling))
    groups = data.groups.to_numpy()
    assert len({(split.repeat, split.fold) for split in splits}) == len(splits) > 3
    assert all(not set(groups[split.train]) & set(groups[split.test]) for split in splits)


@settings(deadline=None, max_examples=30)
@given(
    name=st.sampled_from(["group", "stratified-group", "leave-group-out"]),
    sizes=st.lists(st.integers(1, 12), min_size=6, max_size=20),
    seed=st.integers(0, 2**31),
)
def test_groups_of_any_size_stay_together(name, sizes, seed):
    groups = np.random.default_rng(seed).permutation(np.repeat([f"g{i}" for i in range(len(sizes))], sizes))
    n = len(groups)
    data = Dataset.from_table(np.zeros((n, 1)), np.arange(n) % 2, groups=groups)
    scheme = build_scheme({"scheme": name} | ({} if name == "leave-group-out" else {"folds": 3}))
    for split in scheme.draw_splits(data, None, 0, np.random.default_rng(seed)):
        assert not set(groups[split.train]) & set(groups[split.test])
        assert len(split.train) + len(split.test) == n


@pytest.mark.parametrize(
    ("resampling", "gap"),
    [
        ('scheme = "temporal"', 1),
        ('scheme = "temporal"\nn_splits = 3\nwindow = "sliding"\ngap = "7 days"', 7),
        ('splitter = "sklearn.model_selection.TimeSeriesSplit"\nn_splits = 4', 1),
        ('splitter = "sklearn.model_selection.TimeSeriesSplit"\nn_splits = 4\ngap = 2', 3),
    ],
)
def test_training_rows_are_earlier_than_test_rows(folder, resampling, gap):
    splits, data = list_splits(write_study(folder, resampling))
    days = data.time.to_numpy() / 86400
    assert [days[split.test].min() - days[split.train].max() for split in splits] == [gap] * len(splits)


def test_a_splitter_of_scikit_learn_in_a_file_and_in_python_gives_the_same_trials(folder, monkeypatch):
    monkeypatch.chdir(folder)
    declared = write_study(folder, 'splitter = "sklearn.model_selection.GroupShuffleSplit"\nn_splits = 7\ntest_size = 0.2')
    data = {"visits": {"file": "visits.csv", "target": "outcome", "groups": "patient", "time": "date"}}
    learners = ["c45", "gaussian-nb"]
    options = {"measures": ["accuracy"], "seed": 1}
    made = Study(data, learners, resampling=model_selection.GroupShuffleSplit(7, test_size=0.2), **options)
    assert made == declared
    assert made.plan().get_keys(0).tobytes() == declared.plan().get_keys(0).tobytes()
    assert Study.read(made.write("again.toml")).plan().get_keys(0).tobytes() == declared.plan().get_keys(0).tobytes()
    other = Study(data, learners, resampling=model_selection.GroupShuffleSplit(7, test_size=0.2), measures=["accuracy"], seed=2)
    assert other.plan().get_keys(0).tobytes() != declared.plan().get_keys(0).tobytes()


def test_a_data_set_object_brings_its_groups():
    table = make_visits()
    data = read(table, target="outcome", groups="patient", time="date")
    splits, planned = list_splits(Study([data], ["c45"], resampling=GroupKFold(4)))
    groups = planned.groups.to_numpy()
    assert all(not set(groups[split.train]) & set(groups[split.test]) for split in splits)
    splits, planned = list_splits(Study([data], ["c45"], resampling=TemporalSplit(4)))
    assert all(planned.time[split.train].max() < planned.time[split.test].min() for split in splits)


@pytest.mark.parametrize(
    ("resampling", "role"),
    [
        ('scheme = "group"', "groups"),
        ('scheme = "stratified-group"', "groups"),
        ('scheme = "leave-group-out"', "groups"),
        ('splitter = "sklearn.model_selection.GroupKFold"', "groups"),
        ('scheme = "temporal"', "time"),
        ('splitter = "sklearn.model_selection.TimeSeriesSplit"', "time"),
    ],
)
def test_a_scheme_without_the_column_that_it_needs_is_refused_with_the_remedy(folder, resampling, role):
    text = STUDY.replace(f"{role} = ", "# ")
    with pytest.raises(
        SpecError, match=rf'visits must declare {role} for .*: write {role} = "COLUMN" in \[data.visits\]'
    ) as caught:
        write_study(folder, resampling, text).resolve()
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("resampling", "text"),
    [
        ('splitter = "sklearn.model_selection.KFold"\nfold = 3', "KFold has no parameter 'fold'"),
        ('splitter = "sklearn.model_selection.KFold"\nrandom_state = 3', "the seed of the study determines the splits"),
        ('splitter = "sklearn.model_selection.KFold"\nrepeats = 3', "repeats must be 1 for splitter, which is not random"),
        ('splitter = "sklearn.model_selection.KFolds"', "no class can be imported as 'sklearn.model_selection.KFolds'"),
        ('splitter = "os.system"', "os is part of the standard library"),
        ('splitter = "sklearn.svm.SVC"', "sklearn.svm.SVC must be a class with split and get_n_splits"),
        ('scheme = "group"\nsplitter = "sklearn.model_selection.KFold"', "resampling must have scheme or splitter, got both"),
        ('scheme = "splitter"', "resampling must name a class: write splitter = "),
        ('scheme = "group"\nfolds = 31', "folds must be at most the number of groups, 30 in visits (column 'patient'), got 31"),
        ('scheme = "temporal"\nrepeats = 2', "repeats must be 1 for temporal, which is not random, got 2"),
    ],
)
def test_invalid_schemes(folder, resampling, text):
    with pytest.raises(SpecError, match=re.escape(text)):
        write_study(folder, resampling).resolve()


def test_tuning_uses_the_groups_of_the_training_rows(folder):
    """The trait identifies patients, so inner folds that divide patients choose one neighbour, and whole patients do not."""
    visits = make_visits()
    visits.drop(columns="dose").to_csv(folder / "visits.csv", index=False)
    learner = (
        'knn = {{ learner = "nearest-neighbours", tune = {{ grid = {{ n_neighbours = [1, 40] }}, measure = "brier", {} }} }}'
    )
    scores = {}
    for name, inner in {"rows": "resampling = { folds = 3 }", "groups": 'resampling = { scheme = "group", folds = 3 }'}.items():
        text = STUDY.replace("c45 = {}", learner.format(inner)).replace('measures = ["accuracy"]', 'measures = ["brier"]')
        results = write_study(folder, 'scheme = "group"\nfolds = 5', text).run(
            folder / f"{name}.fairtrial", progress=False, jobs=1
        )
        frame = results.scores("brier")
        assert (frame["status"] == "ok").all()
        scores[name] = frame.loc[frame["learner"] == "knn", "value"].mean()
    assert scores["groups"] < scores["rows"] - 0.1
    with pytest.raises(SpecError, match="visits must declare groups for the tuning of knn, got none"):
        write_study(folder, "folds = 5", text.replace('groups = "patient"', "")).resolve()


def test_studies_without_groups_and_time_keep_their_keys():
    """The hashes were computed before data sets had groups."""
    expected = {
        "da9401767c6be151": {"folds": 3, "repeats": 2},
        "7ac8d4eef649c816": "kfold",
        "767af092f865ea55": {"scheme": "dob-scv", "folds": 3},
        "465d64d79b5d6725": {"scheme": "weka", "folds": 3},
        "3bd770ac9c573850": "holdout",
        "e648735d6056fcb1": {"scheme": "bootstrap", "n_splits": 5},
    }
    for digest, resampling in expected.items():
        [planned] = Study(data=["iris"], learners=["c45"], resampling=resampling, seed=3).plan().data
        assert planned.hash.startswith("a97edaca8db5ecb3")
        assert hashlib.sha256("".join(planned.split_hashes).encode()).hexdigest().startswith(digest)


# --- Verdict and methodology check ---


def test_the_verdict_counts_groups_instead_of_rows(tmp_path):
    """Nadeau & Bengio's correction needs the ratio of independent units; 6 of 30 patients are tested, whatever their rows."""
    table = make_visits(sizes=[40, 40, 40] + [2] * 27)
    data = Dataset.from_table(table[["trait", "dose"]], table["outcome"], groups=table["patient"].to_numpy(), name="visits")
    study = Study(
        [data], ["c45", "gaussian-nb"], resampling=model_selection.GroupShuffleSplit(8, test_size=6), measures="accuracy"
    )
    results = study.run(tmp_path / "study.fairtrial", progress=False, jobs=1)
    wide = results.scores("accuracy").pivot(index=["repeat", "fold"], columns="learner", values="value")
    difference = (wide["c45"] - wide["gaussian-nb"]).to_numpy()
    statistic = difference.mean() / np.sqrt((1 / 8 + 6 / 24) * difference.var(ddof=1))
    assert results.verdict().p_value == pytest.approx(2 * t.sf(abs(statistic), 7))
    assert {len(split.test) for split in list_splits(study)[0]} != {24}  # rows would give another ratio


def test_repeated_folds_of_groups_have_the_fraction_of_their_folds(folder):
    results = write_study(folder, 'scheme = "group"\nfolds = 5\nrepeats = 3').run(
        folder / "study.fairtrial", progress=False, jobs=1
    )
    wide = results.scores("accuracy").pivot(index=["repeat", "fold"], columns="learner", values="value")
    verdict = results.verdict()
    assert verdict.outcome.details["test_fraction"] == pytest.approx(1 / 5)
    expected = corrected_resampled_t(wide["c45"], wide["gaussian-nb"], test_fraction=0.2)
    assert verdict.p_value == pytest.approx(expected.p_value)
    assert verdict.undecidable is None
    assert not [caveat for caveat in verdict.caveats if caveat.kind == "groups_in_both_sets"]


def test_no_pair_is_decided_if_folds_divide_groups(folder):
    verdict = write_study(folder, "folds = 5").run(folder / "study.fairtrial", progress=False, jobs=1).verdict()
    assert (verdict.undecidable["datasets"], verdict.undecidable["columns"]) == (("visits",), ("patient",))
    assert verdict.pairs()["outcome"].tolist() == ["cannot be decided"]
    assert "beats" not in str(verdict)
    assert 'scheme = "group"' in str(verdict)


def test_several_data_sets_with_divided_groups_get_a_caveat(folder):
    text = STUDY.replace("[data.visits]", "[data]\nsets = ['iris']\n[data.visits]")
    verdict = write_study(folder, "folds = 3", text).run(folder / "study.fairtrial", progress=False, jobs=1).verdict()
    [caveat] = [caveat for caveat in verdict.caveats if caveat.kind == "groups_in_both_sets"]
    assert (caveat["datasets"], caveat["columns"]) == (("visits",), ("patient",))


def test_known_groups_may_be_predicted_in_time(folder):
    verdict = write_study(folder, 'scheme = "temporal"').run(folder / "study.fairtrial", progress=False, jobs=1).verdict()
    assert verdict.undecidable is None
    assert "groups_in_both_sets" in {caveat.kind for caveat in verdict.caveats}


def test_folds_of_groups_control_the_type_i_error_and_folds_of_rows_do_not():
    """Two equal models whose difference varies between 50 patients with 10 rows each (sd 1 between and within patients).

    600 runs; 3 standard errors of 5 % are 2.7 points.
    """
    rng = np.random.default_rng(11)
    patient = np.repeat(np.arange(50), 10)
    data = Dataset.from_table(np.zeros((500, 1)), np.arange(500) % 2, groups=patient)
    rejected = {"group": 0, "kfold": 0}
    for _ in range(600):
        difference = rng.normal(size=50)[patient] + rng.normal(size=500)
        for name in rejected:
            splits = build_scheme({"scheme": name, "folds": 10}).draw_splits(data, None, 0, rng)
            scores = [difference[split.test].mean() for split in splits]
            rejected[name] += corrected_resampled_t(scores, np.zeros(10), test_fraction=0.1).p_value <= 0.05
    assert rejected["group"] / 600 <= 0.05 + 0.027
    assert rejected["kfold"] / 600 > 0.10


def test_the_remedy_of_ft004_can_be_applied_as_written(folder):
    """Groups that folds divide raise FT004; its remedy, copied into the study file, removes the leak."""
    check = registry["FT004"]
    declared = STUDY.replace("c45 = {}", "decision-tree = {}")
    plain = declared.replace('groups = "patient"\n', "")
    leaking = write_study(folder, "folds = 5", declared).run(folder / "leaking.fairtrial", progress=False, jobs=1)
    found = check(leaking)
    assert (found.outcome, found.finding["column"], found.finding["worst"]) == ("raised", "patient", "visits")
    table, line = re.search(r'(\[data\.NAME\]) (groups = "COLUMN")', check.remedy).groups()
    schemes = re.search(r'\[resampling\] (scheme = "[a-z-]+") or ("[a-z-]+")', check.remedy).groups()
    for scheme in (schemes[0], f"scheme = {schemes[1]}"):
        table_name = table.replace("NAME", "visits")
        text = plain.replace(f"{table_name}\n", f"{table_name}\n{line.replace('COLUMN', 'patient')}\n")
        fixed = write_study(folder, f"{scheme}\nfolds = 5", text).run(
            folder / f"{len(scheme)}.fairtrial", progress=False, jobs=1
        )
        assert check(fixed).outcome == "passed"
        accuracy = [
            results.scores("accuracy").query("learner == 'decision-tree'")["value"].mean() for results in (leaking, fixed)
        ]
        assert accuracy[0] > accuracy[1] + 0.3  # the trait identifies the patients


@pytest.mark.parametrize(
    ("resampling", "outcomes"),
    [
        ('scheme = "temporal"\nn_splits = 3', ["not applicable", "not applicable"]),
        ('splitter = "sklearn.model_selection.GroupShuffleSplit"\nn_splits = 3', ["not applicable", "passed"]),
        ('splitter = "sklearn.model_selection.GroupKFold"\nn_splits = 3', ["not applicable", "not applicable"]),
        ('scheme = "group"\nfolds = 3', ["passed", "raised"]),
    ],
)
def test_checks_of_coverage_and_repeats_know_the_schemes(folder, resampling, outcomes):
    text = STUDY.replace("c45 = {}\ngaussian-nb = {}", "gaussian-nb = {}\none-r = {}")
    results = write_study(folder, resampling, text).run(folder / "study.fairtrial", progress=False, jobs=1)
    assert [registry[number](results).outcome for number in ("FT012", "FT016")] == outcomes
