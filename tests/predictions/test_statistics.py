"""Tests of `fairtrial.predictions.statistics`."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.metrics import brier_score_loss, cohen_kappa_score, f1_score, log_loss, roc_auc_score, roc_curve

from fairtrial import judge, measures
from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally, evaluate, get_measure, interval
from fairtrial.measures.confusion import Confusion
from fairtrial.predictions import statistics, streamed
from fairtrial.predictions.columns import ModelColumns
from fairtrial.predictions.judgement import rank_by_rows
from fairtrial.predictions.read import PredictedScores, build_scores, read_predictions, resolve_labels
from fairtrial.predictions.statistics import (
    CountIntervals,
    InMemoryModel,
    JudgeSettings,
    compute_losses,
    draw_counts,
    find_bin_starts,
    merge_into_bins,
)
from fairtrial.predictions.streamed import StreamedFile, compute_rank_contrast
from fairtrial.predictions.tables import (
    CURVES,
    MAX_CURVE_POINTS,
    build_curves,
    find_unequal_rows,
    order_best_first,
    rank_models,
)
from fairtrial.predictions.validate import Notes, Subject
from fairtrial.significance import delong

# --- Statistics ---


def example(n=80, seed=1, weight=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    table = pd.DataFrame({"truth": truth, "tree_p": np.clip(0.5 + 0.25 * (truth - 0.5) + 0.2 * rng.normal(size=n), 0.01, 0.99)})
    return table.assign(weight=rng.integers(1, 4, n)) if weight else table


def judged(table, positive=None):
    one = read_predictions(table, positive=positive).datasets[0]
    return InMemoryModel.from_dataset(one, "tree", one.get_positive_index(positive))


def test_values_match_scikit_learn():
    table = example(weight=True)
    model = judged(table)
    truth, p, weight = table["truth"], table["tree_p"], table["weight"]
    labels = (p > 0.5).astype(int)
    expected = {
        "auc": roc_auc_score(truth, p, sample_weight=weight),
        "kappa": cohen_kappa_score(truth, labels, sample_weight=weight),
        "f_score": f1_score(truth, labels, sample_weight=weight),
        "brier": brier_score_loss(truth, p, sample_weight=weight),
        "log_loss": log_loss(truth, p, sample_weight=weight),
    }
    for name, value in expected.items():
        assert model.compute_value(get_measure(name)) == pytest.approx(value, abs=1e-12)


def test_the_positive_class_may_be_the_first():
    table = example().assign(tree_p=lambda t: 1 - t["tree_p"])
    assert judged(table, positive=0).compute_value(get_measure("f_score")) == pytest.approx(
        f1_score(table["truth"], (table["tree_p"] < 0.5).astype(int), pos_label=0)
    )
    with pytest.raises(InputError, match=r"positive.*'x'"):
        read_predictions(example()).datasets[0].get_positive_index("x")


def test_intervals_are_those_of_evaluate():
    table, names = example(), ["accuracy", "auc", "kappa", "brier"]
    measures = [get_measure(name) for name in names]
    found = judged(table).compute_intervals(measures, JudgeSettings(resamples=200, seed=5))
    labels = (table["tree_p"] > 0.5).astype(int)
    direct = evaluate(table["truth"], labels, table["tree_p"], names, resamples=200, seed=5)
    assert [(one.measure, one.low, one.high, one.method) for one in found] == [
        (one.measure, one.low, one.high, one.method) for one in direct.intervals
    ]


def test_intervals_of_many_rows_from_counts_are_nearly_the_same(monkeypatch):
    table = example(3000)
    measures = [get_measure(name) for name in ("accuracy", "kappa", "auc", "ks", "brier", "log_loss", "calibration_error")]
    rows = judged(table).compute_intervals(measures, JudgeSettings(seed=1))
    monkeypatch.setattr(statistics, "MANY_ROWS", 100)
    counted = judged(table).compute_intervals(measures, JudgeSettings(seed=1))
    assert [one.estimate for one in counted] == pytest.approx([one.estimate for one in rows], abs=1e-12)
    assert [one.method for one in counted] == ["wilson", "percentile", "score", "percentile", "normal", "normal", "none"]
    for one, other in zip(rows[:6], counted[:6], strict=True):
        width = one.high - one.low
        assert abs(one.low - other.low) < 0.25 * width
        assert abs(one.high - other.high) < 0.25 * width


def test_measures_suit_the_inputs_of_the_models():
    table = example().assign(old=lambda t: 1 - t["truth"])
    one = read_predictions(table).datasets[0]
    models = [InMemoryModel.from_dataset(one, name, 1) for name in ("tree", "old")]
    assert judge(table.drop(columns="old"), resamples=20).main == "auc"
    assert judge(table, resamples=20).main == "accuracy"
    lacking = models[1].compute_intervals([get_measure("auc")], JudgeSettings())[0]
    assert np.isnan(lacking.estimate)
    assert lacking.note == "needs scores"
    with pytest.raises(InputError, match=r"brier.*probabilities"):
        judge(table.drop(columns="tree_p"), measures=["brier"])
    with pytest.raises(InputError, match="measures"):
        judge(table, measures=[])


def test_a_part_of_the_rows():
    model = judged(example())
    part = model.select_rows(model.y_true == 1)
    assert len(part.y_true) == model.y_true.sum()
    assert len(part.scores) == len(part.y_true) == len(part.y_pred)


# --- Scores ---


IDS = np.array([1, 2], dtype=object)
MODEL = Subject("m")


def read(columns, scores, classes=("a", "b"), positive=None):
    table = pd.DataFrame(columns)
    one = ModelColumns("m", None, tuple(scores))
    return build_scores(table, one, np.arange(len(table)), list(classes), positive, IDS, MODEL, Notes())


def test_a_single_column_is_that_of_the_positive_class():
    column = {"s": [0.2, 0.9]}
    assert read(column, [(None, "s")]).values.tolist() == [[0.8, 0.2], [pytest.approx(0.1), 0.9]]
    turned = read(column, [(None, "s")], positive="a")
    assert turned.values[:, 0].tolist() == [0.2, 0.9]
    assert turned.kind == "probability"
    assert read(column, [("a", "s")]).values[:, 0].tolist() == [0.2, 0.9]


def test_a_single_column_of_another_scale_is_a_score():
    found = read({"s": [-2.0, 3.0]}, [(None, "s")])
    assert found.kind == "decision"
    assert found.single_column
    assert found.values.tolist() == [[2.0, -2.0], [-3.0, 3.0]]


def test_columns_follow_the_order_of_the_classes_and_empty_ones_are_left_out():
    columns = {"b": [0.1, 0.2], "a": [0.9, 0.8], "c": [np.nan, np.nan]}
    found = read(columns, [("b", "b"), ("a", "a"), ("c", "c")])
    assert found.values.tolist() == [[0.9, 0.1], [0.8, 0.2]]
    assert read({"c": [np.nan, np.nan]}, [("c", "c")]) is None


@pytest.mark.parametrize(
    ("columns", "scores", "classes", "match"),
    [
        ({"s": [0.1, 0.2]}, [(None, "s")], "abc", "scores of model 'm'"),
        ({"s": [0.1, 0.2], "t": [0.1, 0.2]}, [("a", "s"), ("b", "t")], "abc", "scores of model 'm'.*'c'"),
        ({"s": ["x", "y"]}, [(None, "s")], "ab", "scores of model 'm'.*'s'"),
        ({"s": [0.1, np.nan]}, [(None, "s")], "ab", "scores of model 'm'.*'s'.*2"),
        ({"p": [0.1, 1.2]}, [(None, "p")], "ab", "probabilities of model 'm'.*1.2.*2"),
    ],
)
def test_invalid_scores_are_refused(columns, scores, classes, match):
    with pytest.raises(InputError, match=match):
        read(columns, scores, classes)


def test_labels_come_from_the_file_or_from_scores():
    probable = PredictedScores(np.array([[0.8, 0.2], [0.3, 0.7]]), "probability")
    given = np.array([1, 1])
    assert resolve_labels(given, probable, MODEL, Notes())[1] == "file"
    for missing in (None, np.array([-1, -1])):
        labels, source = resolve_labels(missing, probable, MODEL, Notes())
        assert labels.tolist() == [0, 1]
        assert source == "probabilities"
    cut = PredictedScores(np.array([[2.0, -2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, cut, MODEL, Notes())[1] == "scores"
    above = PredictedScores(np.array([[-2.0, 2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, above, MODEL, Notes())[1] == "none"


def test_missing_labels_are_abstentions_and_no_labels_at_all_are_refused():
    labels, source = resolve_labels(np.array([0, -1]), None, MODEL, Notes())
    assert (labels.tolist(), source) == ([0, -1], "file")
    with pytest.raises(InputError, match="model 'm'"):
        resolve_labels(None, None, MODEL, Notes())


# --- Losses ---


SHARES = np.array([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]])
TRUE = np.array([0, 1, 2, 1])


def test_their_mean_is_the_measure():
    assert compute_losses(SHARES, TRUE, None, "log_loss").mean() == pytest.approx(metrics.log_loss(TRUE, SHARES))
    assert compute_losses(SHARES, TRUE, None, "brier").mean() == pytest.approx(
        ((SHARES - np.eye(3)[TRUE]) ** 2).sum(axis=1).mean()
    )


def test_one_class_against_the_rest():
    own = SHARES[:, 1]
    assert compute_losses(SHARES, TRUE, 1, "brier").mean() == pytest.approx(metrics.brier_score_loss(TRUE == 1, own))
    assert compute_losses(SHARES, TRUE, 1, "log_loss").mean() == pytest.approx(metrics.log_loss(TRUE == 1, own))


# --- Ranking ---
# Which model is best: rankings built from the tables of a judgement.


def make_scores(measure="auc", rows=100, **estimates):
    lines = [("data", name, measure, value, value - 0.05, value + 0.05, rows, 0.5) for name, value in estimates.items()]
    return pd.DataFrame(lines, columns=["dataset", "model", "measure", "estimate", "low", "high", "rows", "chance"])


def make_pairs(*lines, test="delong"):
    columns = ["dataset", "first", "second", "difference", "p_adjusted", "test", "outcome", "rows", "at_minimum"]
    table = pd.DataFrame([("data", *line, test, "better", 100, False) for line in lines], columns=columns)
    return table.assign(simultaneous_low=table["difference"] - 0.01, simultaneous_high=table["difference"] + 0.01)


def rank(scores, pairs, measure="auc"):
    (ranking,) = rank_by_rows(scores, pairs, {}, get_measure(measure), JudgeSettings())
    return ranking


def test_who_is_best_who_is_worse_and_who_is_not_significantly_worse():
    pairs = make_pairs(("x", "y", -0.2, 0.001), ("x", "z", -0.19, 0.002), ("y", "z", 0.01, 0.6))
    ranking = rank(make_scores(x=0.7, y=0.9, z=0.89), pairs)
    assert ranking.names == ("y", "z", "x")
    assert ranking.values == (0.9, 0.89, 0.7)
    assert (ranking.best, ranking.not_worse, ranking.worse) == (("y",), ("z",), ("x",))
    pair = ranking.find_pair("y", "x")
    assert (pair.better, pair.difference, pair.low, pair.high) == ("y", 0.2, pytest.approx(0.19), pytest.approx(0.21))
    assert (ranking.n, ranking.unit) == (100, "row")
    assert "3" in ranking.adjustment


def test_smaller_is_better_if_the_measure_says_so():
    ranking = rank(make_scores("brier", x=0.2, y=0.1), make_pairs(("x", "y", 0.1, 0.01)), "brier")
    assert ranking.lower_is_better
    assert (ranking.best, ranking.worse) == (("y",), ("x",))
    assert ranking.pairs[0].difference == -0.1
    assert not ranking.pairs[0].is_reversed


def test_the_common_rows_may_contradict_the_ranking():
    ranking = rank(make_scores(x=0.7, y=0.9), make_pairs(("x", "y", 0.1, 0.01)))
    assert ranking.names == ("y", "x")
    assert ranking.pairs[0].is_reversed
    assert ranking.worse == ()


def test_a_single_model_has_an_interval_and_a_chance_level():
    ranking = rank(make_scores(x=0.9), make_pairs())
    assert ranking.names == ("x",)
    assert ranking.interval == pytest.approx((0.85, 0.95))
    assert ranking.chance == 0.5


def test_an_undefined_measure_has_no_ranking():
    assert rank(make_scores(x=float("nan")), make_pairs()).names == ()


def test_an_undefined_p_decides_nothing():
    ranking = rank(make_scores(x=0.7, y=0.9), make_pairs(("x", "y", -0.2, float("nan"))))
    assert (ranking.worse, ranking.not_worse, ranking.undecided) == ((), (), ("x",))


def test_equal_models_share_the_lead():
    pairs = make_pairs(("x", "y", 0.0, 1.0), ("x", "z", 0.2, 0.01), ("y", "z", 0.2, 0.01))
    ranking = rank(make_scores(x=0.9, y=0.9, z=0.7), pairs)
    assert (ranking.best, ranking.worse) == (("x", "y"), ("z",))


def test_models_are_ordered_by_the_direction_of_the_measure():
    scores = make_scores("brier", x=0.3, y=0.1, z=float("nan"))
    assert rank_models(scores, "data", "brier") == ["y", "x", "z"]


def test_pairs_are_reversed_with_their_differences():
    columns = ["dataset", "first", "second", "difference", "low", "high", "simultaneous_low", "simultaneous_high"]
    pairs = pd.DataFrame([("data", "x", "y", 0.2, 0.1, 0.4, 0.0, 0.5)], columns=columns)
    ordered = order_best_first(pairs, make_scores("brier", x=0.3, y=0.1), "brier")
    assert ordered.iloc[0].tolist() == ["data", "y", "x", -0.2, -0.4, -0.1, -0.5, 0.0]


def test_models_with_fewer_rows_are_noted():
    scores = make_scores(x=0.9, y=0.8)
    assert find_unequal_rows(scores) == {}
    assert find_unequal_rows(scores.assign(rows=[50, 30])) == {"data": {"x": 50, "y": 30}}
    rows = np.concatenate([np.arange(30), np.arange(50)])
    table = pd.DataFrame({"model": ["z"] * 30 + ["y"] * 50, "row": rows, "y_true": rows % 2, "prediction": rows % 2})
    notes = [note for note in judge(table, resamples=20).notes if note.kind == "unequal_rows"]
    assert [(note["fewer"], note["rows"]) for note in notes] == [(("z (30)",), 50)]


# --- Rank contrast ---


LINES = '(SELECT "truth" AS t, "a_score" AS s1, "b_score" AS s2, NULL AS c FROM judged)'


def drawn(seed, n, share, digits):
    """Two models whose scores are rounded to so many digits, so that few digits give many ties."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < share).astype(int)
    truth[:2], truth[2:4] = 1, 0
    first = rng.normal(size=n) + 1.5 * truth
    second = first + 0.7 * rng.normal(size=n)
    return pd.DataFrame({"truth": truth, "a_score": first.round(digits), "b_score": second.round(digits)})


