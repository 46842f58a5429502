"""The whole experiment at smoke scale, its page, worked examples and figures."""

import pandas as pd
import pytest

from fairtrial import measures
from fairtrial.reproduce import reproduce
from fairtrial.reproduce.estimates.experiment import assess_example, compute_worked_examples, run
from fairtrial.reproduce.estimates.figures import METHODS_SHOWN, draw_by_rows, draw_coverage, draw_ensembles
from fairtrial.reproduce.experiment import Request


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("estimates")


@pytest.fixture(scope="module")
def smoke(folder):
    return reproduce("estimates", scale="smoke", out=folder, jobs=1, progress=False)


def test_the_whole_experiment_runs(smoke, folder):
    assert len(smoke.claims) == 15
    assert len(smoke.figures) == 4
    assert len(smoke.frame("cells")) == 2 * 2 * 4 * 12
    page = (folder / "index.md").read_text(encoding="utf-8")
    assert "There are 16 cells, 8 without the problem 'no signal'" in page
    assert "15 claims: 0 reproduced, 1 contradicted, 14 inconclusive." in page


def test_so_few_samples_are_inconclusive(smoke):
    """Except for a claim that a single example decides."""
    decided = [claim.text for claim in smoke.claims if claim.reproduced is not None]
    assert decided == ["The relative absolute error lies between 0 and 1"]


def test_values_of_the_page_are_those_of_the_tables(smoke):
    cells, values = smoke.frame("cells"), smoke.values
    errors = 100 * cells.groupby("method")["rmse"].mean()
    assert values["resubstitution"]["error"] == pytest.approx(errors.pop("resubstitution"))
    assert values["errors"] == pytest.approx(errors.to_dict())
    assert next(iter(values["errors"])) == errors.idxmin()
    signal = cells[(cells["problem"] != "no signal") & (cells["learner"] == "nearest neighbour")]
    biases = 100 * signal.groupby("method")["bias"].mean()
    assert values["resubstitution"]["biases"]["nearest neighbour"] == pytest.approx(biases.pop("resubstitution"))
    largest = biases.abs().idxmax()
    assert values["largest_biases"]["nearest neighbour"] == (largest, pytest.approx(biases[largest]))
    coverage = cells[cells["method"] == "resubstitution"]["coverage"].mean()
    assert values["resubstitution"]["coverage"].value == pytest.approx(coverage)
    assert "resubstitution" not in dict(values["coverage"])
    methods = smoke.frame("methods").set_index("method")
    assert methods.loc[".632+", "bias"] == pytest.approx(100 * cells[cells["method"] == ".632+"]["bias"].mean())


@pytest.mark.usefixtures("smoke")
def test_progress_is_reported_on_request(folder, capsys):
    """The cells are read from the files of the first run."""
    run(Request("smoke", folder, progress=True))
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("estimates: ")]
    assert len(lines) == 16 + 3
    assert lines[11] == "estimates: cell 12 of 16"


def test_worked_examples():
    """All positive on 90 and 10: accuracy 90 %, F = 2 * 0.9 / 1.9, and (100 + 0) / 2, for which the chapter has 45."""
    examples = compute_worked_examples()
    assert examples["ours"].tolist()[:3] == pytest.approx([90, 1.8 / 1.9, 50])
    limit = "rounded limit for many rows, not the value for 100 rows"
    assert examples["assessment"].tolist() == ["agrees after rounding"] * 2 + ["error in the chapter"] + [limit] * 2


def test_published_limits_differ_from_the_values_of_100_rows():
    """0.99^100 is 0.366; 1/e is 0.368, which is published."""
    examples = compute_worked_examples().iloc[3:]
    assert examples["limit"].tolist() == pytest.approx([0.367879, 0.632121], abs=1e-6)
    assert examples["ours"].tolist() == pytest.approx([0.366032, 0.633968], abs=0.003)
    assert examples["limit"].round(3).tolist() == examples["published"].tolist() != examples["ours"].round(3).tolist()


@pytest.mark.parametrize(("ours", "published"), [(0.5, 0.632), (0.634, 0.64)])
def test_other_numbers_are_not_the_limit(ours, published):
    assert assess_example(ours, published, 3, 1 - 0.99**100, 0.632121) == "differs"


@pytest.mark.parametrize(("name", "row"), [("accuracy", 0), ("f_score", 1), ("balanced_accuracy", 2)])
def test_an_error_of_ours_is_not_one_of_the_chapter(monkeypatch, name, row):
    monkeypatch.setattr(measures, name, lambda *_, **__: 0.47)
    assert compute_worked_examples().loc[row, "assessment"] == "differs"


SUMMARY = pd.DataFrame(
    [
        {"problem": problem, "n": n, "learner": "C4.5", "method": method, "bias": bias, "rmse": 0.1, "coverage": 0.9}
        for n in (25, 50)
        for method, bias in (("10-fold", 0.02), (".632", -0.04))
        for problem in ("p", "q")
    ]
)


def list_rows(chart):
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def test_biases_are_means_over_problems_in_points():
    rows = list_rows(draw_by_rows(SUMMARY, "bias", "title", "subtitle"))
    assert len(rows) == 4
    assert [row["value"] for row in rows if row["method"] == ".632"] == pytest.approx([-4.0, -4.0])


def test_every_method_has_its_own_colour():
    rows = [{"n": n, "learner": "C4.5", "method": method, "bias": 0.1} for n in (25, 50) for method in METHODS_SHOWN]
    chart = draw_by_rows(pd.DataFrame(rows), "bias", "title", "subtitle").to_dict()
    colours = next(layer["encoding"]["color"]["scale"] for layer in chart["spec"]["layer"] if "color" in layer["encoding"])
    assert colours["domain"] == list(METHODS_SHOWN)
    assert len(set(colours["range"])) == len(METHODS_SHOWN)


def test_coverage_is_in_percent_with_the_nominal_line():
    assert sorted({row["value"] for row in list_rows(draw_coverage(SUMMARY))}) == [90.0, 95]


def test_bars_do_not_go_below_zero():
    ensembles = [{"problem": "p", "learner": "C4.5", "noise": 0.1, "bias": -0.001, "variance": 0.05}]
    rows = list_rows(draw_ensembles(pd.DataFrame(ensembles)))
    assert {row["part"]: row["value"] for row in rows} == {"noise": 10.0, "bias": 0.0, "variance": 5.0}
