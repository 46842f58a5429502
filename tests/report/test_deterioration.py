"""The matrix of what drift costs."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.environments import draw_deterioration


def frame():
    known = [("iris", "a", 0.67), ("iris", "b", np.nan), ("wine", "a", -0.001), ("wine", "b", 1.0)]
    found = pd.DataFrame(known, columns=["dataset", "learner", "pd"])
    return found.assign(condition="worn", level=0.3, clean=0.1, error=0.4, loss=0.3, ideal=0.2, trivial=0.5)


def cells(chart):
    return {(row["learner"], row["dataset"]): row for row in max(chart["datasets"].values(), key=len)}


def test_cells_tell_pd_and_the_error_rate():
    found = cells(draw_deterioration(frame()).to_dict())
    assert [found[key]["label"] for key in [("a", "iris"), ("b", "iris"), ("a", "wine"), ("b", "wine")]] == [
        "0.67",
        "undefined",
        "0.00",
        "1.00",
    ]
    assert {cell["rate"] for cell in found.values()} == {"40.0 %"}


def test_each_condition_and_level_has_a_panel():
    both = pd.concat([frame(), frame().assign(level=np.nan, condition="gone")])
    chart = draw_deterioration(both, value="loss").to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["worn 0.3", "gone"]
    assert cells(chart)["b", "iris"]["label"] == "0.30"


def test_an_unknown_value_is_refused():
    with pytest.raises(InputError, match="value must be one of"):
        draw_deterioration(frame(), value="error")
