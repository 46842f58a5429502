"""All registered measures meet the contract, and for each rule a broken measure is reported under this rule."""

import numpy as np
import pytest

from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures import MeasureFacts, measure, registry
from fairtrial.measures.measure import LabelMeasure, ScoreMeasure, ValueMeasure
from fairtrial.testing import find_violations, list_rules, parametrize_with_contract


@parametrize_with_contract("measure", registry.values())
def test_our_measures_meet_the_contract(check):
    check()


def compute_accuracy(table):
    """Proportion of correct predictions."""
    return table.hits.sum(axis=-1) / table.total


def compute_error(rows):
    """Mean absolute error."""
    return rows.mean(abs(rows.true - rows.predicted))


def make(measure_class=LabelMeasure, formula=compute_accuracy, **changes):
    """Make a measure that is not registered; therefore it does not pickle to itself."""
    is_error = formula is not compute_accuracy
    facts = {
        "name": "broken",
        "needs": "values" if issubclass(measure_class, ValueMeasure) else "labels",
        "direction": "min" if is_error else "max",
        "range": (0, np.inf) if is_error else (0, 1),
        "chance": None,
        "cite": "nobody",
        "summary": "a broken measure",
    }
    return measure_class(formula, MeasureFacts(**(facts | changes)))


class FirstRowMatters(ValueMeasure):
    def compute_values(self, rows, draw_counts=None, **options):
        return super().compute_values(rows, draw_counts, **options) + (rows.true[0] > rows.predicted[0])


class NamesMatter(LabelMeasure):
    def __call__(self, y_true, y_pred, **options):
        return super().__call__(y_true, y_pred, **options) - 0.01 * (np.asarray(y_true).dtype.kind == "U")


def compute_hits_of_first_class(table):
    """Proportion of rows that are correct and of the first class."""
    return table.hits[..., 0] / table.total


def compute_mean_score(tally):
    """Mean score of the positives."""
    return compute_ratio((tally.values * tally.pos).sum(axis=-1), tally.pos.sum(axis=-1))


class SquaredWeights(ValueMeasure):
    def compute_values(self, rows, draw_counts=None, **options):
        weights = (rows.weights if draw_counts is None else rows.redraw(draw_counts)) ** 2
        return np.atleast_1d((weights * abs(rows.true - rows.predicted)).sum(axis=-1) / weights.sum(axis=-1))


class SumOfErrors(ValueMeasure):
    def compute_values(self, rows, draw_counts=None, **options):
        weights = rows.weights if draw_counts is None else rows.redraw(draw_counts)
        return np.atleast_1d((weights * abs(rows.true - rows.predicted)).sum(axis=-1))


class ReversedBatch(LabelMeasure):
    def compute_values(self, rows, draw_counts=None, **options):
        return super().compute_values(rows, draw_counts, **options)[::-1]


class OtherValueOfTable(LabelMeasure):
    def of(self, table, **options):
        return super().of(table, **options) / 2


def compute_accuracy_of_two_classes(table):
    """Proportion of correct predictions; an error if a class has no rows."""
    if not table.true.all():
        raise ZeroDivisionError
    return compute_accuracy(table)


class ModifiesWeights(LabelMeasure):
    def __call__(self, y_true, y_pred, *, sample_weight=None, **options):
        value = super().__call__(y_true, y_pred, sample_weight=sample_weight, **options)
        if sample_weight is not None:
            sample_weight *= 2
        return value


BROKEN = {
    "facts_are_complete": make(cite=""),
    "pickles_to_itself": make(),
    "values_are_in_range": make(range=(0, 0.5)),
    "nothing_beats_perfect_predictions": make(direction="min"),
    "random_guesses_score_chance": make(chance=0.7),
    "row_order_does_not_matter": make(FirstRowMatters, compute_error),
    "class_names_do_not_matter": make(NamesMatter),
    "class_order_does_not_matter": make(formula=compute_hits_of_first_class, direction="max", range=(0, 1)),
    "increasing_transformations_do_not_matter": make(
        ScoreMeasure, compute_mean_score, needs="scores", direction="max", range=(-np.inf, np.inf), rank_based=True
    ),
    "weights_equal_repetition": make(SquaredWeights, compute_error),
    "weight_scale_does_not_matter": make(SumOfErrors, compute_error),
    "batches_match_single_values": make(ReversedBatch),
    "merged_statistics_match_whole": make(OtherValueOfTable),
    "degenerate_input_raises_no_error": make(formula=compute_accuracy_of_two_classes, direction="max", range=(0, 1)),
    "input_is_not_modified": make(ModifiesWeights),
}


def test_every_rule_has_a_broken_example():
    assert list(BROKEN) == [rule.name for rule in list_rules("measure")]


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_measure_is_reported_under_its_rule(rule):
    assert set(find_violations("measure", BROKEN[rule])) == {rule, "pickles_to_itself"}


def test_nan_without_a_warning_is_reported():
    class Silent(LabelMeasure):
        def warn_undefined(self, value, stacklevel=3):
            pass

    def compute_recall(table):
        """Recall of the second class."""
        return compute_ratio(table.hits[..., 1], table.true[..., 1])

    violations = find_violations("measure", make(Silent, compute_recall, direction="max", range=(0, 1)))
    assert "degenerate_input_raises_no_error" in violations


def test_a_new_measure_of_the_decorator_meets_the_contract_but_for_its_name(monkeypatch):
    for attribute in ("_items", "_aliases"):
        monkeypatch.setattr(registry, attribute, dict(getattr(registry, attribute)))

    @measure(needs="labels", direction="max", range=(0, 1), cite="nobody")
    def half_accuracy(table):
        """Half the accuracy."""
        return compute_accuracy(table) / 2

    # A function inside a function cannot be pickled.
    assert list(find_violations("measure", half_accuracy)) == ["pickles_to_itself"]
