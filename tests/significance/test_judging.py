"""Which post-hoc procedure is chosen, and what is said of wishes that do not fit."""

import pytest

from fairtrial.errors import InputError
from fairtrial.significance.designs import (
    ComparisonOptions,
    choose_posthoc,
    explain_unused_posthoc,
    explain_unused_rope,
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


def test_a_wish_is_granted_and_told():
    method, reason = choose_posthoc(ComparisonOptions(posthoc="nemenyi"), 4, False)
    assert (method, "as was asked" in reason) == ("nemenyi", True)
    assert "small by chance" in choose_posthoc(ComparisonOptions(posthoc="none"), 4, False)[1]


def test_tukey_needs_anova():
    with pytest.raises(InputError, match="pass parametric=True, or use 'bergmann'"):
        choose_posthoc(ComparisonOptions(posthoc="tukey"), 4, False)
    method, reason = choose_posthoc(ComparisonOptions(posthoc="tukey", parametric=True), 4, False)
    assert method == "bergmann"
    assert "needs an analysis of variance" in reason


def test_what_is_not_used_is_said():
    assert explain_unused_posthoc(ComparisonOptions()) == []
    assert "not needed" in explain_unused_posthoc(ComparisonOptions(posthoc="holm"))[0][2]
    assert explain_unused_rope(ComparisonOptions(), 3) == []
    assert "keep two of them" in explain_unused_rope(ComparisonOptions(rope=0.01), 3)[0][2]
