"""Decisions at a margin and regions of practical equivalence of several learners in `compare`."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial import compare
from fairtrial._narrative import render
from fairtrial.errors import InputError
from fairtrial.significance import correlated_t, hierarchical, margin_test


def scores(n, shifts, seed=0, spread=0.01):
    rng = np.random.default_rng(seed)
    values = 0.8 + 0.05 * rng.normal(size=(n, 1)) + spread * rng.normal(size=(n, len(shifts))) + np.array(shifts)
    return pd.DataFrame(values, columns=list("abcdef"[: len(shifts)]))


def fold_scores(datasets, folds, shifts, seed=0):
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([[f"set {i}" for i in range(datasets)], range(1, folds + 1)], names=["dataset", "fold"])
    values = 0.8 + 0.02 * rng.normal(size=(len(index), len(shifts))) + np.array(shifts)
    return pd.DataFrame(values, index=index, columns=list("abcdef"[: len(shifts)])).reset_index()


def decide_by_limits(low, high, margin, equivalent=False):
    """REFERENCE, section 9, higher is better."""
    if low > 0:
        return "superior"
    if equivalent and -margin < low and high < margin:
        return "equivalent"
    return "non-inferior" if low > -margin else "inferior" if high < -margin else "inconclusive"


def compute_signed_rank_limits(d, alpha):
    """Limits as in R's wilcox.test: ordered means of pairs, at the quantile of the exact distribution."""
    n = len(d)
    walsh = np.sort([(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)])
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    k = int((np.cumsum(counts) / 2.0**n <= alpha / 2).sum())
    return walsh[k - 1], walsh[-k]


@pytest.mark.parametrize("equivalent", [False, True])
def test_each_learner_against_the_control(equivalent):
    table = scores(20, [0, 0.0, 0.01, -0.03])
    verdict = compare(table, control="a", margin=0.01, equivalent=equivalent, rows="datasets")
    assert {(first, second) for first, second, _ in verdict.margins} == {("b", "a"), ("c", "a"), ("d", "a")}
    for first, _, result in verdict.margins:
        low, high = compute_signed_rank_limits((table[first] - table["a"]).to_numpy(), 0.05 / 3)
        assert (result.low, result.high) == pytest.approx((low, high))
        assert result.level == pytest.approx(1 - 0.05 / 3)
        assert result.decision == decide_by_limits(low, high, 0.01, equivalent)
    assert {first: result.decision for first, _, result in verdict.margins}["d"] == "inferior"


def test_all_pairs_without_a_control():
    table = scores(16, [0, 0.02, 0.01])
    verdict = compare(table, margin=0.02, rows="datasets")
    order = verdict.order
    assert [(first, second) for first, second, _ in verdict.margins] == [
        (order[1], order[0]),
        (order[2], order[0]),
        (order[2], order[1]),
    ]
    for first, second, result in verdict.margins:
        low, high = compute_signed_rank_limits((table[first] - table[second]).to_numpy(), 0.05 / 3)
        assert (result.low, result.high) == pytest.approx((low, high))
    assert [finding["second"] for finding in verdict.margin_findings] == [order[0]] * 2


def test_lower_scores_better():
    table = scores(20, [0, 0.03])
    for better, decision in (("max", "superior"), ("min", "inferior")):
        verdict = compare(table, control="a", margin=0.01, better=better, rows="datasets")
        ((first, second, result),) = verdict.margins
        assert (first, second, result.decision) == ("b", "a", decision)
        assert result.difference == pytest.approx(0.03, abs=0.01)
        assert result.level == pytest.approx(0.95)


def test_parametric_tests_give_t_limits():
    table = scores(20, [0, 0.005, 0.01])
    verdict = compare(table, control="a", margin=0.01, parametric=True, rows="datasets")
    assert verdict.choice == "anova + dunnett"
    for first, _, result in verdict.margins:
        low, high = stats.ttest_rel(table[first], table["a"]).confidence_interval(1 - 0.05 / 2)
        assert (result.low, result.high) == pytest.approx((low, high))
        assert result.test == "paired_t"


def test_splits_of_one_data_set_have_corrected_limits():
    frame = fold_scores(1, 10, [0, 0.002])
    d = (frame["b"] - frame["a"]).to_numpy()
    scale = math.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))  # Nadeau & Bengio 2003
    half = stats.t.ppf(0.975, 9) * scale
    margin = 0.7 * half - d.mean()
    result = compare(frame, control="a", margin=margin).margins[0][2]
    assert (result.low, result.high) == pytest.approx((d.mean() - half, d.mean() + half))
    assert result.tests[1].p_value == pytest.approx(stats.t.sf((d.mean() + margin) / scale, 9))
    assert result.decision == "inconclusive"
    # Half-widths with the corrected variance reach 0.7 of the present one or do not, however many splits there are.
    assert result.needed is None if 0.49 * (1 / 10 + 1 / 9) <= 1 / 9 else result.needed > 10
    close = compare(frame, control="a", margin=0.9 * half - d.mean()).margins[0][2]
    assert close.needed == math.ceil(1 / (0.81 * (1 / 10 + 1 / 9) - 1 / 9))


