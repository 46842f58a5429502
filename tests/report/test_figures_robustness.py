"""Tests of `fairtrial.report.figures.robustness`."""

import numpy as np
import pandas as pd
import pytest
import vl_convert
from scipy.stats import t

from fairtrial.conditions import AttributeNoise, ClassNoise, ClassProportion, Clean
from fairtrial.errors import InputError
from fairtrial.measures import ela, rla
from fairtrial.report.figures.environments import draw_deterioration, draw_environments
from fairtrial.report.figures.noise import build_case_frame, draw_changes
from fairtrial.report.figures.robustness import compute_loss_contours, draw_levels, draw_loss_surface, draw_losses
from fairtrial.report.files import save
from fairtrial.report.means import compute_level_means, compute_test_fraction
from tests.report.result_cases import cases, real_results

# --- Robustness ---
# Figures of scores and losses over levels.


def frame():
    lines = [(level, name, 0.9 - level * slope, 0.8, 1.0) for level in (0.0, 0.1, 0.3) for name, slope in (("a", 1), ("b", 2))]
    return pd.DataFrame(lines, columns=["level", "learner", "mean", "low", "high"])


def rows_of(chart):
    return max(chart["datasets"].values(), key=len)


def test_each_level_has_a_point_for_each_learner_and_ticks_at_levels_alone():
    chart = draw_levels(frame(), axis_title="AUC").to_dict()
    rows = rows_of(chart)
    assert {(row["level"], row["learner"], row["value"]) for row in rows} == set(
        frame()[["level", "learner", "mean"]].itertuples(index=False, name=None)
    )
    x = chart["layer"][0]["encoding"]["x"]
    assert x["axis"]["values"] == [0.0, 0.1, 0.3]
    assert chart["layer"][1]["encoding"]["y"]["title"] == "AUC"


def test_learners_stand_apart_but_nearer_to_their_own_level_than_to_any_other():
    many = pd.concat([frame().assign(learner=f"l{i}") for i in range(12)])
    for row in rows_of(draw_levels(many).to_dict()):
        assert abs(row["position"] - row["level"]) < 0.05


def test_holes_are_left_out():
    holed = frame().assign(mean=[np.nan, 0.9, 0.8, 0.7, 0.6, 0.5])
    assert len(rows_of(draw_levels(holed).to_dict())) == 5


def test_without_intervals_the_figure_says_so():
    chart = draw_levels(frame().assign(low=np.nan, high=np.nan)).to_dict()
    assert chart["title"]["subtitle"] == ["No intervals: each point is a single score"]


def losses():
    return (
        frame().rename(columns={"mean": "rla", "low": "rla_low", "high": "rla_high"}).assign(ela=0.3, ela_low=0.1, ela_high=0.5)
    )


def test_losses_stand_side_by_side():
    chart = draw_losses(losses()).to_dict()
    assert [panel["title"]["text"][-4:-1] for panel in chart["hconcat"]] == ["RLA", "ELA"]
    assert len(draw_losses(losses(), which="ela").to_dict()["hconcat"]) == 1


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="'rla_low'"):
        draw_losses(losses().drop(columns="rla_low"))


def test_learners_stand_apart_though_a_level_carries_float_noise():
    noisy = frame()
    noisy.loc[noisy["learner"] == "b", "level"] += [0.0, 2e-17, 1e-16]
    rows = max(draw_levels(noisy).to_dict()["datasets"].values(), key=len)
    places = sorted({row["position"] for row in rows})
    assert len(places) == 6
    assert np.diff(places).min() > 1e-3


# --- Loss surface ---
# The surfaces of RLA and ELA.


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


# --- Level means ---
# Mean scores by level.


def test_over_data_sets_it_is_students_interval_of_the_means():
    results = cases()["several"]
    conditions = results.archive.conditions
    frame = compute_level_means(results, conditions).set_index(["level", "learner"])
    values = results.wide("accuracy", "class-noise", 0.2)["tree"].to_numpy()
    low, high = t.interval(0.95, 2, values.mean(), values.std(ddof=1) / np.sqrt(3))
    line = frame.loc[(0.2, "tree")]
    assert line["mean"] == pytest.approx(values.mean())
    assert (line["low"], line["high"]) == (pytest.approx(max(low, 0)), pytest.approx(min(high, 1)))
    assert line["datasets"] == 3


def test_on_one_data_set_the_overlap_of_splits_widens_it():
    results = cases()["several"]
    frame = compute_level_means(results, results.archive.conditions[:1], dataset="wine").set_index("learner")
    scores = results.scores("accuracy")
    own = scores[(scores["dataset"] == "wine") & (scores["condition"] == "clean") & (scores["learner"] == "near")]["value"]
    # 5 folds test on a fifth of the rows: the variance is that of the values times 1/5 + (1/5) / (4/5)
    half = t.ppf(0.975, 4) * np.sqrt((0.2 + 0.25) * own.var(ddof=1))
    assert frame.loc["near", "high"] - frame.loc["near", "mean"] == pytest.approx(half)
    assert frame.loc["near", "splits"] == 5


