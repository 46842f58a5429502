import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import roc_curve
from fairtrial.reproduce.tutorial.cost_curves import _claim, _crossings, cost_curves, cross
from fairtrial.reproduce.tutorial.tested import pooled_rows


def test_winner_has_the_least_cost_over_all_thresholds(small_study):
    found = cost_curves(small_study)
    own = {name: pooled_rows(small_study, "Breast Cancer", name) for name in ("NB", "C4.5", "Boost")}
    for line in found.table("cost_winners").to_dict("records"):
        middle = (line["start"] + line["end"]) / 2
        costs = {name: least_cost(each, middle) for name, each in own.items()}
        if line["who"] == "learner":
            assert min(costs, key=costs.get) == line["learner"]
    assert found.table("cost_winners")["end"].iloc[-1] == pytest.approx(1)
    assert len(found.figures) == 2


def least_cost(own, share):
    positive, score = own.truth == "recurrence-events", own.score("recurrence-events")
    cuts = [*np.unique(score), np.inf]
    return min(share * np.mean(score[positive] < cut) + (1 - share) * np.mean(score[~positive] >= cut) for cut in cuts)


def roc(*points):
    return pd.DataFrame(points, columns=["fpr", "tpr"])


CHANCE = roc((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("other", "crossing"),
    [
        (roc((0, 0), (0, 0.5), (1, 1)), False),  # above everywhere
        (CHANCE, False),
        (roc((0, 0), (0.4, 0.4), (0.4, 0.8), (1, 1)), False),  # touches, then rises at one place
        (roc((0, 0), (0.5, 0), (0.5, 1), (1, 1)), True),
        (roc((0, 0), (0.2, 0.1), (0.8, 0.9), (1, 1)), True),  # half way through a straight piece
    ],
)
def test_curves_cross_where_each_is_above_somewhere(other, crossing):
    assert cross(CHANCE, other) is cross(other, CHANCE) is crossing


def test_curves_that_do_not_cross_are_not_said_to():
    truth = [0, 0, 0, 1, 1, 1]
    good, poor = roc_curve(truth, [1, 2, 3, 4, 5, 6]), roc_curve(truth, [1, 2, 4, 3, 5, 6])
    assert _crossings({"good": good, "poor": poor}) == "0 of 1 pairs of ROC curves cross"


def winners(*names):
    borders = np.linspace(0, 1, len(names) + 1)
    who = ["learner" if name else "no better than a trivial classifier" for name in names]
    return pd.DataFrame({"start": borders[:-1], "end": borders[1:], "who": who, "learner": names})


def test_one_winner_tells_no_range_from_another():
    assert _claim(winners("", "NB", ""), judged=True).holds is False
    assert _claim(winners("", "", ""), judged=True).holds is False
    assert _claim(winners("", "NB", "C4.5"), judged=True).holds is True
    assert _claim(winners("", "NB", "C4.5"), judged=False).holds is None


def test_other_folds_are_told_and_not_judged(two_folds):
    found = cost_curves(two_folds)
    assert found.claims[0].holds is None
    assert "over the 2 folds" in found.tables[0].note
