"""Paired comparisons of judged models: which test decides, adjusted p-values, intervals, clusters and weights."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import brentq
from sklearn.metrics import average_precision_score, log_loss

from fairtrial import judge
from fairtrial._narrative import render_certainty
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions import streamed
from fairtrial.significance import adjust, auc_test

OUTCOMES = {"better", "worse", "no significant difference", "cannot be decided"}


def make_table(n=60, seed=4):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    scores = {
        f"m{i}_p": np.clip(0.5 + 0.3 * (y_true - 0.5) + spread * rng.normal(size=n), 0, 1)
        for i, spread in enumerate((0.1, 0.2, 0.6))
    }
    return pd.DataFrame({"row": np.arange(n), "y_true": y_true, **scores})


def make_long(table, models=(0, 1)):
    parts = [table.assign(model=f"m{i}", score=table[f"m{i}_p"])[["row", "y_true", "model", "score"]] for i in models]
    return pd.concat(parts, ignore_index=True)


def select(frame, first, second, **values):
    mask = (frame["first"] == first) & (frame["second"] == second)
    for name, value in values.items():
        mask &= frame[name] == value
    return frame[mask].iloc[0]


# --- An independent implementation of the adjusted DeLong test ---


def compute_hanley_mcneil(auc, m, n):
    values = []
    for a in (auc, 1 - auc):
        q1, q2 = a / (2 - a), 2 * a**2 / (1 + a)
        values.append((a * (1 - a) + (m - 1) * (q1 - a * a) + (n - 1) * (q2 - a * a)) / (m * n))
    return max(values)


def compute_auc_test(y_true, a, b):
    """Compute estimate, limits and p of the adjusted DeLong test from all pairs of a positive and a negative row."""
    kernels = []
    for scores in (np.asarray(a), np.asarray(b)):
        positives, negatives = scores[y_true == 1][:, None], scores[y_true == 0][None, :]
        kernels.append((positives > negatives) + 0.5 * (positives == negatives))
    m, n = kernels[0].shape
    aucs = [kernel.mean() for kernel in kernels]
    covariances = [np.cov([kernel.mean(axis=axis) for kernel in kernels]) / size for axis, size in ((1, m), (0, n))]
    delong = sum(covariances)
    weight = min(1.0, 30 / min(m, n))
    variances = [delong[i, i] + weight * max(0.0, compute_hanley_mcneil(aucs[i], m, n) - delong[i, i]) for i in range(2)]
    correlation = delong[0, 1] / np.sqrt(delong[0, 0] * delong[1, 1])

    def compute_df(weights):
        parts = [weights @ covariance @ weights for covariance in covariances]
        return sum(parts) ** 2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / (n - 1))

    df = min(compute_df(np.array(weights)) for weights in ([1, 0], [0, 1], [1, -1]))

    def compute_limits(t):
        single = []
        for auc, variance in zip(aucs, variances, strict=True):
            cases = auc * (1 - auc) / variance
            roots = np.roots([1 + t * t / cases, -(2 * auc + t * t / cases), auc * auc])  # (auc - x)^2 = t^2 x (1 - x) / cases
            single.append((min(roots), max(roots)))
        (l1, u1), (l2, u2) = single
        d1, d2, e1, e2 = aucs[0] - l1, u2 - aucs[1], u1 - aucs[0], aucs[1] - l2
        low = np.sqrt(d1**2 - 2 * correlation * d1 * d2 + d2**2)
        high = np.sqrt(e1**2 - 2 * correlation * e1 * e2 + e2**2)
        return aucs[0] - aucs[1] - low, aucs[0] - aucs[1] + high

    side = 0 if aucs[0] > aucs[1] else 1
    t = brentq(lambda t: compute_limits(t)[side], 1e-6, 100)
    return aucs[0] - aucs[1], *compute_limits(stats.t.ppf(0.975, df)), 2 * stats.t.sf(t, df)


@pytest.mark.parametrize("positives", [6, 30, 400])
@pytest.mark.parametrize("stream", [False, True])
def test_auc_test_equals_its_definition(tmp_path, positives, stream):
    rng = np.random.default_rng(positives)
    y_true = np.repeat([1, 0], [positives, 450])
    table = pd.DataFrame({"id": np.arange(len(y_true)), "y_true": y_true})
    for name, spread in (("a", 1.0), ("b", 2.0)):
        table[f"{name}_score"] = y_true + spread * rng.normal(size=len(y_true))
    table.to_parquet(tmp_path / "p.parquet")
    (row,) = judge(tmp_path / "p.parquet", stream=stream, measures="auc").pairs.to_dict("records")
    expected = compute_auc_test(y_true, table["a_score"], table["b_score"])
    assert [row["difference"], row["low"], row["high"], row["p_value"]] == pytest.approx(expected, rel=1e-6)
    assert row["test"] == "auc_test"


def test_pairs_has_one_row_for_each_pair_and_the_main_measure(judge_table):
    judgement = judge_table(make_table(), measures=["kappa", "auc"])
    columns = [
        "first",
        "second",
        "measure",
        "difference",
        "low",
        "high",
        "test",
        "p_value",
        "p_adjusted",
        "significant",
        "outcome",
    ]
    assert set(columns) <= set(judgement.pairs.columns)
    assert list(zip(judgement.pairs["first"], judgement.pairs["second"], strict=True)) == [
        ("m0", "m1"),
        ("m0", "m2"),
        ("m1", "m2"),
    ]
    assert set(judgement.pairs["measure"]) == {"kappa"}
    assert set(judgement.pairs["outcome"]) <= OUTCOMES
    assert set(judgement.tests["measure"]) == {"kappa", "accuracy", "auc"}


def test_mcnemar_is_the_exact_binomial_test(judge_table):
    table = make_table()
    row = select(judge_table(table, measures="accuracy").pairs, "m0", "m2")
    is_correct = [(table[f"m{i}_p"] > 0.5).astype(int) == table["y_true"] for i in (0, 2)]
    b, c = int((is_correct[0] & ~is_correct[1]).sum()), int((is_correct[1] & ~is_correct[0]).sum())
    assert row["p_value"] == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)
    assert row["difference"] == pytest.approx(is_correct[0].mean() - is_correct[1].mean())


def test_an_error_rate_is_compared_with_the_opposite_sign(judge_table):
    table = make_table()
    accuracy, error = (select(judge_table(table, measures=name).pairs, "m0", "m2") for name in ("accuracy", "error_rate"))
    assert (error["difference"], error["low"], error["high"]) == (-accuracy["difference"], -accuracy["high"], -accuracy["low"])
    assert (error["p_value"], error["outcome"]) == (accuracy["p_value"], accuracy["outcome"])


# --- Few rows and many pairs ---


def test_four_rows_do_not_decide_a_brier_score():
    table = pd.DataFrame({"id": range(4), "y_true": [1, 0, 1, 0], "A": [0.9, 0.1, 0.8, 0.2], "B": [0.6, 0.4, 0.55, 0.45]})
    judgement = judge(table, measures="brier")
    (row,) = judgement.pairs.to_dict("records")
    losses = [(table[name] - table["y_true"]) ** 2 for name in ("A", "B")]
    differences = (losses[0] - losses[1]).to_numpy()
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product([-1, 1], repeat=4)]
    assert row["p_value"] == np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12) == 0.125
    assert (row["outcome"], row["significant"]) == ("cannot be decided", False)
    assert judgement.findings[0].undecidable.kind == "few_rows_to_decide"


def test_the_permutation_p_value_of_a_brier_score_is_exact():
    table = make_table(12)
    row = select(judge(table, measures="brier").pairs, "m0", "m2")
    losses = [(table[f"m{i}_p"] - table["y_true"]) ** 2 for i in (0, 2)]
    differences = (losses[0] - losses[1]).to_numpy()
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    expected = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12)
    assert row["p_value"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", ["brier", "average_precision", "kappa"])
def test_twelve_models_can_be_separated(measure):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 400)
    table = pd.DataFrame({"id": range(400), "y_true": y_true})
    for i in range(12):
        table[f"m{i}_p"] = 1 / (1 + np.exp(-(0.5 + 0.7 * i) * (2 * y_true - 1 + rng.normal(size=400))))
    table["m11_p"] = rng.random(400)
    pairs = judge(table, measures=measure).pairs
    assert len(pairs) == 66
    against_random = pairs[pairs["second"] == "m11"]
    assert against_random["significant"].all()
    assert (against_random["outcome"] == "better").all()


def test_equal_models_are_rarely_separated_by_few_rows():
    """Two models of the same distribution; the band is 3 standard errors of the runs."""
    rng, runs, n_separated = np.random.default_rng(2), 80, 0
    y_true = np.arange(6) % 2
    for _ in range(runs):
        shared = y_true + rng.normal(size=6)
        scores = {f"{name}_p": 1 / (1 + np.exp(-2 * (shared + rng.normal(size=6)))) for name in ("a", "b")}
        table = pd.DataFrame({"id": range(6), "y_true": y_true, **scores})
        pairs = judge(table, measures="brier", positive=1, resamples=200).pairs
        n_separated += pairs.loc[pairs["measure"] == "brier", "p_value"].min() <= 0.05
    assert n_separated / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


OTHER_IMPLEMENTATIONS = {
    "average_precision": average_precision_score,
    "ks": lambda y_true, scores: stats.ks_2samp(scores[y_true == 1], scores[y_true == 0]).statistic,
    "log_loss": log_loss,
}


@pytest.mark.parametrize("name", OTHER_IMPLEMENTATIONS)
def test_the_permutation_p_value_equals_the_enumeration_of_all_swaps(name):
    compute, table = OTHER_IMPLEMENTATIONS[name], make_table(9, 2)
    y_true, first, second = (table[column].to_numpy() for column in ("y_true", "m0_p", "m2_p"))
    first, second = np.clip(first, 0.01, 0.99), np.clip(second, 0.01, 0.99)
    table = pd.DataFrame({"id": range(9), "y_true": y_true, "a_p": first, "b_p": second})
    pairs = judge(table, measures=name, positive=1).pairs
    if name != "log_loss":  # measures of ranks compare ranks, because models need not share a scale
        first, second = stats.rankdata(first), stats.rankdata(second)
    differences = []
    for swap in itertools.product([False, True], repeat=9):
        swapped = np.where(swap, second, first), np.where(swap, first, second)
        differences.append(compute(y_true, swapped[0]) - compute(y_true, swapped[1]))
    expected = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12)
    assert pairs.loc[pairs["measure"] == name, "p_value"].tolist() == [pytest.approx(expected, rel=1e-9)]
    assert pairs.loc[pairs["measure"] == name, "difference"].tolist() == [pytest.approx(differences[0])]


@pytest.mark.parametrize("positives", [2, 3, 4])
@pytest.mark.parametrize("stream", [False, True])
def test_an_auc_cannot_be_decided_with_fewer_than_five_cases_in_a_class(tmp_path, positives, stream):
    rng = np.random.default_rng(positives)
    y_true = np.repeat([1, 0], [positives, 100])
    table = pd.DataFrame({"id": range(len(y_true)), "y_true": y_true, "a_score": y_true * 9 + rng.random(len(y_true))})
    table["b_score"] = rng.random(len(y_true))
    table.to_csv(tmp_path / "p.csv", index=False)
    judgement = judge(tmp_path / "p.csv", measures="auc", stream=stream, positive=1)
    assert list(judgement.pairs["outcome"]) == ["cannot be decided"]
    assert judgement.findings[0].undecidable.kind == "few_cases"
    assert judgement.findings[0].undecidable["needed"] == 5


@pytest.mark.parametrize("negatives", [1, 100])
@pytest.mark.parametrize("measure", ["auc", "gini"])
def test_a_single_positive_case_raises_nothing_and_decides_nothing(measure, negatives):
    y_true = np.repeat([1, 0], [1, negatives])
    rng = np.random.default_rng(0)
    scores = {name: rng.random(len(y_true)) for name in ("a_score", "b_score")}
    judgement = judge(pd.DataFrame({"id": range(len(y_true)), "y_true": y_true, **scores}), measures=measure, positive=1)
    assert list(judgement.pairs["outcome"]) == ["cannot be decided"]
    assert judgement.findings[0].undecidable.kind == "few_cases"


def test_three_models_of_equal_auc_are_rarely_separated():
    """Uncorrelated models of equal AUC, one with three times the spread; the band is 3 standard errors of the runs."""
    rng, runs, n_separated = np.random.default_rng(5), 100, 0
    y_true = np.repeat([1, 0], [5, 100])
    for _ in range(runs):
        table = pd.DataFrame({"id": range(105), "y_true": y_true})
        for name, spread in (("a", 1.0), ("b", 1.0), ("c", 3.0)):
            positive_scores = np.sqrt(1 + spread**2) * stats.norm.ppf(0.85) + spread * rng.normal(size=5)
            table[f"{name}_score"] = np.concatenate([positive_scores, rng.normal(size=100)])
        pairs = judge(table, measures="auc", positive=1, resamples=200).pairs
        n_separated += pairs.loc[pairs["measure"] == "auc", "p_adjusted"].min() <= 0.05
    assert n_separated / runs <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_p_values_are_adjusted_over_all_pairs_of_all_data_sets(judge_table):
    table = pd.concat([make_table(60, seed).assign(dataset=f"d{seed}") for seed in range(3)])
    pairs = judge_table(table, measures="accuracy").pairs
    assert len(pairs) == 9
    assert np.allclose(pairs["p_adjusted"], adjust(pairs["p_value"].to_numpy(), "holm"))


@pytest.mark.parametrize("measure", ["accuracy", "auc", "brier", "f_score", "average_precision"])
def test_the_interval_excludes_zero_if_and_only_if_p_is_at_most_alpha(measure):
    n_checked = 0
    for seed in range(12):
        for row in judge(make_table(40, seed), measures=measure).pairs.to_dict("records"):
            if row["outcome"] != "cannot be decided" and np.isfinite(row["low"]):
                assert (row["low"] > 0 or row["high"] < 0) == (row["p_value"] <= 0.05), row
                n_checked += 1
    assert n_checked > 20


# --- Rows that both models predict ---


def test_models_on_different_rows_are_compared_on_the_common_rows(judge_table):
    table = make_long(make_table())
    judgement = judge_table(table[~((table["model"] == "m1") & (table["row"] < 20))])
    assert judgement.pairs["rows"].eq(40).all()
    assert [note["common"] for note in judgement.notes if note.kind == "partial_overlap"] == [40]
    common = judge_table(table[table["row"] >= 20])
    assert np.allclose(judgement.pairs["p_value"], common.pairs["p_value"])


def test_models_without_common_rows_are_refused(judge_table):
    table = make_long(make_table())
    with pytest.raises(InputError, match="'m0' and 'm1'"):
        judge_table(table[(table["model"] == "m0") == (table["row"] < 20)])


def test_one_model_has_no_pairs(judge_table):
    judgement = judge_table(make_table()[["y_true", "m0_p"]])
    assert len(judgement.pairs) == len(judgement.tests) == 0


def test_a_streamed_long_file_without_row_ids_has_no_pairs(tmp_path):
    make_long(make_table()).drop(columns="row").to_parquet(tmp_path / "p.parquet")
    judgement = judge(tmp_path / "p.parquet", stream=True)
    assert len(judgement.pairs) == 0
    assert "rows_unidentified" in {note.kind for note in judgement.notes}


def test_approximate_ranks_are_noted_and_change_the_test_little(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "MAX_MARKS", 200)
    table = make_table(3000).drop(columns="m2_p")
    table.to_parquet(tmp_path / "p.parquet")
    judgement = judge(tmp_path / "p.parquet", stream=True, measures=["auc"])
    (row,) = judgement.pairs.to_dict("records")
    aucs = judgement.scores.set_index("model")["estimate"]
    exact = compute_auc_test(table["y_true"].to_numpy(), table["m0_p"], table["m1_p"])
    assert [note["marks"] for note in judgement.notes if note.kind == "delong_approximate"] == [200]
    assert row["difference"] == pytest.approx(exact[0], rel=1e-9)
    assert row["difference"] == pytest.approx(aucs["m0"] - aucs["m1"], rel=1e-9)
    assert row["high"] - row["low"] == pytest.approx(exact[2] - exact[1], rel=0.01)


# --- Weights ---


@pytest.mark.parametrize("measure", ["accuracy", "auc", "kappa"])
def test_weighted_rows_are_compared_by_a_weighted_permutation_test(measure):
    table = make_table(40)[["row", "y_true", "m0_p", "m2_p"]].assign(weight=lambda t: 1 + t["row"] % 2)
    judgement = judge(table, measures=measure)
    (row,) = judgement.pairs.to_dict("records")
    assert set(judgement.tests["test"]) == {"permutation_test"}, "no test may ignore the weights"
    repeated = table.loc[table.index.repeat(table["weight"])]
    columns = [repeated[f"m{i}_p"].to_numpy() for i in (0, 2)]
    inputs = columns if measure == "auc" else [(column > 0.5).astype(int) for column in columns]
    values = [get_measure(measure)(repeated["y_true"].to_numpy(), values) for values in inputs]
    assert row["difference"] == pytest.approx(values[0] - values[1])
    assert row["low"] <= row["difference"] <= row["high"]
    assert 0 < row["p_value"] <= 1


def test_a_weighted_permutation_test_of_accuracy_equals_its_enumeration():
    rng = np.random.default_rng(3)
    y_true, weights = np.ones(30, dtype=int), rng.random(30)
    first, second = (rng.random((2, 30)) < 0.6).astype(int)
    y_true[:2] = 0
    table = pd.DataFrame({"id": range(30), "y_true": y_true, "a": first, "b": second, "weight": weights})
    (row,) = judge(table, measures="accuracy").pairs.to_dict("records")
    d = weights * ((first == y_true).astype(int) - (second == y_true).astype(int)) / weights.sum()
    d = d[d != 0]
    signs = np.array(list(itertools.product([-1, 1], repeat=len(d))))
    assert row["p_value"] == pytest.approx(np.mean(np.abs(signs @ d) >= abs(d.sum()) - 1e-12), abs=0.02)


# --- Clusters ---


def make_clusters(clusters=50, size=10, seed=0):
    """Simulate two equally good models on clustered rows, as in section 8 of the reference."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    common = 0.8 + 1.2 * rng.normal(size=clusters)
    table = pd.DataFrame({"id": np.arange(len(cluster)), "patient": [f"p{code}" for code in cluster], "y_true": 1})
    for name in ("a", "b"):
        logit = common + 0.7 * rng.normal(size=clusters)
        table[name] = (rng.random(len(cluster)) < 1 / (1 + np.exp(-logit[cluster]))).astype(int)
    table.loc[table["patient"] == "p0", "y_true"] = 0
    return table


