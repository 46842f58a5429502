"""Results that several tests use: three learners on Labour and Breast Cancer, over WEKA's folds."""

import pytest

from fairtrial import Study
from fairtrial.data import load
from fairtrial.reproduce.tutorial.inputs import declare_study


def run_study(shared_data, path, n_folds, learners):
    declared = declare_study("eight_learners", n_folds)
    declared["learners"] = {name: declared["learners"][name] for name in learners}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        datasets = {"Breast Cancer": load("uci/breast-cancer"), "Labour": load("uci/labor")}
    return Study(data=datasets, **declared).run(path, jobs=1, progress=False)


@pytest.fixture(scope="session")
def small_study(shared_data, tmp_path_factory):
    return run_study(shared_data, tmp_path_factory.mktemp("tutorial") / "small.fairtrial", 10, ("NB", "C4.5", "Boost"))


@pytest.fixture(scope="session")
def two_folds(shared_data, tmp_path_factory):
    """Two folds, as at smoke scale; the tutorial has ten."""
    return run_study(shared_data, tmp_path_factory.mktemp("tutorial") / "two.fairtrial", 2, ("NB", "C4.5", "Bagg"))


@pytest.fixture(scope="session")
def labour(shared_data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        return load("uci/labor")


@pytest.fixture(scope="session")
def frame():
    """Return a table of a section by its name, indexed by its first column on request."""

    def find(section, name, index=None):
        table = next(table.frame for table in section.tables if table.name == name)
        return table if index is None else table.set_index(index)

    return find
