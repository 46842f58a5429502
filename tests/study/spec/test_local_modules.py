"""Modules beside a study are found while they are imported, and travel with their code."""

import importlib
import os
import subprocess
import sys
import textwrap

import pytest

from fairtrial.errors import InputError, UnknownNameError
from fairtrial.study.spec.local_code import find_module_beside, import_class, make_importable
from fairtrial.study.store.store import open_store
from fairtrial.study.study import Study

HELPER = "def first(y):\n    return y[0]\n"
CODE = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
import {helper}

class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.first_ = {helper}.first(self.classes_)
        return self
    def predict(self, X):
        return np.full(len(X), self.first_)
"""


@pytest.fixture
def name(tmp_path):
    """A module that needs another one, both beside the study."""
    found = f"beside_{os.getpid()}_{abs(hash(tmp_path))}"
    (tmp_path / f"{found}.py").write_text(CODE.format(helper=f"{found}_helper"))
    (tmp_path / f"{found}_helper.py").write_text(HELPER)
    yield found
    for each in (found, f"{found}_helper", f"fairtrial_local_{found}"):
        sys.modules.pop(each, None)


def test_where_a_module_lies(tmp_path, name):
    (tmp_path / "spacious").mkdir()
    assert find_module_beside(f"{name}.inner", tmp_path) == str(tmp_path / f"{name}.py")
    assert find_module_beside("spacious", tmp_path) == str(tmp_path / "spacious")
    assert find_module_beside("nothing", tmp_path) is None


def test_the_path_of_python_is_as_before(tmp_path):
    before = list(sys.path)
    with make_importable(tmp_path):
        assert sys.path == [*before, str(tmp_path)]
    with pytest.raises(ModuleNotFoundError), make_importable(tmp_path):
        importlib.import_module("nothing_here")
    assert sys.path == before


def test_a_module_beside_the_study_is_found_where_it_is_allowed(tmp_path, name):
    with pytest.raises(InputError, match="--allow-local-code"):
        import_class(f"{name}.Mine", folder=tmp_path)
    assert name not in sys.modules
    found = import_class(f"{name}.Mine", allow_local_code=True, folder=tmp_path)
    assert found.__module__ == name
    assert import_class(f"{name}.Mine", allow_local_code=True, folder=tmp_path) is found
    with pytest.raises(UnknownNameError, match="nothing_here"):
        import_class("nothing_here.Mine", allow_local_code=True, folder=tmp_path)


def test_an_installed_module_goes_before_one_beside_the_study(tmp_path):
    (tmp_path / "sklearn.py").write_text("1 / 0")
    path = "sklearn.tree.DecisionTreeClassifier"
    assert import_class(path, allow_local_code=True, folder=tmp_path).__name__ == "DecisionTreeClassifier"


def test_a_module_of_that_name_from_another_folder_is_not_mistaken_for_it(tmp_path, name):
    import_class(f"{name}.Mine", allow_local_code=True, folder=tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / f"{name}.py").write_text(CODE.format(helper="math"))
    with pytest.raises(InputError, match="already imported"):
        import_class(f"{name}.Mine", allow_local_code=True, folder=tmp_path / "other")


@pytest.mark.parametrize("form", ["{}.Mine", "{}.py:Mine"])
def test_the_command_line_runs_it_in_other_processes(tmp_path, name, form):
    text = f"""
    measures = ["accuracy"]
    data = ["iris"]
    resampling = {{ folds = 2 }}
    learners = {{ mine = {{ learner = "{form.format(name)}" }} }}
    """
    (tmp_path / "study.toml").write_text(textwrap.dedent(text))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, "-m", "fairtrial", "run", "../study.toml", "--jobs", "1", "--allow-local-code"]
    environment = {each: value for each, value in os.environ.items() if each != "PYTHONPATH"}
    ran = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    with open_store(elsewhere / "study.fairtrial") as store:
        assert store.count_by_status() == {"ok": 2}


def test_a_study_in_python_finds_modules_of_the_current_folder(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study(data=["iris"], learners={"mine": f"{name}.Mine"}, allow_local_code=True)
    assert type(study.resolve().learners[0].estimator.learner).__module__ == name
