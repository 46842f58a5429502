"""The kernels of both ranking experiments: random numbers, six measures, naive Bayes, noisy pairs, noisy folds."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial import measures
from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.learners import NaiveBayes
from fairtrial.reproduce import ranking_kernels as kernels
from fairtrial.reproduce.ranking_kernels import MEASURES
from tests.reference.cases import scored_rows

SEED = np.uint64(4)


def start_state(seed, stream):
    state = np.zeros(1, np.uint64)
    kernels.start_stream(state, np.uint64(seed), stream)
    return state


def test_uniform_numbers_are_uniform_and_streams_differ():
    first, second = start_state(3, 0), start_state(3, 1)
    one, other = (np.array([kernels.draw_uniform(state) for _ in range(4000)]) for state in (first, second))
    assert one.min() >= 0
    assert one.max() < 1
    assert stats.kstest(one, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.06
    np.testing.assert_array_equal(one[:50], [kernels.draw_uniform(again) for again in [start_state(3, 0)] for _ in range(50)])


def test_numbers_below_a_limit_are_equally_frequent():
    state = start_state(1, 7)
    counts = np.bincount([kernels.draw_below(state, 6) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 0.001


def test_chosen_items_are_different_and_each_is_equally_likely():
    counts, together = np.zeros(7), 0
    for stream in range(3000):
        items = np.arange(10)
        kernels.choose(start_state(2, stream), items, 7, 3)
        chosen = items[:3]
        assert len(set(chosen.tolist())) == 3
        assert sorted(items.tolist()) == list(range(10))
        np.testing.assert_array_equal(items[7:], [7, 8, 9])
        counts[chosen] += 1
        together += {0, 1} <= set(chosen.tolist())
    assert stats.chisquare(counts).pvalue > 0.001
    assert abs(together / 3000 - 3 * 2 / (7 * 6)) < 0.025


def compute_measures(y, s, severity_ratio=1.0, buffers=None):
    out = np.empty(6)
    y, s = np.asarray(y, np.uint8), np.asarray(s, float)
    kernels.compute_six_measures(s, y, severity_ratio, buffers or kernels.make_buffers(len(s)), out)
    return out


def compute_public_measures(y, s, severity_ratio):
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        values = {name: measures.get_measure(name)(y, s, positive=1, labels=[0, 1]) for name in MEASURES}
        ratio = None if np.isnan(severity_ratio) else severity_ratio
        values["h_measure"] = measures.h_measure(y, s, positive=1, labels=[0, 1], severity_ratio=ratio)
    return [values[name] for name in MEASURES]


@given(rows=scored_rows(max_rows=60, weighted=False), severity_ratio=st.sampled_from([1.0, np.nan, 0.3]))
@settings(max_examples=200, deadline=None)
def test_all_six_equal_the_public_measures(rows, severity_ratio):
    y, s, _ = rows
    np.testing.assert_allclose(
        compute_measures(y, s, severity_ratio), compute_public_measures(y.astype(int), s, severity_ratio), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("digits", [1, 2, 15])
def test_rankings_of_a_hundred_cases_equal_the_public_measures(digits):
    rng, buffers = np.random.default_rng(digits), kernels.make_buffers(130)
    for _ in range(40):
        n = rng.integers(30, 130)
        s = rng.random(n).round(digits) ** rng.choice([1, 9])
        y = (s + rng.normal(0, 0.4, n) > 0.5).astype(int)
        y[:2] = 0, 1
        np.testing.assert_allclose(
            compute_measures(y, s, 1.0, buffers), compute_public_measures(y, s, 1.0), rtol=1e-9, atol=1e-12
        )


def test_a_worked_example():
    # REFERENCE: Berrar's definition of H (Beta(2, 2)); AUC, AUCH and KS of R hmeasure 1.0-2.
    y, s = [0] * 6 + [1] * 4, [0.1, 0.2, 0.3, 0.35, 0.6, 0.7, 0.4, 0.65, 0.8, 0.9]
    h, auc, auch, _, ks, _ = compute_measures(y, s)
    np.testing.assert_allclose([h, auc, auch, ks], [0.5799731183, 0.875, 0.9166666667, 0.6666666667], rtol=1e-9)
    assert compute_measures(y, s, np.nan)[0] == pytest.approx(0.5915901308, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_without_ties_taks_is_a_linear_function_of_the_auc(seed):
    rng = np.random.default_rng(seed)
    n = 60
    y, s = rng.integers(0, 2, n), rng.random(n)
    y[:2] = 0, 1
    values = dict(zip(MEASURES, compute_measures(y, s), strict=True))
    assert values["taks"] == pytest.approx((values["auc"] - 0.5) * n / (n - 1), abs=1e-12)


def test_rankings_that_are_equally_good_get_exactly_equal_values():
    # In both, 4 of 7 x 5 pairs are in the wrong order; sums of sevenths and fifths would not come out equal.
    s = np.linspace(1, 0, 12)
    one = dict(zip(MEASURES, compute_measures([1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0], s), strict=True))
    other = dict(zip(MEASURES, compute_measures([1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0], s), strict=True))
    assert one["auc"] == other["auc"] == 31 / 35
    assert one["taks"] == other["taks"]
    assert one["ks"] != other["ks"]


def test_one_class_or_equal_scores_are_undefined():
    assert np.isnan(compute_measures([1, 1], [0.1, 0.2])).all()
    assert np.isnan(compute_measures([0, 0], [0.1, 0.2])).all()
    values = compute_measures([0, 1, 1], [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(np.isnan(values), [False, False, False, False, False, True])


@given(rows=scored_rows(max_rows=90, weighted=False))
@settings(max_examples=60, deadline=None)
def test_ranks_are_numpys(rows):
    y, s, _ = rows
    buffers = kernels.make_buffers(len(s))
    kernels.rank_scores(s, y.astype(np.uint8), buffers)
    np.testing.assert_array_equal(buffers.values, np.sort(s)[::-1])
    for value in set(s.tolist()):
        assert buffers.sorted_classes[buffers.values == value].sum() == y[s == value].sum()


def test_scores_that_lie_next_to_each_other_are_ranked():
    s = np.r_[np.full(30, 1.0), np.nextafter(1.0, 2)]
    buffers = kernels.make_buffers(31)
    kernels.rank_scores(s, np.r_[np.zeros(30, np.uint8), np.ones(1, np.uint8)], buffers)
    assert buffers.sorted_classes[0] == 1
    tiny = np.arange(30) * 5e-324
    buffers = kernels.make_buffers(30)
    kernels.rank_scores(tiny, np.zeros(30, np.uint8), buffers)
    np.testing.assert_array_equal(buffers.values, tiny[::-1])


def encode(frame):
    """Encode a frame's columns, in another way than the package does."""
    codes, levels, nominal = [], [], []
    for name in frame.columns:
        column = frame[name]
        is_nominal = isinstance(column.dtype, pd.CategoricalDtype)
        known = list(column.cat.categories) if is_nominal else sorted(set(column.dropna()))
        codes.append([known.index(value) if pd.notna(value) else -1 for value in column])
        levels.append([float(index) for index in range(len(known))] if is_nominal else known)
        nominal.append(is_nominal)
    offsets = np.cumsum([0, *map(len, levels)])
    return np.array(codes), kernels.CodedColumns(np.concatenate(levels), offsets, np.array(nominal, np.uint8))


