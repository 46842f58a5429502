"""Tests of `fairtrial.study.spec.local_code`."""

import importlib
import os
import pickle
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.data import load
from fairtrial.errors import InputError, SpecError, UnknownNameError
from fairtrial.learners import C45
from fairtrial.study.spec.local_code import (
    CodePolicy,
    find_module_beside,
    import_class,
    list_installed_folders,
    make_importable,
)
from fairtrial.study.store.store import open_store
from fairtrial.study.study import Study

# --- Local code ---
# Only installed code runs: whatever else a study names is refused before it is imported.


CODE = """
from pathlib import Path
from sklearn.base import BaseEstimator
Path(__file__).with_suffix(".imported").touch()
class Mine(BaseEstimator):
    def fit(self, X, y): return self
    def predict(self, X): return [0] * len(X)
not_a_class = 3
"""


@pytest.fixture
def module(tmp_path):
    """A module that leaves a trace where it is imported."""
    name = f"module_{os.getpid()}_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(CODE)
    yield name
    sys.modules.pop(name, None)
    sys.modules.pop(f"fairtrial_local_{name}", None)


def traces(folder):
    return list(folder.rglob("*.imported"))


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("os:system", "'os:system' is refused"),
        ("os.system", "'os.system' is refused: os "),
        ("subprocess.Popen", "is refused: subprocess "),
        ("builtins.eval", "is refused: builtins "),
        ("__main__.X", "'__main__.X' is refused"),
        ("./file.py", "package.module.Class"),
        ("../elsewhere.Class", "package.module.Class"),
        ("/etc/passwd", "package.module.Class"),
        ("folder\\file.Class", "package.module.Class"),
        ("file.py", "package.module.Class"),
        ("package.module:Class", "package.module.Class"),
        ("no_such_package.Class", "no module no_such_package"),
        ("a..b", "package.module.Class"),
        ("foo.5bar", "package.module.Class"),
        ("sklearn.no_such.Class", "'sklearn.no_such.Class'"),
        ("sklearn.tree.NoSuch", "'NoSuch'"),
        ("sklearn.tree.export_text", "fit and predict"),
        ("sklearn.preprocessing.StandardScaler", "fit and predict"),
        ("sklearn.base.os.system", "'sklearn.base.os.system'"),
    ],
)
def test_what_is_refused(path, told):
    with pytest.raises((InputError, UnknownNameError), match=None) as caught:
        import_class(path)
    assert told in str(caught.value)


