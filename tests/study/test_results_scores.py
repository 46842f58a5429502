"""Tests of `fairtrial.study.results.scores`."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

from fairtrial._check import encode_labels
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import Confusion, ScoreTally, accuracy, auc, brier, kappa, registry
from fairtrial.measures.rows import ProbabilityRows
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.results import Results
from fairtrial.study.results.scores import (
    INVALID_PROBABILITIES,
    NO_PROBABILITIES,
    NO_SCORES,
    NOT_FINITE,
    UNDEFINED,
    ScoreCache,
    ScoreLines,
    ScoreRequest,
    find_undefined,
    join_predictions,
    score_predictions,
)
from fairtrial.study.results.selection import mask_condition, mask_failed
from fairtrial.study.results.stacking import ClassOrder, Stack
from fairtrial.study.results.verdict import apply_policy, predict_trivial
from tests.study.archives import CLEAN, archive_of, data_facts, folds, random_predictions, real_archive, real_sources

# --- Scores ---
# Scores of stacks of trials against the public measures, called on the rows of one trial after the other.


make_requests = ScoreRequest.from_measures

POSSIBLE = [each.name for each in registry.values() if each.facts.needs in ("labels", "scores", "probabilities")]
CLASSES = {2: ("yes", "no"), 3: ("c", "a", "b"), 5: (5, 3, 1, 2, 4)}


def trials_of(k, seed=0, rows=60):
    """Trials with different numbers of rows, with ties, with classes that are absent from the truth or the prediction."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), rng.integers(k, size=rows - k)]).astype(np.intp)
    facts = data_facts("random", codes, CLASSES[k])
    trials = [
        random_predictions(rng, codes, rng.permutation(rows)[:n], k, ties=ties, absent=absent)
        for n in (1, 7, 20, 20)
        for ties in (False, True)
        for absent in (False, True)
    ]
    one_class = np.flatnonzero(codes == 1)
    trials.append(random_predictions(rng, codes, one_class, k))
    return facts, trials


