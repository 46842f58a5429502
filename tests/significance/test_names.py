"""Procedures by the names that papers give them."""

import numpy as np
import pytest

from fairtrial import compare
from fairtrial.errors import InputError
from fairtrial.significance import adjust, mcnemar_table, posthoc, power

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(12, 4)).round(3)
P_VALUES = [0.01, 0.2, 0.03, 0.04, 0.5, 0.005]


@pytest.mark.parametrize(
    ("written", "method"),
    [
        ("bergmann", "bergmann"),
        ("bergmann-hommel", "bergmann"),
        ("Bergmann Hommel", "bergmann"),
        ("BERGMANN_HOMMEL", "bergmann"),
        ("Nemenyi", "nemenyi"),
        ("shaffer-static", "shaffer"),
        ("Holm", "holm"),
        ("holm_bonferroni", "holm"),
        ("Hochberg", "hochberg"),
        ("Hommel", "hommel"),
        ("Holland", "holland"),
        ("holm-sidak", "holland"),
        ("Finner", "finner"),
        ("Rom", "rom"),
        ("Li", "li"),
        (" none ", "none"),
    ],
)
def test_posthoc_and_compare_know_the_names_of_papers(written, method):
    expected = posthoc(SCORES, method)
    assert posthoc(SCORES, written) == expected
    assert expected.method == method
    verdict = compare(SCORES, posthoc=written, rows="datasets")
    assert verdict.posthoc.method == method
    assert verdict.summary == compare(SCORES, posthoc=method, rows="datasets").summary


@pytest.mark.parametrize("written", ["bonferroni-dunn", "Bonferroni Dunn", "bonferroni_dunn"])
def test_with_a_control(written):
    assert posthoc(SCORES, written, control="0").method == "bonferroni-dunn"
    np.testing.assert_array_equal(adjust(P_VALUES, written), adjust(P_VALUES, "bonferroni"))


@pytest.mark.parametrize(
    ("written", "omnibus"),
    [
        ("Friedman", "friedman"),
        ("iman-davenport", "friedman"),
        ("Iman_Davenport", "friedman"),
        ("friedman-aligned-ranks", "aligned"),
        ("aligned-friedman", "aligned"),
        ("Aligned Ranks", "aligned"),
        ("QUADE", "quade"),
    ],
)
def test_omnibus(written, omnibus):
    assert posthoc(SCORES, "holm", omnibus=written) == posthoc(SCORES, "holm", omnibus=omnibus)


def test_names_of_tests():
    assert power(test="Wilcoxon signed-rank", difference=0.5, sd=1, n=20) == power(difference=0.5, sd=1, n=20)
    assert power(test="paired-t", difference=0.5, sd=1, n=20).test == "paired_t"
    assert mcnemar_table(12, 5, method="Mid P") == mcnemar_table(12, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: posthoc(SCORES, "bergman-hommel"), "method.*'bergmann-hommel'"),
        (lambda: compare(SCORES, posthoc="nemeny", rows="datasets"), "posthoc.*'nemenyi'"),
        (lambda: adjust(P_VALUES, "bergmann-hommel"), "method"),
        (lambda: adjust(P_VALUES, None), "method"),
        (lambda: posthoc(SCORES, "holm", omnibus="quad"), "omnibus.*'quade'"),
        (lambda: power(test="wilcox", n=5, difference=1.0, sd=1), "test.*'wilcoxon'"),
    ],
)
def test_unknown_names_are_refused_with_a_suggestion(call, message):
    with pytest.raises(InputError, match=message):
        call()
