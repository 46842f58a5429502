"""The two passes over a text table agree, and errors name the line."""

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial import data
from fairtrial.data.delimited import (
    as_classes,
    as_dates,
    as_labels,
    as_numbers,
    as_text,
    find_code,
    find_isolated_text,
    find_non_number,
)
from fairtrial.data.text_tables import (
    DELIMITERS,
    MISSING,
    TextFormat,
    find_layout,
    find_line,
    get_file_stem,
    read_cells,
    read_cells_fast,
    read_cells_slow,
    read_content,
)
from fairtrial.errors import InputError
from fairtrial.predictions.read import MISSING_STRINGS, read_table
from fairtrial.significance.reading import read_columns_file, read_scores

# --- Text tables ---
# The two passes over a text table agree, and errors name the line.


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


# --- Text columns ---
# Columns of text as numbers, labels or classes.


def column(*cells):
    half = len(cells) // 2
    return pa.chunked_array([pa.array(cells[:half], pa.string()), pa.array(cells[half:], pa.string())])


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_numbers_come_back_exactly(values):
    assert as_numbers(column(*map(repr, values)), []).tolist() == values


def test_numbers_with_signs_blanks_gaps_and_decimal_commas():
    np.testing.assert_equal(as_numbers(column(" +1", "?", "2e400", ".5 "), ["?"]), [1, np.nan, np.inf, 0.5])
    np.testing.assert_equal(as_numbers(column("1,5", "2"), [], ","), [1.5, 2])
    assert as_numbers(column("1", "x"), []) is None
    assert as_numbers(column("1,5", "2"), []) is None
    assert as_numbers(column("1_0", "2"), []) is None
    assert as_numbers(column("nan", "2"), ["?"]) is None, "missing only if missing= says so"
    np.testing.assert_equal(as_numbers(column("?", "?"), ["?"]), [np.nan, np.nan])


def test_a_point_is_no_number_among_decimal_commas():
    assert as_numbers(column("1,5", "1.234"), [], ",") is None
    assert find_non_number(column("1,5", "1.234"), [], ",") == (1, "1.234")
    np.testing.assert_equal(as_numbers(column("-1,5e3", "?"), ["?"], ","), [-1500, np.nan])


def test_the_first_word():
    assert find_non_number(column("1", "?", "b", "c"), ["?"]) == (2, "b")
    assert find_non_number(column("1", "nan"), []) == (1, "nan")


@pytest.mark.parametrize("code", ["00123", "-01", "01.10", "1234567890123456"])
def test_codes_are_found(code):
    assert find_code(column("1", "0", "?", f" {code}", "000"), ["?"]) == code


def test_numbers_are_no_codes():
    cells = ["0", "-0", "0.50", "123456789012345", "1234567890123456.0", "1.2345678901234567e+19", "10", "000"]
    assert find_code(column(*cells), ["000"]) is None


def test_dates_are_the_seconds_that_other_readers_give():
    cells = ["2001-04-03", "?", "1969-12-31 23:59:59.5", "2001-04-03T14:12:12+02:00", "9999-12-31"]
    expected = [986256000, np.nan, -0.5, 986299932, 253402214400]  # date -u -d ... +%s
    np.testing.assert_equal(as_dates(column(*cells), ["?"]), expected)
    assert as_dates(column("2001-04-03", "2001-02-30"), []) is None
    assert as_dates(column("2001-04-03", "20010403"), []) is None
    assert as_dates(column("2001-04-03", "x"), []) is None


@pytest.mark.parametrize(
    ("cells", "labels", "classes", "text"),
    [
        (["10", "9", "10"], [9, 10], [9, 10], ["10", "9"]),
        (["1.0", "-1.0"], ["-1.0", "1.0"], [-1.0, 1.0], ["-1.0", "1.0"]),
        (["007", "010"], ["007", "010"], ["007", "010"], ["007", "010"]),
        (["01", "1", "1"], ["01", "1"], ["01", "1"], ["01", "1"]),
        (["1", "1.0"], ["1", "1.0"], ["1", "1.0"], ["1", "1.0"]),
        (["inf", "1"], ["1", "inf"], ["1", "inf"], ["1", "inf"]),
        (["b", "a", "10", "9"], ["10", "9", "a", "b"], ["10", "9", "a", "b"], ["10", "9", "a", "b"]),
        (["-0", "--5"], ["--5", "-0"], ["--5", "-0"], ["--5", "-0"]),
        (
            ["12345678901234567891", "12345678901234567890"],
            *[["12345678901234567890", "12345678901234567891"]] * 3,
        ),
    ],
)
def test_categories(cells, labels, classes, text):
    for read, expected in ((as_labels, labels), (as_classes, classes), (as_text, text)):
        found = read(column(*cells), [])
        assert found.categories.tolist() == expected
        assert [type(each) for each in found.categories.tolist()] == [type(each) for each in expected]
    assert as_text(column(*cells), []).tolist() == cells