def called(name, one, facts, **options):
    """The public measure on labels and columns of scores, as a user would call it."""
    measure = registry[name]
    labels = sorted(facts.classes)
    true = [facts.classes[code] for code in one.y_true]
    if measure.facts.needs == "labels":
        given = [facts.classes[code] for code in one.prediction]
    else:
        given = one.scores[:, [facts.classes.index(label) for label in labels]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return measure(true, given, labels=labels, **options)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", POSSIBLE)
def test_every_measure_is_that_of_the_rows(name, k):
    facts, trials = trials_of(k)
    values, reasons = score_predictions(trials, ClassOrder.from_facts(facts), make_requests(name))
    expected = [called(name, one, facts) for one in trials]
    np.testing.assert_allclose(values[0], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(reasons[0] == UNDEFINED, np.isnan(expected))


@pytest.mark.parametrize("name", POSSIBLE)
def test_a_class_may_be_singled_out(name):
    facts, trials = trials_of(3, seed=1)
    values, _ = score_predictions(trials, ClassOrder.from_facts(facts, "a"), make_requests(name))
    expected = [called(name, one, facts, positive="a") for one in trials]
    np.testing.assert_allclose(values[0], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "average"), [("f_score", "weighted"), ("recall", "micro"), ("auc", "weighted"), ("taks", "macro")]
)
def test_averages_are_those_of_the_measures(name, average):
    facts, trials = trials_of(3, seed=2)
    values, _ = score_predictions(trials, ClassOrder.from_facts(facts), make_requests(name, average))
    np.testing.assert_allclose(values[0], [called(name, one, facts, average=average) for one in trials], atol=1e-12)


def test_parameters_reach_the_measure():
    facts, trials = trials_of(2)
    for name, params in (("f_score", {"beta": 2.0}), ("log_loss", {"clip": 0.1}), ("calibration_error", {"bins": 3})):
        values, _ = score_predictions(trials, ClassOrder.from_facts(facts), make_requests(name, params=params))
        np.testing.assert_allclose(values[0], [called(name, one, facts, **params) for one in trials], atol=1e-12)


def test_parts_that_are_held_make_no_difference(monkeypatch):
    facts, trials = trials_of(3)
    wanted = make_requests(["accuracy", "auc", "brier"])
    whole = score_predictions(trials, ClassOrder.from_facts(facts), wanted)[0]
    monkeypatch.setattr("fairtrial.study.results.scores._MAX_SCORES", 50)
    np.testing.assert_array_equal(score_predictions(iter(trials), ClassOrder.from_facts(facts), wanted)[0], whole)


def test_a_class_without_rows_counts_only_where_a_trial_names_it():
    facts = data_facts("glass", [0, 2] * 10, ("a", "b", "c"))
    rows, truth = np.arange(4), np.array([0, 2, 0, 2])
    usual = Predictions(rows, truth, truth, np.eye(3)[truth], "probability")
    odd = Predictions(rows, truth, np.array([0, 1, 0, 2]), np.eye(3)[truth], "probability")
    hopeful = Predictions(rows, truth, truth, np.full((4, 3), 1 / 3), "probability")
    wanted = make_requests(["balanced_accuracy", "accuracy", "brier"])
    values, _ = score_predictions([usual, odd, hopeful], ClassOrder.from_facts(facts), wanted)
    # A class that nobody has leaves no mean recall; c stands against the rest: squares of 1/3 and 2/3, half each.
    np.testing.assert_allclose(values, [[1, np.nan, np.nan], [1, 0.75, 1], [0, 0, 5 / 18]])


def test_what_evidence_cannot_give_is_told():
    facts, (one, *_) = data_facts("x", [0, 1, 0, 1], ("a", "b")), [np.array([0, 1, 2, 3])]
    truth, shares = facts.codes, np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.4, 0.6]])
    broken = shares.copy()
    broken[0, 0] = np.nan
    given = [
        (None, None),
        (shares * 7, "decision"),
        (broken, "probability"),
        (shares * 2, "probability"),
        (shares, "probability"),
    ]
    trials = [Predictions(one, truth, truth, scores, kind) for scores, kind in given]
    wanted = make_requests(["accuracy", "auc", "brier"])
    values, reasons = score_predictions(trials, ClassOrder.from_facts(facts), wanted)
    assert values[0].tolist() == [1] * 5
    assert reasons[1].tolist() == [NO_SCORES, 0, NOT_FINITE, 0, 0]
    assert reasons[2].tolist() == [NO_SCORES, NO_PROBABILITIES, NOT_FINITE, INVALID_PROBABILITIES, 0]
    assert values[1][[1, 3, 4]].tolist() == [1, 1, 1]
    assert values[2][4] == pytest.approx((0.01 + 0.04 + 0.16 + 0.16) / 4)
    assert np.isnan(values[1:][reasons[1:] > 0]).all()
    finding = find_undefined(wanted[2], reasons[2], np.array(["a", "b", "c", "d", "e"]))
    assert (finding.kind, finding["measure"], finding["undefined"], finding["trials"]) == ("undefined_scores", "brier", 4, 5)
    assert [cause.endswith(f": {learner})") for cause, learner in zip(finding["causes"], "abcd", strict=True)] == [True] * 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("ela",), r"ela .*robustness\(\)"),
        (("regression.mse",), "regression.mse"),
        (([],), "measure must"),
        (("acuracy",), "'accuracy'"),
        (("auc", None), "average must"),
        (("accuracy", "macro"), "average must be"),
        (("f_score", "auto", {"betta": 2}), "'beta'"),
    ],
)
def test_measures_that_make_no_sense_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        make_requests(*given)


def test_of_several_measures_each_takes_the_average_that_it_knows():
    assert [one.average for one in make_requests(["accuracy", "auc"], "weighted")] == ["auto", "weighted"]


def test_binary_averages_need_a_positive_class():
    facts, trials = trials_of(3)
    with pytest.raises(InputError, match="positive must be given"):
        score_predictions(trials, ClassOrder.from_facts(facts), make_requests("auc", "binary"))


def test_parameters_that_cannot_be_keys_are_no_keys():
    assert make_requests("information_score", params={"prior": [0.5, 0.5]})[0].key is None
    assert make_requests("f_score", params={"beta": 2})[0].key == make_requests("f_score", params={"beta": 2})[0].key


def abstaining(trials, seed=4):
    """The same trials with some predictions that are no class; of the last, all."""
    rng = np.random.default_rng(seed)
    silent = [rng.random(len(one.y_true)) < 0.3 for one in trials[:-1]] + [np.ones(len(trials[-1].y_true), dtype=bool)]
    return [
        replace(one, prediction=np.where(some, ABSTAINED, one.prediction)) for one, some in zip(trials, silent, strict=True)
    ]


