"""Tests of `fairtrial.study.run.dry_run`."""

import warnings

import numpy as np
import pytest

from fairtrial._text import collapse_whitespace, format_duration, format_reason
from fairtrial.conditions import ClassNoise, PriorShift, ScoreNoise
from fairtrial.data import Dataset
from fairtrial.errors import SpecError, SuspectInputWarning
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.plan.schedule import Chunker
from fairtrial.study.records import ResourceLimits
from fairtrial.study.run import dry_run as dry_run_trying_conditions
from fairtrial.study.run.coordinator import run_study
from fairtrial.study.run.dry_run import dry_run, try_conditions
from fairtrial.study.study import Study
from tests.study.small_studies import CLEAN, rows, study

# --- Dry run ---
# What a run would do.


COMMON = {"data": ["iris", "wine"], "resampling": {"folds": 3}}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("dry") / "some.fairtrial"
    run_study(Study(**COMMON, learners=["gaussian-nb"]), path, jobs=1, progress=False)
    return path


def test_what_is_stored_is_not_planned_again(store):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb", "decision-tree"]), store)
    frame = found.frame().set_index(["dataset", "learner"])
    assert frame["planned"].eq(3).all()
    assert frame.xs("gaussian-nb", level="learner")["missing"].eq(0).all()
    assert frame.xs("decision-tree", level="learner")["stored"].eq(0).all()
    assert "6 of 12 trials stored, 6 missing" in str(found)
    assert found.estimate.seconds is not None


def test_nothing_is_left_of_a_finished_study(store):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb"]), store)
    assert found.estimate.seconds == 0
    assert int(found.missing.sum()) == 0


def test_shards_share_the_work(store):
    study = Study(**COMMON, learners=["gaussian-nb", "decision-tree"])
    parts = [dry_run(study, store, shard=(number, 2)) for number in (1, 2)]
    assert sum(int(part.planned.sum()) for part in parts) == 12
    assert sum(int(part.missing.sum()) for part in parts) == 6


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    found = dry_run(Study(**COMMON, learners=["gaussian-nb"]), tmp_path / "new.fairtrial")
    assert int(found.missing.sum()) == 6
    assert list(tmp_path.iterdir()) == []


def test_limits_that_are_told_go_before_those_of_the_study(tmp_path):
    study = Study(**COMMON, learners=["gaussian-nb"], limits={"time": "1 min"})
    found = dry_run(study, tmp_path / "new.fairtrial", limits=ResourceLimits(2.0))
    assert found.plan.study.limits == ResourceLimits(2.0)


def test_a_condition_that_fits_no_data_set_is_refused(tmp_path):
    shift = {"rare": {"condition": "prior-shift", "priors": {"nobody": 0.1}}}
    study = Study(**COMMON, learners=["gaussian-nb"], conditions=shift)
    with pytest.raises(SpecError, match=r"conditions\.rare: .*nobody"):
        dry_run(study, tmp_path / "new.fairtrial")


@pytest.mark.parametrize(
    ("header", "data", "guessed"),
    [
        ("size,kind", 'sets = ["rows.csv"]', True),
        ("size,class", 'sets = ["rows.csv"]', False),
        ("size,kind", 'rows = { file = "rows.csv", target = "kind" }', False),
    ],
)
def test_a_class_column_that_is_not_declared_is_stated(tmp_path, header, data, guessed):
    (tmp_path / "rows.csv").write_text(f"{header}\n" + "\n".join(f"{row},{'ab'[row % 2]}" for row in range(12)))
    file = tmp_path / "a.toml"
    file.write_text(f"[data]\n{data}\n[learners]\ngaussian-nb = {{}}\ndecision-tree = {{}}\n[resampling]\nfolds = 2\n")
    study = Study.read(file)
    reason = "The last column (kind) is used as the class of rows, because no target is declared."
    sentence = f"{reason} Declare target to choose another column."
    assert (sentence in str(dry_run(study, tmp_path / "a.fairtrial")).splitlines()) == guessed
    if guessed:
        assert sentence in study.run(tmp_path / "a.fairtrial", jobs=1, progress=False).notes


# --- Trying conditions ---
# Conditions tried on the data before a run.


def sick(count=30, seed=5):
    labels = np.arange(count) % 2
    table = np.random.default_rng(seed).normal(size=(count, 2))
    return Dataset.from_table(table, np.array(["sick", "well"])[labels], name="sick")


def other():
    return Dataset.from_table(np.arange(60.0).reshape(30, 2), np.array(["c", "d"])[np.arange(30) % 2], name="other")


