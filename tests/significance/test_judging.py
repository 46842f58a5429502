"""Which post-hoc procedure is chosen, and what is said of wishes that do not fit."""

import pytest

from fairtrial.errors import InputError
from fairtrial.significance.judging import Wishes, default_method, method_for, unused_posthoc, unused_rope


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
    assert default_method(control, k, parametric) == method
    assert method_for(Wishes(control=control), k, parametric)[0] == method


def test_a_wish_is_granted_and_told():
    method, reason = method_for(Wishes(posthoc="nemenyi"), 4, False)
    assert (method, "as was asked" in reason) == ("nemenyi", True)
    assert "small by chance" in method_for(Wishes(posthoc="none"), 4, False)[1]


def test_tukey_needs_anova():
    with pytest.raises(InputError, match="pass parametric=True, or use 'bergmann'"):
        method_for(Wishes(posthoc="tukey"), 4, False)
    method, reason = method_for(Wishes(posthoc="tukey", parametric=True), 4, False)
    assert method == "bergmann"
    assert "needs an analysis of variance" in reason


def test_what_is_not_used_is_said():
    assert unused_posthoc(Wishes()) == []
    assert "not needed" in unused_posthoc(Wishes(posthoc="holm"))[0][2]
    assert unused_rope(Wishes(), 3) == []
    assert "keep two of them" in unused_rope(Wishes(rope=0.01), 3)[0][2]