def called_with_abstentions(name, one, facts, **options):
    """The public measure with a further label, "?", that is never true; of two classes with the wrong one in its place."""
    measure, classes = registry[name], sorted(facts.classes)
    if measure.facts.needs != "labels" or (one.prediction != ABSTAINED).all():
        return called(name, one, facts, **options)
    true = [facts.classes[code] for code in one.y_true]
    said = [None if code == ABSTAINED else facts.classes[code] for code in one.prediction]
    if measure.facts.per_class and len(classes) == 2:
        said = [classes[1 - classes.index(right)] if label is None else label for right, label in zip(true, said, strict=True)]
        return quiet(measure, true, said, labels=classes, **options)
    true, said = [str(label) for label in true], ["?" if label is None else str(label) for label in said]
    wider = {**options, "labels": [*map(str, classes), "?"]}
    recalls = quiet(registry["recall"], true, said, labels=wider["labels"], average=None)[:-1]
    if name in ("balanced_accuracy", "g_mean"):
        return recalls.mean() if name == "balanced_accuracy" else recalls.prod() ** (1 / len(classes))
    if measure.facts.per_class and "positive" not in options and options.get("average") != "micro":
        values = quiet(measure, true, said, **{**wider, "average": None})[:-1]
        counts = np.array([true.count(str(label)) for label in classes])
        if options.get("average") == "weighted":
            return np.sum(values[counts > 0] * counts[counts > 0]) / counts.sum()
        return values.mean()
    return quiet(measure, true, said, **wider)


