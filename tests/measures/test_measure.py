"""Properties of every measure, derived from its metadata and tested on random input."""

import dataclasses
import inspect
import math
import pickle

import numpy as np
import pytest

from fairtrial import measures
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.measures.measure import LabelMeasure, MultiScoreMeasure, ScoreMeasure
from tests.reference import cases

ALL = measures.registry.values()
FROM_COLUMNS = [each for each in ALL if each.facts.needs in cases.MAKE]
OF_CLASSES = [each for each in FROM_COLUMNS if each.facts.needs != "values"]
OF_LABELS = [each for each in FROM_COLUMNS if isinstance(each, LabelMeasure)]
OF_SCORES = [each for each in FROM_COLUMNS if isinstance(each, ScoreMeasure)]
OF_TALLIES = [each for each in OF_SCORES if not isinstance(each, MultiScoreMeasure)]
ROUNDS = 15

undefined_is_fine = pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")


def each_of(chosen):
    return pytest.mark.parametrize("measure", chosen, ids=[each.name for each in chosen])


classes = pytest.mark.parametrize("k", [2, 3])


def rounds(measure, k):
    """Random columns, weights and the generator that they came from."""
    for seed in range(ROUNDS):
        rng = np.random.default_rng([seed, k])
        y, x = cases.MAKE[measure.facts.needs](rng, k)
        w = rng.choice([0, 0.3, 1, 2.7], len(y)) if seed % 3 else np.ones(len(y))
        yield rng, y, x, w + (np.arange(len(y)) < k)


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def over_labels(measure, k):
    """The classes as an option, for measures of classes; a class without rows counts, too."""
    return {"labels": list(range(k))} if measure.facts.needs != "values" else {}


@undefined_is_fine
@classes
@each_of(FROM_COLUMNS)
def test_the_order_of_rows_does_not_matter(measure, k):
    for rng, y, x, w in rounds(measure, k):
        order = rng.permutation(len(y))
        same(measure(y[order], x[order], sample_weight=w[order]), measure(y, x, sample_weight=w))


@undefined_is_fine
@classes
@each_of(OF_CLASSES)
def test_the_names_of_classes_do_not_matter(measure, k):
    names = np.array(["ant", "bee", "cat"])
    for _, y, x, w in rounds(measure, k):
        renamed = names[x] if measure.facts.needs == "labels" else x
        same(measure(names[y], renamed, sample_weight=w), measure(y, x, sample_weight=w))


@undefined_is_fine
@classes
@each_of([each for each in OF_SCORES if each.facts.rank_based])
def test_an_increasing_change_of_scores_changes_no_measure_of_ranks(measure, k):
    for rng, y, x, w in rounds(measure, k):
        known, places = np.unique(x, return_inverse=True)
        stretched = np.cumsum(rng.random(len(known)) + 1e-3)[places].reshape(x.shape) - 3
        same(measure(y, stretched, sample_weight=w), measure(y, x, sample_weight=w))


def test_scored_and_soft_auc_are_the_measures_of_scores_that_see_more_than_ranks():
    assert {each.name for each in OF_SCORES if not each.facts.rank_based} == {"sauc", "soft_auc"}


@undefined_is_fine
@classes
@each_of(FROM_COLUMNS)
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(measure, k):
    for rng, y, x, _ in rounds(measure, k):
        times = rng.integers(0, 3, len(y))
        times[0] = 1
        labels = over_labels(measure, k)
        same(measure(y, x, sample_weight=times, **labels), measure(np.repeat(y, times), np.repeat(x, times, axis=0), **labels))


@undefined_is_fine
@classes
@each_of([each for each in FROM_COLUMNS if "weight scale" not in each.facts.exceptions])
def test_the_scale_of_weights_does_not_matter(measure, k):
    for rng, y, x, _ in rounds(measure, k):
        w = rng.random(len(y))
        same(measure(y, x, sample_weight=3 * w), measure(y, x, sample_weight=w))


@undefined_is_fine
@classes
@each_of(FROM_COLUMNS)
def test_the_value_lies_in_the_range(measure, k):
    low, high = measure.facts.range
    for _, y, x, w in rounds(measure, k):
        value = measure(y, x, sample_weight=w)
        assert math.isnan(value) or low - 1e-9 <= value <= high + 1e-9


def _auk_of_a_perfect_ranking(prevalence):
    """The integral of kappa, which is a (1 - f) / (a + b f) if TPR is 1, over the false positive rate f."""
    a, b = 2 * prevalence * (1 - prevalence), (1 - prevalence) * (1 - 2 * prevalence)
    return a * ((a + b) * math.log1p(b / a) - b) / b**2


