"""A way to call a command, and a small study that ran."""

import pytest
from typer.testing import CliRunner

from fairtrial.cli import app

STUDY = """
seed = 1
measures = ["accuracy", "auc"]
[data]
sets = ["iris", "wine"]
[learners]
gaussian-nb = {}
tree = { learner = "decision-tree" }
[conditions]
class-noise = [0, 0.2]
[resampling]
folds = 3
"""
TRIALS = 2 * 2 * 2 * 3


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="session")
def study_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "small.toml"
    file.write_text(STUDY)
    return file


@pytest.fixture(scope="session")
def finished(study_file):
    """The store of the study, run through the command line, and what the command printed."""
    store = study_file.with_name("small.fairtrial")
    told = CliRunner().invoke(app, ["run", str(study_file), "--store", str(store), "--jobs", "2"])
    return store, told
