"""The section of robustness."""

from dataclasses import replace

import numpy as np
import pytest

from fairtrial.measures import ela, rla
from fairtrial.report.sections import scores
from fairtrial.report.sections.robustness import build_section
from fairtrial.report.source import describe_source
from tests.report.drifting import drifting
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import NOISE, cases, few_learners, skilled_results
from tests.study.archives import CLEAN


@pytest.mark.parametrize("name", ["several", "two classes", "one learner", "failures", "two apart"])
def test_section_is_built_for_any_results(name):
    assert check_numbers([build_section(describe_source(cases()[name]))]) > 0


@pytest.mark.parametrize("name", ["apart", "noise alone", "all failed"])
def test_section_needs_noise_and_a_clean_condition(name):
    assert build_section(describe_source(cases()[name])) is None


def test_conditions_of_only_the_test_set_belong_to_drift():
    assert build_section(describe_source(drifting())) is None


def test_losses_are_those_of_the_formulas():
    results = cases()["several"]
    overall, each = list_tables([build_section(describe_source(results))])
    clean, noisy = results.wide("accuracy"), results.wide("accuracy", "class-noise", 0.2)
    losses = {name: measure(clean, noisy, scale=1).mean(axis=0) for name, measure in (("RLA", rla), ("ELA", ela))}
    for name, values in losses.items():
        assert np.allclose(overall.frame.set_index("learner").loc[clean.columns, name], values)
    assert len(each.frame) == 12
    assert each.long


def test_best_learner_at_the_highest_level_is_named():
    conditions = (CLEAN, *(replace(NOISE, level=level) for level in (0.3, 0.1)))
    skills = {"a": {"clean": 0.95, "class-noise": 0.8}, "b": {"clean": 0.9, "class-noise": 0.85}}
    found = build_section(describe_source(skilled_results(skills, sets=3, conditions=conditions)))
    frame = list_tables([found])[0].frame
    last = frame[frame["level"] == 0.3].set_index("learner")
    assert list_sentences([found])[0].names == ("class-noise", last["RLA"].idxmin())
    alt = list_figures([found])[1].alt
    assert f"level 0.3 {last['ELA'].idxmin()} " in alt
    assert f"{last['ELA'].min():.3f}" in alt


def noisy_results(**skills):
    return skilled_results(
        {name: {"clean": clean, "class-noise": noisy} for name, (clean, noisy) in skills.items()}, conditions=(CLEAN, NOISE)
    )


def list_robustness_sentences(**skills):
    return list_sentences([build_section(describe_source(noisy_results(**skills)))])


def test_sentences_name_learners_with_separate_intervals():
    compared = list_robustness_sentences(good=(0.95, 0.94), bad=(0.95, 0.6))[1]
    assert compared.names == ("RLA",)
    column, separate, overlapping = list_robustness_sentences(one=(0.9, 0.85), two=(0.9, 0.85), bad=(0.95, 0.5))[1].names
    assert (column, separate) == ("RLA", "bad")
    assert overlapping in {"one", "two"}


def test_single_learner_and_data_set_have_no_comparison():
    found = build_section(describe_source(few_learners(["tree"], ["wine"])))
    assert [[number.cell.column for number in sentence.numbers] for sentence in list_sentences([found])] == [
        ["RLA", "level"],
        ["ELA", "accuracy with noise"],
    ]
    assert len(list_tables([found])) == 1


@pytest.mark.parametrize("name", ["several", "failures", "two classes"])
def test_accuracies_of_a_data_set_are_those_of_the_section_of_scores(name):
    results = cases()[name]
    tables = {table.key: table.frame for table in list_tables([scores.build_section(describe_source(results))])}
    means = tables["scores-all"].query("measure == 'accuracy'").set_index(["data set", "learner", "condition"])["mean"]
    frame = list(list_tables([build_section(describe_source(results))]))[-1].frame
    assert len(frame) > 0
    for line in frame.to_dict("records"):
        key = (line.get("data set", results.archive.datasets[0].name), line["learner"])
        both = (line["accuracy without noise"], line["accuracy with noise"])
        assert both == pytest.approx((means[(*key, "clean")], means[(*key, "class-noise")]))


def test_data_sets_without_all_learners_are_left_out():
    sections = {name: build_section(describe_source(cases()[name])).subsections[0] for name in ("several", "failures")}
    assert sections["several"].tables[0].frame["data sets"].unique().tolist() == [3]
    assert sections["failures"].tables[0].frame["data sets"].max() < 3
    assert len(sections["failures"].notes) == len(sections["several"].notes) + 1
