"""The choice of the post-hoc procedure, and requests that do not fit."""

import pytest

from fairtrial._findings import Finding
from fairtrial.errors import InputError
from fairtrial.significance.designs import (
    ComparisonOptions,
    choose_posthoc,
    explain_unused_posthoc,
    get_default_posthoc,
)


@pytest.mark.parametrize(
    ("control", "k", "parametric", "method"),
    [
        (None, 3, False, "bergmann"),
        (None, 12, False, "bergmann"),
        (None, 13, False, "shaffer"),
        ("a", 20, False, "holm"),
        (None, 3, True, "tukey"),
        ("a", 3, True, "dunnett"),
    ],
)
def test_defaults(control, k, parametric, method):
    assert get_default_posthoc(control, k, parametric) == method
    assert choose_posthoc(ComparisonOptions(control=control), k, parametric)[0] == method


def test_a_requested_procedure_is_used():
    method, reasons = choose_posthoc(ComparisonOptions(posthoc="nemenyi"), 4, False)
    assert (method, [reason.kind for reason in reasons]) == ("nemenyi", ["posthoc_requested"])
    method, reasons = choose_posthoc(ComparisonOptions(posthoc="none"), 4, False)
    assert (method, [reason.kind for reason in reasons]) == ("none", ["posthoc_unadjusted"])


def test_tukey_needs_anova():
    with pytest.raises(InputError, match=r"parametric=True.*'bergmann'"):
        choose_posthoc(ComparisonOptions(posthoc="tukey"), 4, False)
    method, reasons = choose_posthoc(ComparisonOptions(posthoc="tukey", parametric=True), 4, False)
    assert (method, [reason.kind for reason in reasons]) == ("bergmann", ["posthoc_replaced", "posthoc_bergmann"])


def test_unused_options_are_reported():
    assert explain_unused_posthoc(ComparisonOptions()) == []
    assert explain_unused_posthoc(ComparisonOptions(posthoc="holm")) == [Finding.of("posthoc_unused", method="Holm")]
