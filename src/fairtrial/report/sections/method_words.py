"""Tests, procedures and effects as a sentence calls them."""

from __future__ import annotations

_TESTS = {
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign_test": "the sign test",
    "paired_t": "the paired t test",
    "corrected_resampled_t": "the corrected resampled t test",
    "five_by_two_f": "Alpaydin's F test on five repeats of two folds",
    "friedman": "Friedman's test",
    "iman_davenport": "Friedman's test in Iman and Davenport's form",
    "friedman (iman_davenport)": "Friedman's test in Iman and Davenport's form",
    "anova": "analysis of variance with repeated measures",
    "bayes_signed_rank": "the Bayesian signed-rank test",
    "bayes_sign": "the Bayesian sign test",
    "correlated_t": "the Bayesian correlated t test",
}
_PROCEDURES = {
    "none": "pairs without adjustment",
    "nemenyi": "pairs by Nemenyi's procedure",
    "tukey": "pairs by Tukey's procedure",
    "shaffer": "pairs by Shaffer's procedure",
    "bergmann": "pairs by Bergmann and Hommel's procedure",
    "bonferroni": "pairs by Bonferroni's procedure",
    "bonferroni-dunn": "pairs by Bonferroni and Dunn's procedure",
    "dunnett": "pairs by Dunnett's procedure",
    "holm": "pairs by Holm's procedure",
    "hochberg": "pairs by Hochberg's procedure",
    "sidak": "pairs by Šidák's procedure",
    "hommel": "pairs by Hommel's procedure",
    "holland": "pairs by Holland's procedure",
    "finner": "pairs by Finner's procedure",
    "rom": "pairs by Rom's procedure",
    "li": "pairs by Li's procedure",
}
_EFFECTS = {
    "rank_biserial": "rank biserial correlation",
    "cohens_d": "Cohen's d",
    "hedges_g": "Hedges' g",
    "cliffs_delta": "Cliff's delta",
    "vargha_delaney_a12": "Vargha and Delaney's A",
    "akinshin_gamma": "Akinshin's gamma",
}


def test_words(name: str) -> str:
    """A test in words; the name itself where there are none.

    >>> test_words("corrected_resampled_t"), test_words("my_test")
    ('the corrected resampled t test', 'my_test')
    """
    return _TESTS.get(name, name)


def choice_words(choice: str) -> str:
    """What `Verdict.choice` names: the test, and how pairs are compared.

    >>> choice_words("friedman (iman_davenport) + bergmann")
    "Friedman's test in Iman and Davenport's form, pairs by Bergmann and Hommel's procedure"
    """
    test, *procedure = choice.split(" + ")
    return ", ".join([test_words(test), *(_PROCEDURES.get(name, f"pairs by {name}") for name in procedure)])


def effect_words(name: str) -> str:
    """An effect in words.

    >>> effect_words("rank_biserial"), effect_words("Kendall's W")
    ('rank biserial correlation', "Kendall's W")
    """
    return _EFFECTS.get(name, name)
