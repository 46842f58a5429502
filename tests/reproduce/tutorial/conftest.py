"""Results that several tests look at: three learners on Labour and Breast Cancer, over WEKA's folds."""

import pytest

from fairtrial import Study
from fairtrial.data import load
from fairtrial.reproduce.tutorial.studies import declared


def run_again(shared_data, path, folds, learners):
    given = declared("eight_learners", folds=folds)
    given["learners"] = {name: given["learners"][name] for name in learners}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        sets = {"Breast Cancer": load("uci/breast-cancer"), "Labour": load("uci/labor")}
    return Study(data=sets, **given).run(path, jobs=1, progress=False)


@pytest.fixture(scope="session")
def small_study(shared_data, tmp_path_factory):
    return run_again(shared_data, tmp_path_factory.mktemp("tutorial") / "small.fairtrial", 10, ("NB", "C4.5", "Boost"))


@pytest.fixture(scope="session")
def two_folds(shared_data, tmp_path_factory):
    """The same as a smoke run has it: two folds, where the tutorial has ten."""
    return run_again(shared_data, tmp_path_factory.mktemp("tutorial") / "two.fairtrial", 2, ("NB", "C4.5", "Bagg"))


@pytest.fixture(scope="session")
def labour(shared_data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        return load("uci/labor")
