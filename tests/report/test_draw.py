"""Figures by name."""

from dataclasses import fields

import pytest

from fairtrial import judge
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.report.figures.registry import draw, figures, list_figure_names, list_figure_options, register_figure
from fairtrial.report.selection import Selection
from tests.report.judgement.cases import two_classes, weighted
from tests.report.result_cases import cases

CURVES = ["roc", "precision-recall", "cost-curve", "brier-curve", "ks", "gain", "calibration"]
VERDICTS = ["critical-difference", "ranks", "pairs", "simplex", "density", "intervals"]
CONDITIONS = ["noise", "rla", "ela", "loss-surface", "deterioration"]
OTHERS = ["projection", "splits", "audit", "times"]


def test_all_figures_are_there():
    assert sorted(list_figure_names()) == sorted([*CURVES, *VERDICTS, *CONDITIONS, *OTHERS])


def test_unknown_names_and_options_get_a_hint():
    with pytest.raises(UnknownNameError, match="'cost-curve'"):
        draw(None, "cost-curv")
    with pytest.raises(InputError, match=r"'noise'.*'conditon'.*'condition'"):
        draw(None, "noise", conditon="x")


@pytest.mark.parametrize("name", ["roc", "times", "noise"])
def test_every_figure_takes_a_title(name):
    assert draw(cases()["two classes"], name, title="<b>Mine</b>").to_dict()["title"]["text"] == "<b>Mine</b>"


@pytest.mark.parametrize("name", [*CURVES, *VERDICTS, *CONDITIONS, *OTHERS])
def test_what_can_be_selected_are_fields_of_a_selection_and_options_come_once(name):
    options = list_figure_options(name)
    assert set(figures[name].select) <= {field.name for field in fields(Selection)}
    assert len(set(options)) == len(options)
    assert not {"results", "selection"} & set(options)


@pytest.fixture
def own_figures(monkeypatch):
    monkeypatch.setattr(figures, "_items", dict(figures._items))


@pytest.mark.usefixtures("own_figures")
def test_a_figure_is_added_by_its_decorator_with_or_without_a_selection():
    @register_figure("mine", select=("dataset", "level"))
    def draw_mine(_results, selection, colour="blue"):
        return selection, colour

    @register_figure("plain", serves=("judgement",))
    def draw_plain(results, dataset=None):
        return results, dataset

    results = cases()["two classes"]
    assert list_figure_options("mine") == ("dataset", "level", "colour", "title")
    assert draw(results, "mine", dataset="iris", colour="red") == (Selection(dataset="iris"), "red")
    assert list_figure_options("plain") == ("dataset", "title")
    assert draw(judge(two_classes(60), resamples=20), "plain", dataset="x")[1] == "x"
    with pytest.raises(InputError, match="plain"):
        draw(results, "plain")


def test_aliases_are_the_same_figure():
    assert list_figure_options("pr") == list_figure_options("precision-recall")


@pytest.mark.parametrize("name", ["roc", "precision-recall", "cost-curve", "ks", "calibration"])
def test_curves_of_a_judgement(name):
    text = str(draw(judge(two_classes(60), positive="no", resamples=20), name).to_dict())
    assert "forest" in text
    assert "tree" in text


def test_judgement_cannot_draw_every_figure():
    for table, name in ((two_classes(60), "noise"), (weighted(60), "roc")):
        with pytest.raises(InputError, match=f"'{name}'.*judgement"):
            draw(judge(table, resamples=20), name)
