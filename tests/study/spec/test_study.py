"""A study is the same in TOML and in Python."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, Clean
from fairtrial.data import load
from fairtrial.errors import InputError, SpecError
from fairtrial.learners import C45, Prepared, get_sampler
from fairtrial.resampling import Repeated, StratifiedKFold
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.spec.tuning import Tuned
from fairtrial.study.study import Study
from tests.study.small_study import Answering, Watching

STUDIES = Path(__file__).parents[3] / "studies"

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
    assert (living.scheme, living.repeats, living.limits) == (named.scheme, named.repeats, named.limits)


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
    found = Study.read(STUDIES / "quickstart.toml").resolve()
    assert [each.name for each in found.data] == ["iris", "wine", "breast_cancer", "digits"]
    assert len(found.learners) == 4
    assert [(each.name, each.level) for each in found.conditions] == [("clean", 0.0), ("class-noise", 0.1)]
    assert (found.resampling.splitter.n_splits, found.repeats, found.verdict.measure) == (5, 5, "accuracy")


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
