import pytest

from fairtrial import judge
from fairtrial.measures import auc, cost_curve
from fairtrial.report import judgement as names
from fairtrial.report.figures.study_curves import find_cost_winners
from fairtrial.report.sections import curves
from fairtrial.report.sections.curves import build_judgement_section, compute_winning_fractions
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, many_classes, sections, two_classes


def test_areas_are_those_of_all_rows():
    part, table = sections("two classes")["curves"].subsections[0], two_classes()
    frame = part.tables[0].frame
    for model in ("forest", "tree", "rule"):
        assert frame.loc[model, curves.AREA] == pytest.approx(auc(table["truth"] == "yes", table[f"{model}_proba"]))
    won = compute_winning_fractions(
        find_cost_winners({name: cost_curve(table["truth"] == "yes", table[f"{name}_proba"]) for name in frame.index})
    )
    assert frame[curves.WON].to_dict() == pytest.approx({"tree": 0.0, "rule": 0.0} | won.to_dict())
    assert [figure.key for figure in part.figures] == [
        f"curves-{kind}-yes" for kind in ("roc", "precision-recall", "cost", "ks")
    ]
    assert part.title == "Class yes"


def test_each_class_against_the_other_classes():
    found, table = sections("many classes")["curves"], many_classes()
    assert [part.title for part in found.subsections] == ["Class a", "Class b", "Class c"]
    own = table[table["model"] == "poor"]
    expected = auc(own["truth"] == "b", own["p_b"])
    assert found.subsections[1].tables[0].frame.loc["poor", curves.AREA] == pytest.approx(expected)
    assert found.subsections[1].sentences[0].names == ("good", "poor")
    assert found.subsections[1].sentences[0].numbers[1].value == pytest.approx(expected)


def test_omitted_classes_are_counted(monkeypatch):
    monkeypatch.setattr(names, "MAX_PARTS", 1)
    monkeypatch.setattr(curves, "MAX_PARTS", 1)
    found = build_judgement_section(describe_source(judged("many classes")))
    rows = many_classes().query("model == 'good'")["truth"].value_counts()
    assert [part.title for part in found.subsections] == [f"Class {rows.idxmax()}"]
    assert len(found.notes) == 1
    assert "2 more" in found.notes[0]


def test_models_without_scores_are_named():
    assert build_judgement_section(describe_source(judged("labels only"))) is None
    assert len(sections("decisions")["curves"].notes) == 1
    assert "tree" in sections("decisions")["curves"].notes[0]


def test_equal_curves_have_no_lowest_cost():
    table = two_classes(60)[["row", "truth", "forest_proba"]]
    part = build_judgement_section(
        describe_source(judge(table.assign(twin_proba=table["forest_proba"]), resamples=20))
    ).subsections[0]
    assert [sentence.names for sentence in part.sentences] == [(), ()]
    assert (part.tables[0].frame[curves.WON] == 0).all()


def test_bands_need_counts_and_have_the_given_level():
    roc = sections("weighted")["curves"].subsections[0].figures[0]
    assert not any("Shaded" in line for line in roc.chart.to_dict()["title"]["subtitle"])
    found = build_judgement_section(describe_source(judge(two_classes(60), level=0.8, resamples=20))).subsections[0].figures[0]
    assert any("80 %" in line for line in found.chart.to_dict()["title"]["subtitle"])
