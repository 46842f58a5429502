"""What must be said beside the numbers."""

from fairtrial.study.results.result_notes import notes_of
from tests.study.archives import real_archive


def test_nothing_to_say():
    assert notes_of(real_archive().trials()) == ()


def test_holes_failures_and_warnings_are_told_by_learner():
    def lost(dataset, _, learner, __, fold):
        if learner == "tree" and fold < 2:
            return ("timeout", "error")[fold]
        return "missing" if dataset == "iris" and fold == 4 else None

    trials = real_archive(lost).trials()
    trials.loc[trials["learner"] == "near", "notes"] = "ConvergenceWarning:\n  too early"
    assert notes_of(trials) == (
        "Incomplete: 8 of 120 trials have not run.",
        "tree failed in 12 trials (6 timeout, 6 error) on 3 data sets; the first: ValueError: no such luck",
        "near gave warnings in 28 trials; the first: ConvergenceWarning: too early",
    )


def test_one_is_singular():
    trials = real_archive(lambda *place: "missing" if place[0] == "iris" and place[2:] == ("tree", 0, 0) else None).trials()
    one = trials[(trials["status"] != "missing") | (trials["condition"] == "clean")]
    assert notes_of(one) == ("Incomplete: 1 of 119 trials has not run.",)
