"""Estimates on simulated samples, and their bias and error if the performance is known."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from fairtrial.reproduce.dobscv import simulation
from fairtrial.reproduce.dobscv.simulation import (
    COLUMNS,
    SPLITTERS,
    Simulation,
    build_populations,
    make_splitter,
    simulate_replicate,
)
from fairtrial.reproduce.dobscv.studies import SCV
from fairtrial.reproduce.experiment import Request


def test_proportions_of_the_rare_class():
    samples = [population.sample(20_000, 1)[1] for population in build_populations().values()]
    assert [float((y == "positive").mean()) for y in samples] == pytest.approx([0.1, 0.15, 0.15, 0.5], abs=0.01)


@pytest.mark.parametrize("scheme", SPLITTERS)
def test_five_folds_test_all_rows(scheme):
    data = build_populations()["a rare cloud"].dataset(100, 2)
    tested = [test for _, test in make_splitter(scheme, 1).split(data.X, data.y)]
    assert len(tested) == 5
    assert sorted(np.concatenate(tested)) == list(range(100))


def test_a_replicate_depends_on_its_numbers_alone(monkeypatch):
    monkeypatch.setattr(simulation, "_N_NEW", 100)
    monkeypatch.setattr(simulation, "SPLITTERS", ("SCV", "DOB-SCV literal"))
    first, second = (pd.DataFrame(simulate_replicate("equal classes", 0, 1), columns=COLUMNS) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert len(first) == 5 * 2 * 2
    # The best rule has 1 - 0.2266 = 0.7734 (two unit clouds, 1.5 apart); nobody is better but by chance, nor far below.
    rows = first.query("measure == 'balanced accuracy' and learner != 'Chi'")
    assert rows[["true_value", "fold_true_value"]].stack().between(0.55, 0.90).all()
    # All schemes are compared with the same learner trained on all rows.
    assert (first.groupby(["learner", "measure"])["true_value"].nunique() == 1).all()


@pytest.fixture
def requested(monkeypatch):
    """The numbers of the replicates that were simulated; each takes no time."""
    numbers = []

    def simulate_nothing(name, replicate, _seed):
        numbers.append(replicate)
        return [(name, replicate, "C4.5", "SCV", "AUC", 0.5, 0.5, 0.5)]

    monkeypatch.setattr(simulation, "simulate_replicate", simulate_nothing)
    return numbers


def test_files_of_another_version_are_not_read(requested, tmp_path, monkeypatch):
    request = Request("smoke", tmp_path)
    Simulation.run(request, {"a rare cloud": 2})
    assert [path.name for path in (tmp_path / "simulation").iterdir()] == ["a-rare-cloud-0-2-seed-1.csv"]
    monkeypatch.setattr(simulation, "_VERSION", 2)
    Simulation.run(request, {"a rare cloud": 2})
    assert requested == [0, 1, 0, 1]
    assert (tmp_path / "simulation" / "a-rare-cloud-0-2-seed-1-version-2.csv").exists()


def test_finished_replicates_are_not_simulated_again(requested, tmp_path):
    request = Request("smoke", tmp_path)
    assert Simulation.run(request, {"a rare cloud": 7}).rows["replicate"].tolist() == list(range(7))
    assert len(Simulation.run(request, {"a rare cloud": 7}).rows) == 7
    assert requested == list(range(7))


def test_bias_and_error(simulated):
    biases = simulated.biases.set_index(["population", "learner", "scheme"])
    scv, kfold = biases.loc[("a", "C4.5", SCV)], biases.loc[("a", "C4.5", "k-fold")]
    rows = simulated.rows.query("population == 'a' and learner == 'C4.5' and scheme == 'SCV'")
    errors = rows["estimate"] - 0.8
    assert scv["bias"] == pytest.approx(errors.mean())
    assert scv["rmse"] == pytest.approx(np.sqrt((errors**2).mean()))
    assert kfold["bias"] - scv["bias"] == pytest.approx(0.05)
    assert kfold["fold_bias"] == pytest.approx(kfold["bias"] - 0.01)
    assert scv["excess"] == 0
    assert kfold["excess"] == pytest.approx(((errors + 0.05) ** 2).mean() - (errors**2).mean())


def test_pooled_biases_count_cells(simulated):
    pooled = simulated.pooled_biases.set_index("scheme")
    assert pooled.loc["k-fold", ["cells", "optimistic", "greater error than SCV"]].tolist() == [4, 4, 4]
    assert pooled.loc[SCV, ["smaller error than SCV", "greater error than SCV"]].tolist() == [0, 0]


def test_learners_on_one_sample_do_not_narrow_the_interval(simulated):
    both, one = (
        Simulation(rows).pooled_biases.set_index("scheme")
        for rows in (simulated.rows, simulated.rows.query("learner == 'SMO'"))
    )
    assert both.loc[SCV, "bias_high"] == pytest.approx(one.loc[SCV, "bias_high"])


def test_the_interval_of_the_excess_is_over_samples(simulated):
    pooled = simulated.pooled_biases.set_index("scheme").loc["k-fold"]
    rows = simulated.rows.query("learner == 'SMO' and scheme == 'SCV'").set_index(["population", "replicate"])
    error = rows["estimate"] - 0.8
    excess = ((error + 0.05) ** 2 - error**2).unstack("population")
    expected = ttest_1samp((excess["a"] + excess["b"]) / 2, 0).confidence_interval()
    assert pooled["excess"] == pytest.approx(excess.mean().mean())
    assert (pooled["excess_low"], pooled["excess_high"]) == pytest.approx((expected.low, expected.high))


def test_two_samples_have_a_wide_interval(simulated):
    rows = simulated.rows[simulated.rows["replicate"] < 2]
    pooled = Simulation(rows).pooled_biases.set_index("scheme").loc[SCV]
    means = rows.query("learner == 'SMO' and scheme == 'SCV'").groupby("replicate")["estimate"].mean()
    half = 12.7062 * abs(means[0] - means[1]) / 2  # Student's t with one degree of freedom
    assert pooled["bias_high"] - pooled["bias"] == pytest.approx(half, rel=1e-4)


def test_problems_have_equal_weights_and_are_fixed(simulated):
    rows = simulated.rows
    shifted = rows.assign(estimate=rows["estimate"] + 0.1 * (rows["population"] == "b"))
    before, after = (Simulation(frame).pooled_biases.set_index("scheme").loc[SCV] for frame in (rows, shifted))
    assert after["bias"] - before["bias"] == pytest.approx(0.05)
    assert after["bias_high"] - after["bias"] == pytest.approx(before["bias_high"] - before["bias"])
