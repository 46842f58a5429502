"""Names of tests in words."""

from fairtrial.report.names import describe_test as in_words
from fairtrial.report.sections.verdict import describe_choice, describe_effect
from fairtrial.significance.posthoc import POSTHOC_METHODS


def test_the_names_that_verdicts_give_have_words():
    assert describe_choice("corrected_resampled_t + holm") == "corrected resampled t test (Nadeau-Bengio), pairs by Holm"
    assert in_words("correlated_t") == "Bayesian correlated t test"
    assert describe_effect("rank_biserial") == "rank biserial correlation"
    assert not [name for name in POSTHOC_METHODS if describe_choice(f"wilcoxon + {name}").endswith(f" by {name}")]


def test_unknown_names_stand_as_they_are():
    assert (in_words("mine"), describe_choice("mine + yours"), describe_effect("size")) == (
        "mine",
        "mine, pairs by yours",
        "size",
    )
