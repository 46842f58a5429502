"""Findings about the trials of a study, and the notes rendered from them."""

import pytest

from fairtrial.study.results.results import Results
from fairtrial.study.results.summary import collect_findings
from tests.study.archives import real_archive


def find(archive, trials=None):
    return collect_findings(archive, archive.trials() if trials is None else trials)


def test_nothing_to_report():
    assert find(real_archive()) == ()


def test_missing_failed_and_warned_trials_are_reported_by_learner():
    def lost(dataset, _, learner, __, fold):
        if learner == "tree" and fold < 2:
            return ("timeout", "error")[fold]
        return "missing" if dataset == "iris" and fold == 4 else None

    archive = real_archive(lost)
    trials = archive.trials()
    trials.loc[trials["learner"] == "near", "notes"] = "ConvergenceWarning:\n  too early"
    missing, failed, warned = find(archive, trials)
    assert (missing.kind, missing["missing"], missing["trials"]) == ("trials_missing", 8, 120)
    assert (failed.kind, failed["learner"], failed["failed"], failed["datasets"]) == ("trials_failed", "tree", 12, 3)
    assert failed["causes"] == ("6 timeout", "6 error")
    assert failed["reason"] == "ValueError: no such luck"
    assert (warned.kind, warned["learner"], warned["warned"]) == ("learner_warnings", "near", 28)
    assert warned["reason"] == "ConvergenceWarning: too early"


def test_abstentions_are_separate_from_warnings():
    archive = real_archive()
    trials = archive.trials()
    trials["notes"] = trials["notes"].astype(object)
    own = trials.index[trials["learner"] == "near"]
    trials.loc[own[:2], "abstentions"] = 3
    trials.loc[own[2:3], "abstentions"] = 1
    trials.loc[own[2:3], "notes"] = "UserWarning: late"
    abstained, warned = find(archive, trials)
    assert (abstained.kind, abstained["learner"], abstained["abstained"], abstained["abstaining"]) == (
        "abstentions",
        "near",
        7,
        3,
    )
    assert (abstained["trials"], abstained["rows"]) == (len(own), 3 * 30)
    assert (warned.kind, warned["warned"], warned["reason"]) == ("learner_warnings", 1, "UserWarning: late")


def test_notes_render_the_findings():
    results = Results(real_archive(lambda *where: "missing" if where[0] == "iris" and where[2:] == ("tree", 0, 0) else None))
    (finding,) = results.findings
    assert finding["missing"] == 2
    assert len(results.notes) == 1
    assert "2 of 120 trials have" in results.notes[0]


def test_long_message_is_cut_after_a_word():
    archive = real_archive(lambda _, __, learner, ___, fold: "error" if learner == "tree" and fold == 0 else None)
    trials = archive.trials()
    trials["message"] = trials["message"].astype(object)
    trials.loc[trials["status"] == "error", "message"] = "the matrix is singular " * 20
    (finding,) = find(archive, trials)
    reason = finding["reason"]
    assert reason.startswith("ValueError: the matrix is singular the")
    assert reason.removesuffix("…").split()[-1] in {"the", "matrix", "is", "singular"}
    assert 100 < len(reason) <= 120
    assert reason.endswith("…")


PRIORS = "priors must name classes of y, got 'malignant': known: setosa, versicolor, virginica"


def refuse(trials, which, message=PRIORS):
    """Mark trials as failed with an InputError, as a worker reports it."""
    trials[["error", "message", "status"]] = trials[["error", "message", "status"]].astype(object)
    trials.loc[which, ["status", "error", "message"]] = ["error", "fairtrial.errors.InputError", message]
    return trials


@pytest.fixture
def archive():
    return real_archive()


def test_condition_that_cannot_be_applied_is_reported_once(archive):
    trials = archive.trials()
    trials = refuse(trials, (trials["condition"] == "class-noise") & trials["dataset"].isin(["iris", "wine"]))
    (finding,) = find(archive, trials)
    assert finding.kind == "condition_not_applied"
    assert (finding["conditions"], finding["datasets"], finding["reason"]) == (("class-noise 0.2",), ("iris", "wine"), PRIORS)


def test_splits_on_which_a_condition_cannot_be_applied_are_counted(archive):
    trials = archive.trials()
    trials = refuse(trials, (trials["condition"] == "class-noise") & (trials["dataset"] == "wine") & (trials["fold"] < 2))
    (finding,) = find(archive, trials)
    assert finding["datasets"] == ("wine (2 of 5 splits)",)


def test_learner_that_fails_alone_or_with_another_message_failed_itself(archive):
    trials = archive.trials()
    wine = (trials["condition"] == "class-noise") & (trials["dataset"] == "wine")
    (alone,) = find(archive, refuse(trials.copy(), wine & (trials["learner"] == "tree")))
    assert (alone.kind, alone["learner"], alone["failed"], alone["causes"]) == ("trials_failed", "tree", 5, ("5 error",))
    assert alone["reason"].startswith("fairtrial.errors.InputError")
    other_message = refuse(refuse(trials.copy(), wine), wine & (trials["learner"] == "tree"), "another message")
    assert [finding["learner"] for finding in find(archive, other_message)] == ["bayes", "tree", "ridge", "near"]
    clean = refuse(trials.copy(), (trials["condition"] == "clean") & (trials["dataset"] == "wine"))
    assert [(finding.kind, finding["failed"]) for finding in find(archive, clean)] == [("trials_failed", 5)] * 4
