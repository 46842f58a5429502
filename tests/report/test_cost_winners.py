"""Who wins where."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import cost_curve
from fairtrial.report.figures.curves import draw_cost
from fairtrial.report.figures.study_curves import TIE, TRIVIAL, find_cost_winners, with_winners
from fairtrial.report.sections.curves import compute_winning_fractions


def curve(*points):
    return pd.DataFrame(points, columns=["probability_cost", "expected_cost"])


def curves(seed, ties=False, learners=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    found = {}
    for place in range(learners):
        scores = y * rng.uniform(0.3, 1.5) + rng.normal(size=80)
        found[f"l{place}"] = cost_curve(y, np.round(scores) if ties else scores)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_winners_are_the_lowest_curves_everywhere(seed, ties):
    given = curves(seed, ties)
    winners = find_cost_winners(given)
    assert winners["start"].iloc[0] == 0
    assert winners["end"].iloc[-1] == 1
    assert (winners["start"].iloc[1:].to_numpy() == winners["end"].iloc[:-1].to_numpy()).all()
    for x in np.linspace(0.0007, 0.9993, 997):
        costs = {name: np.interp(x, own["probability_cost"], own["expected_cost"]) for name, own in given.items()}
        line = winners[(winners["start"] <= x) & (x <= winners["end"])].iloc[0]
        least = min(costs.values())
        if line["winner"] == "learner":
            assert costs[line["learner"]] == pytest.approx(least, abs=1e-9)
        elif line["winner"] == TRIVIAL:
            assert least == pytest.approx(min(x, 1 - x), abs=1e-9)
        else:
            assert sorted(costs.values())[1] == pytest.approx(least, abs=1e-9)


def test_borders_are_where_lines_cross():
    winners = find_cost_winners({"a": curve((0, 0), (0.5, 0.1), (1, 0)), "b": curve((0, 0), (0.25, 0.1), (0.75, 0.02), (1, 0))})
    # a falls by 0.2 a unit after 0.5, b by 0.16 from (0.25, 0.1): 0.2 x = 0.1 - 0.16 (x - 0.25) at x = 7/18
    assert winners["learner"].tolist() == ["a", "b"]
    assert winners["end"].iloc[0] == pytest.approx(7 / 18)


def test_equal_curves_are_alike_and_useless_ones_trivial():
    useless, good = curve((0, 0), (0.5, 0.5), (1, 0)), curve((0, 0), (0.5, 0.1), (1, 0))
    assert find_cost_winners({"a": useless})["winner"].tolist() == [TRIVIAL]
    assert find_cost_winners({"a": good, "b": good})["winner"].tolist() == [TIE]


def test_shares_add_up_and_undefined_curves_win_nothing():
    hole = curve((0, np.nan), (1, np.nan))
    won = compute_winning_fractions(find_cost_winners({"hole": hole, "good": curve((0, 0), (0.5, 0.1), (1, 0))}))
    assert won.to_dict() == {"good": 1.0}


def test_the_strip_names_the_winner():
    given = curves(1)
    chart = with_winners(draw_cost(given), find_cost_winners(given), given).to_dict()
    rows = chart["datasets"][chart["layer"][-1]["data"]["name"]]
    winners = find_cost_winners(given)
    assert [row["learner"] for row in rows] == winners[winners["winner"] == "learner"]["learner"].tolist()
