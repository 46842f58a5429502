import numpy as np
import pytest
import vl_convert

from fairtrial.errors import InputError
from fairtrial.report.figures.folds import ROW_ROLES, draw_splits, label_rows
from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, Splits

FOLDS = KFold(3, random_state=1).freeze(range(12))
DRAWS = Bootstrap(2, random_state=1).freeze(range(12))


def cells(panel, chart):
    return chart["datasets"][panel["data"]["name"]]


def test_parts_are_those_of_the_splits():
    frame = label_rows({"folds": FOLDS, "draws": DRAWS})
    assert len(frame) == 12 * 5
    for scheme, splits in (("folds", FOLDS), ("draws", DRAWS)):
        for number, (train, test) in enumerate(splits):
            rows = frame[(frame["scheme"] == scheme) & (frame["split"] == number + 1)].set_index("row")["role"]
            for row in range(12):
                times = train.tolist().count(row)
                expected = "tests" if row in test else "trains" if times == 1 else "trains more than once"
                assert rows[row] == expected


def test_what_must_not_be_is_told_apart():
    frame = label_rows(Splits.from_pairs([([0, 1], [1, 2])], 4))
    assert frame["role"].tolist() == ["trains", "trains and tests", "tests", "left aside"]
    assert set(frame["role"]) <= set(ROW_ROLES)


def test_a_panel_for_each_scheme_and_a_strip_of_classes():
    chart = draw_splits({"folds": FOLDS, "draws": DRAWS}, ["a"] * 8 + ["<b>"] * 4).to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["class of each row", "folds", "draws"]
    assert [len(cells(panel, chart)) for panel in chart["vconcat"]] == [12, 36, 24]
    legends = [panel["encoding"]["color"]["scale"]["domain"] for panel in chart["vconcat"]]
    assert legends == [["a", "<b>"], ["trains", "tests"], ["trains", "trains more than once", "tests"]]
    svg = vl_convert.vegalite_to_svg(chart)
    assert "Test rows of each split" in svg
    assert "&lt;b>" in svg or "&lt;b&gt;" in svg


def test_many_splits_lose_their_numbers():
    chart = draw_splits(LeaveOneOut().freeze(range(20))).to_dict()
    assert chart["vconcat"][0]["encoding"]["y"]["axis"]["labels"] is False
    assert "<svg" in vl_convert.vegalite_to_svg(chart)


@pytest.mark.parametrize(
    ("schemes", "classes", "message"),
    [
        ([FOLDS], None, "schemes must be splits or map names to splits"),
        ({}, None, "schemes must be splits or map names to splits"),
        ({"a": KFold(3)}, None, "schemes must be splits or map names to splits"),
        ({"a": FOLDS, "b": KFold(3).freeze(range(9))}, None, "schemes must split the same rows"),
        (KFold(3).freeze(np.zeros(301)), None, r"must have at most 300 rows and 60 splits to be drawn, got 301 and 3"),
        (LeaveOneOut().freeze(np.zeros(61)), None, "got 61 and 61: draw a smaller example"),
        (FOLDS, [1, 2], "classes must have one value for each of the 12 rows, got 2"),
    ],
)
def test_what_cannot_be_drawn(schemes, classes, message):
    with pytest.raises(InputError, match=message):
        draw_splits(schemes, classes)
