import pytest

from tests.reproduce.drift.conftest import IDEAL, LOST, TRIVIAL


def test_what_is_lost_is_found(found):
    for name, lost in LOST.items():
        assert found.lost("missing", name).value == pytest.approx(100 * lost)
        assert found.average("definitions", name).value == pytest.approx(lost / (TRIVIAL - IDEAL[name]))


def test_pairs(found):
    pair = ("1R", "Decision Tree")
    expected = 0.06 / 0.15 - 0.03 / 0.25
    assert found.more("populations", pair).value == pytest.approx(expected)
    assert found.more_points("populations", pair, "age in years").value == pytest.approx(3)
    assert len(found.better(pair)) == 2 + 2 + 6
    assert found.better(pair)[0].value == pytest.approx(100 * (0.25 + 0.06 - 0.15 - 0.03))


def test_cells_have_the_usual_population_once_and_table_three_its_diagonal(found):
    own = [found.cells(table) for table in ("populations", "missing", "definitions")]
    diagonal = [int((cells["trained_on"] == cells["tested_on"]).sum()) for cells in own]
    assert diagonal == [4, 4, 12]