def test_five_by_two_folds_use_the_t_interval():
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product([range(5), range(2)], names=["repeat", "fold"])
    frame = pd.DataFrame(0.8 + 0.01 * rng.normal(size=(10, 2)), index=index, columns=["a", "b"]).reset_index()
    d = (frame["b"] - frame["a"]).to_numpy().reshape(5, 2)
    scale = math.sqrt((((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)).mean())  # Dietterich 1998
    verdict = compare(frame, control="a", margin=0.001)
    result = verdict.margins[0][2]
    half = stats.t.ppf(0.975, 5) * scale
    assert (result.low, result.high) == pytest.approx((d.mean() - half, d.mean() + half))
    assert result.tests[1].p_value == pytest.approx(stats.t.sf((d.mean() + 0.001) / scale, 5))
    assert (result.decision, result.needed) == ("inconclusive", None)


def test_seeds_have_paired_t_limits():
    table = scores(8, [0, 0.01], spread=0.004)
    result = compare(table, control="a", margin=0.002, rows="seeds").margins[0][2]
    assert (result.low, result.high) == pytest.approx(tuple(stats.ttest_rel(table["b"], table["a"]).confidence_interval()))


def test_limits_and_answer_are_never_silently_different():
    kinds = ("margin_disagreement", "margin_disagreement_unadjusted", "margin_disagreement_ties", "margin_disagreement_f")
    differing = 0
    for seed in range(40):
        table = scores(12, [0, 0.008, 0.012], seed).round(2 if seed % 2 else 6)
        names = ["a", "b"] if seed % 4 > 1 else ["a", "b", "c"]
        verdict = compare(table[names], margin=0.01, rows="datasets")
        significant = {frozenset((first, second)): p <= 0.05 for first, second, _, p in verdict.comparisons}
        differs = [
            (result.low > 0 or result.high < 0) != significant[frozenset((first, second))]
            for first, second, result in verdict.margins
        ]
        caveats = [caveat for caveat in verdict.caveats if caveat.kind in kinds]
        assert bool(caveats) == any(differs)
        if caveats and len(names) > 2:
            assert "Bonferroni" in render(caveats[0])
            assert "Bergmann-Hommel" in render(caveats[0])
        differing += bool(caveats)
    assert differing


@pytest.mark.filterwarnings("ignore:Kendall's W")
def test_too_few_data_sets_are_inconclusive_and_say_how_many_are_needed():
    table = scores(6, [0, 0.1, 0.2])
    verdict = compare(table, margin=0.01, rows="datasets")
    assert {result.decision for *_, result in verdict.margins} == {"inconclusive"}
    assert verdict.margin_frame()["needed"].tolist() == [7, 7, 7]  # 2 ** -7 is below 0.05 / 6
    assert "A decision would need about 7." in render(verdict.margin_findings[0])


def test_tables_and_texts_contain_the_decisions():
    verdict = compare(scores(20, [0, 0, 0.02]), control="a", margin=0.01, measure="auc", rows="datasets")
    frame = verdict.margin_frame()
    assert frame["decision"].tolist() == [result.decision for *_, result in verdict.margins]
    assert {"first", "second", "margin", "low", "high", "level", "p_non_inferiority", "needed"} <= set(frame)
    assert "c is superior to a (AUC +0.0" in verdict.explain()
    assert "superior" in verdict.format_tables()
    assert "superior" in verdict._repr_html_()
    assert {"margin_limits_adjusted"} <= {reason.kind for reason in verdict.reasons}
    plain = compare(scores(20, [0, 0, 0.02]), rows="datasets")
    assert (plain.margins, plain.posteriors, len(plain.margin_frame()), len(plain.posterior_frame())) == ((), (), 0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, r"margin must be greater than 0, got 0: pass the largest loss"),
        ({"margin": -0.01}, "margin must be greater than 0"),
        ({"equivalent": True}, r"equivalent needs a margin, got None: pass margin=0\.01"),
        ({"hierarchical": True}, "hierarchical needs a rope"),
        (
            {"hierarchical": True, "rope": 0.01},
            "hierarchical needs the same number of splits \\(at least 2\\) on every data set",
        ),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        compare(scores(8, [0, 0]), rows="datasets", **options)


def test_a_rope_of_several_learners_agrees_with_baycomp():
    baycomp = pytest.importorskip("baycomp", reason="baycomp is in the extra bench")
    table = scores(15, [0, 0.01, 0.03])
    verdict = compare(table, rope=0.01, rows="datasets")
    assert verdict.posterior is None
    assert len(verdict.posteriors) == 3
    for first, second, posterior in verdict.posteriors:
        expected = baycomp.SignedRankTest.probs(
            table[first].to_numpy(), table[second].to_numpy(), 0.01, nsamples=20_000, random_state=0
        )
        # 50,000 and 20,000 draws: four standard errors of the difference of two proportions are at most 0.017
        assert (posterior.p_first, posterior.p_rope, posterior.p_second) == pytest.approx(expected, abs=0.017)


def test_a_rope_against_a_control():
    table = scores(12, [0, 0.01, 0.03])
    verdict = compare(table, rope=0.01, control="a", rows="datasets")
    frame = verdict.posterior_frame()
    assert set(frame["first"]) == {"b", "c"}
    assert set(frame["second"]) == {"a"}
    assert frame[["p_first", "p_rope", "p_second"]].sum(axis=1).tolist() == pytest.approx([1, 1])
    assert "p_rope" in verdict.format_tables()
    assert "rope_used_pairs" in {reason.kind for reason in verdict.reasons}
    lower = compare(-table, rope=0.01, control="a", better="min", rows="datasets").posterior_frame()
    pd.testing.assert_frame_equal(lower, frame)


def test_a_rope_of_several_learners_on_folds():
    frame = fold_scores(1, 10, [0, 0.01, 0.02])
    verdict = compare(frame, rope=0.01)
    assert len(verdict.posteriors) == 3
    for first, second, posterior in verdict.posteriors:
        d = (frame[first] - frame[second]).to_numpy()
        student = stats.t(9, d.mean(), math.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1)))  # Corani & Benavoli 2015
        assert posterior.p_first == pytest.approx(student.sf(0.01))
        assert posterior.p_second == pytest.approx(student.cdf(-0.01))
    two = compare(frame[["fold", "a", "b"]], rope=0.01)
    assert two.posterior == correlated_t(frame["a"], frame["b"], test_fraction=0.1, rope=0.01)


