"""Tests of `fairtrial.study.spec.toml`."""

import tomllib

import pytest
import tomli_w
from hypothesis import given, settings, strategies as st

from fairtrial.errors import SpecError
from fairtrial.study.spec.problems import SpecProblem, build_spec_error
from fairtrial.study.spec.toml import SpecSource, locate_keys
from fairtrial.study.study import Study

# --- Reading toml ---
# A file with mistakes tells every one of them with its line.


WRONG = """seed = "one"
measures = ["accuracy",
    "acuracy"]
sede = 2
learners = [
    "c45",
    "c46",
]
data = [
    "iris",
    "irs",
]
[conditions]
class-noise = [0, 0.1,
    10]
[resampling]
scheme = "stratifed"
folds = "five"
[verdict]
control = "c47"
[limits]
time = "ten"
"""


def lines(path):
    with pytest.raises(SpecError) as caught:
        SpecSource.from_file(path).read_spec()
    return caught.value, [(each.line, each.location) for each in caught.value.problems]


def test_every_mistake_has_its_line(tmp_path):
    (tmp_path / "study.toml").write_text(WRONG)
    error, told = lines(tmp_path / "study.toml")
    assert told == [
        (1, "seed"),
        (3, "measures[1]"),
        (4, "sede"),
        (7, "learners.c46.learner"),
        (11, "data.sets[1]"),
        (15, "conditions.class-noise.level[2]"),
        (17, "resampling.scheme"),
        (18, "resampling.folds"),
        (20, "verdict.control"),
        (22, "limits.time"),
    ]
    first = str(error).splitlines()[0]
    assert first == f"{tmp_path / 'study.toml'}:1: seed: seed must be a whole number of at least 0, got 'one'"


def test_mistakes_of_meaning_alone_have_their_lines_too(tmp_path):
    (tmp_path / "study.toml").write_text('data = ["iris"]\n[learners.forest]\nlearner = "random-forrest"\n')
    reading = SpecSource.from_file(tmp_path / "study.toml")
    with pytest.raises(SpecError, match=r"study.toml:3: learners.forest.learner: .*'random-forrest'"):
        reading.resolve(reading.read_spec(), False)


def test_a_control_whose_own_declaration_is_wrong_is_no_further_mistake(tmp_path):
    (tmp_path / "study.toml").write_text('data = ["iris"]\n[learners]\nc45 = 3\nsvc = {}\n[verdict]\ncontrol = "c45"\n')
    assert lines(tmp_path / "study.toml")[1] == [(3, "learners.c45")]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("seed = 1\nname = iris\n", 2, "column 8"),
        ("seed = 1\nseed = 2\n", 2, "twice"),
        ("[data\nsets = []\n", 1, "expected ']'"),
        ('a = "x', 1, "TOML"),
        ("seed = 1\nsets = [1,\n", 3, "at the end"),
    ],
)
def test_mistakes_of_toml_itself(tmp_path, text, line, told):
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(SpecError) as caught:
        SpecSource.from_file(tmp_path / "study.toml")
    [problem] = caught.value.problems
    assert problem.line == line
    assert told in problem.message
    assert str(caught.value).startswith(f"{tmp_path / 'study.toml'}:{line}: ")


@pytest.mark.parametrize("depth", [60, 300, 3000])
@pytest.mark.parametrize("form", ["list", "table", "dotted key"])
def test_a_deeply_nested_file_is_refused_in_one_sentence(tmp_path, form, depth):
    texts = {"list": f"x = {'[' * depth}{']' * depth}", "table": "x = " + "{ x = " * depth + "1" + "}" * depth}
    file = tmp_path / "deep.toml"
    file.write_text(texts.get(form, ".".join("x" * depth) + " = 1"))
    with pytest.raises(SpecError, match="a study file must have at most 50 levels of tables and lists, got more") as caught:
        Study.read(file)
    assert len(caught.value.problems) == 1


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match=r"gone\.toml: .*No such file"):
        SpecSource.from_file(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes('seed = 1\nname = "été"'.encode("latin-1"))
    with pytest.raises(SpecError, match=r"latin\.toml:2: .*UTF-8"):
        SpecSource.from_file(tmp_path / "latin.toml")


def test_the_file_names_the_study_unless_it_says_otherwise(tmp_path):
    (tmp_path / "noise.toml").write_bytes(b'\xef\xbb\xbfdata = ["iris"]\nlearners = ["c45"]\n')
    reading = SpecSource.from_file(tmp_path / "noise.toml")
    assert reading.read_spec().name == "noise"
    assert reading.folder == tmp_path
    (tmp_path / "noise.toml").write_text('name = "x"\ndata = ["iris"]\nlearners = ["c45"]\n')
    assert SpecSource.from_file(tmp_path / "noise.toml").read_spec().name == "x"


def test_without_a_file_there_are_no_lines():
    with pytest.raises(SpecError) as caught:
        SpecSource({"data": ["iris"], "learners": ["c45"], "seed": -1}).read_spec()
    assert str(caught.value) == "seed: seed must be a whole number of at least 0, got -1"


# --- Toml places ---
# Every key is found on its line, however it is written.


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