def contrast(folder, table):
    path = folder / "p.parquet"
    table.to_parquet(path)
    with StreamedFile([path]) as file:
        found = compute_rank_contrast(file, LINES, 1)
        with pytest.raises(duckdb.Error, match="met"):
            file._connection.execute("SELECT * FROM met")
    return found


def direct(table):
    outcome = delong(*(table[column].to_numpy() for column in ("truth", "a_score", "b_score")))
    return outcome.effect.estimate, outcome.details["standard error"] ** 2


@pytest.mark.parametrize("digits", [0, 1, 12])
@pytest.mark.parametrize("share", [0.002, 0.4, 0.97])
def test_contrasts_are_those_of_the_rows(tmp_path, share, digits):
    for seed in range(3):
        table = drawn(seed, 1500, share, digits)
        found = contrast(tmp_path, table)
        assert (found.estimate, found.error**2) == pytest.approx(direct(table), rel=1e-9, abs=1e-15)
        assert (found.positives, found.negatives) == (table["truth"].sum(), (1 - table["truth"]).sum())
        assert (found.rows, found.marks) == (len(table), 0)


def test_batches_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr("fairtrial.predictions.streamed._BATCH", 2048)
    table = drawn(5, 20_000, 0.3, 3)
    found = contrast(tmp_path, table)
    assert (found.estimate, found.error**2) == pytest.approx(direct(table), rel=1e-9)


