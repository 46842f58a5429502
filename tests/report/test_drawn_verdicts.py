"""Figures of comparisons by name."""

import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures import comparison
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.figures.registry import draw
from tests.report.result_cases import cases

DRAWINGS = {
    "critical-difference": "draw_critical_difference",
    "ranks": "draw_ranks",
    "pairs": "draw_pairs",
    "simplex": "draw_simplex",
    "density": "draw_density",
}


def count_drawings(monkeypatch):
    """A list to which every figure of a comparison adds its name when it is drawn."""
    calls = []
    for name, function in DRAWINGS.items():
        drawing = getattr(comparison, function)

        def draw_and_count(*args, _name=name, _draw=drawing, **options):
            calls.append(_name)
            return _draw(*args, **options)

        monkeypatch.setattr(comparison, function, draw_and_count)
    return calls


@pytest.mark.parametrize("name", ["critical-difference", "ranks", "pairs"])
def test_figures_of_the_verdict_are_those_of_the_condition(name):
    results = cases()["several"]
    expected = list_comparison_figures(results.verdict("auc", condition="class-noise", level=0.2))[name]().to_dict()
    found = draw(results, name, measure="auc", condition="class-noise").to_dict()
    assert found["datasets"] == expected["datasets"]


@pytest.mark.parametrize("name", ["critical-difference", "ranks", "pairs"])
def test_only_the_figure_that_is_asked_for_is_drawn(name, monkeypatch):
    calls = count_drawings(monkeypatch)
    draw(cases()["several"], name)
    assert calls == [name]


def test_a_control_is_passed_on():
    chart = draw(cases()["several"], "pairs", control="near").to_dict()
    assert {row["row"] for row in max(chart["datasets"].values(), key=len)} == {"near"}


def test_posteriors_are_of_two_learners():
    results = cases()["several"]
    assert draw(results, "simplex", learner=["bayes", "near"], rope=0.02).to_dict()["title"]["text"] == (
        "Posterior: accuracy, 3 data sets"
    )
    chart = draw(results, "density", learner=["bayes", "near"], dataset="wine").to_dict()
    assert "bayes" in str(chart["layer"])
    with pytest.raises(InputError, match="learner must name 2 learners"):
        draw(results, "simplex")
    with pytest.raises(InputError, match="did you mean 'bayes'"):
        draw(results, "simplex", learner=["baye", "near"])
    with pytest.raises(InputError, match="dataset must be given"):
        draw(results, "density", learner=["bayes", "near"])


def test_intervals_show_the_means():
    results = cases()["several"]
    chart = draw(results, "intervals", measure="accuracy").to_dict()
    rows = max(chart["datasets"].values(), key=len)
    means = results.wide("accuracy").mean()
    assert {row["learner"]: row["estimate"] for row in rows} == pytest.approx(means.to_dict())
    assert "on wine" in draw(results, "intervals", dataset="wine", measure=["auc", "log_loss"]).to_dict()["title"]["text"]


@pytest.mark.parametrize(
    "options", [{"condition": "class-nois"}, {"condition": "class-noise", "level": 0.7}, {"dataset": "winne"}]
)
def test_wrong_places_are_named(options):
    with pytest.raises(InputError, match="must be"):
        draw(cases()["several"], "intervals", **options)


def test_titles_say_what_is_compared_and_where():
    results = cases()["several"]
    for name in ("critical-difference", "ranks", "pairs"):
        told = draw(results, name, measure="auc", condition="class-noise").to_dict()["title"]["text"]
        assert told.endswith(": auc, 3 data sets, class-noise 0.2")
    told = draw(results, "density", learner=["bayes", "near"], dataset="wine").to_dict()["title"]["text"]
    assert told.endswith(": accuracy, wine")
    told = draw(results, "intervals", dataset="wine", condition="class-noise").to_dict()["title"]["text"]
    assert "on wine under class-noise 0.2" in told