def quiet(measure, *columns, **options):
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        return measure(*columns, **options)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("name", POSSIBLE)
def test_every_measure_counts_abstentions_as_the_public_one(name, k):
    facts, trials = trials_of(k, seed=6)
    mixed = [*trials, *abstaining(trials)]
    values, reasons = score_predictions(mixed, ClassOrder.from_facts(facts), make_requests(name))
    expected = [called_with_abstentions(name, one, facts) for one in mixed]
    np.testing.assert_allclose(values[0], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(reasons[0] == UNDEFINED, np.isnan(expected))


@pytest.mark.parametrize("name", [each for each in POSSIBLE if registry[each].facts.needs == "labels"])
def test_abstentions_where_a_class_is_singled_out_or_averages_are_named(name):
    facts, trials = trials_of(3, seed=7)
    mixed = abstaining(trials)
    values, _ = score_predictions(mixed, ClassOrder.from_facts(facts, "a"), make_requests(name))
    expected = [called_with_abstentions(name, one, facts, positive="a") for one in mixed]
    np.testing.assert_allclose(values[0], expected, rtol=1e-9, atol=1e-12)
    for average in ("macro", "weighted", "micro") if registry[name].facts.per_class else ():
        values, _ = score_predictions(mixed, ClassOrder.from_facts(facts), make_requests(name, average))
        expected = [called_with_abstentions(name, one, facts, average=average) for one in mixed]
        np.testing.assert_allclose(values[0], expected, rtol=1e-9, atol=1e-12)


def test_abstentions_as_scikit_learn_counts_them():
    rng = np.random.default_rng(8)
    codes = np.repeat([0, 1, 2], 20).astype(np.intp)
    facts = data_facts("x", codes, ("a", "b", "c"))
    said = np.where(rng.random(60) < 0.25, ABSTAINED, np.where(rng.random(60) < 0.7, codes, rng.integers(3, size=60)))
    one = Predictions(np.arange(60), codes, said, None, None)
    expected = {
        "accuracy": accuracy_score(codes, said),
        "error_rate": 1 - accuracy_score(codes, said),
        "kappa": cohen_kappa_score(codes, said),
        "mcc": matthews_corrcoef(codes, said),
        "balanced_accuracy": recall_score(codes, said, labels=[0, 1, 2], average="macro"),
        "g_mean": np.cbrt(recall_score(codes, said, labels=[0, 1, 2], average=None).prod()),
        "recall": recall_score(codes, said, labels=[0, 1, 2], average="macro"),
        "precision": precision_score(codes, said, labels=[0, 1, 2], average="macro"),
        "f_score": f1_score(codes, said, labels=[0, 1, 2], average="macro"),
    }
    values, _ = score_predictions([one], ClassOrder.from_facts(facts), make_requests(list(expected)))
    np.testing.assert_allclose(values[:, 0], list(expected.values()))


def test_of_two_classes_an_abstention_is_a_miss_or_a_false_alarm():
    facts = data_facts("x", [0] * 4 + [1] * 4, ("no", "yes"))
    one = Predictions(np.arange(8), facts.codes, np.array([0, 0, 1, -1, 1, 1, 0, -1]), None, None)
    wanted = ["recall", "specificity", "fpr", "precision", "accuracy", "balanced_accuracy"]
    values, _ = score_predictions([one], ClassOrder.from_facts(facts), make_requests(wanted))
    # 2 of 4 yes are found; of 4 no, 2 are left alone; yes is said 3 times and once kept back in vain.
    assert values[:, 0].tolist() == [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]


def test_a_class_without_rows_and_abstentions_in_one_study():
    facts = data_facts("glass", [0, 2] * 10, ("a", "b", "c"))
    rows, truth = np.arange(4), np.array([0, 2, 0, 2])
    said = [np.array([0, 2, 0, -1]), np.array([0, 1, 0, -1]), truth]
    trials = [Predictions(rows, truth, each, None, None) for each in said]
    values, _ = score_predictions(
        trials, ClassOrder.from_facts(facts), make_requests(["accuracy", "balanced_accuracy", "recall"])
    )
    np.testing.assert_allclose(values, [[0.75, 0.5, 1], [0.75, np.nan, 1], [0.5, 0, 1]])


OF_SCORES = [name for name in POSSIBLE if registry[name].facts.needs != "labels"]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", OF_SCORES)
def test_shares_that_leave_their_range_by_rounding_are_those_of_the_public_measure(name, k):
    """0.1 + 0.7 + 0.2 and the like: sums of votes end a little above 1, and their rest a little below 0."""
    rng = np.random.default_rng(5)
    codes = rng.integers(k, size=30).astype(np.intp)
    facts, test = data_facts("votes", codes, CLASSES[k]), np.arange(30)
    one = random_predictions(rng, codes, test, k)
    for row, (more, less) in enumerate([(2.220446049250313e-16, 2.220446049250313e-16), (1e-10, 1e-10), (0.0, 1e-12)]):
        one.scores[row] = -less / (k - 1)
        one.scores[row, row % k] = 1 + more
    assert one.scores[0, 0] == 1.0000000000000002
    assert one.scores.min() < 0
    order = ClassOrder.from_facts(facts)
    (value,), (reason,) = (each[0] for each in score_predictions([one], order, make_requests(name)))
    assert value == pytest.approx(called(name, one, facts), nan_ok=True)
    assert reason != INVALID_PROBABILITIES


def test_shares_further_out_are_none():
    codes = np.array([0, 1] * 5, dtype=np.intp)
    shares = np.full((10, 2), 0.5)
    shares[0] = [1 + 2e-9, -2e-9]
    facts = data_facts("votes", codes, CLASSES[2])
    one = Predictions(np.arange(10), codes, codes, shares, "probability")
    values, reasons = score_predictions([one], ClassOrder.from_facts(facts), make_requests("brier"))
    assert (np.isnan(values[0, 0]), reasons[0, 0]) == (True, INVALID_PROBABILITIES)
    with pytest.raises(InputError, match="between 0 and 1"):
        called("brier", one, facts)


# --- Score lines ---
# Lines for trials and for repeats.


def lost(dataset, condition, learner, _, fold):
    if (dataset, learner, condition.name) == ("wine", "tree", "clean"):
        return {1: "timeout", 3: "missing"}.get(fold)
    return None


def test_pooled_folds_are_scored_as_one():
    archive = real_archive(repeats=2, levels=(0.0,), names=["cancer"])
    lines = ScoreLines.from_repeats(archive.trials())
    assert len(lines.frame) == 2 * 4
    assert set(lines.frame["fold"]) == {-1}
    values, _ = lines.compute_values(archive, [ClassOrder.from_facts(archive.datasets[0])], make_requests("auc"))
    for line, (repeat, learner) in enumerate(zip(lines.frame["repeat"], lines.frame["learner"], strict=True)):
        own = archive.lines[(archive.lines["repeat"] == repeat) & (archive.lines["learner"] == learner)]
        parts = [archive.kept[number] for number in own["trial"]]
        truth, scores = np.concatenate([one.y_true for one in parts]), np.concatenate([one.scores[:, 1] for one in parts])
        assert len(truth) == 150
        assert values[0, line] == pytest.approx(roc_auc_score(truth, scores))


def test_a_repeat_with_a_fold_that_failed_has_no_line_of_its_own_and_says_so():
    lines = ScoreLines.from_repeats(real_archive(lost).trials())
    bad = lines.frame[lines.frame["status"] != "ok"]
    assert bad[["dataset", "learner", "status"]].to_numpy().tolist() == [["wine", "tree", "timeout"]]
    assert np.diff(lines.starts)[bad.index].tolist() == [0]
    assert len(lines.trials) == lines.starts[-1] == 3 * 2 * 4 * 5 - 5


def test_single_lines_hold_one_trial_each_or_none():
    archive = real_archive(lost)
    lines = ScoreLines.from_trials(archive.trials())
    assert np.diff(lines.starts).tolist() == (archive.lines["status"] == "ok").astype(int).tolist()


def test_scores_of_different_kinds_do_not_join():
    row = np.array([0])
    scored = Predictions(row, row, row, np.array([[0.3, 0.7]]), "probability")
    other = Predictions(row, row, row, np.array([[-3.0, 3.0]]), "decision")
    assert join_predictions([scored, scored]).scores.shape == (2, 2)
    assert join_predictions([scored, other]).scores is None
    assert join_predictions([scored, Predictions(row, row, row, None, None)]).score_kind is None


def test_shares_of_a_learner_that_abstained_in_some_folds_join_as_scores():
    row = np.array([0])
    scored = Predictions(row, row, row, np.array([[0.3, 0.7]]), "probability")
    silent = Predictions(row, row, np.array([-1]), np.array([[0.0, 0.0]]), "decision")
    together = join_predictions([scored, silent])
    assert (together.scores.tolist(), together.score_kind) == ([[0.3, 0.7], [0.0, 0.0]], "decision")
    assert together.prediction.tolist() == [0, -1]
    assert join_predictions([silent, silent]).score_kind == "decision"


# --- Score cache ---
# Scores are computed once, and evidence is read once for all measures.


def test_evidence_is_read_once_for_measures_asked_for_together():
    archive = real_archive()
    book = ScoreCache(archive)
    book.build_table(make_requests(["accuracy", "auc"]), None, False)
    assert sorted(archive.asked) == list(range(120))
    book.build_table(make_requests("auc"), None, False)
    assert len(archive.asked) == 120
    book.build_table(make_requests(["auc", "taks"]), None, False)
    assert len(archive.asked) == 240
    book.build_table(make_requests("f_score", params={"beta": 2}), None, False)
    book.build_table(make_requests("f_score", params={"beta": 3}), None, False)
    assert len(archive.asked) == 480


def test_another_positive_class_is_another_score():
    book = ScoreCache(real_archive(names=["cancer"]))
    first, second = (book.build_table(make_requests("recall"), label, False)[0]["value"] for label in (None, "benign"))
    assert (first != second).any()
    assert book.build_table(make_requests("specificity"), "malignant", False)[0]["value"].equals(second)


def test_a_positive_class_may_be_declared():
    declared = {"data": {"cancer": {"file": "x.csv", "positive": "benign"}, "sets": ["iris"]}}
    book = ScoreCache(real_archive(declaration=declared))
    positives = [None if order.positive is None else order.names[order.positive] for order in book.get_class_orders(None)]
    assert positives == [None, None, "benign"]


def test_defaults_of_a_bare_declaration():
    book = ScoreCache(real_archive())
    assert book.measures == ("accuracy", "auc")
    assert book.verdict_measure == "accuracy"
    assert book.get_declared("verdict") == {}


def test_a_table_of_means_shows_the_holes():
    archive = real_archive(
        lambda *place: {0: "error", 1: "missing"}.get(place[4]) if place[2] == "tree" and place[0] == "iris" else None
    )
    frame, _ = ScoreCache(archive).build_table(make_requests("accuracy"), None, False)
    own = frame[frame["condition"] == "clean"]
    wide = ScoreCache(archive).build_wide_table(own)
    assert np.isnan(wide.loc["iris", "tree"])
    assert wide.loc["wine", "tree"] == own[(own["dataset"] == "wine") & (own["learner"] == "tree")]["value"].mean()
    assert wide.columns.tolist() == ["bayes", "tree", "ridge", "near"]
    assert wide.notna().sum().sum() == 11


def test_facts_without_rows_of_a_class_count_them():
    assert data_facts("x", [0, 2, 2], "abc").counts.tolist() == [1, 0, 2]


# --- Stacking ---
# Stacks of trials.


RNG = np.random.default_rng(3)
CODES = RNG.integers(3, size=50).astype(np.intp)
FACTS = data_facts("x", CODES, ("a", "b", "c"))
TRIALS = [
    random_predictions(RNG, CODES, RNG.permutation(50)[:n], 3, kind, ties=True)
    for n, kind in [(9, "probability"), (5, None), (9, "decision"), (9, "probability"), (5, "probability")]
]


def test_trials_that_are_alike_are_stacked_together():
    found = {tuple(places.tolist()): stack for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS))}
    assert set(found) == {(0, 3), (1,), (2,), (4,)}
    assert found[0, 3].scores.shape == (2, 9, 3)
    assert found[1,].scores is None
    assert found[2,].kind == "decision"


