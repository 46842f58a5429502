import pytest

from fairtrial import judge
from fairtrial.measures import auc, cost_curve
from fairtrial.report import judgement as names
from fairtrial.report.figures.study_curves import find_cost_winners
from fairtrial.report.sections import curves
from fairtrial.report.sections.curves import build_judgement_section, compute_winning_fractions
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, many_classes, sections, text_of, two_classes


def test_areas_are_those_of_all_rows():
    part, table = sections("two classes")["curves"].subsections[0], two_classes()
    frame = part.tables[0].frame
    for model in ("forest", "tree", "rule"):
        assert frame.loc[model, "area under ROC"] == pytest.approx(auc(table["truth"] == "yes", table[f"{model}_proba"]))
    won = compute_winning_fractions(
        find_cost_winners({name: cost_curve(table["truth"] == "yes", table[f"{name}_proba"]) for name in frame.index})
    )
    assert frame["least cost on"].to_dict() == pytest.approx({"tree": 0.0, "rule": 0.0} | won.to_dict())
    assert [figure.key for figure in part.figures] == [
        f"curves-{kind}-yes" for kind in ("roc", "precision-recall", "cost", "ks")
    ]
    assert part.title == "Class yes"


def test_each_of_several_classes_against_the_rest():
    found, table = sections("many classes")["curves"], many_classes()
    assert [part.title for part in found.subsections] == ["Class a", "Class b", "Class c"]
    own = table[table["model"] == "poor"]
    expected = auc(own["truth"] == "b", own["p_b"])
    assert found.subsections[1].tables[0].frame.loc["poor", "area under ROC"] == pytest.approx(expected)
    assert f"poor the smallest, {expected:.3f}." in text_of(found.subsections[1])


def test_what_is_not_shown_is_counted(monkeypatch):
    monkeypatch.setattr(names, "MAX_PARTS", 1)
    monkeypatch.setattr(curves, "MAX_PARTS", 1)
    found = build_judgement_section(describe_source(judged("many classes")))
    rows = many_classes().query("model == 'good'")["truth"].value_counts()
    assert [part.title for part in found.subsections] == [f"Class {rows.idxmax()}"]
    assert found.notes == ("Shown are the data sets and classes with the most rows; 2 more are left out.",)


def test_models_without_scores_are_named():
    assert build_judgement_section(describe_source(judged("labels only"))) is None
    assert sections("decisions")["curves"].notes == ("No curve for tree: no scores.",)


def test_equal_curves_have_no_winner():
    table = two_classes(60)[["row", "truth", "forest_proba"]]
    part = build_judgement_section(describe_source(judge(table.assign(twin_proba=table["forest_proba"]), resamples=20))).subsections[0]
    assert "All models with a curve have the same area under ROC" in text_of(part)
    assert "No model alone has the least expected cost anywhere." in text_of(part)


def test_bands_need_counts_and_have_the_level_asked_for():
    roc = sections("weighted")["curves"].subsections[0].figures[0]
    assert not any("Shaded" in line for line in roc.chart.to_dict()["title"]["subtitle"])
    found = build_judgement_section(describe_source(judge(two_classes(60), level=0.8, resamples=20))).subsections[0].figures[0]
    assert any("80 % band" in line for line in found.chart.to_dict()["title"]["subtitle"])
