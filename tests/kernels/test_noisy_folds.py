"""Noise, folds and scores of a repeat, against a twin over the learner NaiveBayes and the public measures."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from fairtrial import measures
from fairtrial.learners import NaiveBayes
from fairtrial.reproduce import ranking_kernels as folds
from fairtrial.reproduce.ranking_kernels import INTERVALS, MEASURES, start_stream
from tests.kernels.test_bayes_counts import coded, mixed

SEED = np.uint64(4)


def plan(experiment=folds.NONE, *, stratified=False, cut=False, share=0.1):
    return folds.NoisePlan(experiment, share, 5, INTERVALS, stratified, cut, 1.0)


def repeated(frame, y, chosen, repeats=3, first=0):
    codes, columns = coded(frame)
    means, truths = np.empty((repeats, 2, 6)), np.empty((repeats, len(y)), np.uint8)
    scores = np.empty((repeats, 2, len(y)))
    folds.run_noisy_folds(codes, y.astype(np.uint8), columns, chosen, SEED, first, means, truths, scores)
    return means, truths, scores


def decoded(codes, frame):
    """Codes as the frame's values."""
    found = {}
    for own, (name, column) in zip(codes, frame.items(), strict=True):
        if isinstance(column.dtype, pd.CategoricalDtype):
            found[name] = pd.Categorical.from_codes(own, dtype=column.dtype)
        else:
            known = np.array([*sorted(set(column.dropna())), np.nan])
            found[name] = known[own]
    return pd.DataFrame(found)