def test_true_and_false_in_any_case_are_one_category_each():
    cells = column("true", "FALSE", "?", "True")
    for read in (as_labels, as_classes):
        found = read(cells, ["?"])
        assert (found.categories.tolist(), found.codes.tolist()) == ([False, True], [1, 0, -1, 1])
        assert read(column("false", "x"), []).tolist() == ["false", "x"]
    assert as_text(cells, ["?"]).categories.tolist() == ["FALSE", "True", "true"]


def test_classes_with_decimal_commas():
    assert as_classes(column("1,5", "0,5"), [], ",").categories.tolist() == [0.5, 1.5]
    assert as_classes(column("1.5", "0.5"), [], ",").categories.tolist() == ["0.5", "1.5"]


def test_missing_labels():
    for read in (as_labels, as_classes, as_text):
        assert read(column("?", "5", "x", ""), ["?", ""]).codes.tolist() == [-1, 0, 1, -1]
        assert read(column("?", "?"), ["?"]).codes.tolist() == [-1, -1]


def test_a_word_is_astray_where_19_of_20_values_are_numbers():
    assert find_isolated_text(column(*["1,5"] * 10, "?", "x", *["2"] * 9), ["?"], ",") == (11, "x", 19)
    assert find_isolated_text(column(*["1"] * 18, "x"), []) is None, "too few values"
    assert find_isolated_text(column(*["1"] * 18, "x", "y"), []) is None, "too many words"
    assert find_isolated_text(column(*["1"] * 20), []) is None, "no word"
    assert find_isolated_text(column("?", "?"), ["?"]) is None


# --- One reader ---
# Data sets, scores and predictions are read by one text reader: each table must give the same cells in all three.


NAMES = ["a,b,c", "x", "kind"]
VALUES = [0.25, 0.5, 0.75, 0.5]
KINDS = ["no", "yes", "no", "yes"]


def write_table(path, delimiter=",", decimal=".", quoting=csv.QUOTE_MINIMAL, end="\n", encoding="utf-8"):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(NAMES)
    for index, (value, kind) in enumerate(zip(VALUES, KINDS, strict=True)):
        writer.writerow([index, str(value).replace(".", decimal), kind])
    path.write_bytes(text.getvalue().encode(encoding))


def check_all_readers(path, decimal="."):
    dataset = data.read(path, decimal=decimal)
    assert [*dataset.X.columns, dataset.target] == NAMES
    assert dataset.X["x"].tolist() == VALUES
    assert dataset.y.tolist() == KINDS
    columns = read_columns_file(path)
    assert columns.names == NAMES
    assert columns.read_numbers(1).tolist() == VALUES
    assert list(columns.columns[2]) == KINDS
    table, _ = read_table(path)
    assert list(table) == NAMES
    assert table["x"].tolist() == VALUES
    assert table["kind"].tolist() == KINDS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."), ("|", ","), (" ", ".")]
)
def test_all_readers_agree(tmp_path, delimiter, decimal, quoting, end, encoding):
    path = tmp_path / "table.csv"
    write_table(path, delimiter, decimal, quoting, end, encoding)
    check_all_readers(path, decimal)


def test_a_quoted_first_name_does_not_hide_the_delimiter(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('"a,b,c";x;kind\n' + "".join(f"{i};{v};{k}\n" for i, (v, k) in enumerate(zip(VALUES, KINDS, strict=True))))
    assert TextFormat.detect(path, MISSING_STRINGS) == (";", False, "utf-8")
    check_all_readers(path)


@pytest.mark.parametrize("stream", [False, True])
def test_judge_reads_quoted_names_in_memory_and_streamed(tmp_path, stream):
    from fairtrial import judge

    path = tmp_path / "table.csv"
    rows = [(i, i % 2, round(0.1 + 0.004 * i + 0.3 * (i % 2), 3)) for i in range(100)]
    path.write_text('"a,b,c";y_true;forest_proba\n' + "".join(";".join(map(str, row)) + "\n" for row in rows))
    scores = judge(str(path), resamples=20, measures=["brier"], stream=stream).scores
    assert scores["model"].unique().tolist() == ["forest"]
    assert scores["estimate"].tolist() == pytest.approx([sum((p - t) ** 2 for _, t, p in rows) / len(rows)])


@pytest.mark.parametrize(
    "lines",
    [
        ["pred time,y_true,p", "2020-01-07 10:00,yes,0.9", "2020-01-08 10:00,no", "2020-01-09 10:00,no,0.2"],
        ["naive bayes,y_true,p", "not fraud,yes,0.9", "is fraud,no", "not fraud,no,0.2"],
    ],
)
def test_regular_blanks_within_cells_do_not_win_over_a_delimiter_with_short_rows(tmp_path, lines):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    table, _ = read_table(path)
    assert list(table) == lines[0].split(",")
    assert table["p"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("suffix", [".tsv", ".tab"])
def test_tab_files_use_tabs(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    path.write_text("a;b\tc;d\n1;2\t3;4\n")
    assert TextFormat.detect(path, MISSING_STRINGS).delimiter == "\t"
    assert read_columns_file(path).names == ["a;b", "c;d"]
    assert list(read_table(path)[0]) == ["a;b", "c;d"]


def read_dataset(path):
    return data.read(path)


def read_predictions_table(path):
    return read_table(path)


READERS = [read_dataset, read_columns_file, read_predictions_table]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"x,kind\n1,a\n2,b,c\n3,a\n", 3),
        (b'x,kind\n1,a\n2,"b\n3,a\n', 3),
        (b"x,kind\n1,a\n2,\xe9\x01\n", 3),
        ("x,kind\n1,a\n".encode("utf-16") + b"\x00", 3),
    ],
)
def test_each_reader_names_the_line_of_an_error(tmp_path, reader, raw, line):
    path = tmp_path / "table.csv"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=rf"\bline {line}\b") as error:
        reader(path)
    assert "table.csv" in str(error.value)


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_refuses_an_empty_file(tmp_path, reader):
    path = tmp_path / "table.csv"
    path.write_text("")
    with pytest.raises(InputError, match=r"table\.csv"):
        reader(path)