# Where even the perfect predictor stays inside the range: its value on two (three) classes of twenty rows.
PERFECT = {
    "abc": lambda _: 0.5,
    "partial_auc": lambda _: 0.1,
    "sauc": lambda _: 1.0,
    "soft_auc": lambda _: 1 / (1 + math.exp(-10)),
    "kappa_curve_area": lambda k: 0.5 if k == 2 else _auk_of_a_perfect_ranking(1 / 3),
    "lift": float,
    "information_score": math.log2,
    "net_benefit": lambda k: 0.5 if k == 2 else 1.0,  # the proportion of positives
    "calibration_intercept": lambda k: 0.0 if k == 2 else math.nan,
    "calibration_slope": lambda _: math.nan,
    "oe_ratio": lambda _: 1.0,
    "brier_discrimination": lambda k: 0.25 if k == 2 else math.nan,
    "selection_rate": lambda k: 1 / k,
    "set_width": lambda _: 1.0,
    "top_k_accuracy": lambda k: math.nan if k == 2 else 1.0,
}


@undefined_is_fine
@classes
@each_of(FROM_COLUMNS)
def test_the_perfect_predictor_is_at_the_best_end_and_beats_a_random_one(measure, k):
    y = np.repeat(np.arange(k), 20)
    needs, best = measure.facts.needs, measure.facts.range[measure.facts.direction == "max"]
    right = y if needs in ("labels", "values") else y.astype(float) if k == 2 else np.eye(k)[y]
    perfect = measure(y, right)
    assert perfect == pytest.approx(PERFECT.get(measure.name, lambda _: best)(k), abs=1e-12, nan_ok=True)
    for seed in range(ROUNDS):
        guess = cases.MAKE[needs](np.random.default_rng(seed), k, len(y))[1]
        # A higher selection rate is not better as such.
        assert not measure.is_better(measure(y, guess), perfect)


@each_of([each for each in OF_CLASSES if each.facts.chance is not None])
def test_guessing_scores_the_value_of_chance(measure):
    R, n = 150, 2000
    rng = np.random.default_rng(20)
    y = rng.permutation(np.repeat([0, 1], [1200, 800]))
    guesses = rng.integers(0, 2, (R, n)) if measure.facts.needs == "labels" else rng.random((R, n)).round(2)
    values = [measure(y, guess) for guess in guesses]
    # Ratios of counts have a bias of the order 1/n.
    assert abs(np.mean(values) - measure.facts.chance) < 5 * np.std(values) / np.sqrt(R) + 10 / n


@each_of([each for each in FROM_COLUMNS if each.facts.needs == "values" and each.facts.chance is not None])
def test_the_mean_or_a_shuffled_truth_scores_the_value_of_chance(measure):
    rng = np.random.default_rng(3)
    y = rng.normal(size=500)
    if measure.name == "regression.correlation":
        values = [measure(y, rng.permutation(y)) for _ in range(200)]
        assert abs(np.mean(values) - measure.facts.chance) < 5 * np.std(values) / np.sqrt(200)
    else:
        assert measure(y, np.full(500, y.mean())) == pytest.approx(measure.facts.chance)


@undefined_is_fine
@classes
@each_of(OF_LABELS)
def test_tables_counted_apart_add_up_to_the_table_of_all(measure, k):
    for _, y, p, w in rounds(measure, k):
        part = np.arange(len(y)) % 2 == 0
        if not (w[part].any() and w[~part].any()):
            continue
        counted = [
            measures.Confusion.from_labels(y[rows], p[rows], labels=range(k), sample_weight=w[rows]) for rows in (part, ~part)
        ]
        same(measure.of(counted[0] + counted[1]), measure(y, p, sample_weight=w, labels=range(k)))


@undefined_is_fine
@each_of(OF_TALLIES)
def test_tallies_counted_apart_add_up_to_the_tally_of_all(measure):
    for _, y, s, w in rounds(measure, 2):
        part = np.arange(len(y)) % 2 == 0
        if not (w[part].any() and w[~part].any()):
            continue
        counted = [
            measures.ScoreTally.from_scores(y[rows], s[rows], labels=[0, 1], sample_weight=w[rows]) for rows in (part, ~part)
        ]
        same(measure.of(counted[0] + counted[1]), measure(y, s, sample_weight=w))


@undefined_is_fine
@classes
@each_of(OF_LABELS)
def test_the_value_of_a_table_is_the_value_of_its_columns(measure, k):
    averages = measure.facts.averages if k > 2 else ("auto", "macro", None)
    for average in set(averages) & set(measure.facts.averages) - {"binary"}:
        for _, y, p, w in rounds(measure, k):
            table = measures.Confusion.from_labels(y, p, sample_weight=w)
            same(measure.of(table, average=average), measure(y, p, sample_weight=w, average=average))


@undefined_is_fine
@each_of(OF_TALLIES)
def test_the_value_of_a_tally_is_the_value_of_its_columns(measure):
    for _, y, s, w in rounds(measure, 2):
        same(measure.of(measures.ScoreTally.from_scores(y, s, sample_weight=w)), measure(y, s, sample_weight=w))


