"""The section of times."""

import pytest

from fairtrial.report.sections.time_memory import build_section
from fairtrial.report.source import describe_source
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases, few_learners


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results(name):
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


def test_fastest_and_slowest_are_named():
    found = build_section(describe_source(timed(bayes=(2.5, 2.5), tree=(0.125, 0.125))))
    assert found.sentences[0].names == ("tree", "bayes")
    assert [number.value for number in found.sentences[0].numbers] == [0.125, 2.5]
    assert found.figures[0].alt.index("tree (0.125 s)") < found.figures[0].alt.index("bayes (2.5 s)")
    assert found.tables[0].frame["memory (MiB)"].tolist() == [1000 / 2**20] * 2


def test_long_waiting_is_noted():
    found = build_section(describe_source(timed(bayes=(3.0, 1.0), tree=(1.0, 1.0))))
    assert len(found.notes) == 2
    assert "bayes" in found.notes[1]
    assert "tree" not in found.notes[1]
    assert len(build_section(describe_source(timed(bayes=(1.0, 1.0), tree=(1.0, 1.0)))).notes) == 1


def test_more_jobs_than_processors_are_noted():
    results = few_learners(["tree"])
    object.__setattr__(results.archive, "runs", ({"jobs": 8, "cpus": 2},))
    assert len(build_section(describe_source(results)).notes) == 1 + len(
        build_section(describe_source(few_learners(["tree"]))).notes
    )