def test_tables_and_tallies_are_those_of_each_trial():
    for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS)):
        for line, place in enumerate(places):
            one = TRIALS[place]
            table = Confusion.from_labels(one.y_true, one.prediction, labels=[0, 1, 2])
            np.testing.assert_array_equal(stack.confusion.table[line], table.table)
            if one.scores is not None:
                tally, own = stack.tally(1), ScoreTally.from_scores(one.y_true == 1, one.scores[:, 1])
                size = len(own.values)
                np.testing.assert_array_equal(tally.values[line, :size], own.values)
                np.testing.assert_array_equal(tally.pos[line, :size], own.pos)
                assert tally.pos[line, size:].sum() + tally.neg[line, size:].sum() == 0


def test_means_over_rows_are_those_of_each_trial():
    stack = next(stack for places, stack in Stack.iter_groups(TRIALS, ClassOrder.from_facts(FACTS)) if len(places) == 2)
    rows = stack.make_mean_rows()
    single = [ProbabilityRows.read(TRIALS[place].y_true, TRIALS[place].scores, labels=[0, 1, 2]) for place in (0, 3)]
    np.testing.assert_allclose(
        rows.mean(rows.true_class_probabilities), [one.true_class_probabilities.mean() for one in single]
    )
    np.testing.assert_array_equal(rows.one_hot_labels, np.concatenate([one.one_hot_labels for one in single]))
    assert rows.compute_once("x", lambda: 1) == rows.compute_once("x", lambda: 2) == 1


