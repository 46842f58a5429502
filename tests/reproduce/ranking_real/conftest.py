"""Cells with given error rates, and a small data set like Cylinder."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data import Dataset
from fairtrial.reproduce.experiment import read_published
from fairtrial.reproduce.ranking_real.cells import CellResult
from fairtrial.reproduce.ranking_real.datasets import vary_columns_and_rows

PUBLISHED = read_published("berrar_table1").set_index(["experiment", "dataset"])


def make_cell(experiment, dataset, percents, repeats=1000):
    """Make a cell with these error rates, whose repeats are independent of those of other cells."""
    errors = np.zeros((repeats, len(percents)))
    for column, percent in enumerate(percents):
        errors[: round(percent * repeats / 100), column] = 1
    np.random.default_rng([experiment, *dataset.encode()]).shuffle(errors)
    return CellResult(dataset, experiment, errors, np.zeros(len(percents)), np.zeros(len(percents)))


def copy_published(experiment, dataset):
    return make_cell(experiment, dataset, PUBLISHED.loc[experiment, dataset])


@pytest.fixture
def cylinder_variants():
    X = pd.DataFrame(
        {
            "timestamp": pd.Categorical(["1", "2", "3", "4", "5"]),
            "job_number": [1.0, 2, 3, 4, 5],
            "ink": pd.Categorical(["red", None, "blue", "red", "red"]),
            "humidity": [1.5, 2.5, None, 1.5, 2.5],
        }
    )
    labels = ["band", "none", "none", "band", "none"]
    return vary_columns_and_rows(Dataset.from_table(X, labels, nominal=["timestamp", "ink"]))
