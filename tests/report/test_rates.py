"""The Kolmogorov-Smirnov chart: rates over the scores themselves."""

from itertools import pairwise

import numpy as np
import pytest
import vl_convert

from fairtrial.measures import tpr_fpr_curve
from fairtrial.report.figures.curves import draw_tpr_fpr

TRUTH = np.array([1, 1, 0, 1, 0, 0, 0])


def drawn(score, truth=TRUTH):
    return draw_tpr_fpr({"tree": tpr_fpr_curve(truth, score)}).to_dict()


def axis_of(chart):
    return chart["concat"][0]["layer"][-1]["encoding"]["x"]


def steps(chart, rate):
    """The corners of one line, in the order in which they are joined."""
    rows = [row for rows in chart["datasets"].values() for row in rows if row.get("rate") == rate]
    return [(row["score"], row["value"]) for row in sorted(rows, key=lambda row: row["row"])]


@pytest.mark.parametrize(
    "score", [[0.9, 0.8, 0.8, 0.4, 0.3, 0.3, 0.05], [12.0, 3.0, 3.0, -1.5, -2.0, -2.0, -40.0]], ids=["shares", "others"]
)
def test_between_two_corners_the_line_has_the_share_of_scores_that_reach_the_threshold(score):
    chart, score = drawn(score), np.asarray(score)
    low, high = axis_of(chart)["scale"]["domain"]
    for rate, own in (("true positive rate", score[TRUTH == 1]), ("false positive rate", score[TRUTH == 0])):
        corners = steps(chart, rate)
        assert (corners[0][0], corners[-1][0]) == (high, low)
        for (above, value), (below, _) in pairwise(corners):
            if above > below:  # a step keeps the value of its upper end down to its lower end
                threshold = (above + below) / 2
                assert value == pytest.approx((own >= threshold).mean()), threshold
    assert chart["concat"][0]["layer"][-1]["mark"]["interpolate"] == "step-after"


def test_the_axis_is_called_what_it_shows():
    assert axis_of(drawn([0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.1]))["title"] == "Threshold (score)"
    assert axis_of(drawn([0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.1]))["scale"]["domain"] == [0, 1]
    low, high = axis_of(drawn([-3, 5, 1, 2, 0, 4, 3]))["scale"]["domain"]
    assert -4 < low < -3
    assert 5 < high < 6


@pytest.mark.parametrize("score", [[0.5] * 7, [0.0] * 7, [-7.0] * 7])
def test_a_single_score_has_room_around_it(score):
    low, high = axis_of(drawn(score))["scale"]["domain"]
    assert low < score[0] < high


def test_ks_is_marked_at_the_score_where_the_gap_is_widest():
    # At the threshold 0.4 all three positives are found and one of four negatives: 1 - 1/4.
    chart = drawn([0.9, 0.8, 0.8, 0.4, 0.3, 0.3, 0.05])
    assert {"score": 0.4, "value": 0.25, "to": 1.0} in [row for rows in chart["datasets"].values() for row in rows]
    assert ">KS = 0.750</text>" in vl_convert.vegalite_to_svg(chart)


def test_without_a_negative_the_rates_are_undefined():
    with pytest.warns(match="fpr"):
        frame = tpr_fpr_curve([1, 1], [0.2, 0.7], labels=[0, 1])
    assert ">undefined</text>" in vl_convert.vegalite_to_svg(draw_tpr_fpr({"tree": frame}).to_dict())
