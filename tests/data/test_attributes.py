from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from fairtrial.data.declared import Attribute, check_unique_name, read_attribute, strip_quotes
from fairtrial.errors import InputError
from tests.data.written import WORDS, quoted

WRONG = """name; '' real; name {; name {a,b; name {a}} x; name {}; name {a,,b}; name {a,b} c; name {a'b};
name real [1; name real [a, b]; name real [2, 1]; name real [1, 2] x; name real [nan, 1]; name reel; name relational;
name string x; {a,b}; """


@pytest.mark.parametrize("text", [each.strip() for each in WRONG.split(";")])
@pytest.mark.parametrize("plain", [True, False])
def test_wrong_declarations_are_refused(text, plain):
    if plain and text == "name {a'b}":
        assert read_attribute(text, InputError, plain=True).categories == ("a'b",)
    else:
        with pytest.raises(InputError, match=r"attribute|values"):
            read_attribute(text, InputError, plain=plain)


@given(WORDS, st.lists(WORDS, min_size=1, unique=True))
def test_quoted_names_and_values_come_back(name, values):
    text = f"{quoted(name)} {{{', '.join(map(quoted, values))}}}"
    assert read_attribute(text, InputError) == Attribute(name, "nominal", tuple(values))


@given(st.text())
def test_what_is_quoted_comes_back(text):
    assert strip_quotes(quoted(text)) == text


@given(st.text(" ab{}[],'\"\\%.0", max_size=20), st.booleans())
def test_any_text_is_read_or_refused(text, plain):
    with suppress(InputError):
        assert isinstance(read_attribute(text, InputError, plain=plain), Attribute)


def test_names_must_differ():
    with pytest.raises(InputError, match="'a' twice"):
        check_unique_name([Attribute("a", "numeric")], Attribute("a", "string"), InputError)