def test_models_that_rank_rows_alike_have_no_error(tmp_path):
    table = drawn(1, 900, 0.3, 2)
    found = contrast(tmp_path, table.assign(b_score=np.exp(table["a_score"])))
    assert (found.estimate, found.error**2) == (0, 0)


def test_a_class_of_one_row_has_no_error(tmp_path):
    table = pd.DataFrame({"truth": [1, 0, 0], "a_score": [0.2, 0.1, 0.3], "b_score": [0.1, 0.2, 0.3]})
    found = contrast(tmp_path, table)
    assert (found.first, found.second) == (0.5, 0.0)
    assert (found.positives, found.negatives) == (1, 2)
    assert np.isnan(found.compute_p_value())


@pytest.mark.parametrize(("digits", "exact"), [(1, True), (12, False)])
def test_marks_of_many_rows_are_quantiles(tmp_path, monkeypatch, digits, exact):
    """Scores that repeat often are all marked, and nothing is lost."""
    table = drawn(2, 30_000, 0.4, digits).clip(-1, 3)
    monkeypatch.setattr(streamed, "MAX_MARKS", 6000)
    found = contrast(tmp_path, table)
    estimate, variance = direct(table)
    assert found.marks == (0 if exact else 6000)
    assert found.estimate == pytest.approx(estimate, rel=1e-9 if exact else 1e-4)
    assert found.error**2 == pytest.approx(variance, rel=1e-9 if exact else 1e-3)


