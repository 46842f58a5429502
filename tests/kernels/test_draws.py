"""Numbers drawn inside kernels: spread evenly, without replacement, and the same for the same stream."""

import numpy as np
from scipy import stats

from fairtrial.reproduce import ranking_kernels


def state_of(seed, stream):
    state = np.zeros(1, np.uint64)
    ranking_kernels.start_stream(state, np.uint64(seed), stream)
    return state


def test_uniform_numbers_are_uniform_and_streams_differ():
    first, second = state_of(3, 0), state_of(3, 1)
    one, other = (np.array([ranking_kernels.draw_uniform(state) for _ in range(4000)]) for state in (first, second))
    assert one.min() >= 0
    assert one.max() < 1
    assert stats.kstest(one, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.06
    np.testing.assert_array_equal(
        one[:50], [ranking_kernels.draw_uniform(again) for again in [state_of(3, 0)] for _ in range(50)]
    )


def test_numbers_below_a_limit_are_equally_frequent():
    state = state_of(1, 7)
    counts = np.bincount([ranking_kernels.draw_below(state, 6) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 0.001


def test_chosen_items_are_different_and_each_is_equally_likely():
    counts, together = np.zeros(7), 0
    for stream in range(3000):
        items = np.arange(10)
        ranking_kernels.choose(state_of(2, stream), items, 7, 3)
        chosen = items[:3]
        assert len(set(chosen.tolist())) == 3
        assert sorted(items.tolist()) == list(range(10))
        np.testing.assert_array_equal(items[7:], [7, 8, 9])
        counts[chosen] += 1
        together += {0, 1} <= set(chosen.tolist())
    assert stats.chisquare(counts).pvalue > 0.001
    assert abs(together / 3000 - 3 * 2 / (7 * 6)) < 0.025
