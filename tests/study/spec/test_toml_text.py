"""What is written as TOML, tomllib reads back to the same; and people can read it, too."""

import math
import tomllib

import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError
from fairtrial.study.spec.toml import format_toml

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    TEXT,
    st.sampled_from(["a.b", "", '"', "\\", "'''"]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
TABLES = st.dictionaries(TEXT, VALUES, max_size=5)


@given(TABLES)
@settings(max_examples=150, deadline=None)
def test_tomllib_reads_back_what_was_written(table):
    assert tomllib.loads(format_toml(table)) == table


def test_numbers_keep_their_kind():
    read = tomllib.loads(format_toml({"whole": 1, "real": 1.0, "tiny": 5e-324, "no": float("nan"), "low": -math.inf}))
    assert (type(read["whole"]), type(read["real"]), read["tiny"]) == (int, float, 5e-324)
    assert math.isnan(read["no"])
    assert read["low"] == -math.inf


def test_a_long_list_takes_a_line_for_each_value():
    text = format_toml({"data": {"sets": [f"data-set-{i}" for i in range(20)]}})
    assert text.splitlines()[:3] == ["[data]", "sets = [", '    "data-set-0",']
    assert max(map(len, text.splitlines())) < 40


def test_long_tables_stand_apart_and_in_their_order():
    long = {"learner": "random-forest", "parameters": {f"parameter_{i}": i for i in range(10)}}
    table = {"learners": {"b": long, "a": {}, "c": long}}
    text = format_toml(table)
    assert "[learners.b]" in text
    assert list(tomllib.loads(text)["learners"]) == ["b", "a", "c"]


def test_tables_before_other_values_stay_in_their_order():
    long = {f"parameter_{i}": "x" * 10 for i in range(10)}
    table = {"conditions": {"swapped": long, "class-noise": [0, 0.1]}}
    assert list(tomllib.loads(format_toml(table))["conditions"]) == ["swapped", "class-noise"]


@pytest.mark.parametrize(
    ("table", "told"), [({"a": None}, "got None"), ({"a": {1: 2}}, "keys must be text"), ({"a": 1j}, "1j")]
)
def test_what_toml_cannot_hold_is_refused(table, told):
    with pytest.raises(InputError, match=told):
        format_toml(table)
