"""How far a study is."""

import pandas as pd

from fairtrial.study.results.progress_report import how_far
from tests.study.archives import real_results


def test_trials_are_counted_by_learner_and_status():
    results = real_results()
    trials, found = results.trials(), how_far(results)
    frame = found.frame().set_index("learner")
    assert frame.index.tolist() == [each.name for each in results.archive.learners]
    for (learner, status), count in trials.groupby(["learner", "status"], observed=True).size().items():
        assert frame.loc[learner, status] == count
    assert frame["planned"].sum() == len(trials)
    done = len(trials) - results.missing
    assert f"{done} of {len(trials)} trials are stored, {len(results.failures())} of them failed" in str(found)
    assert isinstance(found.frame(), pd.DataFrame)
