"""Few effective rows or clusters: which test decides, its p-value and its limits, however many rows there are."""

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial import judge
from fairtrial.predictions import pairs as pairs_module, statistics


def judge_both(folder, table, **options):
    """Judge a table in memory and streamed."""
    table.to_csv(folder / "p.csv", index=False)
    return [judge(folder / "p.csv", stream=stream, **options) for stream in (False, True)]


def make_clusters(clusters, size=20, seed=0, gain=0.0):
    """Simulate two models on clustered rows; the second gains `gain` in accuracy."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    n = len(cluster)
    y_true = np.arange(n) % 2
    table = pd.DataFrame({"id": np.arange(n), "patient": cluster, "y_true": y_true})
    for i, name in enumerate(("a", "b")):
        is_correct = rng.random(n) < np.clip(0.5 + gain * i + 0.1 * rng.normal(size=clusters), 0, 1)[cluster]
        table[name] = np.where(is_correct, y_true, 1 - y_true)
    return table


@pytest.fixture
def few_rows_are_many(monkeypatch):
    """Treat more than 50 rows as very many."""
    monkeypatch.setattr(statistics, "MANY_ROWS", 50)
    monkeypatch.setattr(pairs_module, "MANY_ROWS", 50)


# --- Very many rows with few cases, weights or clusters ---


@pytest.mark.usefixtures("few_rows_are_many")
def test_a_rare_class_is_compared_by_permutation_however_many_rows_there_are():
    """Equal models with 6 positive rows; the band is 3 standard errors of the runs."""
    rng, runs, n_separated = np.random.default_rng(1), 60, 0
    y_true = np.repeat([1, 0], [6, 300])
    for _ in range(runs):
        scores = {f"{name}_score": rng.normal(size=306) + 1.5 * y_true for name in ("a", "b")}
        (row,) = judge(
            pd.DataFrame({"id": range(306), "y_true": y_true, **scores}), measures="ks", resamples=200, positive=1
        ).pairs.to_dict("records")
        assert row["test"] == "permutation_test"
        n_separated += row["p_value"] <= 0.05
    assert n_separated / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.usefixtures("few_rows_are_many")
def test_many_rows_of_each_class_are_compared_by_a_z_test():
    rng = np.random.default_rng(1)
    y_true = np.repeat([1, 0], [250, 250])
    scores = {f"{name}_score": rng.normal(size=500) + 1.5 * y_true for name in ("a", "b")}
    (row,) = judge(pd.DataFrame({"id": range(500), "y_true": y_true, **scores}), measures="ks").pairs.to_dict("records")
    assert row["test"] == "bootstrap_z"


@pytest.mark.usefixtures("few_rows_are_many")
def test_four_heavy_rows_decide_nothing(tmp_path):
    """Four rows of weight 1e9 favour a, so the smallest two-sided p-value is about 2 / 2^4."""
    rng, n = np.random.default_rng(0), 600
    y_true, weights = np.arange(n) % 2, np.where(np.arange(n) < 4, 1e9, 1.0)
    a, b = (np.where(rng.random(n) < 0.8, y_true, 1 - y_true) for _ in range(2))
    a[:4], b[:4] = y_true[:4], 1 - y_true[:4]
    table = pd.DataFrame({"id": range(n), "y_true": y_true, "a": a, "b": b, "w": weights})
    in_memory, streamed = judge_both(tmp_path, table, weight="w", measures="accuracy")
    (row,) = in_memory.pairs.to_dict("records")
    # Half of the swaps of the light rows are as extreme: p lies between 1/16 and 1/8, with a Monte Carlo error below 0.02.
    assert row["test"] == "permutation_test"
    assert 1 / 16 - 0.02 <= row["p_value"] <= 1 / 8 + 0.02
    assert list(streamed.pairs["outcome"]) == ["cannot be decided"]
    reason = streamed.findings[0].undecidable
    assert (reason.kind, reason["needed"]) == ("few_effective_rows", 200)
    # Two heavy rows in each class
    assert reason["effective"] == pytest.approx((2e9 + 298) ** 2 / (2e18 + 298), rel=1e-9)
    assert streamed.pairs[["low", "high"]].isna().all(axis=None)


@pytest.mark.usefixtures("few_rows_are_many")
def test_six_clusters_of_many_rows_are_permuted():
    table = make_clusters(6, 20, gain=0.4)
    (row,) = judge(table, cluster="patient", measures="kappa").pairs.to_dict("records")
    assert row["test"] == "permutation_test"
    assert row["p_value"] >= 2 / 2**6 - 1e-12


# --- Accuracy: exact tests ---


def test_eight_discordant_rows_are_tested_exactly(tmp_path):
    """7 of 8 discordant rows favour a: the exact p-value is 18/256, the mid-p value 10/256 would be significant."""
    y_true = np.arange(40) % 2
    a, b = y_true.copy(), y_true.copy()
    b[:7], a[7] = 1 - y_true[:7], 1 - y_true[7]
    table = pd.DataFrame({"id": range(40), "y_true": y_true, "a": a, "b": b})
    for judgement in judge_both(tmp_path, table, measures="accuracy"):
        (row,) = judgement.pairs.to_dict("records")
        assert row["p_value"] == pytest.approx(18 / 256)
        assert row["p_value"] == pytest.approx(stats.binomtest(7, 8).pvalue)
        assert row["outcome"] == "no significant difference"
        assert row["low"] < 0 < row["high"]


@pytest.mark.parametrize("measure", ["accuracy", "error_rate"])
@pytest.mark.parametrize("clusters", [5, 6, 9])
def test_few_clusters_are_permuted(tmp_path, clusters, measure):
    table = make_clusters(clusters, 12, seed=clusters, gain=0.3)
    d = (table["a"] == table["y_true"]).astype(float) - (table["b"] == table["y_true"])
    sums = d.groupby(table["patient"]).sum().to_numpy()
    signs = np.array(list(itertools.product([-1, 1], repeat=clusters)))
    expected = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9)
    for judgement in judge_both(tmp_path, table, measures=measure, cluster="patient"):
        (row,) = judgement.pairs.to_dict("records")
        assert row["test"] == "permutation_test"
        assert row["p_value"] == pytest.approx(expected)
        assert row["difference"] == pytest.approx(d.mean() if measure == "accuracy" else -d.mean())
        assert (row["outcome"] == "cannot be decided") == (2 / 2**clusters > 0.05)
        if row["outcome"] == "cannot be decided":
            assert row["p_adjusted"] >= judgement.findings[0].undecidable["smallest"]


def test_ten_clusters_are_compared_by_a_t_test_even_for_many_pairs():
    table = make_clusters(10, 12, gain=0.3)
    for i in range(7):
        table[f"c{i}"] = np.random.default_rng(i).permutation(table["a"])
    judgement = judge(table, measures="accuracy", cluster="patient")
    assert set(judgement.pairs["note"]) == {"clustered"}
    assert "cannot be decided" not in set(judgement.pairs["outcome"])


def test_clusters_with_the_same_difference_are_permuted():
    """All 12 clusters show the same difference, so a t test is undefined: p is 2 / 2^12."""
    table = make_clusters(12, 4).assign(
        a=lambda t: t["y_true"], b=lambda t: np.where(t["id"] % 4 == 0, 1 - t["y_true"], t["y_true"])
    )
    (row,) = judge(table, measures="accuracy", cluster="patient").pairs.to_dict("records")
    assert row["p_value"] == pytest.approx(2 / 2**12)
    assert row["outcome"] == "better"


# --- Limits ---


@pytest.mark.parametrize("measure", ["accuracy", "brier", "ks", "average_precision"])
def test_limits_of_a_difference_stay_in_the_possible_range(measure):
    n_checked = 0
    for seed in range(15):
        table = make_clusters(5 + seed % 3, 6, seed=seed, gain=0.45)
        rng = np.random.default_rng(seed)
        for name in ("a", "b"):
            table[f"{name}_p"] = np.clip(0.3 + 0.4 * table.pop(name) + 0.1 * rng.normal(size=len(table)), 0, 1)
        (row,) = judge(table, measures=measure, cluster="patient", positive=1, resamples=200).pairs.to_dict("records")
        if np.isfinite(row["low"]):
            assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
            n_checked += 1
    assert n_checked > 5


@pytest.mark.parametrize("measure", ["accuracy", "auc", "brier", "f_score"])
def test_one_cluster_has_no_limits(tmp_path, measure):
    table = make_clusters(1, 60)
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        table[f"{name}_p"] = np.clip(0.3 + 0.4 * table.pop(name) + 0.1 * rng.normal(size=60), 0, 1)
    for judgement in judge_both(tmp_path, table, measures=measure, cluster="patient", positive=1):
        assert judgement.scores[["low", "high"]].isna().all(axis=None)
        assert judgement.pairs[["low", "high"]].isna().all(axis=None)
        assert list(judgement.pairs["outcome"]) == ["cannot be decided"]


def compute_clustered_wilson(is_correct, cluster):
    """Compute Wilson's interval with the effective sample size n / deff and a t quantile (section 8 of the reference)."""
    p, n, count = is_correct.mean(), len(is_correct), cluster.nunique()
    sums = (is_correct - p).groupby(cluster).sum()
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / n
    effective = n / max(1.0, error**2 / (p * (1 - p) / n))
    t = stats.t.ppf(0.975, count - 1)
    centre, half = p + t * t / (2 * effective), t * np.sqrt(p * (1 - p) / effective + t * t / (4 * effective**2))
    return (centre - half) / (1 + t * t / effective), (centre + half) / (1 + t * t / effective)


