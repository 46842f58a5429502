"""The confusion table: counting, adding, properties and display."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics

from fairtrial.errors import InputError
from fairtrial.measures import Confusion
from tests.reference import cases, labels as reference


def test_counts_equal_scikit_learns():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, p = cases.labels(rng, 2 + seed % 3)
        w = cases.weights(rng, len(y), kept=1)
        np.testing.assert_allclose(
            Confusion.from_labels(y, p, sample_weight=w).table, metrics.confusion_matrix(y, p, sample_weight=w)
        )


@given(rows=cases.labelled_rows())
@settings(max_examples=80, deadline=None)
def test_cells_equal_counting_row_by_row(rows):
    y, p, w, classes = rows
    table = Confusion.from_labels(y, p, labels=classes, sample_weight=w)
    np.testing.assert_allclose(table.table, reference.table(y, p, w, classes), atol=1e-12)
    expected = np.array([reference.cells(y, p, w, c) for c in classes]).T
    np.testing.assert_allclose(np.array(table.cells), expected, atol=1e-12)
    np.testing.assert_array_equal(np.array(table.cells) == 0, expected == 0)


def test_cells_of_a_batch_are_those_of_its_tables():
    tables = np.random.default_rng(0).random((3, 4, 4))
    together = np.array(Confusion(tables).cells)
    for b in range(3):
        np.testing.assert_allclose(together[:, b], np.array(Confusion(tables[b]).cells))


def test_margins_and_total():
    table = Confusion([[60, 50, 10], [10, 100, 40], [30, 10, 90]])
    assert table.true.tolist() == [120, 150, 130]
    assert table.predicted.tolist() == [100, 160, 140]
    assert table.hits.tolist() == [60, 100, 90]
    assert table.total == 400.0
    assert Confusion(np.ones((2, 3, 3))).total.tolist() == [9, 9]


def test_rows_are_the_truth_and_the_second_of_two_classes_is_positive():
    table = Confusion.from_labels(["no", "no", "yes"], ["yes", "yes", "yes"])
    assert table.table.tolist() == [[0, 2], [0, 1]]
    assert table.labels == ("no", "yes")
    assert table.positive == 1
    assert Confusion.from_labels(["no", "yes"], ["yes", "no"], positive="no").positive == 0
    assert Confusion(np.eye(3)).positive is None


def test_labels_fix_the_order_and_make_room_for_absent_classes():
    table = Confusion.from_labels(["b", "a"], ["b", "b"], labels=["c", "b", "a"])
    assert table.table.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_tables_of_different_classes_do_not_add_up():
    with pytest.raises(InputError, match=r"\('a', 'b'\).*\('a', 'c'\)"):
        Confusion(np.eye(2), ("a", "b")) + Confusion(np.eye(2), ("a", "c"))
    with pytest.raises(InputError, match="tables"):
        Confusion(np.eye(2), ("a", "b"), 0) + Confusion(np.eye(2), ("a", "b"), 1)


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], (), r"table.*\(2, 3\)"),
        ([1, 2], (), r"table.*\(2,\)"),
        ([[1, -1], [0, 1]], (), "table"),
        ([[1, np.nan], [0, 1]], (), "table"),
        ([["a", "b"], ["c", "d"]], (), "table.*'a'"),
        (np.eye(2), ("a", "b", "c"), "labels.*3"),
    ],
)
def test_invalid_tables_are_refused(table, labels, message):
    with pytest.raises(InputError, match=message):
        Confusion(table, labels)


def test_the_terminal_shows_truth_in_rows():
    assert str(Confusion([[14, 6], [9, 28]], ("bad", "good"))).splitlines() == [
        "      predicted",
        "true   bad  good",
        "bad     14     6",
        "good     9    28",
    ]


def test_a_notebook_shows_the_frame():
    table = Confusion([[14, 6], [9, 28]], ("bad", "good"))
    frame = table.frame()
    assert frame.loc["bad", "good"] == 6
    assert (frame.index.name, frame.columns.name) == ("true", "predicted")
    assert "<table" in table._repr_html_()


def test_a_batch_has_a_text_but_no_frame():
    batch = Confusion(np.ones((5, 2, 2)), ("a", "b"))
    assert "(5,)" in str(batch)
    with pytest.raises(InputError, match="frame"):
        batch.frame()