def predict(frame, y, training, style=kernels.INTERVALS):
    codes, columns = encode(frame)
    scores = np.empty(len(frame) - training)
    kernels.predict_positive(codes, np.asarray(y[:training], np.uint8), columns, style, scores)
    return scores


def make_mixed_data(seed, n=80):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "number": rng.normal(y, 1.5).round(2),
            "coarse": rng.poisson(2 + 2 * y).astype(float),
            "constant": np.ones(n),
            "nominal": pd.Categorical(rng.choice(list("abc"), n), categories=list("abcd")),
            "never": np.full(n, np.nan),
        }
    )
    frame.loc[rng.random(n) < 0.2, "number"] = np.nan
    frame.loc[rng.random(n) < 0.2, "nominal"] = np.nan
    return frame, y


@pytest.mark.parametrize("seed", range(6))
def test_probabilities_equal_those_of_the_learner(seed):
    frame, y = make_mixed_data(seed)
    training = 60
    learner = NaiveBayes().fit(frame[:training], y[:training])
    np.testing.assert_allclose(
        predict(frame, y, training), learner.predict_proba(frame[training:])[:, 1], rtol=1e-9, atol=1e-12
    )


def test_a_class_without_training_rows_is_improbable():
    frame, _ = make_mixed_data(1)
    scores = predict(frame[["nominal"]], np.zeros(80), 60)
    assert scores.max() < 0.1


