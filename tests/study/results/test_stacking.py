"""Stacks of trials."""

from dataclasses import replace

import numpy as np
from sklearn.metrics import confusion_matrix

from fairtrial.measures import Confusion, ScoreTally
from fairtrial.measures.rows import ProbabilityRows
from fairtrial.study.results.stacking import ClassOrder, Stack
from tests.study.archives import data_facts, random_predictions

RNG = np.random.default_rng(3)
CODES = RNG.integers(3, size=50).astype(np.intp)
FACTS = data_facts("x", CODES, ("a", "b", "c"))
TRIALS = [
    random_predictions(RNG, CODES, RNG.permutation(50)[:n], 3, kind, ties=True)
    for n, kind in [(9, "probability"), (5, None), (9, "decision"), (9, "probability"), (5, "probability")]
]


def test_trials_that_are_alike_are_stacked_together():
    found = {tuple(places.tolist()): stack for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS))}
    assert set(found) == {(0, 3), (1,), (2,), (4,)}
    assert found[0, 3].scores.shape == (2, 9, 3)
    assert found[1,].scores is None
    assert found[2,].kind == "decision"


def test_tables_and_tallies_are_those_of_each_trial():
    for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS)):
        for line, place in enumerate(places):
            one = TRIALS[place]
            table = Confusion.from_labels(one.y_true, one.prediction, labels=[0, 1, 2])
            np.testing.assert_array_equal(stack.confusion.table[line], table.table)
            if one.scores is not None:
                tally, own = stack.tally(1), ScoreTally.from_scores(one.y_true == 1, one.scores[:, 1])
                size = len(own.values)
                np.testing.assert_array_equal(tally.values[line, :size], own.values)
                np.testing.assert_array_equal(tally.pos[line, :size], own.pos)
                assert tally.pos[line, size:].sum() + tally.neg[line, size:].sum() == 0


def test_means_over_rows_are_those_of_each_trial():
    stack = next(stack for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS)) if len(places) == 2)
    rows = stack.make_mean_rows()
    single = [ProbabilityRows.read(TRIALS[place].y_true, TRIALS[place].scores, labels=[0, 1, 2]) for place in (0, 3)]
    np.testing.assert_allclose(
        rows.mean(rows.true_class_probabilities), [one.true_class_probabilities.mean() for one in single]
    )
    np.testing.assert_array_equal(rows.one_hot_labels, np.concatenate([one.one_hot_labels for one in single]))
    assert rows.compute_once("x", lambda: 1) == rows.compute_once("x", lambda: 2) == 1


def test_abstentions_are_a_further_label_and_their_trials_a_stack_of_their_own():
    plain = TRIALS[0]
    silent = replace(plain, prediction=np.where(np.arange(9) < 4, -1, plain.prediction))
    found = {
        tuple(places.tolist()): stack for places, stack in Stack.iter_groups([plain, silent], ClassOrder.from_facts(FACTS))
    }
    assert set(found) == {(0,), (1,)}
    assert found[0,].confusion.labels == ("a", "b", "c")
    expected = confusion_matrix(silent.y_true, np.where(silent.prediction < 0, 3, silent.prediction), labels=[0, 1, 2, 3])
    np.testing.assert_array_equal(found[1,].confusion.table[0], expected)
    np.testing.assert_array_equal(found[1,].support, found[0,].support)
    mistaken = found[1,].confusion_as_errors
    np.testing.assert_array_equal(mistaken.true, found[0,].support)
    np.testing.assert_array_equal(mistaken.hits, expected.diagonal()[None, :3])