def test_abstentions_are_a_further_label_and_their_trials_a_stack_of_their_own():
    plain = TRIALS[0]
    silent = replace(plain, prediction=np.where(np.arange(9) < 4, -1, plain.prediction))
    found = {
        tuple(places.tolist()): stack for places, stack in Stack.iter_groups([plain, silent], ClassOrder.from_facts(FACTS))
    }
    assert set(found) == {(0,), (1,)}
    assert found[0,].confusion.labels == ("a", "b", "c")
    expected = confusion_matrix(silent.y_true, np.where(silent.prediction < 0, 3, silent.prediction), labels=[0, 1, 2, 3])
    np.testing.assert_array_equal(found[1,].confusion.table[0], expected)
    np.testing.assert_array_equal(found[1,].support, found[0,].support)
    mistaken = found[1,].confusion_as_errors
    np.testing.assert_array_equal(mistaken.true, found[0,].support)
    np.testing.assert_array_equal(mistaken.hits, expected.diagonal()[None, :3])


# --- Class order ---
# The classes as measures see them.


@pytest.mark.parametrize("declared", [("positive", "negative"), ("b", "a", "c"), (3, 1, 2), (True, False)])
def test_the_order_is_that_of_the_measures_on_the_labels_themselves(declared):
    codes = np.arange(12) % len(declared)
    classes, _ = encode_labels(None, None, y=np.array([declared[code] for code in codes]))
    order = ClassOrder.from_facts(data_facts("x", codes, declared))
    assert order.names == classes.names.tolist()
    assert order.positive == classes.positive


def test_a_declared_class_without_rows_is_left_out_and_comes_back_on_demand():
    order = ClassOrder.from_facts(data_facts("glass", [0, 2, 2, 0], ("a", "b", "c")))
    assert (order.names, order.positive, order.positions.tolist()) == (["a", "c"], 1, [0, -1, 1])
    assert (order.include_all_classes().names, order.include_all_classes().positive) == (["a", "b", "c"], 2)


def test_a_data_set_of_one_class_keeps_what_it_declares():
    assert ClassOrder.from_facts(data_facts("x", [0, 0], ("a", "b"))).names == ["a", "b"]


def test_classes_that_cannot_be_sorted_keep_their_order():
    assert ClassOrder.from_facts(data_facts("x", [0, 1], ("a", 1))).names == ["a", 1]


