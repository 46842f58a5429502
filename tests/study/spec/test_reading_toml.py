"""A file with mistakes tells every one of them with its line."""

import pytest

from fairtrial.errors import SpecError
from fairtrial.study.spec.toml import SpecSource

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