@pytest.mark.parametrize("stream", [False, True])
def test_clustered_accuracies_are_compared_by_a_t_test_of_cluster_sums(tmp_path, stream):
    table = make_clusters()
    table.to_csv(tmp_path / "p.csv", index=False)
    judgement = judge(tmp_path / "p.csv", measures="accuracy", cluster="patient", stream=stream)
    (row,) = judgement.pairs.to_dict("records")
    d = (table["a"] == table["y_true"]).astype(float) - (table["b"] == table["y_true"])
    sums = (d - d.mean()).groupby(table["patient"]).sum()
    error = np.sqrt(50 / 49 * (sums**2).sum()) / len(d)
    assert row["difference"] == pytest.approx(d.mean())
    assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(d.mean()) / error, 49))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(stats.t.ppf(0.975, 49) * error)


def compute_obuchowski(y_true, scores, cluster):
    """Compute Obuchowski's covariance (1997) of AUCs with loops over clusters."""
    kernels = [
        (s[y_true == 1][:, None] > s[y_true == 0][None, :]) + 0.5 * (s[y_true == 1][:, None] == s[y_true == 0][None, :])
        for s in scores
    ]
    m, n = kernels[0].shape
    sums = np.zeros((2, len(scores), len(set(cluster))))
    for j, code in enumerate(sorted(set(cluster))):
        in_positives, in_negatives = cluster[y_true == 1] == code, cluster[y_true == 0] == code
        for i, kernel in enumerate(kernels):
            sums[0, i, j] = (kernel.mean(axis=1)[in_positives] - kernel.mean()).sum()
            sums[1, i, j] = (kernel.mean(axis=0)[in_negatives] - kernel.mean()).sum()
    n_positive, n_negative, n_all = len(set(cluster[y_true == 1])), len(set(cluster[y_true == 0])), len(set(cluster))
    s10 = n_positive / ((n_positive - 1) * m) * sums[0] @ sums[0].T
    s01 = n_negative / ((n_negative - 1) * n) * sums[1] @ sums[1].T
    s11 = n_all / (n_all - 1) * sums[0] @ sums[1].T
    return s10 / m + s01 / n + (s11 + s11.T) / (m * n)


