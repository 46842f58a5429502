import dataclasses

import pandas as pd
import pytest

from fairtrial.reproduce.estimates import running
from fairtrial.reproduce.estimates.estimating import METHODS
from fairtrial.reproduce.estimates.problems import plan_of
from fairtrial.reproduce.estimates.running import Cell, run_cells, simulate

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


def test_more_replicates_change_none_of_the_first():
    cell = Cell("no signal", 25, "naive Bayes")
    few, many = (simulate(cell, dataclasses.replace(PLAN, replicates={"c45": 1, "others": count}), 1) for count in (2, 3))
    pd.testing.assert_frame_equal(many[many["replicate"] < 2].reset_index(drop=True), few)


def test_without_a_signal_every_true_error_is_about_one_half():
    cell = Cell("no signal", 25, "linear discriminant")
    found = simulate(cell, dataclasses.replace(PLAN, test_rows=2000), 1)
    assert found["truth"].tolist() == pytest.approx([0.5] * len(found), abs=0.05)