@pytest.mark.parametrize("reader", [read_dataset, read_scores, read_predictions_table])
def test_duplicate_names_are_refused(tmp_path, reader):
    path = tmp_path / "table.csv"
    path.write_text("x;x;kind\n1;2;a\n3;4;b\n")
    with pytest.raises(InputError, match="'x'"):
        reader(path)


@settings(max_examples=200, deadline=None)
@given(
    st.data(),
    st.sampled_from(",;\t|"),
    st.integers(2, 4),
    st.integers(3, 8),
)
def test_quoted_cells_never_change_the_delimiter(tmp_path_factory, drawn, delimiter, width, height):
    """The cells are words with any delimiters in quotes; names are words, and each row has all cells."""
    cell = st.text(st.sampled_from("ab ,;|"), min_size=1, max_size=6).map(lambda text: f"w{text}w")
    rows = [[drawn.draw(cell) for _ in range(width)] for _ in range(height)]
    path = tmp_path_factory.getbasetemp() / "quoted.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([[f"name{i}" for i in range(width)], *rows])
    assert TextFormat.detect(path, MISSING_STRINGS).delimiter == delimiter
    assert [list(column) for column in read_columns_file(path).columns] == [list(column) for column in zip(*rows, strict=True)]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters='",;|\t\x7f\x85\xa0?'), min_size=1),
        min_size=3,
    ),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"]),
)
def test_text_in_every_encoding_is_read_back(tmp_path_factory, words, encoding):
    """The words are those of Latin-1; a word in front makes a text, not a number or a missing value, of each cell."""
    path = tmp_path_factory.getbasetemp() / "encoded.csv"
    words = [f"w{word.strip()}é" for word in words]
    path.write_bytes(
        "".join(["number,word,kind\n", *(f"{i},{word},{i % 2}\n" for i, word in enumerate(words))]).encode(encoding)
    )
    assert list(read_columns_file(path).columns[1]) == words
    assert read_table(path)[0]["word"].tolist() == words
    assert data.read(path).X["word"].tolist() == words


def test_a_detected_encoding_is_reported(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("dataset;a;b\nétude;0,5;0,25\nzoo;0,5;0,75\n".encode("latin-1"))
    guesses = {guess.kind: guess for guess in read_scores(path).guesses}
    assert guesses["file_format"]["peculiarities"] == ("Latin-1 encoding", "semicolons between columns", "decimal commas")
    assert data.read(path, decimal=",", target="dataset").notes == ("read with Latin-1 encoding",)


def test_json_lines_are_read_by_all_readers(tmp_path):
    path = tmp_path / "table.jsonl"
    rows = [{"dataset": name, "a": a, "b": b} for name, a, b in [("iris", 0.5, 0.25), ("zoo", None, 0.75), ("car", 1, 0.5)]]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert np.array_equal(read_scores(path).cells, [[0.5, 0.25], [np.nan, 0.75], [1, 0.5]], equal_nan=True)
    assert read_table(path)[0]["dataset"].tolist() == ["iris", "zoo", "car"]
    assert data.read(path, target="dataset").X["b"].tolist() == [0.25, 0.75, 0.5]


@pytest.mark.parametrize(
    ("line", "message"), [("{", "JSON"), ("[1, 2]", "list"), ('{"x": [1]}', "'x'"), ('{"x": 1, "x": 2}', "'x' occurs twice")]
)
@pytest.mark.parametrize("reader", READERS)
def test_bad_json_lines_are_refused_with_their_line(tmp_path, reader, line, message):
    path = tmp_path / "table.jsonl"
    path.write_text('{"x": 1, "kind": "a"}\n' + line + "\n")
    with pytest.raises(InputError, match=rf"table\.jsonl, line 2: .*{message}"):
        reader(path)
