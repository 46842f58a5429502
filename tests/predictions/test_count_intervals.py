import numpy as np
import pytest

from fairtrial.measures import ScoreTally, evaluate, get_measure, interval
from fairtrial.measures.confusion import Confusion
from fairtrial.predictions.statistics import CountIntervals, JudgeSettings, draw_counts, find_bin_starts, merge_into_bins

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
    assert (found.low, found.high, found.method) == (direct["auc"].low, direct["auc"].high, "delong")
    few = INTERVALS.from_tally(get_measure("auc"), ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]))
    assert (few.low, few.high, few.method) == (
        *[getattr(interval("auc", [0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]), k) for k in ("low", "high")],
        "newcombe",
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
