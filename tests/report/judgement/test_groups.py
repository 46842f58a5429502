import pytest

from fairtrial import judge
from fairtrial.measures import auc
from fairtrial.report.sections.subgroups import build_judgement_section, build_subgroup_differences, choose_subgroup_measure
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import RESAMPLES, judged, sections, text_of, two_classes


def test_the_widest_gap_is_that_of_the_measure_in_the_subgroups():
    table, gaps = two_classes(), build_subgroup_differences(judged("two classes")).set_index("model")
    for model in ("forest", "tree", "rule"):
        parts = {name: auc(own["truth"] == "yes", own[f"{model}_proba"]) for name, own in table.groupby("sex")}
        assert gaps.loc[model, "difference"] == pytest.approx(abs(parts["f"] - parts["m"]))
        assert gaps.loc[model, "lowest in"] == min(parts, key=parts.get)
        assert gaps.loc[model, "lowest"] == pytest.approx(min(parts.values()))
    widest = gaps["difference"].idxmax()
    found = text_of(sections("two classes")["subgroups"])
    low, high = gaps.loc[widest, ["lowest", "highest"]]
    worst, best = gaps.loc[widest, ["lowest in", "highest in"]]
    assert f"that of {widest}: auc {low:.3f} for {worst}, the worst, and {high:.3f} for {best}, the best" in found


def test_of_a_loss_the_highest_is_the_worst():
    judgement = judge(two_classes(100), measures="brier", resamples=20)
    assert choose_subgroup_measure(judgement) == "brier"
    own = build_subgroup_differences(judgement).iloc[0]
    assert f"brier {own['highest']:.3f} for {own['highest in']}, the worst" in text_of(build_judgement_section(describe_source(judgement)))


def test_a_gap_beyond_chance_is_not_called_chance():
    table = two_classes(400)
    wrong = table["sex"] == "m"
    table.loc[wrong, "forest_proba"] = 1 - table.loc[wrong, "forest_proba"]
    told = text_of(build_judgement_section(describe_source(judge(table, resamples=RESAMPLES))))
    assert "the intervals do not overlap" in told
    assert "may be chance" not in told
    assert "In no case are the intervals apart" in text_of(sections("two classes")["subgroups"])


def test_small_subgroups_are_left_aside():
    table = two_classes(60).assign(sex=["f"] * 50 + ["m"] * 10)
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert text_of(found) == "No two subgroups have enough rows to be compared."
    assert "only 10 rows: too few to judge" in found.tables[0].frame["note"].tolist()
    assert [table.key for table in found.tables] == ["subgroups-all"]


def test_no_groups_no_section():
    assert build_judgement_section(describe_source(judged("labels only"))) is None


def test_a_figure_for_each_column():
    table = two_classes(100).assign(region=["north", "south"] * 50)
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert [figure.key for figure in found.figures] == ["subgroups-sex", "subgroups-region"]
    assert set(found.figures[1].frame["measure"]) == {"north", "south"}
