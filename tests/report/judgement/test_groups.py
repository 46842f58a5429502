import pytest

from fairtrial import judge
from fairtrial.measures import auc
from fairtrial.report.sections.subgroups import build_judgement_section, build_subgroup_differences, choose_subgroup_measure
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import RESAMPLES, judged, sections, two_classes


def test_differences_are_those_of_the_measure_in_the_subgroups():
    table, gaps = two_classes(), build_subgroup_differences(judged("two classes")).set_index("model")
    for model in ("forest", "tree", "rule"):
        parts = {name: auc(own["truth"] == "yes", own[f"{model}_proba"]) for name, own in table.groupby("sex")}
        assert gaps.loc[model, "difference"] == pytest.approx(abs(parts["f"] - parts["m"]))
        assert gaps.loc[model, "lowest in"] == min(parts, key=parts.get)
        assert gaps.loc[model, "lowest"] == pytest.approx(min(parts.values()))
    widest = gaps["difference"].idxmax()
    sentence = sections("two classes")["subgroups"].sentences[0]
    assert set(sentence.names) == {"sex", widest, "AUC", "f", "m"}
    assert [number.value for number in sentence.numbers] == gaps.loc[widest, ["lowest", "highest"]].tolist()


def test_highest_loss_is_the_worst():
    judgement = judge(two_classes(100), measures="brier", resamples=20)
    assert choose_subgroup_measure(judgement) == "brier"
    row = build_subgroup_differences(judgement).iloc[0]
    text = build_judgement_section(describe_source(judgement)).sentences[0].text
    assert f"{row['highest']:.3f} for {row['highest in']} (worst)" in text


def test_separate_intervals_are_recognized():
    table = two_classes(400)
    wrong = table["sex"] == "m"
    table.loc[wrong, "forest_proba"] = 1 - table.loc[wrong, "forest_proba"]
    section = build_judgement_section(describe_source(judge(table, resamples=RESAMPLES)))
    assert section.tables[0].frame.set_index("model").loc["forest", "intervals overlap"] == "no"
    assert len(section.sentences) == 1
    assert (sections("two classes")["subgroups"].tables[0].frame["intervals overlap"] == "yes").all()
    assert len(sections("two classes")["subgroups"].sentences) == 2


def test_small_subgroups_are_left_out():
    table = two_classes(60).assign(sex=["f"] * 50 + ["m"] * 10)
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    notes = found.tables[0].frame.set_index("subgroup")["note"]
    assert (notes["m"] != "").all()
    assert "10 rows" in notes["m"].iloc[0]
    assert [table.key for table in found.tables] == ["subgroups-all"]


def test_no_section_without_subgroups():
    assert build_judgement_section(describe_source(judged("labels only"))) is None


def test_a_figure_for_each_column():
    table = two_classes(100).assign(region=["north", "south"] * 50)
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert [figure.key for figure in found.figures] == ["subgroups-sex", "subgroups-region"]
    assert set(found.figures[1].frame["measure"]) == {"north", "south"}