def test_means_are_of_the_data_sets_that_all_have():
    results = cases()["failures"]
    frame = compute_level_means(results, results.archive.conditions)
    assert frame["datasets"].unique().tolist() == [2]
    table = results.wide("accuracy").loc[["wine", "cancer"], "bayes"]
    own = frame[(frame["learner"] == "bayes") & (frame["level"] == 0)]
    assert own["mean"].item() == pytest.approx(table.mean())


def test_nothing_is_undefined_where_nothing_ran():
    results = cases()["all failed"]
    assert compute_level_means(results, results.archive.conditions)["mean"].isna().all()
    assert compute_level_means(results, results.archive.conditions, dataset="iris")[["mean", "low"]].isna().all(axis=None)


def test_shares_of_no_split_are_unknown():
    results = real_results()
    assert np.isnan(compute_test_fraction(results, "iris", []))
    assert compute_test_fraction(results, "iris", [(0, 0)]) == pytest.approx(0.2)


# --- Deterioration ---
# The matrix of what drift costs.


def frame_deterioration():
    known = [("iris", "a", 0.67), ("iris", "b", np.nan), ("wine", "a", -0.001), ("wine", "b", 1.0)]
    found = pd.DataFrame(known, columns=["dataset", "learner", "pd"])
    return found.assign(condition="worn", level=0.3, clean=0.1, error=0.4, loss=0.3, ideal=0.2, trivial=0.5)


def cells(chart):
    return {(row["learner"], row["dataset"]): row for row in max(chart["datasets"].values(), key=len)}


def test_cells_tell_pd_and_the_error_rate():
    found = cells(draw_deterioration(frame_deterioration()).to_dict())
    assert [found[key]["label"] for key in [("a", "iris"), ("b", "iris"), ("a", "wine"), ("b", "wine")]] == [
        "0.67",
        "undefined",
        "0.00",
        "1.00",
    ]
    assert {cell["rate"] for cell in found.values()} == {"40.0 %"}


def test_each_condition_and_level_has_a_panel():
    both = pd.concat([frame_deterioration(), frame_deterioration().assign(level=np.nan, condition="gone")])
    chart = draw_deterioration(both, value="loss").to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["worn 0.3", "gone"]
    assert cells(chart)["b", "iris"]["label"] == "0.30"


def test_an_unknown_value_is_refused():
    with pytest.raises(InputError, match="value must be one of"):
        draw_deterioration(frame_deterioration(), value="error")


# --- Conditions ---


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


# --- Environments ---


FRAME = pd.DataFrame(
    [
        ("tree", "a", "a", 0.0, 0.1, 0),
        ("tree", "a", "b", -0.001, 0.2, 0),
        ("tree", "b", "a", np.nan, np.nan, 30),
        ("tree", "b", "b", np.nan, 0.4, 0),
        ("line", "a", "a", 0.0, 0.1, 0),
        ("line", "a", "b", 0.724, 0.3, 1),
    ],
    columns=["learner", "trained_on", "tested_on", "pd", "error", "failures"],
).assign(
    pd_low=0.0,
    pd_high=0.1,
    error_low=0.1,
    error_high=0.2,
    ideal=0.1,
    trivial=0.4,
    replicates=lambda frame: 30 - frame["failures"],
)


def cells_environments(chart):
    drawn = chart.to_dict()
    return [row for panel in drawn["concat"] for row in drawn["datasets"][panel["data"]["name"]]]


def test_a_panel_for_each_learner_and_words_in_each_cell():
    chart = draw_environments(FRAME)
    assert [panel["title"]["text"] for panel in chart.to_dict()["concat"]] == ["tree", "line"]
    told = [(row["label"], row["rate"]) for row in cells_environments(chart)]
    assert told == [
        ("0.00", "10.0 %"),
        ("0.00", "20.0 %"),
        ("failed", "no result"),
        ("undefined", "40.0 %"),
        ("0.00", "10.0 %"),
        ("0.72", "30.0 %"),
    ]


def test_tooltips_show_raw_errors():
    fields = [each["field"] for each in draw_environments(FRAME).to_dict()["concat"][0]["layer"][0]["encoding"]["tooltip"]]
    assert {"error", "error_low", "error_high", "ideal", "trivial", "pd", "pd_low", "pd_high", "replicates", "failures"} <= set(
        fields
    )


def test_axes_are_in_the_order_of_the_run():
    encoding = draw_environments(FRAME).to_dict()["concat"][0]["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == ["a", "b"]
    assert encoding["y"]["sort"] == ["a", "b"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("Tested on", "Trained on")


def test_it_becomes_a_file(tmp_path):
    assert "Tested on" in save(draw_environments(FRAME, columns=1), tmp_path / "x.svg").read_text()


def test_wrong_input_is_named():
    with pytest.raises(InputError, match="column 'pd'"):
        draw_environments(FRAME.drop(columns="pd"))
    with pytest.raises(InputError, match="columns must be at least 1"):
        draw_environments(FRAME, columns=0)
    with pytest.raises(InputError, match="at least 1 row"):
        draw_environments(FRAME.iloc[:0])
