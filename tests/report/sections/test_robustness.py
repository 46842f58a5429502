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
def test_it_is_written_for_any_results(name):
    assert check_numbers([build_section(describe_source(cases()[name]))]) > 0


@pytest.mark.parametrize("name", ["apart", "noise alone", "all failed"])
def test_there_is_none_without_noise_or_without_clean(name):
    assert build_section(describe_source(cases()[name])) is None


def test_conditions_of_the_test_part_are_left_to_drift():
    assert build_section(describe_source(drifting())) is None


def test_numbers_are_the_papers_formulas_on_mean_accuracies():
    results = cases()["several"]
    overall, each = list_tables([build_section(describe_source(results))])
    clean, noisy = results.wide("accuracy"), results.wide("accuracy", "class-noise", 0.2)
    losses = {name: measure(clean, noisy, scale=1).mean(axis=0) for name, measure in (("RLA", rla), ("ELA", ela))}
    for name, values in losses.items():
        assert np.allclose(overall.frame.set_index("learner").loc[clean.columns, name], values)
    assert len(each.frame) == 12
    assert each.long


def test_it_names_the_best_at_the_highest_level():
    conditions = (CLEAN, *(replace(NOISE, level=level) for level in (0.3, 0.1)))
    skills = {"a": {"clean": 0.95, "class-noise": 0.8}, "b": {"clean": 0.9, "class-noise": 0.85}}
    found = build_section(describe_source(skilled_results(skills, sets=3, conditions=conditions)))
    frame = list_tables([found])[0].frame
    last = frame[frame["level"] == 0.3].set_index("learner")
    words = [each.text for each in list_sentences([found])]
    assert words[0].startswith(f"Under class-noise at level 0.3 {last['RLA'].idxmin()} loses least")
    alts = [figure.alt for figure in list_figures([found])]
    assert f"At level 0.3 {last['ELA'].idxmin()} has the lowest ELA, {last['ELA'].min():.3f}." in alts[1]


def noisy_results(**skills):
    return skilled_results(
        {name: {"clean": clean, "class-noise": noisy} for name, (clean, noisy) in skills.items()}, conditions=(CLEAN, NOISE)
    )


def test_words_tell_apart_what_intervals_tell_apart():
    words = [each.text for each in list_sentences([build_section(describe_source(noisy_results(good=(0.95, 0.94), bad=(0.95, 0.6))))])]
    assert words[1] == "Its interval of RLA lies below those of all others."
    words = [
        each.text for each in list_sentences([build_section(describe_source(noisy_results(one=(0.9, 0.85), two=(0.9, 0.85), bad=(0.95, 0.5))))])
    ]
    assert words[1] in {
        "Intervals of RLA tell it from bad, but not from one.",
        "Intervals of RLA tell it from bad, but not from two.",
    }


def test_one_learner_and_one_data_set_need_no_rival():
    found = build_section(describe_source(few_learners(["tree"], ["wine"])))
    words = [each.text for each in list_sentences([found])]
    assert words[1].startswith("Its ELA there is")
    assert len(list(list_tables([found]))) == 1


@pytest.mark.parametrize("name", ["several", "failures", "two classes"])
def test_accuracies_of_a_data_set_are_those_of_the_section_of_scores(name):
    results = cases()[name]
    told = next(table.frame for table in list_tables([scores.build_section(describe_source(results))]) if table.key == "scores-all")
    told = told[told["measure"] == "accuracy"].set_index(["data set", "learner", "condition"])["mean"]
    frame = list(list_tables([build_section(describe_source(results))]))[-1].frame
    assert len(frame) > 0
    for line in frame.to_dict("records"):
        place = (line.get("data set", results.archive.datasets[0].name), line["learner"])
        both = (line["accuracy without noise"], line["accuracy with noise"])
        assert both == pytest.approx((told[(*place, "clean")], told[(*place, "class-noise")]))


def test_data_sets_that_do_not_count_for_all_are_said_to_be_left_out():
    notes = [note for part in build_section(describe_source(cases()["failures"])).subsections for note in part.notes]
    assert any(note.startswith("A data set counts where every learner has a value") for note in notes)
