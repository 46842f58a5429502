"""The schemes against their definitions; figures of R come from the package noisemodel 1.0.2, run as an oracle."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from fairtrial.conditions import ClassNoise
from fairtrial.errors import InputError

SIZES = {"a": 5000, "b": 3000, "c": 2000}
Y = np.repeat(list(SIZES), list(SIZES.values()))
X = np.zeros((len(Y), 1))


def table(noise, y=Y, seed=1):
    """Old classes in rows, new ones in columns."""
    changed = noise.apply(np.zeros((len(y), 1)), y, seed)
    return pd.crosstab(y, np.asarray(changed.y)).reindex(index=sorted(set(y)), columns=sorted(set(y)), fill_value=0).to_numpy()


def test_symmetric_uniform_spreads_evenly_over_the_other_classes():
    found = table(ClassNoise(0.3))
    assert found.sum() - np.trace(found) == 3000
    for code in range(3):
        assert chisquare(np.delete(found[code], code)).pvalue > 0.01
    # cases are chosen whatever their class
    changed = found.sum(axis=1) - np.diag(found)
    assert chisquare(changed, 3000 * np.array([0.5, 0.3, 0.2])).pvalue > 0.01


def test_of_class_takes_the_share_of_each_class():
    found = table(ClassNoise(0.3, of="class"))
    assert (found.sum(axis=1) - np.diag(found)).tolist() == [1500, 900, 600]


def test_completely_uniform_may_draw_the_old_class():
    changed = ClassNoise(0.3, "symmetric-completely-uniform").apply(X, Y, 1)
    assert changed.chosen == 3000
    assert chisquare([changed.mask.sum(), 3000 - changed.mask.sum()], [2000, 1000]).pvalue > 0.01
    assert changed.level == changed.mask.mean()
    # as R counts: of 42 chosen cases of 140, idnoise listed the 34 that changed
    assert changed.chosen == 3000


def test_transition_matrix_with_a_level_leaves_the_diagonal_out():
    # R's sym_nuni_ln(x, y, 0.3, tramat) changed 3000 of 10000: a 989 to b and 526 to c, b 875 to c, c 513 to a and 97 to b
    matrix = [[0.7, 0.2, 0.1], [0, 0.7, 0.3], [0.25, 0.05, 0.7]]
    found = table(ClassNoise(0.3, "transition-matrix", transition=matrix))
    changed = found.sum(axis=1) - np.diag(found)
    assert changed.sum() == 3000
    assert chisquare(changed, [1500, 900, 600]).pvalue > 0.01
    assert chisquare(found[0, 1:], changed[0] * np.array([2, 1]) / 3).pvalue > 0.01
    assert found[1, 0] == 0
    assert chisquare(found[2, :2], changed[2] * np.array([5, 1]) / 6).pvalue > 0.01


def test_transition_matrix_without_a_level_changes_its_own_shares():
    rows = {"a": {"a": 0.9, "b": 0.06, "c": 0.04}, "b": {"a": 0.25, "b": 0.75}}
    noise = ClassNoise(None, "transition-matrix", transition=rows)
    found = table(noise)
    assert np.diag(found).tolist() == [4500, 2250, 2000]
    assert chisquare(found[0, 1:], [300, 200]).pvalue > 0.01
    assert found[1, 2] == 0
    assert noise.apply(X, Y, 1).level == (500 + 750) / 10000


def test_transition_matrix_must_fit_the_classes():
    with pytest.raises(InputError, match=r"transition.*3 classes"):
        ClassNoise(0.1, "transition-matrix", transition=np.eye(2)).apply(X, Y)
    with pytest.raises(InputError, match=r"transition.*'d'"):
        ClassNoise(0.1, "transition-matrix", transition={"a": {"d": 1.0}}).apply(X, Y)
    with pytest.raises(InputError, match="level"):
        ClassNoise(0.5, "transition-matrix", transition={"c": {"a": 1.0}}).apply(X, Y)
    with pytest.raises(InputError, match="level"):
        ClassNoise(0.5, "transition-matrix", transition=np.eye(3)).apply(X, Y)


def test_next_class_goes_round():
    found = table(ClassNoise(0.2, "next-class"))
    assert found.sum() - np.trace(found) == 2000
    assert found[0, 1] + found[1, 2] + found[2, 0] == 2000


def test_pairwise():
    found = table(ClassNoise(0.1, "pairwise", pairs=("a", "c")))
    assert found.tolist() == [[4000, 0, 1000], [0, 3000, 0], [0, 0, 2000]]
    # R's pai_bdir_ln takes the share of each class: 43 and 47 cases at 0.1 gave 4 and 5
    y = np.repeat(list("abc"), [43, 47, 50])
    both = table(ClassNoise(0.1, "pairwise", pairs=[("a", "b"), ("b", "a")], of="class"), y)
    assert both.tolist() == [[39, 4, 0], [5, 42, 0], [0, 0, 50]]
    with pytest.raises(InputError, match=r"level must be at most 0\.2,.*got 0\.3"):
        ClassNoise(0.3, "pairwise", pairs=("c", "a")).apply(X, Y)
    with pytest.raises(InputError, match=r"pairs.*'z'"):
        ClassNoise(0.3, "pairwise", pairs=("z", "a")).apply(X, Y)


def test_majority_to_second():
    assert table(ClassNoise(0.1, "majority-to-second")).tolist() == [[4000, 1000, 0], [0, 3000, 0], [0, 0, 2000]]
    # R's maj_udir_ln at 0.1: 5 of the 50 of the largest class
    y = np.repeat(list("abc"), [43, 47, 50])
    assert table(ClassNoise(0.1, "majority-to-second", of="class"), y)[2].tolist() == [0, 5, 45]
    tied = table(ClassNoise(0.5, "majority-to-second"), np.repeat(list("ab"), 4))
    assert tied.tolist() == [[0, 4], [0, 4]]


@pytest.mark.parametrize(
    ("sizes", "level", "share", "small", "large"),
    # R's mind_bdir_ln: mislabelled cases of the smallest and of the largest class
    [((43, 47, 50), 0.1, 0.1, 1, 8), ((23, 47, 50), 0.3, 0.25, 4, 10)],
)
def test_minority_driven_as_in_r(sizes, level, share, small, large):
    y = np.repeat(list("abc"), sizes)
    noise = ClassNoise(level, "minority-driven", minority_share=share)
    found = table(noise, y)
    assert found[0].tolist() == [sizes[0] - small, 0, small]
    assert found[2].tolist() == [large, 0, sizes[2] - large]
    assert found[1].tolist() == [0, sizes[1], 0]
    assert noise.apply(np.zeros((len(y), 1)), y, 1).level == (small + large) / (2 * sizes[0])


def test_minority_driven_needs_enough_cases():
    with pytest.raises(InputError, match=r"level.*8 of 4 cases of class 'b'"):
        ClassNoise(1.0, "minority-driven", minority_share=0.0).apply(np.zeros((8, 1)), list("aaaabbbb"))
    with pytest.raises(InputError, match=r"level.*8 of 4 cases of class 'a'"):
        ClassNoise(1.0, "minority-driven", minority_share=1.0).apply(np.zeros((8, 1)), list("aaaabbbb"))


@pytest.mark.parametrize(("n", "m"), [(5, 0), (15, 2), (25, 2), (35, 4)])
def test_halves_go_to_the_even_number_as_in_r(n, m):
    y = ["a", "b"] * n
    assert ClassNoise(0.1).apply([[0]] * n, y[:n], 1).mask.sum() == m


def test_every_case_is_as_likely_to_be_chosen():
    y = list("aabbb") * 2
    hits = np.sum([ClassNoise(0.3).apply([[0]] * 10, y, seed).mask for seed in range(2000)], axis=0)
    assert hits.sum() == 6000
    assert chisquare(hits).pvalue > 0.01
