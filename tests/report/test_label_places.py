"""Names beside points."""

import numpy as np
import pytest

from fairtrial.report.figures.projection import CORNERS, _compute_label_box, _compute_overlap, choose_corners


def test_areas_that_two_boxes_share():
    assert _compute_overlap((0, 0, 4, 3), (2, 1, 9, 9)) == 4
    assert _compute_overlap((0, 0, 4, 3), (4, 0, 9, 9)) == 0
    assert _compute_overlap((0, 0, 1, 1), (5, 5, 6, 6)) == 0


@pytest.mark.parametrize("x", [3.0, 417.0])
def test_a_name_stays_in_the_picture(x):
    [corner] = choose_corners([(x, 200.0)], ["forest"], 420)
    left, _, right, _ = _compute_label_box((x, 200.0), "forest", corner)
    assert left >= 0
    assert right <= 420


def test_names_of_near_points_do_not_lie_on_each_other():
    points, names = [(200.0, 200.0), (206.0, 212.0), (212.0, 196.0)], ["Boost", "Bagg", "Ripp"]
    boxes = [
        _compute_label_box(at, name, corner)
        for at, name, corner in zip(points, names, choose_corners(points, names, 420), strict=True)
    ]
    assert sum(_compute_overlap(boxes[i], boxes[j]) for i in range(3) for j in range(i)) == 0


def test_chosen_corners_hide_less_than_one_corner_for_all():
    rng = np.random.default_rng(1)
    points = [tuple(each) for each in rng.uniform(150, 270, size=(9, 2)).tolist()]
    names = [f"learner {place}" for place in range(9)]

    def hidden(corners):
        boxes = [_compute_label_box(at, name, corner) for at, name, corner in zip(points, names, corners, strict=True)]
        return sum(_compute_overlap(boxes[i], boxes[j]) for i in range(9) for j in range(i))

    assert hidden(choose_corners(points, names, 420)) < min(hidden([corner] * 9) for corner in CORNERS)
