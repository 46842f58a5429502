"""One data set: splits are dependent and are treated so."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.compare import compare


def splits(repeats, folds, k=2, seed=0, gap=0.02):
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([range(1, repeats + 1), range(1, folds + 1)], names=["repeat", "fold"])
    values = 0.8 + 0.02 * rng.normal(size=(repeats * folds, k)) + gap * np.arange(k)
    return pd.DataFrame(values, index=index, columns=list("abcdef"[:k])).reset_index()


def corrected_t(d, fraction):
    """Nadeau & Bengio 2003, written out."""
    t = d.mean() / np.sqrt((1 / len(d) + fraction / (1 - fraction)) * d.var(ddof=1))
    return 2 * stats.t.sf(abs(t), len(d) - 1)


def test_folds_give_the_corrected_t_test():
    frame = splits(1, 10)
    verdict = compare(frame)
    assert verdict.choice == "corrected_resampled_t"
    assert verdict.p_value == pytest.approx(corrected_t(frame["a"] - frame["b"], 0.1))
    assert verdict.p_value > stats.ttest_rel(frame["a"], frame["b"]).pvalue
    assert verdict.unit == "split"


def test_repeated_folds_take_the_fraction_from_the_folds():
    frame = splits(10, 10)
    assert compare(frame).p_value == pytest.approx(corrected_t(frame["a"] - frame["b"], 0.1))


def test_five_by_two():
    frame = splits(5, 2)
    verdict = compare(frame.sample(frac=1, random_state=0))
    assert verdict.choice == "five_by_two_f"
    d = (frame["a"] - frame["b"]).to_numpy().reshape(5, 2)
    f = (d**2).sum() / (2 * ((d - d.mean(axis=1, keepdims=True)) ** 2).sum())  # Alpaydin 1999
    assert verdict.outcome.p_value == pytest.approx(stats.f.sf(f, 10, 5))
    # Dietterich 1998: the mean variance of the repeats is that of one difference
    t = d.mean() / np.sqrt((((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)).mean())
    assert verdict.p_value == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert compare(frame, test_fraction=0.5).choice == "corrected_resampled_t"


def test_a_rope_gives_the_correlated_posterior():
    verdict = compare(splits(1, 10), rope=0.01)
    assert verdict.posterior.test == "correlated_t"
    assert verdict.posterior.parameters["correlation"] == pytest.approx(0.1)


def test_repeats_without_folds_need_the_fraction():
    frame = splits(10, 1).drop(columns="fold")
    with pytest.raises(InputError, match=r"repeats without folds must state their test rows: pass test_fraction=0\.33"):
        compare(frame)
    assert compare(frame, test_fraction=1 / 3).p_value == pytest.approx(corrected_t(frame["a"] - frame["b"], 1 / 3))


def test_several_learners_by_pairs():
    frame = splits(1, 10, k=3)
    verdict = compare(frame, posthoc="holm")
    assert verdict.choice == "corrected_resampled_t + holm"
    raw = [corrected_t(frame[x] - frame[y], 0.1) for x, y in ("ab", "ac", "bc")]
    assert verdict.pairs()["p_raw"].tolist() == pytest.approx(raw)
    assert verdict.p_value == verdict.pairs()["p_adjusted"].min() == pytest.approx(min(1, 3 * min(raw)))
    assert compare(frame).choice == "corrected_resampled_t + bergmann"
    control = compare(frame, control="b")
    assert control.pairs()["second"].tolist() == ["a", "c"]


def test_the_better_is_named_first_whatever_the_direction():
    frame = splits(1, 10, k=3, gap=0.2)
    for better, order in (("max", ("c", "b", "a")), ("min", ("a", "b", "c"))):
        ranking = compare(frame, better=better).ranking
        assert ranking.names == order
        pair = ranking.find_pair("a", "c")
        assert (pair.better, pair.other) == (order[0], order[2])
        assert (pair.difference > 0) == (better == "max")


@pytest.mark.parametrize("method", ["nemenyi", "tukey", "dunnett"])
def test_procedures_that_need_several_data_sets(method):
    with pytest.raises(InputError, match="posthoc"):
        compare(splits(1, 10, k=3), posthoc=method)


def test_wrong_pairs_of_procedure_and_control():
    frame = splits(1, 10, k=3)
    with pytest.raises(InputError, match=r"control.*shaffer"):
        compare(frame, posthoc="shaffer", control="a")
    with pytest.raises(InputError, match=r"control.*bonferroni-dunn"):
        compare(frame, posthoc="bonferroni-dunn")


def test_one_constant_difference_is_undefined_and_the_rest_is_judged():
    frame = splits(1, 10, k=2).assign(c=lambda f: f["a"].round(3) + 0.5, a=lambda f: f["a"].round(3))
    with pytest.warns(UndefinedMeasureWarning):
        verdict = compare(frame)
    pairs = verdict.pairs().set_index(["first", "second"])
    assert np.isnan(pairs.loc[("a", "c"), "p_adjusted"])
    assert not pairs.loc[("a", "c"), "significant"]
    assert np.isfinite(verdict.p_value)


def test_many_folds_may_be_repeats():
    caveat = next(caveat for caveat in compare(splits(1, 30)).caveats if caveat.kind == "folds_or_repeats")
    assert caveat["folds"] == 30
    assert "folds_or_repeats" not in {caveat.kind for caveat in compare(splits(1, 10)).caveats}


def test_missing_folds_are_left_out_for_both():
    frame = splits(1, 10)
    frame.loc[3, "a"] = np.nan
    verdict = compare(frame)
    left = frame.dropna()
    assert verdict.p_value == pytest.approx(corrected_t(left["a"] - left["b"], 1 / 10))
    missing = next(reason for reason in verdict.caveats if reason.kind == "missing_splits")
    assert missing["splits"] == 1


def test_level_on_a_single_data_set():
    """Overlap simulated: a common part in all differences with correlation equal to the test fraction."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        d = np.sqrt(0.1) * rng.normal() + np.sqrt(0.9) * rng.normal(size=10)
        wrong += compare(pd.DataFrame({"fold": range(10), "a": d, "b": 0.0})).p_value <= 0.05
    assert wrong / 400 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("method", ["bergmann", "holm", "none"])
