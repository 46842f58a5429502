"""Results that several tests look at: three learners on Labour and Breast Cancer, over WEKA's folds."""

import pytest

from fairtrial.data import load
from fairtrial.reproduce.tutorial.studies import declared
from fairtrial.study import Study


@pytest.fixture(scope="session")
def small_study(shared_data, tmp_path_factory):
    given = declared("eight_learners", folds=10)
    given["learners"] = {name: given["learners"][name] for name in ("NB", "C4.5", "Boost")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        sets = {"Breast Cancer": load("uci/breast-cancer"), "Labour": load("uci/labor")}
    return Study(data=sets, **given).run(tmp_path_factory.mktemp("tutorial") / "small.fairtrial", jobs=1, progress=False)


@pytest.fixture(scope="session")
def two_folds(shared_data, tmp_path_factory):
    """The same as a smoke run has it: two folds, where the tutorial has ten."""
    given = declared("eight_learners", folds=2)
    given["learners"] = {name: given["learners"][name] for name in ("NB", "C4.5", "Bagg")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        sets = {"Breast Cancer": load("uci/breast-cancer"), "Labour": load("uci/labor")}
    return Study(data=sets, **given).run(tmp_path_factory.mktemp("tutorial") / "two.fairtrial", jobs=1, progress=False)


@pytest.fixture(scope="session")
def labour(shared_data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        return load("uci/labor")