@pytest.mark.parametrize("stream", [False, True])
def test_clustered_aucs_use_obuchowskis_variance(tmp_path, stream):
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(60), 5)
    y_true = (rng.random(300) < 0.4).astype(int)
    shared = rng.normal(size=60)[cluster]
    table = pd.DataFrame({"id": range(300), "patient": cluster, "y_true": y_true})
    for name in ("a", "b"):
        table[f"{name}_score"] = np.round(y_true + shared + rng.normal(size=300), 1)
    table.to_csv(tmp_path / "p.csv", index=False)
    judgement = judge(tmp_path / "p.csv", measures="auc", cluster="patient", stream=stream)
    scores = [table[f"{name}_score"].to_numpy() for name in ("a", "b")]
    covariance = compute_obuchowski(y_true, scores, cluster)
    outcome = auc_test(y_true, *scores, cluster=cluster)
    assert outcome.details["standard error"] == pytest.approx(
        np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]), rel=1e-9
    )
    independent = judge(tmp_path / "p.csv", measures="auc", stream=stream)
    widths = [(found.scores["high"] - found.scores["low"]).to_numpy() for found in (judgement, independent)]
    assert (widths[0] > widths[1]).all()
    if stream:
        in_memory = judge(tmp_path / "p.csv", measures="auc", cluster="patient", stream=False)
        for name in ("low", "high"):
            assert np.allclose(judgement.pairs[name], in_memory.pairs[name], rtol=1e-8)
            assert np.allclose(judgement.scores[name], in_memory.scores[name], rtol=1e-8)


