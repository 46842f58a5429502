"""Progress of a study."""

import pandas as pd

from fairtrial.study.results.summary import StudyProgress, compute_progress
from tests.study.archives import real_results


def test_trials_are_counted_by_learner_and_status():
    results = real_results()
    trials, found = results.trials(), compute_progress(results)
    frame = found.frame().set_index("learner")
    assert frame.index.tolist() == [each.name for each in results.archive.learners]
    for (learner, status), count in trials.groupby(["learner", "status"], observed=True).size().items():
        assert frame.loc[learner, status] == count
    assert frame["planned"].sum() == len(trials)
    done = len(trials) - results.missing
    assert str(found).startswith(f"example: {done} of {len(trials)} trials stored, {len(results.failures())} failed")
    assert isinstance(found.frame(), pd.DataFrame)


def test_large_numbers_are_written_alike():
    table = pd.DataFrame({"learner": ["tree"], "planned": [1152], "ok": [1151], "error": [1]})
    told = str(StudyProgress("wear", table, ()))
    assert told.startswith("wear: 1,152 of 1,152 trials stored, 1 failed")
    assert "1152" not in told
    assert "1,151" in told
    one = pd.DataFrame({"learner": ["tree"], "planned": [1], "ok": [1]})
    assert str(StudyProgress("wear", one, ())).startswith("wear: 1 of 1 trial stored")


def test_abstentions_are_shown():
    results = real_results()
    results.archive.lines.loc[0, "abstentions"] = 3
    learner = results.archive.lines.loc[0, "learner"]
    (note,) = compute_progress(results).notes
    assert note.startswith(f"{learner} abstained on 3 of 30 test rows in 1 of 30 trials")
    assert note in str(compute_progress(results)).splitlines()
