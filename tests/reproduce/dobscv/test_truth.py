"""Estimates beside truths on simulated samples."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.dobscv import truth
from fairtrial.reproduce.dobscv.truth import COLUMNS, SPLITTERS, one_replicate, problems, replicates, splitter_of
from fairtrial.reproduce.reproduction import Request


def test_shares_of_the_rare_class():
    shares = [float((each.population.sample(20_000, 1)[1] == "positive").mean()) for each in problems().values()]
    assert shares == pytest.approx([0.1, 0.15, 0.15, 0.5], abs=0.01)


@pytest.mark.parametrize("scheme", SPLITTERS)
def test_each_scheme_has_five_folds_that_hold_all_rows(scheme):
    data = problems()["a rare cloud"].population.dataset(100, 2)
    tested = [test for _, test in splitter_of(scheme, 1).split(data.X, data.y)]
    assert len(tested) == 5
    assert sorted(np.concatenate(tested)) == list(range(100))


def test_a_replicate_depends_on_its_numbers_alone(monkeypatch):
    monkeypatch.setattr(truth, "_TESTED", 100)
    monkeypatch.setattr(truth, "SPLITTERS", ("SCV", "DOB-SCV literal"))
    first, again = (pd.DataFrame(one_replicate("equal classes", 0, 1), columns=COLUMNS) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert len(first) == 5 * 2 * 2
    # The best rule has 1 - 0.2266 = 0.7734 (two unit clouds, 1.5 apart); nobody is better but by chance, nor far below.
    told = first.query("measure == 'balanced accuracy' and learner != 'Chi'")
    assert told["truth"].between(0.55, 0.90).all()
    assert told["folds_truth"].between(0.55, 0.90).all()
    # All schemes are judged by the same learner on all rows.
    assert (first.groupby(["learner", "measure"])["truth"].nunique() == 1).all()


@pytest.fixture
def asked(monkeypatch):
    """The replicates that were drawn; each takes no time."""
    found = []

    def one(name, replicate, _seed):
        found.append(replicate)
        return [(name, replicate, "C4.5", "SCV", "AUC", 0.5, 0.5, 0.5)]

    monkeypatch.setattr(truth, "one_replicate", one)
    return found


def test_another_version_is_not_taken_for_ours(asked, tmp_path, monkeypatch):
    request = Request("smoke", tmp_path)
    replicates(request, {"a rare cloud": 2})
    assert [path.name for path in (tmp_path / "truth").iterdir()] == ["a-rare-cloud-0-2-seed-1.csv"]  # as files of version 1
    monkeypatch.setattr(truth, "_VERSION", truth._VERSION + 1)
    replicates(request, {"a rare cloud": 2})
    assert asked == [0, 1, 0, 1]
    assert (tmp_path / "truth" / "a-rare-cloud-0-2-seed-1-version-2.csv").exists()


def test_what_is_kept_is_not_done_again(asked, tmp_path):
    request = Request("smoke", tmp_path)
    assert replicates(request, {"a rare cloud": 7})["replicate"].tolist() == list(range(7))
    assert len(replicates(request, {"a rare cloud": 7})) == 7
    assert asked == list(range(7))
