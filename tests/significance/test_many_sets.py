"""Several data sets: Wilcoxon for two learners, Friedman for more, parametric tests where they are asked for and fit."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.significance.compare import compare


def normal(n, k, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, k)), columns=list("abcdefghijklmnop"[:k]))


def test_wilcoxon_for_two(find_published):
    table = pd.read_csv(find_published("tutorial_ten_domains_accuracy"), index_col=0)[["NB", "SVM"]]
    verdict = compare(table, rows="datasets")
    assert verdict.choice == "wilcoxon"
    assert verdict.p_value == pytest.approx(0.5703, abs=5e-5)  # R: wilcox.test(exact) of the nine differences other than zero
    assert verdict.outcome.details["R+"] == 17
    assert verdict.posthoc is None


def test_the_sign_test_is_reported_but_does_not_decide():
    table = pd.DataFrame({"a": np.r_[np.linspace(0.01, 0.02, 11), 5.0], "b": np.zeros(12)})
    verdict = compare(table, rows="datasets")
    assert verdict.choice == "wilcoxon"
    caveats = {caveat.kind: caveat for caveat in verdict.caveats}
    assert caveats["sign_test"]["p"] == pytest.approx(2 * 0.5**12)
    assert caveats["asymmetric_differences"]["skewness"] > 1


def test_too_few_data_sets_to_reach_alpha():
    verdict = compare(pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [0.0, 0, 0, 0]}), rows="datasets")
    assert verdict.p_value == 0.125
    assert verdict.undecidable.kind == "cannot_decide_pair"
    assert (verdict.undecidable["n"], verdict.undecidable["smallest"], verdict.undecidable["needed"]) == (4, 0.125, 6)
    assert verdict.pairs()["outcome"].tolist() == ["cannot be decided"]
    assert "cannot be decided" in verdict.summary
    assert (verdict.ranking.worse, verdict.ranking.not_worse, verdict.ranking.undecided) == ((), (), ("b",))


def test_friedman_and_bergmann_on_published_tables(find_published):
    verdict = compare(find_published("garcia_herrera_2008_accuracy"))
    assert verdict.choice == "friedman (iman_davenport) + bergmann"
    # Tie-corrected Friedman 39.9128 (REFERENCE): F = 29 x 39.9128 / (120 - 39.9128)
    assert verdict.outcome.statistic == pytest.approx(29 * 39.9128 / (120 - 39.9128), rel=1e-4)
    pairs = verdict.pairs().set_index(["first", "second"])["p_adjusted"]
    expected = {("C4.5", "Kernel"): 4.48699e-7, ("Kernel", "CN2"): 0.0115219, ("C4.5", "CN2"): 0.0382890}
    for pair, p in expected.items():
        assert pairs[pair] == pytest.approx(p, rel=1e-4)


def test_demsars_control(find_published):
    verdict = compare(find_published("demsar_2006_table6_auc"), measure="auc", control="C4.5")
    assert verdict.choice.endswith("+ holm")
    pairs = verdict.pairs().set_index("second")
    assert pairs["p_raw"].to_dict() == pytest.approx({"C4.5+m+cf": 0.0157, "C4.5+m": 0.0192, "C4.5+cf": 0.608}, abs=5e-4)
    assert pairs.loc["C4.5+m+cf", "p_adjusted"] == pytest.approx(3 * 0.0157, abs=2e-3)


def test_many_learners_get_shaffer():
    assert compare(normal(8, 13), rows="datasets").choice.endswith("+ shaffer")


def test_parametric_only_where_it_fits():
    table = normal(30, 3)
    assert compare(table, rows="datasets").choice.startswith("friedman")
    assert compare(table, parametric=True, rows="datasets").choice == "anova + tukey"
    assert compare(table, parametric=True, control="a", rows="datasets").choice == "anova + dunnett"
    assert compare(table[["a", "b"]], parametric=True, rows="datasets").choice == "paired_t"
    skewed = np.exp(3 * table)
    assert compare(skewed, parametric=True, rows="datasets").choice.startswith("friedman")
    assert {"normality_rejected", "parametric_refused"} <= {
        reason.kind for reason in compare(skewed, parametric=True, rows="datasets").reasons
    }
    uneven = table * [1, 1, 20]
    assert "sphericity_rejected" in {reason.kind for reason in compare(uneven, parametric=True, rows="datasets").reasons}
    assert compare(uneven, parametric=True, rows="datasets").choice.startswith("friedman")


def test_anova_judges_by_the_corrected_p():
    verdict = compare(normal(30, 3), parametric=True, rows="datasets")
    assert verdict.p_value == verdict.outcome.p_value == verdict.outcome.details["p_corrected"]


def test_a_rope_gives_a_posterior_for_two():
    verdict = compare(normal(20, 2), rope=0.1, rows="datasets")
    assert verdict.posterior.test == "bayes_signed_rank"
    posterior = next(finding for finding in verdict.findings if finding.kind == "posterior_with_rope")
    assert posterior["rope"] == 0.1
    assert posterior["p_rope"] == verdict.posterior.p_rope
    assert compare(normal(20, 3), rope=0.1, rows="datasets").posterior is None


def test_learners_that_never_differ():
    table = pd.DataFrame({name: [0.5, 0.6, 0.7] for name in "abc"})
    with pytest.warns(UndefinedMeasureWarning):
        verdict = compare(table, rows="datasets")
    assert verdict.p_value == 1
    assert verdict.groups == (("a", "b", "c"),)
    assert compare(table[["a", "b"]], rows="datasets").p_value == 1


@pytest.mark.filterwarnings("ignore:Kendall's W")
def test_level_of_the_whole_advice():
    """Equal learners: the share of families with any pair told apart stays at most alpha."""
    rng = np.random.default_rng(1)
    wrong = sum(compare(rng.normal(size=(12, 4)), rows="datasets").pairs()["significant"].any() for _ in range(300))
    assert wrong / 300 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.filterwarnings("ignore:Kendall's W")
def test_three_data_sets_decide_nothing():
    verdict = compare([[3, 2, 1], [3, 2, 1], [3, 1, 2]], rows="datasets")
    assert verdict.p_value == pytest.approx(7 / 36)
    assert verdict.outcome.variant == "exact"
    # Two learners that are equal can be swapped on three data sets: p is at least 2 / 2 ** 3, and 2 / 2 ** 6 is below 0.05
    assert dict(verdict.undecidable.values) == {"n": 3, "smallest": 0.25, "needed": 6, "alpha": 0.05}
    assert set(verdict.pairs()["outcome"]) == {"cannot be decided"}
    assert not verdict.pairs()["significant"].any()
    assert "cannot be decided" in verdict.summary
    assert verdict.ranking.undecided == ("1", "2")


@pytest.mark.filterwarnings("ignore:Kendall's W")
def test_six_data_sets_that_agree_decide_all_pairs():
    verdict = compare(pd.DataFrame([[3.0, 2, 1]] * 6, columns=list("abc")), rows="datasets")
    assert verdict.p_value == pytest.approx(6.0**-5)
    assert verdict.undecidable is None
    # Closed testing: each pair alone, and all three learners together
    assert verdict.pairs()["p_adjusted"].tolist() == [2 / 2**6] * 3
    assert verdict.pairs()["outcome"].tolist() == ["better"] * 3
    assert "posthoc_gate" in {reason.kind for reason in verdict.reasons}
    assert compare([[3.0, 2, 1]] * 6, posthoc="holm", rows="datasets").undecidable["needed"] == 7


def test_few_data_sets_cannot_show_normal_differences():
    verdict = compare(normal(9, 3), parametric=True, rows="datasets")
    assert verdict.choice.startswith("friedman")
    assert "few_datasets_parametric" in {reason.kind for reason in verdict.reasons}


def test_finner_is_labelled_in_the_verdict():
    verdict = compare(normal(20, 4), posthoc="finner", rows="datasets")
    assert "finner_error" in {caveat.kind for caveat in verdict.caveats}
    assert "finner_error" in {finding.kind for finding in verdict.findings}


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_interval_of_two_learners_matches_alpha(alpha):
    for seed in range(40):
        verdict = compare(normal(12, 2, seed).assign(a=lambda f: f["a"] + 0.5), alpha=alpha, rows="datasets")
        effect = verdict.outcome.effect
        assert effect.level == pytest.approx(1 - alpha)
        assert (effect.low > 0 or effect.high < 0) == (verdict.p_value < alpha)
