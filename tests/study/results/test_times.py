"""Times of trials."""

import numpy as np

from fairtrial.study.results.summary import find_slow_fits, summarise_times
from tests.study.archives import real_archive


def test_medians_leave_failures_out():
    trials = real_archive(lambda *place: "error" if place[4] == 0 else None).trials()
    wine = (trials["dataset"] == "wine") & (trials["learner"] == "tree") & (trials["status"] == "ok")
    trials.loc[wine, "fit_time"] = np.arange(wine.sum()) / 100.0
    found = summarise_times(trials).set_index(["dataset", "learner"])
    assert len(found) == 12
    assert found.loc[("wine", "tree"), "fit_time"] == 0.035
    assert found.loc[("iris", "tree"), "memory"] == 1000


def test_a_wait_is_noted():
    trials = real_archive().trials()
    assert find_slow_fits(trials) == []
    assert set(summarise_times(trials)["note"]) == {""}
    trials.loc[trials["learner"] == "near", "fit_time"] = 0.08
    (finding,) = find_slow_fits(trials)
    assert (finding.kind, finding["learners"], finding["datasets"]) == ("slow_fits", ("near",), 3)
    notes = summarise_times(trials).set_index("learner")["note"]
    assert (notes["near"] != "").all()
    assert (notes.drop("near") == "").all()


def test_times_that_were_not_taken_say_nothing():
    trials = real_archive().trials()
    trials[["fit_time", "fit_cpu"]] = None
    assert find_slow_fits(trials) == []
    assert summarise_times(trials)["fit_time"].isna().all()


def test_a_learner_without_a_success_has_a_line():
    trials = real_archive(lambda *place: "error" if place[0] == "wine" and place[2] == "tree" else None).trials()
    found = summarise_times(trials)
    assert len(found) == 12
    assert found.columns.tolist() == [
        "dataset",
        "learner",
        "fit_time",
        "predict_time",
        "fit_cpu",
        "predict_cpu",
        "memory",
        "note",
    ]
    line = found.set_index(["dataset", "learner"]).loc[("wine", "tree")]
    assert line.drop("note").isna().all()
    assert line["note"] == ""


def test_slow_data_sets_are_counted():
    trials = real_archive().trials()
    trials.loc[(trials["learner"] == "near") & (trials["dataset"] == "iris"), "fit_time"] = 0.08
    (finding,) = find_slow_fits(trials)
    assert (finding["learners"], finding["datasets"]) == (("near",), 1)
