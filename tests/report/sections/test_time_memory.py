"""The section of times."""

import pytest

from fairtrial.report.sections.time_memory import build_section
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases, few_learners


@pytest.mark.parametrize("name", sorted(cases()))
def test_it_is_written_for_any_results(name):
    found = build_section(describe_source(cases()[name]))
    assert (found is None) == (name == "all failed")
    if found is not None:
        assert check_numbers([found]) >= 1


def timed(**seconds):
    results = few_learners(list(seconds))
    lines = results.archive.lines
    for learner, (wall, cpu) in seconds.items():
        lines.loc[lines["learner"] == learner, ["fit_time", "fit_cpu"]] = wall, cpu
    return results


def test_the_fastest_and_the_slowest_are_named():
    found = build_section(describe_source(timed(bayes=(2.5, 2.5), tree=(0.125, 0.125))))
    words = "tree is the fastest to fit, with 0.125 s, bayes the slowest, with 2.5 s (medians over data sets)."
    assert found.sentences[0].text == words
    assert "tree is the fastest to fit, 0.125 s; bayes the slowest, 2.5 s." in found.figures[0].alt
    assert found.tables[0].frame["memory (MiB)"].tolist() == [1000 / 2**20] * 2


def test_waiting_is_told():
    found = build_section(describe_source(timed(bayes=(3.0, 1.0), tree=(1.0, 1.0))))
    assert any("longer than its CPU time for bayes " in note for note in found.notes)
    assert len(build_section(describe_source(timed(bayes=(1.0, 1.0), tree=(1.0, 1.0)))).notes) == 1


def test_more_jobs_than_processors_are_told():
    results = few_learners(["tree"])
    object.__setattr__(results.archive, "runs", ({"jobs": 8, "cpus": 2},))
    assert "more jobs than processors" in build_section(describe_source(results)).notes[-1]
