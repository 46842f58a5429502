"""The surfaces of RLA and ELA."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import ela, rla
from fairtrial.report.figures.robustness import compute_loss_contours, draw_loss_surface


@pytest.mark.parametrize(("name", "measure"), [("rla", rla), ("ela", ela)])
@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_lines_join_places_of_equal_loss(name, measure):
    lines = compute_loss_contours(0.5)
    own = lines[(lines["measure"] == name) & lines["noisy"].between(0, 1)]
    assert len(own) >= 8
    assert np.allclose(measure(own["clean"], own["noisy"], scale=1), own["value"])


# Table 1 of the paper, first line: C1 falls from 100 to 92 (RLA 0.08, ELA 0.08), C2 from 50 to 42 (0.16, 1.16)
def paper():
    return pd.DataFrame({"learner": ["C1", "C2"], "level": 0.1, "clean": [1.0, 0.5], "noisy": [0.92, 0.42]})


def test_paths_start_without_noise_on_the_diagonal():
    chart = draw_loss_surface(paper()).to_dict()
    points = [rows for rows in chart["datasets"].values() if "learner" in rows[0]]
    assert {(row["learner"], row["level"], row["clean"], row["noisy"]) for row in points[0]} == {
        ("C1", 0.0, 1.0, 1.0),
        ("C2", 0.0, 0.5, 0.5),
        ("C1", 0.1, 1.0, 0.92),
        ("C2", 0.1, 0.5, 0.42),
    }


def test_both_axes_have_one_range_that_holds_all_points():
    chart = draw_loss_surface(paper()).to_dict()
    domains = [panel["layer"][0]["encoding"][side]["scale"]["domain"] for panel in chart["hconcat"] for side in "xy"]
    assert domains == [[pytest.approx(0.3), 1.0]] * 4


def test_what_is_undefined_cannot_be_drawn():
    with pytest.raises(InputError, match="frame"):
        draw_loss_surface(paper().assign(noisy=np.nan))