def test_densities_equal_e1071s():
    # R 4.2.2, e1071 1.7-13: predict(naiveBayes(y ~ ., d[1:8, ], na.action = na.pass), d[9:12, ], type = "raw")[, 2]
    x = [1, 2.5, 2.5, 4, 6, 7, None, 9, 3, 30, 5, 2]
    k = ["a", "b", "a", "a", "b", "b", "c", "b", None, "a", "c", "b"]
    z = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 1, 2]
    frame = pd.DataFrame({"x": np.array(x, float), "k": pd.Categorical(k), "z": np.array(z, float)})
    scores = predict(frame, [0, 0, 0, 0, 1, 1, 1, 1], 8, kernels.DENSITIES)
    expected = [1.8514109962743788e-06, 1.0, 9.9998732181579297e-01, 6.2812819298720879e-01]
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def test_normal_cdf_equals_scipys():
    x_values = np.linspace(-8, 8, 41)
    np.testing.assert_allclose(
        [kernels.compute_normal_cdf(x) for x in x_values], stats.norm.cdf(x_values), rtol=1e-12, atol=1e-18
    )


def draw_rankings(state, n=100, replaced=10):
    items, better, worse, classes = np.arange(n), np.empty(n), np.empty(n), np.empty(n, np.uint8)
    kernels.draw_pair(state, replaced, items, better, worse, classes)
    return items, better, worse, classes


def count_errors(kind, level, same=False, streams=(0, 300), seed=11):
    errors, products = np.zeros(6), np.zeros((6, 6))
    kernels.compare_noisy_pairs(kind, level, same, 100, 10, 1.0, np.uint64(seed), streams, errors, products)
    return errors, products


def count_errors_by_public_measures(kind, level, same, streams, seed=11):
    """Draw the same pairs by the same steps; compute the public measures."""
    errors = np.zeros(6)
    for stream in range(*streams):
        state = start_state(seed, stream)
        items, better, worse, classes = draw_rankings(state)
        n_left = 100
        if kind == kernels.LABEL_NOISE:
            kernels.randomise_classes(state, round(level * 100), items, classes)
        elif kind == kernels.SCORE_NOISE:
            kernels.add_score_noise(state, level, same, better, worse)
        else:
            n_left = kernels.drop_positives(state, level, items, better, worse, classes)
        y_true = classes[:n_left].astype(int)
        for column, name in enumerate(MEASURES):
            params = {"severity_ratio": 1} if name == "h_measure" else {}
            own, other = (measures.get_measure(name)(y_true, s[:n_left], **params) for s in (better, worse))
            difference = round(other - own, 11)
            errors[column] += 1 if difference > 0 else 0.5 if difference == 0 else 0
    return errors


def test_a_pair_differs_in_ten_scores_and_at_most_ten_are_wrong():
    changed, wrong, worse_wrong = [], [], []
    for stream in range(400):
        _, better, worse, classes = draw_rankings(start_state(11, stream))
        changed.append(int((better != worse).sum()))
        wrong.append(int(((better >= 0.5) != classes).sum()))
        worse_wrong.append(int(((worse >= 0.5) != classes).sum()))
    assert set(changed) == {10}
    assert max(wrong) <= 10
    assert max(worse_wrong) <= 20
    # The paper expects accuracies of 95 and 90 % (five and ten wrong; standard errors 0.08 and 0.11).
    assert abs(np.mean(wrong) - 5) < 0.4
    assert abs(np.mean(worse_wrong) - 10) < 0.5


def test_randomised_classes_change_half_of_those_drawn():
    changed = []
    for stream in range(300):
        state = start_state(11, stream)
        items, _, _, classes = draw_rankings(state)
        before = classes.copy()
        kernels.randomise_classes(state, 40, items, classes)
        changed.append(int((before != classes).sum()))
    assert max(changed) <= 40
    assert abs(np.mean(changed) - 20) < 1


def test_score_noise_is_limited_and_the_same_for_both_rankings_if_wanted():
    for same in (False, True):
        state = start_state(11, 5)
        _, better, worse, _ = draw_rankings(state)
        before = better.copy(), worse.copy()
        kernels.add_score_noise(state, 0.2, same, better, worse)
        moves = better - before[0], worse - before[1]
        assert abs(np.array(moves)).max() <= 0.2 + 1e-12
        assert abs(np.array(moves)).max() > 0.15
        assert np.allclose(*moves) == same


@pytest.mark.parametrize("proportion", [0.05, 0.5, 0.95])
def test_only_positives_are_dropped(proportion):
    state = start_state(11, 9)
    items, better, worse, classes = draw_rankings(state)
    before, negatives = int(classes.sum()), sorted(better[classes == 0].tolist())
    n_left = kernels.drop_positives(state, proportion, items, better, worse, classes)
    assert n_left == 100 - round(proportion * before)
    assert classes[:n_left].sum() == before - round(proportion * before)
    assert sorted(better[:n_left][classes[:n_left] == 0].tolist()) == negatives


