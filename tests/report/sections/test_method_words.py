"""Names of tests in words."""

from fairtrial.report.sections.method_words import choice_words, effect_words, test_words as in_words
from fairtrial.significance.posthoc import METHODS


def test_the_names_that_verdicts_give_have_words():
    assert choice_words("corrected_resampled_t + holm") == "the corrected resampled t test, pairs by Holm's procedure"
    assert in_words("correlated_t") == "the Bayesian correlated t test"
    assert effect_words("rank_biserial") == "rank biserial correlation"
    assert not [name for name in METHODS if choice_words(f"wilcoxon + {name}").endswith(f" by {name}")]


def test_unknown_names_stand_as_they_are():
    assert (in_words("mine"), choice_words("mine + yours"), effect_words("size")) == ("mine", "mine, pairs by yours", "size")