# --- Count intervals ---


RNG = np.random.default_rng(6)
TRUTH = RNG.integers(0, 2, 2000)
SCORES = TRUTH + RNG.normal(size=2000)
LABELS = (SCORES > 0.5).astype(int)
INTERVALS, WEIGHTED = CountIntervals(JudgeSettings()), CountIntervals(JudgeSettings(), unweighted=False)


def test_proportions_and_aucs_have_their_closed_intervals():
    table, tally = Confusion.from_labels(TRUTH, LABELS), ScoreTally.from_scores(TRUTH, SCORES)
    direct = evaluate(TRUTH, LABELS, SCORES, ["accuracy", "recall", "auc"])
    for name in ("accuracy", "recall"):
        found = INTERVALS.from_table(get_measure(name), table)
        assert (found.low, found.high, found.method) == (direct[name].low, direct[name].high, "wilson")
    found = INTERVALS.from_tally(get_measure("auc"), tally)
    assert (found.low, found.high, found.method) == (direct["auc"].low, direct["auc"].high, "score")
    few = INTERVALS.from_tally(get_measure("auc"), ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]))
    assert (few.low, few.high, few.method) == (
        *[getattr(interval("auc", [0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]), k) for k in ("low", "high")],
        "score",
    )


@pytest.mark.parametrize("name", ["kappa", "mcc", "ks", "h_measure"])
def test_redrawn_counts_spread_as_redrawn_rows_do(name):
    measure = get_measure(name)
    rows = interval(name, TRUTH, LABELS if measure.facts.needs == "labels" else SCORES, method="percentile", resamples=500)
    if measure.facts.needs == "labels":
        found = INTERVALS.from_table(measure, Confusion.from_labels(TRUTH, LABELS))
    else:
        found = INTERVALS.from_tally(measure, ScoreTally.from_scores(TRUTH, SCORES))
    assert found.estimate == pytest.approx(rows.estimate)
    assert found.high - found.low == pytest.approx(rows.high - rows.low, rel=0.2)


