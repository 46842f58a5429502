"""The measures are in the order of the paper's table."""

from fairtrial.reproduce.published import published
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS, named, place


def test_measures_are_the_columns_of_table_1():
    assert list(MEASURES) == list(published("berrar_table1").columns[2:])
    assert list(WORDS) == list(MEASURES)
    assert [place(each) for each in MEASURES] == list(range(6))


def test_measures_in_words():
    assert named(("auc",)) == "AUC"
    assert named(("auc", "mine")) == "AUC and mine"
