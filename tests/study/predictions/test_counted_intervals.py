import numpy as np
import pytest

from fairtrial.measures import ScoreTally, evaluate, get_measure, interval
from fairtrial.measures.confusion import Confusion
from fairtrial.study.predictions.counted_intervals import bin_starts, binned, of_mean, of_table, of_tally, redrawn
from fairtrial.study.predictions.judged_plan import Plan

RNG = np.random.default_rng(6)
TRUTH = RNG.integers(0, 2, 2000)
SCORES = TRUTH + RNG.normal(size=2000)
LABELS = (SCORES > 0.5).astype(int)


def test_proportions_and_aucs_have_their_closed_intervals():
    table, tally = Confusion.from_labels(TRUTH, LABELS), ScoreTally.from_scores(TRUTH, SCORES)
    direct = evaluate(TRUTH, LABELS, SCORES, ["accuracy", "recall", "auc"])
    for name in ("accuracy", "recall"):
        found = of_table(get_measure(name), table, Plan(), True)
        assert (found.low, found.high, found.method) == (direct[name].low, direct[name].high, "wilson")
    found = of_tally(get_measure("auc"), tally, Plan(), True)
    assert (found.low, found.high, found.method) == (direct["auc"].low, direct["auc"].high, "delong")
    few = of_tally(get_measure("auc"), ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]), Plan(), True)
    assert (few.low, few.high, few.method) == (
        *[getattr(interval("auc", [0, 1, 1, 0], [0.1, 0.4, 0.3, 0.35]), k) for k in ("low", "high")],
        "newcombe",
    )


@pytest.mark.parametrize("name", ["kappa", "mcc", "ks", "h_measure"])
def test_redrawn_counts_spread_as_redrawn_rows_do(name):
    measure = get_measure(name)
    rows = interval(name, TRUTH, LABELS if measure.facts.needs == "labels" else SCORES, method="percentile", resamples=500)
    if measure.facts.needs == "labels":
        found = of_table(measure, Confusion.from_labels(TRUTH, LABELS), Plan(), True)
    else:
        found = of_tally(measure, ScoreTally.from_scores(TRUTH, SCORES), Plan(), True)
    assert found.estimate == pytest.approx(rows.estimate)
    assert found.high - found.low == pytest.approx(rows.high - rows.low, rel=0.2)


def test_weights_have_no_interval():
    table = Confusion.from_labels(TRUTH, LABELS)
    assert np.isnan(of_table(get_measure("accuracy"), table, Plan(), False).low)
    assert np.isnan(of_tally(get_measure("auc"), ScoreTally.from_scores(TRUTH, SCORES), Plan(), False).low)
    assert np.isnan(of_mean("brier", 0.2, 0.1, 10, Plan(), False).low)


def test_the_interval_of_a_mean_is_the_normal_one():
    found = of_mean("brier", 0.2, 0.5, 400, Plan(), True)
    assert (found.low, found.high) == pytest.approx((0.2 - 1.959964 * 0.025, 0.2 + 1.959964 * 0.025), abs=1e-6)
    assert np.isnan(of_mean("log_loss", np.inf, 0.5, 400, Plan(), True).low)


def test_bins_hold_all_rows_about_equally_in_order():
    tally = ScoreTally.from_scores(TRUTH, SCORES)
    found = binned(tally, 16)
    assert found.positives == tally.positives
    assert found.negatives == tally.negatives
    assert 15 <= len(found.values) <= 17
    assert (np.diff(found.values) < 0).all()
    assert (found.pos + found.neg).max() <= 2 * 2000 / 16
    starts = bin_starts(tally, 16)
    upto = np.cumsum(tally.pos + tally.neg)
    by_hand = [0, *[i + 1 for i in range(len(upto) - 1) if int(upto[i] / 125) > int((upto[i - 1] if i else 0) / 125)]]
    assert starts.tolist() == by_hand
    assert binned(tally, 10**6).values is tally.values


def test_redrawn_counts_keep_their_sum_and_mean():
    cells = np.array([[30.0, 10.0], [0.0, 60.0]])
    drawn = redrawn(cells, Plan(resamples=400))
    assert drawn.shape == (400, 2, 2)
    assert (drawn.sum(axis=(1, 2)) == 100).all()
    assert (drawn[:, 1, 0] == 0).all()
    assert np.allclose(drawn.mean(axis=0), cells, atol=1.5)
