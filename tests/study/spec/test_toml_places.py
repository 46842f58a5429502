"""Every key is found on its line, however it is written."""

import tomllib

import pytest
import tomli_w
from hypothesis import given, settings, strategies as st

from fairtrial.study.spec.problems import SpecProblem, build_spec_error
from fairtrial.study.spec.toml import locate_keys

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    TEXTS,
    st.sampled_from(["a.b", "", '"', "\\", "'''"]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
TABLES = st.dictionaries(TEXTS, VALUES, max_size=5)

TEXT = '''# a comment with "quotes" and [brackets]
seed = 1   # = 2
"quoted key" = "a # b = c"
a.b . "c.d" = { x = 1, "y z" = [1, { deep = "}" }] }
long = """
[not.a.table]
no = "key"
"""
literal = \'\'\'
[neither]\'\'\'\'
[learners]
c45 = {}
forest = { learner = "random-forest", parameters = { n = 2 } } # end
[data]
sets = [
  "iris",   # , "wine"
  # "gone",
  "files/[ab]*.csv", 'literal # text',
  [1,
   2],
]
[learners.tuned.tune]
when = 1979-05-27T07:32:00Z
[[steps]]
name = "first"
[steps.inner]
x = 1
[[steps]]
name = "second"
  [[steps.more]]
  y = +1e3
[x."y.z"]
last = true'''

EXPECTED = {
    ("seed",): (2, 1),
    ("quoted key",): (3, 1),
    ("a",): (4, 1),
    ("a", "b"): (4, 3),
    ("a", "b", "c.d"): (4, 7),
    ("a", "b", "c.d", "x"): (4, 17),
    ("a", "b", "c.d", "y z"): (4, 24),
    ("a", "b", "c.d", "y z", 0): (4, 33),
    ("a", "b", "c.d", "y z", 1): (4, 36),
    ("a", "b", "c.d", "y z", 1, "deep"): (4, 38),
    ("long",): (5, 1),
    ("literal",): (9, 1),
    ("learners",): (11, 2),
    ("learners", "c45"): (12, 1),
    ("learners", "forest"): (13, 1),
    ("learners", "forest", "learner"): (13, 12),
    ("learners", "forest", "parameters"): (13, 39),
    ("learners", "forest", "parameters", "n"): (13, 54),
    ("data",): (14, 2),
    ("data", "sets"): (15, 1),
    ("data", "sets", 0): (16, 3),
    ("data", "sets", 1): (18, 3),
    ("data", "sets", 2): (18, 22),
    ("data", "sets", 3): (19, 3),
    ("data", "sets", 3, 0): (19, 4),
    ("data", "sets", 3, 1): (20, 4),
    ("learners", "tuned"): (22, 11),
    ("learners", "tuned", "tune"): (22, 17),
    ("learners", "tuned", "tune", "when"): (23, 1),
    ("steps",): (24, 3),
    ("steps", 0): (24, 3),
    ("steps", 0, "name"): (25, 1),
    ("steps", 0, "inner"): (26, 8),
    ("steps", 0, "inner", "x"): (27, 1),
    ("steps", 1): (28, 3),
    ("steps", 1, "name"): (29, 1),
    ("steps", 1, "more"): (30, 11),
    ("steps", 1, "more", 0): (30, 11),
    ("steps", 1, "more", 0, "y"): (31, 3),
    ("x",): (32, 2),
    ("x", "y.z"): (32, 4),
    ("x", "y.z", "last"): (33, 1),
}


def paths_of(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from paths_of(each, (*path, key))


def test_every_way_of_writing_a_key():
    tomllib.loads(TEXT)
    assert locate_keys(TEXT) == EXPECTED


def test_lines_are_the_same_with_the_line_ends_of_windows():
    text = TEXT.replace("\n", "\r\n")
    assert {path: line for path, (line, _) in locate_keys(text).items()} == {path: line for path, (line, _) in EXPECTED.items()}


@given(TABLES)
@settings(max_examples=150, deadline=None)
def test_every_key_of_a_random_table_is_found_and_no_other(table):
    text = tomli_w.dumps(table)
    found = locate_keys(text)
    assert set(found) == set(paths_of(table))
    lines = text.split("\n")
    for path, (line, column) in found.items():
        key = path[-1]
        if isinstance(key, str):
            rest = lines[line - 1][column - 1 :]
            end = next(i for i in range(len(rest) + 1) if _reads_as(rest[:i], key))
            assert rest[end : end + 1] in " ].="


def _reads_as(text, key):
    try:
        return tomllib.loads(f"{text} = 0") == {key: 0}
    except tomllib.TOMLDecodeError:
        return False


@pytest.mark.parametrize("quote", ['"""', "'''"])
@given(st.text(st.sampled_from("ab\n#=[]{},\"'"), max_size=12))
@settings(max_examples=100, deadline=None)
def test_multi_line_text_is_skipped_as_a_whole(quote, inner):
    text = f"a = {quote}\n{inner}{quote}\nlast = 1"
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    if set(read) == {"a", "last"}:
        assert locate_keys(text)["last",] == (text.count("\n") + 1, 1)


def test_what_has_no_place_has_that_of_what_it_lies_in():
    problems = [SpecProblem(("learners", "forest", "sampler", "k"), "x"), SpecProblem(("verdict",), "y")]
    lines = {problem.location: problem.line for problem in build_spec_error(problems, EXPECTED).problems}
    assert lines == {"learners.forest.sampler.k": 13, "verdict": None}