SHIFT = ("rare", 1.0, PriorShift(priors={"sick": 0.2}))
NOISE = ("class-noise", 0.2, ClassNoise(0.2))


def tried(data, *conditions, seed=1):
    planned = plan_study(study(data, conditions=(CLEAN, *conditions), seed=seed))
    try_conditions(planned, planned.iter_missing())


@pytest.fixture
def silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("silence")
def test_conditions_that_can_be_applied_are_not_spoken_of():
    tried({"first": rows(), "second": rows(seed=2)}, NOISE, ("scores", 0.1, ScoreNoise(0.1)))


def test_one_that_fails_on_every_data_set_is_refused_with_its_place():
    with pytest.raises(SpecError, match="sick") as told:
        tried({"first": rows(), "second": rows(seed=2)}, NOISE, SHIFT)
    [problem] = told.value.problems
    assert problem.location == "conditions.rare"
    assert "on first" in problem.message
    assert "\n" not in str(told.value)


def test_levels_that_fail_alike_are_one_problem():
    shares = [("rare", share, PriorShift(priors={"sick": share})) for share in (0.1, 0.2)]
    with pytest.raises(SpecError) as told:
        tried({"first": rows()}, *shares)
    assert len(told.value.problems) == 1
    assert "other data sets" not in str(told.value)


def test_one_that_fails_on_some_is_told_once():
    with pytest.warns(SuspectInputWarning) as told:
        tried({"first": rows(), "hospital": sick(), "second": other()}, SHIFT)
    [sentence] = [str(each.message) for each in told]
    assert sentence.startswith("rare cannot be applied to first and second: ")


@pytest.mark.usefixtures("silence")
def test_one_odd_split_refuses_nothing(monkeypatch):
    splits = []

    def first_only(*given):
        splits.append(given[1])
        if len(splits) == 1:
            raise ValueError("an odd split")

    monkeypatch.setattr(dry_run_trying_conditions, "apply_condition", first_only)
    tried({"first": rows()}, NOISE)
    assert [(each.repeat, each.fold) for each in splits] == [(0, 0), (1, 2)]


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize(("name", "value"), [("_MAX_ROWS", 29), ("_CONDITION_SECONDS", -1.0)])
def test_what_was_not_tried_is_not_refused(monkeypatch, name, value):
    monkeypatch.setattr(dry_run_trying_conditions, name, value)
    tried({"first": rows()}, SHIFT)


def test_only_what_is_missing_is_tried():
    planned = plan_study(study({"first": rows()}, conditions=(CLEAN, SHIFT)))
    clean = [block for block in planned.iter_missing() if block.condition == 0]
    try_conditions(planned, clean)
    try_conditions(planned, [])


def test_the_seeds_are_those_of_the_trials(monkeypatch):
    planned = plan_study(study({"first": rows()}, conditions=(NOISE,)))
    chunk = Chunker(planned).take_chunk()
    seeds = []
    monkeypatch.setattr(dry_run_trying_conditions, "apply_condition", lambda *each: seeds.append(each[-1]))
    try_conditions(planned, planned.iter_missing())
    assert seeds == [chunk.tasks[0].condition_seed]


# --- One line ---
# Text on one line, and durations.


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        ("the quick brown fox", 19, "the quick brown fox"),
        ("the quick brown fox", 18, "the quick brown…"),
        ("the quick brown fox", 16, "the quick brown…"),
        ("the quick brown fox", 15, "the quick…"),
        ("/a/path/that/has/no/blank/in/it", 10, "/a/path/t…"),
        ("two\nlines\tand \x1b[31mcolour\r\n", None, "two lines and [31mcolour"),
        ("[bold]name[/bold] :warning:", None, "[bold]name[/bold] :warning:"),
        ("", 5, ""),
    ],
)
def test_a_line_is_plain_and_cut_after_a_word(text, most, line):
    assert collapse_whitespace(text, most) == line
    assert most is None or len(line) <= most


def test_a_reason_is_the_class_and_the_message():
    assert format_reason("ValueError", "no") == "ValueError: no"
    assert format_reason("ValueError", None) == format_reason("ValueError", float("nan")) == "ValueError"
    assert format_reason("ValueError", "word " * 100).endswith("word…")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0021, "2.1 ms"),
        (0.99, "990 ms"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (61, "1 min 1 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h"),
        (90000, "1 d 1 h"),
        (172800, "2 d"),
    ],
)
def test_durations_have_at_most_two_units(seconds, text):
    assert format_duration(seconds) == text
