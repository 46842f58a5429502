import dataclasses

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.estimates import running
from fairtrial.reproduce.estimates.estimating import METHODS
from fairtrial.reproduce.estimates.problems import plan_of
from fairtrial.reproduce.estimates.running import Cell, run_cells, simulate
from fairtrial.study import randomness
from fairtrial.study.randomness import derive_seed

PLAN = dataclasses.replace(plan_of("smoke"), problems=("no signal",), sizes=(25,), replicates={"c45": 2, "others": 2})


def test_a_second_run_reads_what_the_first_wrote(tmp_path, monkeypatch):
    first = run_cells(PLAN, 1, 1, tmp_path)
    assert len(first) == 4 * 2 * len(METHODS)
    assert len(list((tmp_path / "draws").iterdir())) == 4

    def refuse(*_):
        raise AssertionError("simulated again")

    monkeypatch.setattr(running, "simulate", refuse)
    pd.testing.assert_frame_equal(run_cells(PLAN, 1, 1, tmp_path), first)
    with pytest.raises(AssertionError, match="simulated again"):
        run_cells(PLAN, 2, 1, tmp_path)  # another seed is another run


@pytest.mark.parametrize(
    ("name", "value"), [("LEVEL", 0.9), ("SHRINKAGE", 0.2), ("METHODS", METHODS[:-1]), ("_VERSION", running._VERSION + 1)]
)
def test_draws_of_other_settings_are_not_read(tmp_path, monkeypatch, name, value):
    monkeypatch.setattr(running, "simulate", lambda cell, *_: pd.DataFrame({"learner": [cell.learner]}))
    run_cells(PLAN, 1, 1, tmp_path)
    kept = set((tmp_path / "draws").iterdir())
    monkeypatch.setattr(running, name, value)
    run_cells(PLAN, 1, 1, tmp_path)
    assert len(set((tmp_path / "draws").iterdir()) - kept) == 4


def test_learners_share_their_random_numbers_and_nothing_else_does(monkeypatch):
    """Replicates are the independent units: each problem, size and replicate has samples, new rows and splits of its own."""
    seeds = {}

    def noted(*names):
        found = np.random.default_rng(derive_seed(*names))
        seeds.setdefault(cell, []).append(derive_seed(*names))
        return found

    monkeypatch.setattr(randomness, "derive_generator", noted)
    places = [("no signal", 25), ("no signal", 50), ("two Gaussians", 25)]
    for place in places:
        for learner in ("naive Bayes", "nearest neighbour"):
            cell = Cell(*place, learner)
            simulate(cell, PLAN, 1)
    used = [seeds[Cell(*place, "naive Bayes")] for place in places]
    assert used == [seeds[Cell(*place, "nearest neighbour")] for place in places]
    assert len({seed for each in used for seed in each}) == 3 * 2 * 3  # places, replicates, and what is drawn in each


def test_more_replicates_change_none_of_the_first():
    cell = Cell("no signal", 25, "naive Bayes")
    few, many = (simulate(cell, dataclasses.replace(PLAN, replicates={"c45": 1, "others": count}), 1) for count in (2, 3))
    pd.testing.assert_frame_equal(many[many["replicate"] < 2].reset_index(drop=True), few)


def test_without_a_signal_every_true_error_is_about_one_half():
    cell = Cell("no signal", 25, "linear discriminant")
    found = simulate(cell, dataclasses.replace(PLAN, test_rows=2000), 1)
    assert found["truth"].tolist() == pytest.approx([0.5] * len(found), abs=0.05)