@pytest.mark.usefixtures("few_rows_are_many")
def test_many_clustered_rows_have_the_same_limits_as_few(tmp_path):
    table = make_clusters(6, 20)
    for judgement in judge_both(tmp_path, table, measures="accuracy", cluster="patient"):
        for line in judgement.scores.to_dict("records"):
            is_correct = (table[line["model"]] == table["y_true"]).astype(float)
            assert (line["low"], line["high"]) == pytest.approx(compute_clustered_wilson(is_correct, table["patient"]))


@pytest.mark.parametrize("clusters", [2, 4])
def test_bootstrap_limits_need_five_clusters(clusters):
    table = make_clusters(clusters)
    judgement = judge(table, measures=["kappa", "accuracy"], cluster="patient", resamples=200)
    kappa = judgement.scores[judgement.scores["measure"] == "kappa"]
    assert kappa[["low", "high"]].isna().all(axis=None)
    assert kappa["note"].str.contains("5 clusters").all()
    assert judgement.scores.loc[judgement.scores["measure"] == "accuracy", "low"].notna().all()
    assert judgement.pairs[["low", "high"]].isna().all(axis=None)
    five = judge(make_clusters(5), measures="kappa", cluster="patient", resamples=200)
    assert five.scores["low"].notna().all()


def test_a_perfect_model_has_no_bootstrap_limits(tmp_path):
    y_true = np.arange(40) % 2
    table = pd.DataFrame({"id": range(40), "y_true": y_true, "a_p": 0.25 + 0.5 * y_true})
    names = ["average_precision", "f_score", "kappa", "accuracy", "auc"]
    for judgement in judge_both(tmp_path, table, measures=names, positive=1):
        scores = judgement.scores.set_index("measure")
        assert (scores["estimate"] == 1).all()
        for name in names[:3]:
            assert np.isnan([scores.loc[name, "low"], scores.loc[name, "high"]]).all()
            assert "same value" in scores.loc[name, "note"]
        assert (scores.loc[["accuracy", "auc"], "low"] < 1).all()
        assert (scores.loc[["accuracy", "auc"], "high"] == 1).all()
        assert "1.000 to 1.000" not in "\n".join(judgement.format_lines(all_measures=True))


# --- p-values ---


def test_no_p_value_is_zero(tmp_path):
    """Of 4,000 rows, 3,900 favour a: 2 / 2^3900 is smaller than any floating-point number."""
    n = 4000
    y_true = np.arange(n) % 2
    table = pd.DataFrame(
        {"id": range(n), "y_true": y_true, "a": y_true, "b": np.where(np.arange(n) < 3900, 1 - y_true, y_true)}
    )
    for judgement in judge_both(tmp_path, table, measures="accuracy"):
        for frame in (judgement.pairs, judgement.tests):
            assert list(frame["p_value"]) == [sys.float_info.min]
            assert (frame["p_adjusted"] > 0).all()
        assert "p < 0.001" in str(judgement)
        assert "&lt; 0.001" in judgement._repr_html_()