def test_a_positive_class_counts_where_a_data_set_has_it():
    sets = [data_facts("one", [0, 1], ("no", "yes")), data_facts("two", [0, 1], ("bad", "good"))]
    first, second = ClassOrder.from_datasets(sets, "no")
    assert first.names[first.positive] == "no"
    assert second.names[second.positive] == "good"
    first, second = ClassOrder.from_datasets(sets, {"two": "bad"}, {"one": "no", "two": "good"})
    assert (first.names[first.positive], second.names[second.positive]) == ("no", "bad")


@pytest.mark.parametrize(
    ("positive", "words"),
    [
        ("yess", "positive must be a class of one of the data sets, got 'yess': did you mean 'yes'"),
        ({"onne": "yes"}, "positive must name data sets of the study, got 'onne': did you mean 'one'"),
        ({"one": "nno"}, "positive must be a class of the data set 'one', got 'nno': did you mean 'no'"),
    ],
)
def test_a_positive_class_that_is_nowhere_is_refused(positive, words):
    with pytest.raises(InputError, match=words):
        ClassOrder.from_datasets([data_facts("one", [0, 1], ("no", "yes"))], positive)


def test_predictions_are_placed_and_abstentions_stay():
    order = ClassOrder.from_facts(data_facts("rare", [0, 1, 1], ("sick", "healthy")))
    assert order.to_positions(np.array([0, 1, -1, 0])).tolist() == [1, 0, -1, 1]


# --- Failure policy ---
# Policies for failed trials.


def lost_failure_policy(dataset, condition, learner, _, fold):
    return "timeout" if (dataset, condition.name, learner) == ("wine", "clean", "tree") and fold < 2 else None


