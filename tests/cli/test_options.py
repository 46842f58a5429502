"""Options of the commands."""

import pytest

from fairtrial.cli.study import RESULT_VIEWS, get_results_view, override_limits, parse_shard, resolve_jobs
from fairtrial.errors import InputError
from fairtrial.study.records import ResourceLimits
from fairtrial.study.study import Study
from tests.study.archives import real_results


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/4", ""])
def test_a_shard_is_one_of_some_parts(text):
    with pytest.raises(InputError, match="shard must be I/N"):
        parse_shard(text)


def test_no_shard_is_the_whole():
    assert parse_shard(None) is None
    assert parse_shard(" 2/2 ") == (2, 2)


@pytest.mark.parametrize(
    ("time", "memory", "expected"),
    [
        (None, None, None),
        ("90", None, ResourceLimits(90, 2_000_000_000)),
        ("1.5", "none", ResourceLimits(1.5, None)),
        ("10 min", "500 MB", ResourceLimits(600, 500_000_000)),
        ("none", None, ResourceLimits(None, 2_000_000_000)),
        (None, "3000000", ResourceLimits(60, 3_000_000)),
    ],
)
def test_limits_that_are_told_go_before_those_of_the_study(time, memory, expected):
    study = Study(data=["iris"], learners=["c45"], limits={"time": "1 min", "memory": "2 GB"})
    assert override_limits(study, time, memory) == expected


def test_jobs_are_at_least_one():
    assert resolve_jobs(3) == 3
    assert resolve_jobs(None) >= 1
    with pytest.raises(InputError, match="jobs must be at least 1, got 0"):
        resolve_jobs(0)


def test_every_view_is_what_the_results_give():
    results = real_results()
    place = {"measure": None, "condition": None, "level": None}
    assert get_results_view(results, "summary", **place) == str(results)
    assert get_results_view(results, "verdict", **place) == str(results.verdict())
    assert get_results_view(results, "failures", **place).equals(results.failures())
    assert get_results_view(results, "times", **place, exact=True).equals(results.times())
    assert get_results_view(results, "scores", **place | {"measure": "kappa"}).equals(results.scores("kappa"))
    table = get_results_view(results, "table", **place | {"measure": "kappa"}).set_index("dataset")
    assert table.to_numpy() == pytest.approx(results.wide("kappa").to_numpy(), nan_ok=True)
    with pytest.raises(InputError, match="did you mean 'table'"):
        get_results_view(results, "tables", **place)
    assert len(RESULT_VIEWS) == len(set(RESULT_VIEWS))


def test_times_are_in_milliseconds_and_megabytes():
    results = real_results()
    exact, shown = results.times(), get_results_view(results, "times", measure=None, condition=None, level=None)
    units = ["fit (ms)", "predict (ms)", "fit CPU (ms)", "predict CPU (ms)", "memory (MB)"]
    assert list(shown) == ["dataset", "learner", *units, "note"]
    for before, after, factor in (
        ("fit_time", "fit (ms)", 1e3),
        ("predict_cpu", "predict CPU (ms)", 1e3),
        ("memory", "memory (MB)", 1e-6),
    ):
        assert shown[after].to_numpy() == pytest.approx(exact[before].to_numpy() * factor, nan_ok=True)


def test_robustness_has_an_interval_in_one_cell_and_lines_over_all_data_sets():
    results = real_results()
    place = {"measure": None, "condition": None, "level": None}
    exact = results.robustness()
    assert get_results_view(results, "robustness", **place, exact=True).equals(exact)
    shown = get_results_view(results, "robustness", **place)
    columns = ["condition", "level", "dataset", "learner", "clean", "noisy", "rla (low to high)", "ela (low to high)"]
    assert list(shown) == columns
    over_all = shown[shown["dataset"] == "(over all)"]
    assert len(shown) == len(exact) + len(results.robustness(by="all"))
    assert over_all["clean"].tolist() == results.robustness(by="all")["clean"].tolist()
    line = exact.iloc[0]
    same = shown[(shown[["condition", "level", "dataset", "learner"]] == line[columns[:4]]).all(axis=1)].iloc[0]
    assert same["ela (low to high)"] == f"{line['ela']:.4g} ({line['ela_low']:.4g} to {line['ela_high']:.4g})"