@pytest.mark.parametrize("k", [2, 3])
def test_the_hierarchical_model_uses_all_folds(k):
    frame = fold_scores(6, 5, [0, 0.02, 0.01][:k])
    verdict = compare(frame, rope=0.01, hierarchical=True)
    assert len(verdict.posteriors) == k * (k - 1) // 2
    assert (verdict.posterior is None) == (k > 2)
    first, second, posterior = verdict.posteriors[0]
    tables = {name: frame.pivot(index="dataset", columns="fold", values=name) for name in (first, second)}
    expected = hierarchical(tables[first], tables[second], test_fraction=0.2, rope=0.01)
    assert (posterior.test, posterior.n) == ("hierarchical", 6)
    assert (posterior.p_first, posterior.p_rope) == (expected.p_first, expected.p_rope)


def test_hierarchical_needs_equally_many_folds():
    frame = fold_scores(4, 5, [0, 0.03]).iloc[:-1]
    with pytest.raises(InputError, match=r"on every data set, got 4 to 5: omit it"):
        compare(frame, rope=0.01, hierarchical=True)
    with pytest.raises(InputError, match="hierarchical needs several data sets, got 1"):
        compare(fold_scores(1, 5, [0, 0.03]), rope=0.01, hierarchical=True)


def test_decisions_of_two_learners_equal_margin_test():
    table = scores(10, [0, 0.004])
    verdict = compare(table, control="a", margin=0.01, rows="datasets")
    assert verdict.margins == (("b", "a", margin_test(table["b"], table["a"], 0.01)),)


def find_kinds(table, **options):
    return [finding.kind for finding in compare(table, control="a", **options).margin_findings]


def test_every_decision_has_its_own_text():
    table = scores(20, [0, 0.03])
    assert find_kinds(table, margin=0.01, rows="datasets") == ["margin_decision"]
    assert find_kinds(table, margin=0.01, equivalent=True, rows="datasets") == ["margin_not_equivalent"]
    assert find_kinds(table.assign(b=table["b"] - 0.04), margin=0.009, rows="datasets") == ["margin_inconclusive_needed"]
    assert find_kinds(table[:4], margin=0.01, rows="datasets") == ["margin_few_units"]
    assert find_kinds(scores(8, [0, 0], spread=0), margin=0.01, rows="seeds") == ["margin_undefined"]
    # Ten splits of one data set: more splits would leave a variance of 1/9 s^2.
    d = np.tile([0.01, -0.01], 5)
    folds = pd.DataFrame({"fold": range(10), "a": 0.8, "b": 0.8 + d})
    assert find_kinds(folds, margin=0.003) == ["margin_inconclusive_always"]
    half_folds = pd.DataFrame({"repeat": np.repeat(range(5), 2), "fold": [1, 2] * 5, "a": 0.8, "b": 0.8 + d})
    assert find_kinds(half_folds, margin=0.003) == ["margin_inconclusive"]


def test_asymmetric_differences_add_a_caveat():
    table = scores(12, [0, 0.01, 0.02])
    table.loc[0, "c"] += 0.5
    verdict = compare(table, control="a", margin=0.01, rows="datasets")
    (caveat,) = [caveat for caveat in verdict.caveats if caveat.kind == "asymmetric_margins"]
    assert caveat["pairs"] == ("c vs a",)
    assert "signed-rank confidence limits assume symmetric differences" in render(caveat)