def treated(policy, measure="accuracy", replaced=lost_failure_policy, **options):
    archive = real_archive(replaced, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # one of the learners gives no probabilities
        scores, trials = Results(archive).scores(measure), archive.trials()
    mine = mask_condition(scores, CLEAN)
    found = apply_policy(
        policy,
        archive,
        scores[mine],
        trials[mine],
        ScoreRequest.from_measures(measure)[0],
        ClassOrder.from_datasets(archive.datasets),
    )
    return scores[mine], *found


def test_exclude_leaves_out_the_data_sets():
    before, after, findings = treated("exclude")
    assert set(after["dataset"]) == {"iris", "cancer"}
    assert findings == [
        Finding.of("failures", failed=2, trials=60, by_learner=("tree: 2 timeout",)),
        Finding.of("failed_datasets_excluded", datasets=("wine",)),
    ]
    assert len(before) - len(after) == 20


def test_exclude_with_nothing_left_is_refused():
    with pytest.raises(InputError, match="failures must not be 'exclude'"):
        treated("exclude", names=["wine"])


@pytest.mark.parametrize(("measure", "sign"), [("accuracy", 1), ("error_rate", -1), ("information_score", 1)])
def test_worst_rank_is_below_all_others_on_the_data_set(measure, sign):
    """A learner that failed on two of five folds has the worst mean of the data set, however well it did on the others."""

    def gone(dataset, condition, learner, repeat, fold):
        return "error" if learner == "ridge" else lost_failure_policy(dataset, condition, learner, repeat, fold)

    before, after, (failures, policy) = treated("worst-rank", measure, gone)
    losers = {("wine", "tree"), *((name, "ridge") for name in ("iris", "wine", "cancer"))}
    means = (sign * after["value"]).groupby([after["dataset"].astype(str), after["learner"].astype(str)]).mean()
    for name in ("iris", "wine", "cancer"):
        lost_here = [means[cell] for cell in losers if cell[0] == name]
        rest = [mean for cell, mean in means.items() if cell[0] == name and cell not in losers]
        assert max(lost_here) < min(rest)
        assert max(lost_here) == min(lost_here)
    kept = [cell not in losers for cell in zip(after["dataset"], after["learner"], strict=True)]
    assert (after["value"][kept] == before["value"][kept]).all()
    assert failures["by_learner"] == ("ridge: 15 error", "tree: 2 timeout")
    assert policy.kind == "failures_worst_rank"


@pytest.mark.parametrize(("measure", "worst"), [("accuracy", 0.0), ("error_rate", 1.0), ("kappa", -1.0)])
def test_the_worst_rank_is_no_small_difference(measure, worst):
    """In a signed rank test a value just behind the others would have the smallest rank and speak for who failed."""
    _, after, _ = treated("worst-rank", measure)
    lost_here = (after["dataset"] == "wine") & (after["learner"] == "tree")
    assert (after["value"][lost_here] == worst).all()
    gaps = after.pivot_table(index="dataset", columns="learner", values="value", observed=True)
    others = gaps["bayes"] - gaps["tree"]
    assert abs(others["wine"]) == abs(others).max()


def test_the_worst_of_a_measure_without_an_end_lies_as_far_behind_as_the_others_lie_apart():
    before, after, _ = treated("worst-rank", "information_score")
    lost_here = (after["dataset"] == "wine") & (after["learner"] == "tree")
    known = before["value"][~lost_here & np.isfinite(before["value"])]
    assert after["value"][lost_here].unique().tolist() == pytest.approx([2 * known.min() - known.max()])


def test_worst_rank_on_a_single_data_set_counts_split_by_split():
    before, after, (_, policy) = treated("worst-rank", names=["wine"])
    bad = mask_failed(before)
    for _, own in after.assign(bad=bad).groupby("fold"):
        assert (own[own["bad"]]["value"] < own[~own["bad"]]["value"].min()).all()
    assert bad.sum() == 2
    assert (after["value"][~bad] == before["value"][~bad]).all()
    assert policy.kind == "failures_worst_score"


@pytest.mark.parametrize("measure", [accuracy, brier, kappa, auc])
def test_the_trivial_classifier_is_that_of_scikit_learn(measure):
    before, after, (_, policy) = treated("trivial", measure.name)
    bad = mask_failed(before)
    X, y, _ = real_sources()["wine"]
    splits = folds(y, 1, 5)
    for line in after[bad].itertuples():
        train, test = splits[line.repeat, line.fold]
        dummy = DummyClassifier(strategy="prior").fit(X[train], y[train])
        given = dummy.predict(X[test]) if measure.facts.needs == "labels" else dummy.predict_proba(X[test])
        assert line.value == pytest.approx(measure(y[test], given, labels=[0, 1, 2]))
    assert bad.sum() == 2
    assert policy.kind == "failures_trivial"


def test_the_trivial_classifier_meets_the_rows_that_the_condition_left():
    facts = data_facts("x", [0, 0, 0, 1] * 5, ("yes", "no"))
    moved = Predictions(np.array([3, 7, 11]), np.array([1, 1, 0]), np.array([1, 1, 0]), None, None)
    splits = {"x": {(0, 0): (np.arange(8), np.arange(8, 20))}}
    archive = archive_of([facts], [CLEAN], ["a", "b"], splits, lambda *place: moved if place[2] == "a" else "crash")
    (order,) = ClassOrder.from_datasets([facts])
    alone = predict_trivial(archive, facts, order, 0, 0)
    assert (alone.y_true.tolist(), set(alone.prediction.tolist())) == (facts.codes[8:].tolist(), {0})
    assert np.unique(alone.scores, axis=0).tolist() == [[0.75, 0.25]]
    verdictless = Results(archive).scores("accuracy")
    after, _ = apply_policy(
        "trivial", archive, verdictless, archive.trials(), ScoreRequest.from_measures("accuracy")[0], [order]
    )
    assert after["value"].tolist() == pytest.approx([1, 1 / 3])


def test_without_failures_there_is_no_finding():
    before, after, findings = treated("exclude", replaced=None)
    assert findings == []
    assert after is before or after.equals(before)
    with pytest.raises(InputError, match="failures must be one of"):
        treated("worst", replaced=None)


def test_a_learner_that_never_succeeded_is_left_out_first():
    def gone(dataset, condition, learner, repeat, fold):
        return "error" if learner == "ridge" else lost_failure_policy(dataset, condition, learner, repeat, fold)

    _, after, (failures, learners, datasets) = treated("exclude", replaced=gone)
    assert set(after["learner"]) == {"bayes", "tree", "near"}
    assert set(after["dataset"]) == {"iris", "cancer"}
    assert (failures["failed"], failures["by_learner"]) == (17, ("ridge: 15 error", "tree: 2 timeout"))
    assert learners == Finding.of("failed_learners_excluded", learners=("ridge",))
    assert datasets == Finding.of("failed_datasets_excluded", datasets=("wine",))


def test_learners_that_never_succeeded_cost_no_data_set():
    _, after, (_, finding) = treated("exclude", replaced=lambda *place: "crash" if place[2] in ("ridge", "tree") else None)
    assert set(after["dataset"]) == {"iris", "wine", "cancer"}
    assert finding == Finding.of("failed_learners_excluded", learners=("tree", "ridge"))


def test_exclude_where_nothing_succeeded_is_refused():
    with pytest.raises(InputError, match="failures must not be 'exclude'"):
        treated("exclude", replaced=lambda *_: "crash")
