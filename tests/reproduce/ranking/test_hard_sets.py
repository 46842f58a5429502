"""Whether the two sets are the hardest is judged by intervals, and the paper's own table is read, not remembered."""

import numpy as np
import pytest

from fairtrial.reproduce.ranking import hard_sets
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.hard_sets import hardest, lowest_auc, printed_hardest
from fairtrial.reproduce.ranking.real_tables import table1
from tests.reproduce.ranking.test_real_tables import made


def cells(hard, other, repeats=1000):
    return [
        made(e, name, [rate] * 6, repeats)
        for e in (1, 2, 3, 4)
        for name, rate in (("Liver", hard), ("Transfusion", hard), ("Pima", other))
    ]


def test_three_verdicts():
    assert hardest(cells(50, 10)).holds is True
    assert hardest(cells(10, 50)).holds is False
    assert hardest(cells(11, 10)).holds is None
    assert hardest(cells(100, 50, repeats=4)).holds is None
    assert hardest(cells(50, 10)[1:]).holds is None  # a cell is missing


def test_the_papers_own_table_is_read(monkeypatch):
    assert printed_hardest() == ("sauc",)
    other = table1()
    other.loc[other["dataset"].isin(["Liver", "Transfusion"]), "value"] = 99.0
    monkeypatch.setattr(hard_sets, "table1", lambda: other)
    assert len(printed_hardest()) == 6
    told = hardest(cells(50, 10)).evidence
    assert told.endswith("in the paper's own table so for H-measure, AUC, AUCH, sAUC, KS and taKS")
    other["value"] = 1.0
    assert hardest(cells(50, 10)).evidence.endswith("in the paper's own table so for no measure")


@pytest.mark.parametrize(("other", "deviation", "holds"), [(0.8, 0.01, True), (0.5, 0.01, False), (0.71, 0.1, None)])
def test_the_lowest_auc(other, deviation, holds):
    values = {"Liver": 0.64, "Transfusion": 0.7, "Sonar": other}
    clean = [Outcome(name, 0, np.zeros((10, 6)), np.full(6, auc), np.full(6, deviation)) for name, auc in values.items()]
    assert lowest_auc(clean).holds is holds
