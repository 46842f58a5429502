"""Shaffer's procedure: S(k) and adjusted values against the papers and set partitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from fairtrial.errors import InputError
from fairtrial.significance.adjust import adjust
from fairtrial.significance.posthoc import count_learners, count_true_pairs, shaffer


def partitions(items):
    if not items:
        yield []
        return
    head, *rest = items
    for part in partitions(rest):
        yield [[head], *part]
        for i in range(len(part)):
            yield [*part[:i], [head, *part[i]], *part[i + 1 :]]


def test_published_counts():
    # REFERENCE, section 6
    assert count_true_pairs(6) == {0, 1, 2, 3, 4, 6, 7, 10, 15}


@pytest.mark.parametrize("k", range(2, 9))
def test_counts_are_those_of_all_partitions(k):
    listed = {sum(len(block) * (len(block) - 1) // 2 for block in part) for part in partitions(list(range(k)))}
    assert count_true_pairs(k) == listed


@given(st.integers(2, 8).flatmap(lambda k: arrays(np.float64, k * (k - 1) // 2, elements=st.floats(0, 1))))
@settings(max_examples=60, deadline=None)
def test_step_by_step(p):
    k = count_learners(len(p))
    order = sorted(range(len(p)), key=lambda i: p[i])
    reached, expected = 0.0, np.zeros(len(p))
    for step, i in enumerate(order):
        t = max(count for count in count_true_pairs(k) if count <= len(p) - step)
        reached = max(reached, min(1.0, t * p[i]))
        expected[i] = reached
    assert shaffer(p) == pytest.approx(expected, abs=1e-12)
    assert np.all(shaffer(p) <= adjust(p, "holm") + 1e-12)
    assert np.all(shaffer(p) >= p)


@pytest.mark.parametrize("pairs", [2, 4, 5, 11])
def test_all_pairs_must_be_there(pairs):
    with pytest.raises(InputError, match=f"p_values.* {pairs}"):
        shaffer(np.full(pairs, 0.1))


def test_nan_is_refused():
    with pytest.raises(InputError, match="nan"):
        shaffer([0.1, float("nan"), 0.2])