def twin(frame, y, chosen, repeat):
    """One repeat: noise and order by the kernel's own steps; learning and measuring by the public classes."""
    state, n = np.zeros(1, np.uint64), len(y)
    start_stream(state, SEED, repeat)
    codes, classes, items, kept = coded(frame)[0], y.astype(np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
    order = np.empty(n, np.int64)
    if chosen.experiment == folds.LABELS:
        folds.assign_classes(state, chosen, items, classes)
    if chosen.experiment == folds.ATTRIBUTES:
        folds.permute_values(state, chosen, n, items, kept, codes)
    folds.shuffle_rows(state, classes, chosen.stratified, items, order)
    values = []
    for fold in range(chosen.folds):
        test = order[fold :: chosen.folds]
        train = np.array([row for place, row in enumerate(order) if place % chosen.folds != fold])
        own_codes, own_classes = codes[:, train].copy(), classes[train].copy()
        if chosen.experiment == folds.TRAINING_LABELS:
            folds.assign_classes(state, chosen, items, own_classes)
        if chosen.experiment == folds.TRAINING_ATTRIBUTES:
            folds.permute_values(state, chosen, len(train), items, kept, own_codes)
        learner = NaiveBayes().fit(decoded(own_codes, frame), own_classes)
        scores = learner.predict_proba(decoded(codes[:, test], frame))[:, 1]
        replaced = np.empty(len(test))
        folds.replace_scores(state, chosen, items, scores, replaced)
        values.append([measured(classes[test], each) for each in (scores, replaced)])
    return np.mean(values, axis=0)


def measured(truth, scores):
    params = {"h_measure": {"severity_ratio": 1}}
    return [measures.get_measure(name)(truth.astype(int), scores, **params.get(name, {})) for name in MEASURES]


@pytest.mark.parametrize("experiment", range(5))
@pytest.mark.parametrize("stratified", [False, True])
def test_means_are_those_of_the_learner_and_the_public_measures(experiment, stratified):
    frame, y = mixed(2)
    frame["never"] = np.arange(80.0)  # a column that the twin can name the values of
    chosen = plan(experiment, stratified=stratified, share=0.2)
    means, _, _ = repeated(frame, y, chosen, first=5)
    for repeat in range(3):
        np.testing.assert_allclose(means[repeat], twin(frame, y, chosen, 5 + repeat), rtol=1e-9, atol=1e-12)


def test_scores_and_truths_give_the_means_again():
    frame, y = mixed(3)
    means, truths, scores = repeated(frame, y, plan(folds.LABELS), repeats=2)
    ends = np.cumsum([0, 16, 16, 16, 16, 16])
    for repeat in range(2):
        parts = [slice(*pair) for pair in pairwise(ends)]
        again = [[measured(truths[repeat, part], scores[repeat, which, part]) for which in range(2)] for part in parts]
        np.testing.assert_allclose(means[repeat], np.mean(again, axis=0), rtol=1e-9)
        changed = [int((scores[repeat, 0, part] != scores[repeat, 1, part]).sum()) for part in parts]
        assert changed == [2] * 5  # 10 % of 16, rounded


def test_repeats_do_not_depend_on_how_they_are_divided():
    frame, y = mixed(4)
    whole, _, _ = repeated(frame, y, plan(folds.TRAINING_ATTRIBUTES), repeats=4)
    first, _, _ = repeated(frame, y, plan(folds.TRAINING_ATTRIBUTES), repeats=1)
    rest, _, _ = repeated(frame, y, plan(folds.TRAINING_ATTRIBUTES), repeats=3, first=1)
    np.testing.assert_array_equal(whole, np.concatenate([first, rest]))


@pytest.mark.parametrize(("size", "nearest", "down"), [(27, 3, 2), (35, 4, 3), (25, 2, 2), (70, 7, 7), (3, 0, 0)])
def test_portions_are_rounded_as_conditions_round(size, nearest, down):
    assert folds.count_drawn(plan(), size) == nearest
    assert folds.count_drawn(plan(cut=True), size) == down


def test_assigned_classes_are_a_coins():
    changed = []
    for stream in range(300):
        state, classes = np.zeros(1, np.uint64), np.ones(200, np.uint8)
        start_stream(state, SEED, stream)
        folds.assign_classes(state, plan(), np.empty(200, np.int64), classes)
        changed.append(200 - int(classes.sum()))
    assert max(changed) <= 20
    assert abs(np.mean(changed) - 10) < 0.6


def test_permuted_values_stay_in_their_column_and_few_places_change():
    rng = np.random.default_rng(0)
    codes = rng.permuted(np.tile(np.arange(50), (3, 1)), axis=1)
    codes[1, :20] = -1
    before, state, room = codes.copy(), np.zeros(1, np.uint64), np.empty(50, np.int64)
    start_stream(state, SEED, 0)
    folds.permute_values(state, plan(share=0.2), 40, np.empty(50, np.int64), room, codes)
    np.testing.assert_array_equal(np.sort(codes, axis=1), np.sort(before, axis=1))
    np.testing.assert_array_equal(codes == -1, before == -1)
    np.testing.assert_array_equal(codes[:, 40:], before[:, 40:])
    moved = (codes != before).sum(axis=1)
    assert (moved <= [8, 4, 8]).all()
    assert moved.sum() > 8


def test_stratified_parts_have_the_same_classes():
    y = np.r_[np.zeros(30), np.ones(20)].astype(np.uint8)
    state, order = np.zeros(1, np.uint64), np.empty(50, np.int64)
    start_stream(state, SEED, 1)
    folds.shuffle_rows(state, y, True, np.empty(50, np.int64), order)
    assert sorted(order.tolist()) == list(range(50))
    assert [int(y[order[fold::10]].sum()) for fold in range(10)] == [2] * 10
    folds.shuffle_rows(state, y, False, np.empty(50, np.int64), order)
    assert sorted(order.tolist()) == list(range(50))
    assert [int(y[order[fold::10]].sum()) for fold in range(10)] != [2] * 10


def test_folds_of_one_class_are_left_out():
    rng = np.random.default_rng(1)
    y = np.zeros(40, int)
    y[:2] = 1
    frame = pd.DataFrame({"x": rng.normal(y, 1).round(3)})
    means, truths, _ = repeated(frame, y, plan(), repeats=5)
    assert (truths.sum(axis=1) == 2).all()
    assert np.isfinite(means).all()