def test_weights_have_no_interval():
    table = Confusion.from_labels(TRUTH, LABELS)
    assert np.isnan(WEIGHTED.from_table(get_measure("accuracy"), table).low)
    assert np.isnan(WEIGHTED.from_tally(get_measure("auc"), ScoreTally.from_scores(TRUTH, SCORES)).low)
    assert np.isnan(WEIGHTED.from_mean("brier", 0.2, 0.1, 10).low)


def test_the_interval_of_a_mean_is_the_normal_one():
    found = INTERVALS.from_mean("brier", 0.2, 0.5, 400)
    assert (found.low, found.high) == pytest.approx((0.2 - 1.959964 * 0.025, 0.2 + 1.959964 * 0.025), abs=1e-6)
    assert np.isnan(INTERVALS.from_mean("log_loss", np.inf, 0.5, 400).low)


def test_bins_hold_all_rows_about_equally_in_order():
    tally = ScoreTally.from_scores(TRUTH, SCORES)
    found = merge_into_bins(tally, 16)
    assert found.positives == tally.positives
    assert found.negatives == tally.negatives
    assert 15 <= len(found.values) <= 17
    assert (np.diff(found.values) < 0).all()
    assert (found.pos + found.neg).max() <= 2 * 2000 / 16
    starts = find_bin_starts(tally, 16)
    upto = np.cumsum(tally.pos + tally.neg)
    by_hand = [0, *[i + 1 for i in range(len(upto) - 1) if int(upto[i] / 125) > int((upto[i - 1] if i else 0) / 125)]]
    assert starts.tolist() == by_hand
    assert merge_into_bins(tally, 10**6).values is tally.values