@pytest.mark.parametrize(
    ("kind", "level", "same"),
    [
        (kernels.LABEL_NOISE, 0.4, False),
        (kernels.SCORE_NOISE, 0.3, False),
        (kernels.SCORE_NOISE, 0.5, True),
        (kernels.PROPORTION_NOISE, 0.9, False),
    ],
)
def test_errors_are_those_of_the_public_measures(kind, level, same):
    errors, products = count_errors(kind, level, same, (0, 60))
    np.testing.assert_array_equal(errors, count_errors_by_public_measures(kind, level, same, (0, 60)))
    assert errors.max() > 0
    assert (np.diag(products) <= errors).all()


def test_pairs_do_not_depend_on_how_they_are_divided():
    whole, products = count_errors(kernels.LABEL_NOISE, 0.6)
    parts = [count_errors(kernels.LABEL_NOISE, 0.6, streams=streams) for streams in ((0, 7), (7, 200), (200, 300))]
    np.testing.assert_array_equal(whole, sum(errors for errors, _ in parts))
    np.testing.assert_array_equal(products, sum(part for _, part in parts))


def make_plan(experiment=kernels.NONE, *, stratified=False, round_down=False, proportion=0.1):
    return kernels.NoisePlan(experiment, proportion, 5, kernels.INTERVALS, stratified, round_down, 1.0)


def run_repeats(frame, y, plan, repeats=3, first=0):
    codes, columns = encode(frame)
    means, y_true = np.empty((repeats, 2, 6)), np.empty((repeats, len(y)), np.uint8)
    scores = np.empty((repeats, 2, len(y)))
    kernels.run_noisy_folds(codes, y.astype(np.uint8), columns, plan, SEED, first, means, y_true, scores)
    return means, y_true, scores


def decode(codes, frame):
    """Return the frame's values of the codes."""
    columns = {}
    for own, (name, column) in zip(codes, frame.items(), strict=True):
        if isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = pd.Categorical.from_codes(own, dtype=column.dtype)
        else:
            known = np.array([*sorted(set(column.dropna())), np.nan])
            columns[name] = known[own]
    return pd.DataFrame(columns)