def test_clusters_of_one_row_change_nothing(judge_table):
    table = make_table()[["row", "y_true", "m0_p", "m2_p"]]
    plain, clustered = judge_table(table, measures="auc"), judge_table(table.assign(c=range(60)), measures="auc", cluster="c")
    for name in ("difference", "low", "high", "p_value"):
        assert np.allclose(plain.pairs[name], clustered.pairs[name], rtol=1e-8)


def test_repeated_answers_of_a_row_all_count_and_form_its_cluster():
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(80), 3)
    y_true = (np.arange(80) % 2)[rows]
    table = pd.DataFrame({"question": rows, "repeat": np.tile([0, 1, 2], 80), "y_true": y_true})
    for name, chance in (("a", 0.8), ("b", 0.6)):
        table[name] = np.where(rng.random(240) < chance, y_true, 1 - y_true)
    judgement = judge(table, row="question", measures="accuracy")
    (row,) = judgement.pairs.to_dict("records")
    d = (table["a"] == y_true).astype(float) - (table["b"] == y_true)
    means = d.groupby(table["question"]).mean()
    assert row["difference"] == pytest.approx(d.mean())
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
    assert "repeated_predictions" in {note.kind for note in judgement.notes}
    accuracies = judgement.scores.set_index("model")["estimate"]
    assert accuracies["a"] == pytest.approx((table["a"] == y_true).mean())


