"""Values as people write them, and what they hear when they write something else."""

import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.study.spec import models as values


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(1, 1), (0.5, 0.5), ("90 s", 90), ("10 min", 600), ("10min", 600), ("2 h", 7200), ("1.5 hours", 5400), ("1 day", 86400)],
)
def test_times(written, seconds):
    assert values.parse_seconds(written) == seconds


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("500 MB", 500e6),
        ("2 GB", 2e9),
        ("2GiB", 2 * 2**30),
        ("1.5 gb", 1.5e9),
        ("1 TB", 1e12),
        (1_000_000, 1e6),
        ("4000 KB", 4e6),
    ],
)
def test_memory(written, size):
    assert values.parse_memory(written) == size
    assert isinstance(values.parse_memory(written), int)


@pytest.mark.parametrize("written", ["none", " None ", None])
def test_no_limit(written):
    assert values.parse_seconds(written) == values.parse_memory(written) == values.NO_LIMIT


@pytest.mark.parametrize("written", [0, -1, "ten", "10 parsecs", True, [1], float("nan"), float("inf"), "", "min"])
def test_what_is_no_time(written):
    with pytest.raises(InputError, match="time must be"):
        values.parse_seconds(written)


@pytest.mark.parametrize("written", ["2", "two GB", True, {}, float("inf")])
def test_what_is_no_memory(written):
    with pytest.raises(InputError, match="memory must be"):
        values.parse_memory(written)


def test_a_number_of_gigabytes_is_suspected():
    with pytest.raises(InputError, match=r"memory must be .*'2 GB'"):
        values.parse_memory(2)


@pytest.mark.parametrize("wrong", ["five", 1, 2.0, True, None, [3]])
def test_whole_numbers(wrong):
    assert values.require_whole("folds", 2)(np.int64(5)) == 5
    with pytest.raises(InputError, match=r"folds must be .* 2, got"):
        values.require_whole("folds", 2)(wrong)


@pytest.mark.parametrize(
    ("check", "wrong", "told"),
    [
        (values.require_text("name"), 3, "name must be text .*, got 3"),
        (values.require_text("name"), " ", "name must be text"),
        (values.require_names("measures"), 1, "measures must be a list .*, got 1"),
        (values.require_names("measures"), [], "measures must be a list"),
        (values.require_mapping("grid"), [], "grid must be a table"),
        (values.require_mapping("grid"), {1: 2}, "grid must .*, got 1"),
        (values.require_choice("failures", ("exclude", "trivial")), "exclud", "failures must .*'exclud': .*'exclude'"),
        (values.require_choice("failures", ("exclude", "trivial")), ["x"], "failures must be one of exclude, trivial"),
        (
            values.require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1),
            2,
            "alpha must be .*, got 2",
        ),
        (values.require_number("alpha", "between 0 and 1", lambda x: 0 < x < 1), True, "alpha must be a number"),
    ],
)
def test_other_values(check, wrong, told):
    with pytest.raises(InputError, match=told):
        check(wrong)


def test_a_single_name_is_a_list_of_one():
    assert values.require_names("measures")("auc") == ["auc"]


@pytest.mark.parametrize("good", ["study", "a b", "Prüfung", ".hidden", "a.b", "...", "x" * 200, "研究"])
def test_names_of_files(good, tmp_path):
    assert values.require_file_name("name")(good) == good
    (tmp_path / f"{good}.fairtrial").touch()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("../up", "name must not contain '/' .*, got '../up'"),
        ("bad/one", "name must not contain '/'"),
        ("bad\\one", "name must not contain"),
        ("a\0b", r"name must not contain '\\x00'"),
        ("a\nb", r"name must not contain '\\n'"),
        ("a\ud800", "name must not contain"),
        (".", r"name must not be .*, got '\.'"),
        ("..", r"name must not be .*, got '\.\.'"),
        ("", "name must be text"),
        (" ", "name must be text"),
        ("x" * 201, "at most 200 bytes .*, got 201"),
        ("研" * 67, "at most 200 bytes .*, got 201"),
    ],
)
def test_what_is_no_name_of_a_file(wrong, told):
    with pytest.raises(InputError, match=told):
        values.require_file_name("name")(wrong)
