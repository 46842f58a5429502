from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from fairtrial.data.dates import DEFAULT_FORMAT, python_format, seconds
from fairtrial.errors import InputError


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [  # expected: date -u -d TEXT +%s
        (DEFAULT_FORMAT, "2001-04-03T12:12:12", 986299932.0),
        ("yyyy-MM-dd HH:mm", "1999-12-31 23:59", 946684740.0),
        ("dd/MM/yy", "31/12/99", 946598400.0),
        ("d MMM yyyy", "9 Sep 2001", 999993600.0),
        ("yyyy-MM-dd HH:mm:ss.SSS", "1970-01-01 00:00:01.250", 1.25),
        ("yyyy-MM-dd HH:mm z", "2001-04-03 12:12 UTC", 986299920.0),
        ("yyyy-MM-dd HH:mm Z", "2001-04-03 12:12 +0200", 986292720.0),
        ("yyyy-MM-dd HH:mm z", "2001-04-03 12:12 GMT+02:00", 986292720.0),
        ("hh:mm a 'o''clock' 100% D yyyy", "11:30 PM o'clock 100% 001 1970", 84600.0),
    ],
)
def test_patterns_of_java_are_understood(pattern, text, expected):
    assert seconds(text, python_format(pattern, InputError)) == expected


@pytest.mark.parametrize(("pattern", "told"), [("yyyy-'T", "close its quotes"), ("yyyy-ww", "'w'"), ("yyyy yyyy", "once")])
def test_patterns_that_cannot_be_read_are_refused(pattern, told):
    with pytest.raises(InputError, match=told):
        python_format(pattern, InputError)


@given(st.text("yMdHhmsSaDEzZXwW'% -:/T", max_size=12), st.text(max_size=12))
def test_any_pattern_is_read_or_refused(pattern, text):
    try:
        form = python_format(pattern, InputError)
    except InputError:
        return
    with suppress(ValueError, OverflowError):
        assert isinstance(seconds(text, form), float)