def test_rows_weigh_the_same_however_many_answers_they_have():
    table = pd.DataFrame(
        {"question": [0, 0, 0, 1, 2, 3], "repeat": [0, 1, 2, 0, 0, 0], "y_true": [1, 1, 1, 0, 1, 0], "a": [1, 1, 0, 0, 0, 1]}
    )
    judgement = judge(table, row="question", measures="accuracy")
    assert judgement.scores["estimate"].iloc[0] == pytest.approx((2 / 3 + 1 + 0 + 0) / 4)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("column", ["patient", "customer_id", "question", "document"])
def test_an_undeclared_column_of_repeated_ids_is_reported_in_the_answer(tmp_path, stream, column):
    table = make_clusters().rename(columns={"patient": column})
    table.to_csv(tmp_path / "p.csv", index=False)
    judgement = judge(tmp_path / "p.csv", measures="accuracy", stream=stream)
    (note,) = [note for note in judgement.notes if note.kind == "undeclared_clusters"]
    assert (note["column"], note["values"], note["rows"]) == (column, 50, 500)
    assert column in str(judgement)
    declared = judge(tmp_path / "p.csv", measures="accuracy", stream=stream, cluster=column)
    assert "undeclared_clusters" not in {note.kind for note in declared.notes}


def test_rows_of_several_models_are_no_clusters():
    table = make_long(make_table()).rename(columns={"row": "patient"})
    judgement = judge(table)
    assert "undeclared_clusters" not in {note.kind for note in judgement.notes}