def repeat_with_learner(frame, y, plan, repeat):
    """Run one repeat: noise and order by the kernel's steps, predictions and measures by the public classes."""
    state, n = np.zeros(1, np.uint64), len(y)
    kernels.start_stream(state, SEED, repeat)
    codes, classes, items, kept = encode(frame)[0], y.astype(np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
    order = np.empty(n, np.int64)
    if plan.experiment == kernels.LABELS:
        kernels.assign_classes(state, plan, items, classes)
    if plan.experiment == kernels.ATTRIBUTES:
        kernels.permute_values(state, plan, n, items, kept, codes)
    kernels.shuffle_rows(state, classes, plan.stratified, items, order)
    values = []
    for fold in range(plan.folds):
        test = order[fold :: plan.folds]
        train = np.array([row for position, row in enumerate(order) if position % plan.folds != fold])
        own_codes, own_classes = codes[:, train].copy(), classes[train].copy()
        if plan.experiment == kernels.TRAINING_LABELS:
            kernels.assign_classes(state, plan, items, own_classes)
        if plan.experiment == kernels.TRAINING_ATTRIBUTES:
            kernels.permute_values(state, plan, len(train), items, kept, own_codes)
        learner = NaiveBayes().fit(decode(own_codes, frame), own_classes)
        scores = learner.predict_proba(decode(codes[:, test], frame))[:, 1]
        replaced = np.empty(len(test))
        kernels.replace_scores(state, plan, items, scores, replaced)
        values.append([compute_six_public(classes[test], values_of_scores) for values_of_scores in (scores, replaced)])
    return np.mean(values, axis=0)


def compute_six_public(y_true, scores):
    params = {"h_measure": {"severity_ratio": 1}}
    return [measures.get_measure(name)(y_true.astype(int), scores, **params.get(name, {})) for name in MEASURES]


@pytest.mark.parametrize("experiment", range(5))
@pytest.mark.parametrize("stratified", [False, True])
def test_means_are_those_of_the_learner_and_the_public_measures(experiment, stratified):
    frame, y = make_mixed_data(2)
    frame["never"] = np.arange(80.0)  # a column whose values the learner can name
    plan = make_plan(experiment, stratified=stratified, proportion=0.2)
    means, _, _ = run_repeats(frame, y, plan, first=5)
    for repeat in range(3):
        np.testing.assert_allclose(means[repeat], repeat_with_learner(frame, y, plan, 5 + repeat), rtol=1e-9, atol=1e-12)


def test_scores_and_classes_give_the_same_means():
    frame, y = make_mixed_data(3)
    means, y_true, scores = run_repeats(frame, y, make_plan(kernels.LABELS), repeats=2)
    ends = np.cumsum([0, 16, 16, 16, 16, 16])
    for repeat in range(2):
        parts = [slice(*pair) for pair in pairwise(ends)]
        again = [
            [compute_six_public(y_true[repeat, part], scores[repeat, which, part]) for which in range(2)] for part in parts
        ]
        np.testing.assert_allclose(means[repeat], np.mean(again, axis=0), rtol=1e-9)
        changed = [int((scores[repeat, 0, part] != scores[repeat, 1, part]).sum()) for part in parts]
        assert changed == [2] * 5  # 10 % of 16, rounded


def test_repeats_do_not_depend_on_how_they_are_divided():
    frame, y = make_mixed_data(4)
    whole, _, _ = run_repeats(frame, y, make_plan(kernels.TRAINING_ATTRIBUTES), repeats=4)
    first, _, _ = run_repeats(frame, y, make_plan(kernels.TRAINING_ATTRIBUTES), repeats=1)
    rest, _, _ = run_repeats(frame, y, make_plan(kernels.TRAINING_ATTRIBUTES), repeats=3, first=1)
    np.testing.assert_array_equal(whole, np.concatenate([first, rest]))


@pytest.mark.parametrize(("size", "nearest", "down"), [(27, 3, 2), (35, 4, 3), (25, 2, 2), (70, 7, 7), (3, 0, 0)])
def test_proportions_are_rounded_as_conditions_round(size, nearest, down):
    assert kernels.count_drawn(make_plan(), size) == nearest
    assert kernels.count_drawn(make_plan(round_down=True), size) == down


def test_assigned_classes_are_random():
    changed = []
    for stream in range(300):
        state, classes = np.zeros(1, np.uint64), np.ones(200, np.uint8)
        kernels.start_stream(state, SEED, stream)
        kernels.assign_classes(state, make_plan(), np.empty(200, np.int64), classes)
        changed.append(200 - int(classes.sum()))
    assert max(changed) <= 20
    assert abs(np.mean(changed) - 10) < 0.6


def test_permuted_values_stay_in_their_column_and_few_positions_change():
    rng = np.random.default_rng(0)
    codes = rng.permuted(np.tile(np.arange(50), (3, 1)), axis=1)
    codes[1, :20] = -1
    before, state, room = codes.copy(), np.zeros(1, np.uint64), np.empty(50, np.int64)
    kernels.start_stream(state, SEED, 0)
    kernels.permute_values(state, make_plan(proportion=0.2), 40, np.empty(50, np.int64), room, codes)
    np.testing.assert_array_equal(np.sort(codes, axis=1), np.sort(before, axis=1))
    np.testing.assert_array_equal(codes == -1, before == -1)
    np.testing.assert_array_equal(codes[:, 40:], before[:, 40:])
    moved = (codes != before).sum(axis=1)
    assert (moved <= [8, 4, 8]).all()
    assert moved.sum() > 8


def test_stratified_folds_have_the_same_classes():
    y = np.r_[np.zeros(30), np.ones(20)].astype(np.uint8)
    state, order = np.zeros(1, np.uint64), np.empty(50, np.int64)
    kernels.start_stream(state, SEED, 1)
    kernels.shuffle_rows(state, y, True, np.empty(50, np.int64), order)
    assert sorted(order.tolist()) == list(range(50))
    assert [int(y[order[fold::10]].sum()) for fold in range(10)] == [2] * 10
    kernels.shuffle_rows(state, y, False, np.empty(50, np.int64), order)
    assert sorted(order.tolist()) == list(range(50))
    assert [int(y[order[fold::10]].sum()) for fold in range(10)] != [2] * 10


def test_folds_of_one_class_are_left_out():
    rng = np.random.default_rng(1)
    y = np.zeros(40, int)
    y[:2] = 1
    frame = pd.DataFrame({"x": rng.normal(y, 1).round(3)})
    means, y_true, _ = run_repeats(frame, y, make_plan(), repeats=5)
    assert (y_true.sum(axis=1) == 2).all()
    assert np.isfinite(means).all()
