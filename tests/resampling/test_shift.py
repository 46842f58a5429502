"""Statistics of the given splits equal those computed one by one; permutations keep sizes and class counts."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from fairtrial.resampling.layout import read_layout
from fairtrial.resampling.shift import AUC, ENERGY, HELLINGER, KS, OUTLYING, compute_sample_sizes, compute_shift
from tests.reference import two_sample as reference
from tests.reference.folds import stratified

SEED = np.random.SeedSequence(0)


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.integers(0, 5, 90).astype(float)})
    y = np.repeat(["u", "v"], [60, 30])
    return read_layout(stratified(y, 3, rng), (frame, y))


def ranks(layout):
    """Each value as its rank among its class, by counting."""
    values, same = layout.columns.values, layout.labels[:, None] == layout.labels
    below = [((column[None] < column[:, None]) + 0.5 * (column[None] == column[:, None])) * same for column in values.T]
    return np.column_stack([each.sum(axis=1) for each in below]) / same.sum(axis=1)[:, None]


def by_check(found):
    statistics = found.statistics
    return {name: [item for item in statistics if item.check == name] for name in {item.check for item in statistics}}


def test_given_values_equal_other_implementations(given):
    found = by_check(compute_shift(given, 19, 1000, SEED))
    for energy, auc, ks in zip(found[ENERGY], found[AUC], found[KS], strict=True):
        code = energy.label[0]
        own = np.flatnonzero(given.labels == code) if code >= 0 else np.arange(90)
        rows = given.scaled_values[own] if code >= 0 else ranks(given) / ranks(given).std(axis=0)
        for s, split in enumerate(given.splits):
            side = np.where(np.isin(own, split.test), 1, 2)
            test, train = reference.parts(side)
            assert energy.values[0, s] == pytest.approx(reference.energy(rows, test, train))
            scores = reference.neighbour_scores(rows, side, min(10, (len(own) - 1) // 4))
            assert auc.values[0, s] == pytest.approx(roc_auc_score(side == 1, scores))
            for j in range(2):
                here = (ks.split == s) & (ks.attribute == j)
                expected = ks_2samp(rows[test, j], rows[train, j], method="exact").statistic
                assert ks.values[0, here][0] == pytest.approx(expected, rel=1e-6)
    assert [each.label[0] for each in found[ENERGY]] == [0, 1, -1]
    out = np.empty(90)
    for code in range(2):
        own = given.labels == code
        far = cdist(given.scaled_values[own], given.scaled_values[own].mean(axis=0)[None])[:, 0]
        out[own] = far / far.mean()
    expected = [out[split.test].mean() / out[split.train].mean() - 1 for split in given.splits]
    np.testing.assert_allclose(found[OUTLYING][0].values[0], expected)


def test_permutations_have_the_mean_of_random_stratified_folds(given):
    """Against folds drawn anew: the mean of each statistic agrees within the error of both."""
    mine = by_check(compute_shift(given, 499, 1000, SEED))
    rng = np.random.default_rng(1)
    y = given.labels
    frame = pd.DataFrame(given.columns.values)
    drawn = [by_check(compute_shift(read_layout(stratified(y, 3, rng), (frame, y)), 1, 1000, SEED)) for _ in range(150)]
    for name in (ENERGY, AUC):
        theirs = np.array([[each.values[0].mean() for each in one[name]] for one in drawn])
        ours = np.array([each.values.mean() for each in mine[name]])
        error = theirs.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(ours - theirs.mean(axis=0)) < 4 * error).all()


def test_nominal_attributes_have_hellingers_distance():
    y = np.zeros(12, dtype=int)
    frame = pd.DataFrame({"n": list("aabbaabbaabc"), "x": np.arange(12.0)})
    splits = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    found = by_check(compute_shift(read_layout(splits, (frame, y)), 19, 1000, SEED))
    codes = np.array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 2])
    assert found[HELLINGER][0].values[0, 0] == pytest.approx(
        reference.hellinger(codes, np.arange(6, 12), np.arange(6)), rel=1e-6
    )


def test_a_seed_gives_the_same_numbers_and_threads_change_none(given, monkeypatch):
    def values():
        return np.concatenate(
            [each.values.ravel() for each in compute_shift(given, 99, 20, np.random.SeedSequence(3)).statistics]
        )

    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    alone = values()
    monkeypatch.setenv("FAIRTRIAL_THREADS", "3")
    np.testing.assert_array_equal(values(), alone)


def test_large_classes_are_sampled_and_neighbours_are_sought_among_all():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [400, 30])
    layout = read_layout(stratified(y, 5, rng), (rng.normal(size=(430, 2)), y))
    found = compute_shift(layout, 19, 100, SEED)
    assert found.class_sizes.tolist() == [400, 30]
    assert found.n_sampled.tolist() == [100, 30]
    assert found.n_pooled == 100
    assert np.isfinite(found.statistics[0].values).all()


def test_single_test_rows_show_no_shift():
    splits = [(np.delete(np.arange(8), i), [i]) for i in range(8)]
    found = compute_shift(read_layout(splits, (np.arange(8.0)[:, None], None)), 19, 100, SEED)
    assert found.statistics == ()


def test_samples_shrink_when_there_is_too_much_to_do():
    small = compute_sample_sizes(np.array([5000] * 26), 100, 16, 499, 1000)
    assert (small < 200).all()
    assert (small >= 40).all()