# --- Clusters in the answer ---


def make_visits(patients=20, visits=3):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(patients), visits)
    sick = np.repeat(rng.permutation(np.arange(patients) % 2), visits)
    good, poor = (sick + spread * rng.normal(size=len(sick)) for spread in (0.2, 2.0))
    return pd.DataFrame({"patient": patient, "y_true": sick, "good_score": good, "poor_score": poor})


@pytest.mark.parametrize("measures", ["auc", "accuracy", "kappa"])
def test_the_answer_counts_rows_and_clusters(judge_table, measures):
    table = make_visits()
    if measures != "auc":
        table = table.assign(good=table["y_true"], poor=table["y_true"].to_numpy()[::-1])
    judgement = judge_table(table, measures=measures, cluster="patient")
    ranking = judgement.findings[0]
    if judgement.pairs["test"].tolist() != [""]:
        assert (ranking.n, ranking.clusters, ranking.cluster) == (60, 20, "patient")
        assert "60 rows in 20 clusters (patient)" in " ".join(judgement.summary[0].split())


def test_without_clusters_the_answer_counts_rows_only(judge_table):
    judgement = judge_table(make_visits().drop(columns="patient"), measures="auc")
    assert judgement.findings[0].clusters == 0
    assert judgement.summary[0].endswith("60 rows).")


