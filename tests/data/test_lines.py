import io

import pytest
from hypothesis import given, strategies as st

from fairtrial.data import lines
from fairtrial.data.lines import LineBlock, describe_source, get_source_stem, make_line_error, open_lines
from fairtrial.errors import InputError


def read(source, encoding="utf-8"):
    with open_lines(source, encoding) as blocks:
        return [line for block in blocks for line in block]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.integers(1, 9))
def test_lines_are_those_of_pythons_universal_newlines(text, size):
    raw = text.encode()
    expected = list(io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline=None))
    before, lines._BLOCK = lines._BLOCK, size + 3
    try:
        assert read(raw) == list(enumerate((line.rstrip("\n") for line in expected), 1))
    finally:
        lines._BLOCK = before


def test_a_path_bytes_and_open_files_are_read(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    expected = [(1, "one"), (2, "two"), (3, "three")]
    assert read(path) == read(str(path)) == read(path.read_bytes()) == expected
    with path.open("rb") as stream:
        assert read(stream) == expected
        assert not stream.closed
    assert read(io.StringIO("one\ntwo\nthree")) == expected


def test_names_of_sources(tmp_path):
    assert describe_source(tmp_path / "x.dat") == str(tmp_path / "x.dat")
    assert get_source_stem("folder/iris.dat", "other") == "iris"
    assert get_source_stem(b"", "relation") == "relation"
    assert get_source_stem(io.BytesIO(), "") == "data"


def test_a_block_returns_the_lines_after_a_line():
    assert LineBlock(5, ["a", "b", "c"]).take_after(6) == LineBlock(7, ["c"])
    assert str(make_line_error("f", 3, "why")) == "f, line 3: why"


@pytest.mark.parametrize(
    ("raw", "line", "value"),
    [(b"a\nb\0\n", 2, "NUL"), (b"a\n\n\xff\n", 3, "0xff.*latin-1"), ("a\n".encode("utf-16"), 1, "NUL|utf-8")],
)
def test_invalid_bytes_are_refused_with_their_line(raw, line, value):
    with pytest.raises(InputError, match=rf"the given bytes, line {line}: .*({value})"):
        read(raw)


def test_other_encodings_are_read_if_they_are_named():
    assert read("Z\u00fcrich".encode("latin-1"), "latin-1") == [(1, "Z\u00fcrich")]
    with pytest.raises(InputError, match="ascii"):
        read(b"\xfc", "ascii")


@pytest.mark.parametrize("encoding", ["no-such", "utf-16", "rot13", "", None, "cp037", "a\0b"])
def test_encodings_that_cannot_be_used_are_refused(encoding):
    with pytest.raises(InputError, match="encoding"):
        read(b"a", encoding)


def test_a_line_without_end_is_refused_without_reading_all_of_it(monkeypatch):
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size=-1):
            self.given += size
            return b"x" * size

    monkeypatch.setattr(lines, "LONGEST_LINE", 2**20)
    monkeypatch.setattr(lines, "_BLOCK", 2**16)
    stream = Endless()
    with pytest.raises(InputError, match=r"the given file, line 1: .*1 MiB"):
        read(stream)
    assert stream.given <= 2**20 + 2**17


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=r"none\.dat"):
        read(tmp_path / "none.dat")
    with pytest.raises(InputError, match="folder"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot be opened"):
        read("a\0b")
    with pytest.raises(InputError, match="cannot be opened"):
        read("a" * 5000)
    with pytest.raises(InputError, match="path"):
        read("@relation x\n@data")
    with pytest.raises(InputError, match="got int"):
        read(5)


def test_errors_of_a_stream_are_reported():
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError("the disk is gone")

    with pytest.raises(InputError, match="the disk is gone"):
        read(Broken())
