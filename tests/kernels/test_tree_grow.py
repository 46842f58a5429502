"""Trees grown on presorted columns equal the reference."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fairtrial._frames import read_columns
from fairtrial.kernels.c45 import SplitRules
from fairtrial.learners.c45 import C45Settings, build_tree, make_error_bound
from fairtrial.learners.learner import TrainingSet
from tests.reference.trees import drawn
from tests.reference.trees_twin import Twin


def describe(tree, node=0):
    if tree.column[node] < 0:
        return tuple(round(float(count), 6) + 0.0 for count in tree.counts[node])
    cut = None if np.isnan(tree.threshold[node]) else float(tree.threshold[node])
    return int(tree.column[node]), cut, tuple(describe(tree, child) for child in tree.get_children(node))


def both(frame, weight, **options):
    """The tree by kernels and the tree by the reference."""
    columns = read_columns(frame.iloc[:, :-1])
    codes = frame["class"].cat.codes.to_numpy().astype(np.intp)
    classes = len(frame["class"].cat.categories)
    chosen = {"prune": True, "collapse": True, "raising": True} | options
    plan = C45Settings(
        SplitRules(2.0, True, False), make_error_bound(0.25), chosen["collapse"], chosen["prune"], chosen["raising"]
    )
    tree = build_tree(TrainingSet(columns, codes, weight), plan, np.arange(classes), classes)
    levels = [0 if each is None else len(each) for each in columns.categories]
    return describe(tree), Twin(columns.values.tolist(), levels, codes.tolist(), weight.tolist(), classes, **chosen).describe()


@pytest.mark.parametrize("seed", range(100, 112))
def test_whole_trees_equal_the_reference(seed):
    kernel, reference = both(*drawn(seed), prune=False, collapse=False)
    assert kernel == reference


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1000, 10_000), st.integers(6, 40))
def test_small_tables_equal_the_reference(seed, rows):
    frame, weight = drawn(seed)
    kernel, reference = both(frame.iloc[:rows], weight[:rows], prune=False, collapse=False)
    assert kernel == reference


@pytest.mark.parametrize("options", [{"prune": False, "collapse": False}, {}], ids=str)
def test_trees_that_outgrow_the_first_arrays_equal_the_reference(options):
    """Columns without information and with many missing values give over 256 nodes and many copies of each row."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{j}": rng.integers(6, size=600).astype(object) for j in range(7)})
    frame = frame.mask(rng.random(frame.shape) < 0.2).astype("category")
    frame["class"] = pd.Categorical(rng.integers(3, size=600))
    kernel, reference = both(frame, np.ones(600), **options)
    assert kernel == reference
