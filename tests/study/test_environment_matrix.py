import numpy as np
import pytest
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import performance_deterioration
from fairtrial.study.environments import EnvironmentFailure, EnvironmentMatrix

PLAN = {"n_train": 10, "n_test": 20, "replicates": 4, "seed": 0, "alpha": 0.05}
HOME, AWAY = np.array([0.10, 0.12, 0.08, 0.10]), np.array([0.20, 0.24, 0.18, 0.22])
TRIVIAL = {"a": np.array([0.5, 0.5, 0.4, 0.6]), "b": np.array([0.3, 0.32, 0.28, 0.3])}


def matrix(errors, failures=(), trivial=TRIVIAL, learners=("tree",)):
    return EnvironmentMatrix.from_errors(learners, ["a", "b"], errors, trivial, failures, PLAN)


@pytest.fixture
def small():
    cells = {
        ("tree", "a", "a"): HOME,
        ("tree", "a", "b"): AWAY,
        ("tree", "b", "a"): AWAY + 0.1,
        ("tree", "b", "b"): HOME + 0.05,
    }
    return matrix(cells)


def test_means_and_pd_by_hand(small):
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    assert cell["error"] == pytest.approx(0.21)
    assert cell["ideal"] == pytest.approx(0.15)
    assert cell["trivial"] == pytest.approx(0.30)
    assert cell["loss"] == pytest.approx(0.06)
    assert cell["pd"] == pytest.approx((0.21 - 0.15) / (0.30 - 0.15))
    assert cell["pd_low"] <= cell["pd"] <= cell["pd_high"]
    assert (cell["replicates"], cell["failures"]) == (4, 0)


def test_intervals_of_errors_and_losses_are_those_of_scipy(small):
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    for name, values in (("error", AWAY), ("loss", AWAY - HOME - 0.05)):
        low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
        assert (cell[f"{name}_low"], cell[f"{name}_high"]) == (pytest.approx(low), pytest.approx(high))


def test_the_interval_of_pd_by_every_possible_resample(small):
    """With four replicates there are 256 resamples: their percentiles, up to the chance of the 2,000 drawn."""
    draws = np.array(np.meshgrid(*[range(4)] * 4)).reshape(4, -1).T
    every = performance_deterioration(AWAY[draws].mean(1), (HOME + 0.05)[draws].mean(1), TRIVIAL["b"][draws].mean(1))
    cell = small.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    assert cell["pd_low"] == pytest.approx(np.quantile(every, 0.025), abs=0.01)
    assert cell["pd_high"] == pytest.approx(np.quantile(every, 0.975), abs=0.01)


def test_matrices_and_averages(small):
    assert small.matrix("tree", "error").loc["b", "a"] == pytest.approx(0.31)
    assert np.diag(small.matrix("tree")).tolist() == [0, 0]
    averages = small.averages()
    assert averages["trained_on"].tolist() == ["a", "b"]
    assert averages["pd"].tolist() == pytest.approx([0.4, 0.21 / 0.4])
    assert len(small.runs()) == 16
    with pytest.raises(InputError, match="learner must be one of"):
        small.matrix("tre")
    with pytest.raises(InputError, match="value must be one of"):
        small.matrix("tree", "accuracy")


def test_it_can_be_read(small):
    text = str(small)
    assert text.splitlines()[0].endswith("1 learner, 2 environments, 4 replicates of 10 training and 20 test rows")
    assert "0.40 (21.0)" in text
    assert "trivial" in text
    assert "<table" in small._repr_html_()
    assert repr(small).startswith("<EnvironmentMatrix of 1 learner")


def test_names_are_escaped():
    cells = {("<b>", "a", "a"): HOME}
    assert "<b>" not in matrix(cells, learners=["<b>"])._repr_html_()


def test_failures_leave_holes_and_no_silent_numbers():
    broken = AWAY.copy()
    broken[1] = np.nan
    never = np.full(4, np.nan)
    cells = {("tree", "a", "a"): HOME, ("tree", "a", "b"): broken, ("tree", "b", "a"): never, ("tree", "b", "b"): HOME + 0.05}
    failed = EnvironmentFailure("tree", "b", "", 0, "ValueError", "no")
    result = matrix(cells, [failed])
    first = result.frame().query("trained_on == 'a' and tested_on == 'b'").iloc[0]
    kept = [0, 2, 3]
    assert (first["replicates"], first["failures"]) == (3, 1)
    assert first["error"] == pytest.approx(AWAY[kept].mean())
    expected = performance_deterioration(AWAY[kept].mean(), HOME[kept].mean() + 0.05, TRIVIAL["b"][kept].mean())
    assert first["pd"] == pytest.approx(expected)
    none = result.frame().query("trained_on == 'b' and tested_on == 'a'").iloc[0]
    assert np.isnan(none[["error", "loss", "pd", "pd_low"]].astype(float)).all()
    assert (none["replicates"], none["failures"]) == (0, 4)
    assert "1 failure" in str(result)
    assert "- (-)" in str(result)
    assert result.failures_frame()["message"].tolist() == ["no"]


def test_undefined_pd_warns_once():
    with pytest.warns(UndefinedMeasureWarning, match="pD is undefined in 1 cell ") as told:
        result = matrix({("tree", "a", "a"): HOME}, trivial={"a": HOME - 0.05, "b": HOME})
    assert len(told) == 1
    assert np.isnan(result.frame()["pd"][0])
    assert result.frame()["error"][0] == pytest.approx(0.1)


def test_one_replicate_has_no_interval():
    plan = PLAN | {"replicates": 1}
    result = EnvironmentMatrix.from_errors(["tree"], ["a"], {("tree", "a", "a"): HOME[:1]}, {"a": TRIVIAL["a"][:1]}, [], plan)
    cell = result.frame().iloc[0]
    assert cell["pd"] == 0
    assert np.isnan(cell[["pd_low", "pd_high", "error_low", "error_high"]].astype(float)).all()