def test_redrawn_counts_keep_their_sum_and_mean():
    cells = np.array([[30.0, 10.0], [0.0, 60.0]])
    drawn = np.concatenate([*draw_counts(cells, 400, 0)])
    assert drawn.shape == (400, 2, 2)
    assert (drawn.sum(axis=(1, 2)) == 100).all()
    assert (drawn[:, 1, 0] == 0).all()
    assert np.allclose(drawn.mean(axis=0), cells, atol=1.5)


# --- Curves ---


def test_roc_points_match_scikit_learn(read_models):
    rng = np.random.default_rng(0)
    y_true, probability, score = rng.integers(0, 2, 50), rng.random(50).round(1), rng.normal(size=50)
    curves = build_curves(read_models(pd.DataFrame({"y_true": y_true, "tree_p": probability, "svm_score": score})))
    assert set(curves) == set(CURVES)
    roc = curves["roc"].query("model == 'svm'")
    fpr, tpr, _ = roc_curve(y_true, score, drop_intermediate=False)
    assert np.allclose(roc["fpr"], fpr)
    assert np.allclose(roc["tpr"], tpr)
    assert curves["brier"]["model"].unique().tolist() == ["tree"]  # it needs probabilities


def test_each_of_three_classes_has_a_curve(read_models):
    scores = np.random.default_rng(1).dirichlet([1, 1, 1], 12)
    columns = {f"p_{label}": scores[:, i] for i, label in enumerate("abc")}
    table = pd.DataFrame({"y_true": list("abc") * 4, **columns})
    assert build_curves(read_models(table))["roc"]["class"].unique().tolist() == ["a", "b", "c"]
    assert build_curves(read_models(table, positive="b"))["roc"]["class"].unique().tolist() == ["b"]


def test_labels_have_no_curves(read_models):
    assert build_curves(read_models(pd.DataFrame({"y_true": ["a", "b"], "tree": ["a", "b"]}))) == {}


def test_long_curves_are_thinned_and_keep_both_ends():
    n = 10 * MAX_CURVE_POINTS
    tally = ScoreTally(np.linspace(1, 0, n - 1), np.ones(n - 1), np.ones(n - 1))
    whole = measures.roc_curve.of(tally)
    thinned = measures.roc_curve.of(tally, max_points=MAX_CURVE_POINTS)
    x = np.searchsorted(whole["fpr"], thinned["fpr"])
    assert len(thinned) == MAX_CURVE_POINTS
    assert thinned.equals(whole.iloc[x].reset_index(drop=True))
    assert (x[0], x[-1]) == (0, n - 1)
    assert np.ptp(np.diff(x)) <= 1
    assert measures.roc_curve.of(tally, max_points=n).equals(whole)


@pytest.mark.parametrize("rows", [300, 60_001])
def test_the_calibration_error_has_no_limits(rows):
    """The error of a calibrated model is 0, but the error of every sample, and of every bootstrap sample, is larger."""
    rng = np.random.default_rng(4)
    probability = rng.beta(1, 3, rows)
    y = (rng.random(rows) < probability).astype(int)
    frame = {"y_true": y, "tree_proba": probability}
    (line,) = judge(frame, measures="calibration_error", resamples=50).scores.to_dict("records")
    assert line["estimate"] > 0
    assert np.isnan([line["low"], line["high"]]).all()
    assert line["note"].startswith("no confidence limits, because the estimate is biased upwards")
    assert np.isnan(interval("calibration_error", y, probability, resamples=50).low)
