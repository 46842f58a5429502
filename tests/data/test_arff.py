import csv

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.io import arff as scipy_arff

from fairtrial.data import arff as module
from fairtrial.data.arff import read_arff
from fairtrial.errors import InputError
from tests.data.test_keel import expected_facts, facts, index
from tests.data.written import arff, same, tables

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
def test_what_is_written_is_read(written, sparse):
    assert same(read_arff(arff(*written, sparse=sparse)), *written)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(raw):
    with pytest.raises(InputError):
        read_arff(raw)


@given(st.data())
def test_corrupted_files_are_read_or_refused(given_data):
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
