import numpy as np
import pytest

from fairtrial.reproduce.tutorial.cost_curves import cost_curves
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
