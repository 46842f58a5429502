"""What is kept comes back as it was, failures too; damaged files do not."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.drift.keeping import keep, kept, kept_path
from fairtrial.study.environments import EnvironmentFailure, build_matrix

SETTINGS = {"table": "missing", "learner": "Simple NN", "seed": 1, "version": "1"}


@pytest.fixture
def matrix():
    errors = {
        ("Simple NN", "N", "N"): np.array([0.1, 0.2, 1 / 3]),
        ("Simple NN", "W", "N"): np.array([0.3, np.nan, 0.25]),
    }
    plan = {"n_train": 5, "n_test": 6, "replicates": 3, "seed": 1, "alpha": 0.05}
    failures = [EnvironmentFailure("Simple NN", "W", "", 1, "ValueError", "too few")]
    return build_matrix(["Simple NN"], ["N", "W"], errors, {"N": np.array([0.4, 0.5, 0.6])}, failures, plan)


def test_a_run_comes_back_as_it_was(matrix, tmp_path):
    path = kept_path(tmp_path / "parts", SETTINGS)
    assert kept(path) is None
    keep(path, SETTINGS, matrix)
    again = kept(path)
    pd.testing.assert_frame_equal(again.runs(), matrix.runs())
    pd.testing.assert_frame_equal(again.frame(), matrix.frame())
    assert again.failures == matrix.failures
    assert (again.learners, again.environments, again.plan) == (matrix.learners, matrix.environments, matrix.plan)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_damaged_files_count_as_none(matrix, tmp_path):
    path = kept_path(tmp_path, SETTINGS)
    keep(path, SETTINGS, matrix)
    whole = path.read_bytes()
    for part in (b"", b"half a file", whole[:200]):
        path.write_bytes(part)
        assert kept(path) is None


@pytest.mark.parametrize("change", [{"seed": 2}, {"version": "2"}, {"learner": "1R"}, {"table": "populations"}])
def test_other_settings_have_another_file(change, tmp_path):
    assert kept_path(tmp_path, SETTINGS) != kept_path(tmp_path, SETTINGS | change)
    assert kept_path(tmp_path, dict(reversed(SETTINGS.items()))) == kept_path(tmp_path, SETTINGS)
