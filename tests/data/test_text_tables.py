"""The two passes over a text table agree, and errors name the line."""

import gzip

import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.data.text_tables import (
    DELIMITERS,
    MISSING,
    find_layout,
    find_line,
    get_file_stem,
    read_cells,
    read_cells_fast,
    read_cells_slow,
    read_content,
)
from fairtrial.errors import InputError


def laid_out(path, **options):
    content = read_content(path, "utf-8")
    declared = {"delimiter": None, "header": None, "columns": None, "missing": frozenset(MISSING), **options}
    return content, find_layout(content, **declared)


def lists(cells):
    return {name: [each.strip(" \t\n\x0b\x0c") for each in column.to_pylist()] for name, column in cells.items()}


SIGNS = st.text(st.sampled_from('ab1?.-" ,;|\té') | st.just("\n"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(text=SIGNS, delimiter=st.sampled_from(DELIMITERS), header=st.booleans())
def test_both_passes_agree_on_whatever_the_quick_one_reads(tmp_path_factory, text, delimiter, header):
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    path.write_text(text)
    try:
        content, layout = laid_out(path, delimiter=delimiter, header=header)
    except InputError:
        return
    quick = read_cells_fast(content.data, layout)
    if quick is not None:
        assert lists(quick) == lists(read_cells_slow(content, layout))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,x\n2,y\n", [["1", "x"], ["2", "y"]]),
        ("\n  \na,b\n1,x\n\n2,y", [["1", "x"], ["2", "y"]]),
        ("a,b\r\n1,x\r\n2,y\r\n", [["1", "x"], ["2", "y"]]),
        ("a,b\r1,x\r2,y\r", [["1", "x"], ["2", "y"]]),
        ('a,b\n1,"x, ""z"""\n2, "y,\nw"\n', [["1", 'x, "z"'], ["2", "y,\nw"]]),
        ("\ufeffa,b\n1,x\n2,y\n", [["1", "x"], ["2", "y"]]),
        ("a  b\n 1 x\n2\ty  \n", [["1", "x"], ["2", "y"]]),
        ('a b\n1 "x y"\n2 y\n', [["1", "x y"], ["2", "y"]]),
    ],
)
def test_tables(tmp_path, text, rows):
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    content, layout = laid_out(path)
    assert layout.names == ("a", "b")
    assert list(map(list, zip(*lists(read_cells(content, layout)).values(), strict=True))) == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", r"table\.csv, line 3: .*2 cells.*got 3"),
        ("1,2\n\n1\n", r"table\.csv, line 3: .*2 cells.*line 1, got 1"),
        ('a,b\n"x\ny",2\n1\n', r"table\.csv, line 4: .*2 cells.*got 1"),
        ('a,b\n1,2\n3,"4\n', r"table\.csv, line 3: .*quote"),
        ('"a","b","c"\n"1",2,"x"\n"3",4\n', r"table\.csv, line 3: .*3 cells.*got 2$"),
        ('"a","kind"\n"1",5.1,"x"\n"2",4.9,"y"\n', r"line 2: .*2 cells.*got 3.*row\.names=FALSE"),
        ('"a" "kind"\n"1" 5.1 "x"\n"2" 4.9 "y"\n', r"line 2: .*2 cells.*got 3.*row\.names=FALSE"),
        ('"a","kind"\n"1",5.1,"x"\n4.9,"y"\n', "line 2: .*2 cells.*got 3$"),
        ("# by hand\na,b\n1,x\n2,y\n", r"table\.csv.*2 columns.*line 1.*'#'"),
        ("# one, two\na,b,c\n1,2,x\n3,4,y\n", "line 2: .*2 cells.*got 3.*line 1.*'#'"),
        ("a,b\n", r"table\.csv.*header"),
        ("a,a\n1,2\n", r"table\.csv.*'a'"),
        ("word\n", r"table\.csv.*delimiter="),
        ("", r"table\.csv.*empty"),
        ("\n \n", r"table\.csv.*empty"),
        ("a,b\n1,\0\n", r"table\.csv, line 2: .*NUL"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    with pytest.raises(InputError, match=message):
        read_cells(*laid_out(path))


def test_a_cell_too_long_for_the_slow_pass_is_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n1,"' + "x" * 200_000 + '"\n')
    with pytest.raises(InputError, match="line 2"):
        read_cells(*laid_out(path))


def test_wrong_encodings_and_packed_files(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 2: byte 0xe9"):
        read_content(path, "utf-8")
    assert read_content(path, "latin-1").data.decode() == "a,b\n1,é"
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress("a,b\n1,é\n".encode()))
    assert read_content(packed, "utf-8").data.decode() == "a,b\n1,é"
    assert get_file_stem(packed) == get_file_stem(path) == "table"
    packed.write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"table\.csv\.gz"):
        read_content(packed, "utf-8")
    with pytest.raises(InputError, match=r"absent\.csv\.gz"):
        read_content(tmp_path / "absent.csv.gz", "utf-8")


def test_declared_layouts(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("1:2\n3:4\n")
    assert laid_out(path, delimiter=":", columns=["u", "v"])[1].names == ("u", "v")
    assert laid_out(path, delimiter=":", header=True)[1].names == ("1", "2")
    assert laid_out(path, delimiter=":", header=False)[1].names == ("x0", "x1")
    with pytest.raises(InputError, match=r"delimiter.*'::'"):
        laid_out(path, delimiter="::")
    with pytest.raises(InputError, match=r"columns.*2 columns.*got 1"):
        laid_out(path, delimiter=":", columns=["u"])


def test_the_line_of_a_row(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n\n"x\ny",2\n3,4\n')
    content, layout = laid_out(path)
    assert [find_line(row, content, layout) for row in (0, 1)] == [3, 5]
