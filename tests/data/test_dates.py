from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from fairtrial.data.dates import DEFAULT_FORMAT, convert_date_format, is_iso_like, parse_date, parse_iso_date
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
    assert parse_date(text, convert_date_format(pattern, InputError)) == expected


@pytest.mark.parametrize(("pattern", "value"), [("yyyy-'T", "quotes"), ("yyyy-ww", "'w'"), ("yyyy yyyy", "'yyyy yyyy'")])
def test_patterns_that_cannot_be_read_are_refused(pattern, value):
    with pytest.raises(InputError, match=value):
        convert_date_format(pattern, InputError)


@given(st.text("yMdHhmsSaDEzZXwW'% -:/T", max_size=12), st.text(max_size=12))
def test_any_pattern_is_read_or_refused(pattern, text):
    try:
        form = convert_date_format(pattern, InputError)
    except InputError:
        return
    with suppress(ValueError, OverflowError):
        assert isinstance(parse_date(text, form), float)


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # expected: date -u -d TEXT +%s.%N
        ("2001-04-03", 986256000.0),
        ("2001-04-03T12:12:12", 986299932.0),
        ("2001-04-03 12:12", 986299920.0),
        ("2001-04-03 14:12:12.250000+02:00", 986299932.25),
        ("2001-04-03T12:12:12Z", 986299932.0),
        ("1969-12-31 23:59:59.5", -0.5),
        ("0001-01-01", -62135596800.0),
    ],
)
def test_iso_dates(text, expected):
    assert is_iso_like(text)
    assert parse_iso_date(text) == expected


@pytest.mark.parametrize("text", ["2001-02-30", "2001-13-01", "2001-04-03 25:00", "0000-01-01", "2001-04-03T12:12:12+99:00"])
def test_dates_that_never_were(text):
    assert is_iso_like(text)
    assert parse_iso_date(text) is None


@pytest.mark.parametrize(
    "text", ["20010403", "2001-W14-2", "2001-4-3", "03/04/2001", "12:12", "x", "", "2001-04-03T", "2001-04-03 x"]
)
def test_what_is_no_iso_date(text):
    assert not is_iso_like(text)
    assert parse_iso_date(text) is None
