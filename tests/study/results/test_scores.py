"""Scores of stacks of trials against the public measures, called on the rows of one trial after the other."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import registry
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.scores import (
    INVALID_PROBABILITIES,
    NO_PROBABILITIES,
    NO_SCORES,
    NOT_FINITE,
    UNDEFINED,
    ScoreRequest,
    find_undefined,
    score_predictions,
)
from fairtrial.study.results.stacking import ClassOrder
from tests.study.archives import data_facts, random_predictions

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
        (("accuracy", "macro"), "average must be one of"),
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