def test_statistic_p_and_effect_are_those_of_one_pair(method):
    for seed in range(30):
        frame = pd.DataFrame({"fold": range(10)}).assign(
            **dict(zip("abc", np.random.default_rng(seed).normal(size=(3, 10)), strict=True))
        )
        verdict = compare(frame, posthoc=method)
        raw = {pair: corrected_t(frame[pair[0]] - frame[pair[1]], 0.1) for pair in ("ab", "ac", "bc")}
        least = min(raw, key=raw.get)
        d = frame[least[0]] - frame[least[1]]
        error = np.sqrt((1 / 10 + 0.1 / 0.9) * d.var(ddof=1))
        assert verdict.pair == tuple(least)
        assert verdict.outcome.statistic == pytest.approx(d.mean() / error)
        assert verdict.outcome.effect.estimate == pytest.approx(d.mean())
        level = 1 - 0.05 / (1 if method == "none" else 3)
        assert verdict.outcome.effect.level == pytest.approx(level)
        assert verdict.outcome.effect.high == pytest.approx(d.mean() + stats.t.ppf((1 + level) / 2, 9) * error)
        assert verdict.p_value == pytest.approx(min(1, (1 if method == "none" else 3) * raw[least]))
        findings = {finding.kind: finding for finding in verdict.findings}
        assert (findings["pair_of_test"]["first"], findings["pair_of_test"]["second"]) == tuple(least)
        assert findings["effect_size_interval_of_pair"]["estimate"] == pytest.approx(abs(d.mean()))


def test_equal_scores_of_one_pair_are_not_reported_for_all():
    a = np.round(np.linspace(0.7, 0.9, 10), 3)
    away = np.array([1, -1] * 5) * 0.01 + 0.001
    first = compare(pd.DataFrame({"fold": range(10), "a": a, "b": a, "c": a + away}))
    assert first.pair == ("a", "c")  # every adjusted p is 1, and a and b come first
    assert not any(finding.kind.startswith("same_scores") for finding in first.findings)
    with pytest.warns(UndefinedMeasureWarning):
        second = compare(pd.DataFrame({"fold": range(10), "a": a, "b": a, "c": a + 0.05}))
    same = [finding for finding in second.findings if finding.kind.startswith("same_scores")]
    assert [(finding["first"], finding["second"]) for finding in same] == [("a", "b")]


def test_five_by_two_names_no_winner_if_the_interval_contains_zero():
    # Large differences of changing sign: F is large, and the mean is not
    d = np.array([[0.10, 0.10], [-0.09, -0.09], [0.10, 0.11], [-0.10, -0.09], [0.08, 0.08]])
    index = pd.MultiIndex.from_product([range(1, 6), range(1, 3)], names=["repeat", "fold"])
    frame = pd.DataFrame({"a": 0.8 + d.ravel(), "b": 0.8}, index=index).reset_index()
    verdict = compare(frame)
    f = (d**2).sum() / (2 * ((d - d.mean(axis=1, keepdims=True)) ** 2).sum())  # Alpaydin 1999
    assert verdict.outcome.p_value == pytest.approx(stats.f.sf(f, 10, 5))
    assert verdict.outcome.p_value < 0.001
    effect = verdict.outcome.effect
    assert (effect.low <= 0 <= effect.high) == (not verdict.pairs()["significant"].any())
    shifted = frame.assign(a=0.8 + np.where(np.arange(10) % 4 < 2, 1, -1) * 0.1 + np.arange(10) % 2 * 0.15)
    undirected = compare(shifted)
    assert undirected.outcome.p_value < 0.3 < undirected.p_value
    assert undirected.outcome.effect.low < 0 < undirected.outcome.effect.high
    assert undirected.ranking.worse == ()
    caveat = next(caveat for caveat in undirected.caveats if caveat.kind == "f_without_direction")
    assert caveat["p"] == undirected.outcome.p_value


@pytest.mark.parametrize("method", ["bergmann", "holm", "bonferroni", "none"])
def test_the_interval_matches_the_adjusted_p_value(method):
    decided = set()
    for seed in range(60):
        frame = pd.DataFrame({"fold": range(10)}).assign(
            **dict(zip("abc", np.random.default_rng(seed).normal([[0], [0.5], [1]], size=(3, 10)), strict=True))
        )
        verdict = compare(frame, posthoc=method)
        effect = verdict.outcome.effect
        excludes_zero = effect.low > 0 or effect.high < 0
        assert excludes_zero == (verdict.p_value < 0.05)
        decided.add(excludes_zero)
    assert decided == {True, False}