def test_a_module_of_the_current_folder_is_refused_before_it_is_imported(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    with pytest.raises(InputError, match="--allow-local-code"):
        import_class(f"{module}.Mine")
    assert not traces(tmp_path)
    assert import_class(f"{module}.Mine", allow_local_code=True).__name__ == "Mine"
    assert traces(tmp_path)


def test_a_module_of_the_python_path_is_refused_before_it_is_imported(module, tmp_path):
    script = f"""
    from fairtrial.study.spec.local_code import import_class
    try:
        import_class("{module}.Mine")
    except Exception as error:
        print(error)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "is refused" in found.stdout
    assert not traces(tmp_path)


def test_a_module_that_hides_an_installed_one_is_refused(tmp_path, monkeypatch):
    (tmp_path / "iniconfig.py").write_text(CODE)
    monkeypatch.delitem(sys.modules, "iniconfig", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="refused"):
        import_class("iniconfig.Mine")
    assert not traces(tmp_path)


def test_a_part_of_a_namespace_that_lies_elsewhere_is_refused(tmp_path, monkeypatch):
    site, local = tmp_path / "site", tmp_path / "local"
    for folder, part in ((site, "good"), (local, "evil")):
        (folder / "spacious").mkdir(parents=True)
        (folder / "spacious" / f"{part}.py").write_text(CODE)
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr("fairtrial.study.spec.local_code.list_installed_folders", lambda: [str(site)])
    with pytest.raises(InputError, match="refused"):
        import_class("spacious.evil.Mine")
    assert not traces(tmp_path)
    assert import_class("spacious.good.Mine").__module__ == "spacious.good"
    assert traces(site)
    assert not traces(local)
    for name in ("spacious", "spacious.good"):
        del sys.modules[name]


def test_files_are_run_where_local_code_is_allowed(module, tmp_path):
    with pytest.raises(InputError, match=r"package\.module\.Class"):
        import_class(f"{module}.py:Mine", folder=tmp_path)
    assert not traces(tmp_path)
    found = import_class(f"./{module}.py:Mine", allow_local_code=True, folder=tmp_path)
    assert found.__module__ == f"fairtrial_local_{module}"
    assert import_class(f"{module}.py:Mine", allow_local_code=True, folder=tmp_path) is found


def test_two_files_of_one_name_stay_apart(module, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / f"{module}.py").write_text(CODE)
    first = import_class(f"{module}.py:Mine", allow_local_code=True, folder=tmp_path)
    second = import_class(f"{module}.py:Mine", allow_local_code=True, folder=tmp_path / "other")
    assert first is not second
    assert first.__module__ != second.__module__
    del sys.modules[second.__module__]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("os:system", "os:system .*fit and predict"),
        ("os.system", "fit and predict"),
        ("subprocess.Popen", "fit and predict"),
        ("./no_such.py:Mine", "no file"),
        ("./file.py", "file.py:Class"),
        ("./folder/Class", "file.py:Class"),
    ],
)
def test_allowed_code_must_still_be_a_learner(path, told):
    with pytest.raises(InputError, match=told):
        import_class(path, allow_local_code=True)


def test_what_is_no_class_in_an_allowed_file(module, tmp_path):
    with pytest.raises(InputError, match="fit and predict, got 3"):
        import_class(f"{module}.py:not_a_class", allow_local_code=True, folder=tmp_path)


def test_a_file_that_breaks_is_told(tmp_path):
    (tmp_path / "broken_learner.py").write_text("1 / 0")
    with pytest.raises(InputError, match="ZeroDivisionError: division by zero"):
        import_class("broken_learner.py:X", allow_local_code=True, folder=tmp_path)
    assert "fairtrial_local_broken_learner" not in sys.modules


def test_main_is_found_where_it_is_allowed(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "Mine", C45, raising=False)
    assert import_class("__main__.Mine", allow_local_code=True) is C45


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("sklearn.tree.DecisionTreeClassifier", ("fit", "predict")),
        ("sklearn.ensemble._forest.RandomForestClassifier", ("fit", "predict")),
        ("imblearn.ensemble.BalancedRandomForestClassifier", ("fit", "predict")),
        ("sklearn.preprocessing.StandardScaler", ("fit", "transform")),
    ],
)
def test_installed_classes_are_found(path, methods):
    assert import_class(path, methods=methods).__name__ == path.rpartition(".")[2]


def test_an_editable_install_counts_as_installed():
    assert import_class("fairtrial.learners.C45") is C45


def test_folders_that_path_files_add_count_as_installed(tmp_path, monkeypatch):
    site, added = tmp_path / "site", tmp_path / "added"
    site.mkdir()
    added.mkdir()
    (site / "editable.pth").write_text(f"# comment\nimport os\n{added}\n{tmp_path / 'gone'}\n")
    monkeypatch.setattr("site.getsitepackages", lambda: [str(site)])
    assert str(added) in list_installed_folders()
    assert str(tmp_path / "gone") not in list_installed_folders()
    assert not any(Path(each).name == "import os" for each in list_installed_folders())


# --- Local modules ---
# Modules beside a study are found while they are imported, and travel with their code.


HELPER = "def first(y):\n    return y[0]\n"
CODE_LOCAL_MODULES = """
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
    (tmp_path / f"{found}.py").write_text(CODE_LOCAL_MODULES.format(helper=f"{found}_helper"))
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
    (tmp_path / "other" / f"{name}.py").write_text(CODE_LOCAL_MODULES.format(helper="math"))
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


# --- Study files of strangers ---


def write_study(folder, learner):
    file = folder / "stranger.toml"
    file.write_text(f'data = ["iris"]\n[resampling]\nfolds = 2\n[learners.it]\n{textwrap.dedent(learner)}')
    return file


def build_stranger(folder, learner, **options):
    return Study.read(write_study(folder, learner), **options).resolve().learners[0].estimator


class Payload:
    """Creates a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_a_poisoned_cache_of_joblib_is_not_unpickled(tmp_path):
    cache, mark = tmp_path / "cache", tmp_path / "code-ran"
    learner = f"""
        learner = "sklearn.pipeline.Pipeline"
        parameters.memory = "{cache}"
        parameters.steps = [["pca", {{ transformer = "sklearn.decomposition.PCA" }}], ["learn", {{ learner = "gaussian-nb" }}]]
    """
    data = load("iris")
    build_stranger(tmp_path, learner, allow_local_code=True).fit(data.X, data.y)
    [output] = cache.rglob("output.pkl")
    output.write_bytes(pickle.dumps(Payload(mark)))
    with suppress(Exception):  # the unpickled object is not a transformer
        build_stranger(tmp_path, learner, allow_local_code=True).fit(data.X, data.y)
    assert mark.is_dir()  # with the option, the attack succeeds
    mark.rmdir()
    for option in ("--dry-run", "--jobs=1"):
        result = CliRunner().invoke(app, ["run", str(tmp_path / "stranger.toml"), "--store", str(tmp_path / "s"), option])
        assert result.exit_code != 0
        assert "learners.it.parameters.memory: memory must not be a path in a study file" in result.output
        assert "--allow-local-code" in result.output
    assert not mark.exists()


@pytest.mark.parametrize(
    ("table", "location", "message"),
    [
        (
            'learner = "sklearn.pipeline.make_pipeline"\nparameters = { memory = "x", steps = [] }',
            "parameters.memory",
            "a path",
        ),
        (
            'learner = "sklearn.pipeline.make_pipeline"\nparameters.memory = { transformer = "joblib.Memory", location = "x" }',
            "parameters.memory",
            "a path",
        ),
        ('learner = "svc"\ntune = { grid = { learn__memory = ["x"] } }', "tune.grid.learn__memory", "a path"),
        (
            'learner = "sklearn.model_selection.GridSearchCV"\nparameters = { estimator = { learner = "svc" }, '
            'param_grid = [{ memory = ["x"] }] }',
            "parameters.param_grid[0].memory",
            "a path",
        ),
        (
            'learner = "bagging"\nparameters.estimator = { transformer = "sklearn.cluster.FeatureAgglomeration", memory = "" }',
            "parameters.estimator.memory",
            "a path",
        ),
        (
            'learner = "bagging"\nparameters.estimator = { transformer = "sklearn.feature_extraction.text.TfidfVectorizer", '
            'input = "filename" }',
            "parameters.estimator.input",
            "a path",
        ),
        ('learner = "numpy.load"', "learner", "must be a class with fit and predict"),
        ('learner = "joblib.Memory"', "learner", "must be a class with fit and predict"),
        ('learner = "sklearn.__main__.X"', "learner", "__main__ is not a package"),
        ('learner = "bagging"\nparameters.estimator = { transformer = "joblib.Memory" }', "parameters.estimator", "must be a"),
        ('learner = "bagging"\nparameters.estimator = { function = "numpy.load" }', "parameters.estimator", "name functions"),
        (
            'learner = "bagging"\nparameters.estimator = { selector = "numpy.load" }',
            "parameters.estimator",
            "selector must be 'sklearn.compose.make_column_selector'",
        ),
        (
            'learner = "bagging"\nparameters.estimator = { transformer = "sklearn.preprocessing.FunctionTransformer", '
            'func = { function = "os.system" } }',
            "parameters.estimator.func",
            "must not name functions",
        ),
    ],
)
def test_a_study_file_cannot_name_paths_functions_and_other_classes(tmp_path, table, location, message):
    with pytest.raises(SpecError) as caught:
        build_stranger(tmp_path, table)
    problem = next(problem for problem in caught.value.problems if problem.location == f"learners.it.{location}")
    assert message in problem.message


def test_the_option_allows_functions_and_caches(tmp_path):
    learner = """
        learner = "sklearn.pipeline.make_pipeline"
        [learners.it.parameters]
        memory = "cache"
        steps = [
            { transformer = "sklearn.preprocessing.FunctionTransformer", func = { function = "numpy.log1p" } },
            { learner = "gaussian-nb" },
        ]
    """
    pipeline = build_stranger(tmp_path, learner, allow_local_code=True)
    assert (pipeline.memory, pipeline[0].func) == ("cache", np.log1p)


@pytest.mark.parametrize("name", ["cache_size", "path_smooth", "fit_path", "max_memory"])
def test_numbers_are_not_paths(name):
    for value in (200, 0.5, True, {"value": "none"}, [1, 2]):
        CodePolicy().check_parameter(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("train_dir", "x"),
        ("save_snapshot", True),
        ("input_borders", "x"),
        ("snapshot_file", "x"),
        ("forcedsplits_filename", "x"),
        ("forcedbins_filename", "x"),
        ("fs", "x"),
        ("machine_list_filename", "x"),
        ("input_model", "x"),
        ("xgb_model", "x"),
        ("cacheDir", ["x"]),
        ("model__checkpoint_path", "x"),
    ],
)
def test_parameters_of_other_libraries_that_contain_paths_are_refused(name, value):
    with pytest.raises(InputError, match="must not be a path in a study file"):
        CodePolicy().check_parameter(name, value)
    CodePolicy(allow_local=True).check_parameter(name, value)


def test_text_in_undeclared_keywords_is_refused():
    def make(n_estimators=100, **kwargs):
        pass

    CodePolicy().check_keywords("booster", make, {"n_estimators": "x", "metric": "auc", "lambda": 3})
    with pytest.raises(InputError, match="booster does not declare 'initscore', so its text may be a path"):
        CodePolicy().check_keywords("booster", make, {"initscore": "x"})


def test_an_installed_class_must_be_an_estimator(tmp_path, monkeypatch):
    (tmp_path / "installed_module.py").write_text(
        "class Mine:\n    def fit(self, X, y): pass\n    def predict(self, X): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("fairtrial.study.spec.local_code.list_installed_folders", lambda: [str(tmp_path)])
    with pytest.raises(InputError, match=r"must be an estimator of scikit-learn .* pass --allow-local-code"):
        import_class("installed_module.Mine")
    assert import_class("installed_module.Mine", allow_local_code=True).__name__ == "Mine"
