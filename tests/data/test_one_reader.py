"""Data sets, scores and predictions are read by one text reader: each table must give the same cells in all three."""

import csv
import io

import pytest
from hypothesis import given, settings, strategies as st

from fairtrial import data
from fairtrial.data.text_tables import TextFormat
from fairtrial.errors import InputError
from fairtrial.predictions.read import MISSING_STRINGS, read_table
from fairtrial.significance.reading import read_columns_file, read_scores

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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
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
    assert TextFormat.detect(path, MISSING_STRINGS) == (";", False)
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
        (b"x,kind\n1,a\n2,\xe9\n", 3),
        ("x,kind\n1,a\n".encode("utf-16"), 1),
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


@pytest.mark.parametrize("reader", [read_dataset, read_scores])
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