def test_too_few_clusters_are_called_clusters(judge_table):
    judgement = judge_table(make_visits(patients=8, visits=6), measures="auc", cluster="patient")
    assert judgement.pairs["outcome"].tolist() == ["cannot be decided"]
    assert "8 clusters, 4 with positive cases and 4 with negative cases" in judgement.summary[0]
    assert "clusters" in judgement.pairs["note"].iloc[0]


def test_suspected_clusters_make_the_answer_conditional(judge_table):
    table = make_visits(patients=60)
    suspected = judge_table(table, measures="auc").summary[0]
    assert "If the rows are independent, it beats poor" in suspected
    declared = judge_table(table, measures="auc", cluster="patient").summary[0]
    assert "It beats poor" in declared
    assert "independent" not in declared


@pytest.mark.parametrize(("measure", "test"), [("auc", "auc_test"), ("accuracy", "mcnemar"), ("brier", "permutation_test")])
def test_simultaneous_limits_do_not_contradict_adjusted_p_values(measure, test):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    scores = {f"m{i}_proba": 1 / (1 + np.exp(-(2 * y - 1) - (1 + 0.15 * i) * rng.normal(size=300))) for i in range(6)}
    judgement = judge({"y_true": y, **scores}, measures=measure, resamples=200)
    pairs = judgement.pairs
    unadjusted, simultaneous = ((pairs[f"{kind}low"] > 0) | (pairs[f"{kind}high"] < 0) for kind in ("", "simultaneous_"))
    assert set(pairs["test"]) == {test}
    assert (unadjusted & ~pairs["significant"]).any()
    assert not (simultaneous & ~pairs["significant"]).any()
    # Bonferroni: a pair whose p-value is below alpha / 15 has an interval without zero.
    assert (simultaneous == (pairs["p_value"] <= 0.05 / 15)).all()
    assert "(simultaneous 95 % CI " in render_certainty(judgement.findings[0])


def make_two():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    return {"y_true": y, **{f"{name}_proba": 1 / (1 + np.exp(-y + rng.normal(size=100))) for name in ("tree", "rule")}}


def test_the_limits_of_a_single_pair_are_not_widened():
    pairs = judge(make_two(), resamples=50).pairs
    assert pairs["simultaneous_low"].tolist() == pairs["low"].tolist()
