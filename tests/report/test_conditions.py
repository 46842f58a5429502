import numpy as np
import pandas as pd
import pytest
import vl_convert

from fairtrial.conditions import AttributeNoise, ClassNoise, ClassProportion, Clean
from fairtrial.errors import InputError
from fairtrial.report.figures.noise import build_case_frame, draw_changes

X = np.random.default_rng(1).normal(size=(20, 3))
Y = np.array(["a", "b"] * 10)


def test_frames_of_cases():
    noisy = ClassNoise(0.2).apply(X, Y, 1)
    frame = build_case_frame(X, Y, noisy, columns=(2, 0))
    assert frame["x"].tolist() == X[:, 2].tolist()
    assert frame["label"].tolist() == noisy.y.tolist()
    assert frame["changed"].sum() == 4
    assert "from_x" not in frame
    moved = AttributeNoise(0.2).apply(pd.DataFrame(X), Y, 1)
    frame = build_case_frame(pd.DataFrame(X), Y, moved)
    assert frame["from_y"].tolist() == X[:, 1].tolist()
    assert frame["changed"].tolist() == moved.mask[:, :2].any(axis=1).tolist()
    with pytest.raises(InputError, match="changed"):
        build_case_frame(X, Y, ClassProportion(0.5).apply(X, Y, 1))


def test_the_figure_says_what_changed():
    panels = {
        "clean": build_case_frame(X, Y, Clean().apply(X, Y)),
        "classes": build_case_frame(X, Y, ClassNoise(0.2).apply(X, Y, 1)),
        "values": build_case_frame(X, Y, AttributeNoise(0.2).apply(X, Y, 1)),
    }
    chart = draw_changes(panels, columns=2, title="Noise")
    drawn = chart.to_dict()
    told = [panel["title"]["subtitle"][0] for panel in drawn["concat"]]
    changed = int(panels["values"]["changed"].sum())
    assert told == ["nothing changed", "4 of 20 changed", f"{changed} of 20 changed"]
    assert [len(panel["layer"]) for panel in drawn["concat"]] == [2, 2, 3]
    domains = {str(panel["layer"][0]["encoding"]["x"]["scale"]["domain"]) for panel in drawn["concat"]}
    assert len(domains) == 1
    picture = vl_convert.vegalite_to_svg(drawn)
    for word in ("Noise", "clean", "classes", "values", "first attribute", "second attribute"):
        assert word in picture


def test_wrong_panels():
    with pytest.raises(InputError, match="panels must map names to frames"):
        draw_changes(pd.DataFrame())
    with pytest.raises(InputError, match="panels must map"):
        draw_changes({})
    with pytest.raises(InputError, match="the panel 'p' must have the column 'label'"):
        draw_changes({"p": pd.DataFrame({"x": [1], "y": [2]})})
    one = pd.DataFrame({"x": [1.0], "y": [2.0], "label": ["a"], "changed": [False]})
    assert "changed" not in draw_changes({"p": one}).to_dict()["concat"][0]["title"]["subtitle"]
    both = draw_changes({"p": one, "q": one.assign(changed=True)}).to_dict()["concat"]
    assert [panel["title"]["subtitle"] for panel in both] == [["nothing changed"], ["1 of 1 changed"]]
