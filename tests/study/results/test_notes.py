"""What must be said beside the numbers."""

from fairtrial.study.results.summary import collect_notes
from tests.study.archives import real_archive


def test_nothing_to_say():
    assert collect_notes(real_archive().trials()) == ()


def test_holes_failures_and_warnings_are_told_by_learner():
    def lost(dataset, _, learner, __, fold):
        if learner == "tree" and fold < 2:
            return ("timeout", "error")[fold]
        return "missing" if dataset == "iris" and fold == 4 else None

    trials = real_archive(lost).trials()
    trials.loc[trials["learner"] == "near", "notes"] = "ConvergenceWarning:\n  too early"
    assert collect_notes(trials) == (
        "Incomplete: 8 of 120 trials have not run.",
        "tree failed in 12 trials (6 timeout, 6 error) on 3 data sets; the first: ValueError: no such luck",
        "near gave warnings in 28 trials; the first: ConvergenceWarning: too early",
    )


def test_abstentions_are_told_apart_from_warnings():
    trials = real_archive().trials()
    trials["notes"] = trials["notes"].astype(object)
    own = trials.index[trials["learner"] == "near"]
    trials.loc[own[:2], "notes"] = "abstained on 3 of 40 test rows: counted as errors"
    trials.loc[own[2:3], "notes"] = "abstained on 1 of 20 test rows: counted as errors\nUserWarning: late"
    assert collect_notes(trials) == (
        f"near abstained in 3 of {len(own)} trials, on 7 of the 100 test rows there: counted as errors",
        "near gave warnings in 1 trial; the first: UserWarning: late",
    )


def test_one_is_singular():
    trials = real_archive(lambda *place: "missing" if place[0] == "iris" and place[2:] == ("tree", 0, 0) else None).trials()
    one = trials[(trials["status"] != "missing") | (trials["condition"] == "clean")]
    assert collect_notes(one) == ("Incomplete: 1 of 119 trials has not run.",)


def test_a_long_message_is_cut_after_a_word_and_ends_in_dots():
    trials = real_archive(lambda _, __, learner, ___, fold: "error" if learner == "tree" and fold == 0 else None).trials()
    trials["message"] = trials["message"].astype(object)
    trials.loc[trials["status"] == "error", "message"] = "the matrix is singular " * 20
    [told] = [each for each in collect_notes(trials) if each.startswith("tree failed")]
    first = told.partition("the first: ")[2]
    assert first.startswith("ValueError: the matrix is singular the")
    assert first.removesuffix("…").split()[-1] in {"the", "matrix", "is", "singular"}
    assert 100 < len(first) <= 120
    assert first.endswith("…")


PRIORS = "priors must name classes of y, got 'malignant': known: setosa, versicolor, virginica"


def refused(trials, which, message=PRIORS):
    """Trials that failed with a complaint about the input, as a worker reports it."""
    trials[["error", "message", "status"]] = trials[["error", "message", "status"]].astype(object)
    trials.loc[which, ["status", "error", "message"]] = ["error", "fairtrial.errors.InputError", message]
    return trials


def test_a_condition_that_cannot_be_applied_is_said_once():
    trials = real_archive().trials()
    noisy = trials["condition"] == "class-noise"
    trials = refused(trials, noisy & trials["dataset"].isin(["iris", "wine"]))
    assert collect_notes(trials) == (f"class-noise 0.2 could not be applied to iris, wine: {PRIORS}",)


def test_splits_on_which_a_condition_cannot_be_applied_are_counted():
    trials = real_archive().trials()
    trials = refused(trials, (trials["condition"] == "class-noise") & (trials["dataset"] == "wine") & (trials["fold"] < 2))
    assert collect_notes(trials) == (f"class-noise 0.2 could not be applied to wine (2 of 5 splits): {PRIORS}",)


def test_a_learner_that_fails_alone_or_in_its_own_words_is_to_blame():
    trials = real_archive().trials()
    wine = (trials["condition"] == "class-noise") & (trials["dataset"] == "wine")
    alone = refused(trials.copy(), wine & (trials["learner"] == "tree"))
    assert collect_notes(alone)[0].startswith(
        "tree failed in 5 trials (5 error) on 1 data set; the first: fairtrial.errors.InputError"
    )
    own_words = refused(refused(trials.copy(), wine), wine & (trials["learner"] == "tree"), "another message")
    assert [note.split()[0] for note in collect_notes(own_words)] == ["bayes", "tree", "ridge", "near"]
    clean = refused(trials.copy(), (trials["condition"] == "clean") & (trials["dataset"] == "wine"))
    assert all("failed in 5 trials" in note for note in collect_notes(clean))