@undefined_is_fine
@classes
@each_of(FROM_COLUMNS)
def test_resamples_are_weights(measure, k):
    """`values` of drawn counts equals the call with these counts as weights: what the bootstrap rests on."""
    for rng, *columns in rounds(measure, k):
        labels = over_labels(measure, k)
        y, x, w = (each[columns[-1] > 0] for each in columns)  # rows without weight are not there to be drawn
        drawn = rng.integers(0, 3, (3, len(y))).astype(np.uint8)
        drawn[:, 0] = 1
        options = {"positive": None, "labels": None} | labels if labels else {}
        rows = measure.read_rows(y, x, sample_weight=w, **options)
        same(measure.compute_values(rows, drawn), [measure(y, x, sample_weight=w * line, **labels) for line in drawn])


@undefined_is_fine
@classes
@each_of([each for each in OF_LABELS if each.facts.per_class])
def test_averages_are_averages_of_the_classes(measure, k):
    for _, y, p, w in rounds(measure, k):
        single = measure(y, p, sample_weight=w, average=None)
        support = np.bincount(y, w, minlength=k)
        same(measure(y, p, sample_weight=w, average="macro"), single.mean())
        same(measure(y, p, sample_weight=w, average="weighted"), (single * support).sum() / support.sum())
        for c in range(k):
            same(measure(y, p, sample_weight=w, positive=c), single[c])


@each_of(ALL)
def test_facts_are_complete(measure):
    facts = measure.facts
    assert facts.summary
    assert not facts.summary.endswith(".")
    assert facts.cite
    assert facts.direction in ("max", "min", "target", "none")
    assert (facts.direction == "target") == (facts.target is not None)
    assert facts.range[0] < facts.range[1]
    assert facts.chance is None or facts.range[0] <= facts.chance <= facts.range[1]
    assert facts.undefined


@each_of(ALL)
def test_the_docstring_shows_an_example(measure):
    assert ">>> " in inspect.getdoc(measure.formula)


@each_of(ALL)
def test_a_measure_pickles_to_itself(measure):
    assert pickle.loads(pickle.dumps(measure)) is measure


@each_of(ALL)
def test_names_and_aliases_find_the_measure(measure):
    assert all(measures.get_measure(name) is measure for name in (measure.name, *measure.facts.aliases))
    assert measures.get_measure(measure) is measure
    assert measure.name in repr(measure)


@each_of(FROM_COLUMNS)
def test_the_signature_shows_columns_first_and_own_parameters_last(measure):
    names = list(inspect.signature(measure).parameters)
    own = [p.name for p in inspect.signature(measure.formula).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert names[0] == "y_true"
    assert names[len(names) - len(own) :] == own


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"'acuracy'.*'accuracy'"):
        measures.get_measure("acuracy")


def test_better_follows_the_direction():
    assert measures.accuracy.is_better(0.9, 0.8)
    assert measures.error_rate.is_better(0.1, 0.2)
    assert not measures.error_rate.is_better(0.2, 0.2)


def test_one_name_is_registered_once():
    again = measures.measure(needs="labels", direction="max", range=(0, 1), cite="nobody", name="accuracy")
    with pytest.raises(InputError, match="'accuracy'"):
        again(lambda table: table)


def test_facts_of_a_new_measure_are_checked():
    with pytest.raises(InputError, match="direction"):
        measures.measure(needs="scores", direction="lower", range=(0, 1), cite="nobody")
    with pytest.raises(InputError, match=r"needs.*'labels'"):
        measures.measure(needs="label", direction="max", range=(0, 1), cite="nobody")


PUBLIC = (
    "accuracy kappa g_mean auc partial_auc auch sauc h_measure ks taks abc brier information_score ela rla "
    "performance_deterioration efficiency projection evaluate ScoreTally Confusion batch interval"
)


def test_public_names_are_importable():
    for name in PUBLIC.split():
        assert hasattr(measures, name), name


@pytest.mark.parametrize(
    ("name", "display_name"),
    [
        ("roc_auc", "AUC"),
        ("f1", "F1 score"),
        ("brier", "Brier score"),
        ("ks", "Kolmogorov-Smirnov statistic"),
        ("mcc", "Matthews correlation coefficient"),
        ("balanced_accuracy", "balanced accuracy"),
        ("regression.rmse", "RMSE"),
    ],
)
def test_display_names(name, display_name):
    assert measures.get_measure(name).display_name == measures.get_measure(name).facts.display_name == display_name


def test_users_measures_keep_what_content_keys_include():
    """Keys of studies include the docstring and the fields of the metadata of measures that users define."""

    @measures.measure(needs="labels", direction="max", range=(0, 1), cite="none", display_name="Own measure")
    def own_measure_of_a_test(table):
        """Proportion of hits."""
        return table.hits.sum(axis=-1) / table.total

    try:
        assert own_measure_of_a_test.__doc__ == "Proportion of hits."
        assert own_measure_of_a_test.display_name == "Own measure"
        assert "display_name" not in {field.name for field in dataclasses.fields(own_measure_of_a_test.facts)}
    finally:
        measures.registry.remove("own_measure_of_a_test")
    assert "own_measure_of_a_test" not in measures.registry
