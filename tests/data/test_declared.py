import pytest

from fairtrial.data.arff import read_arff
from fairtrial.data.keel import read_keel
from fairtrial.errors import InputError, SuspectInputWarning

HEAD = b"@relation r\n@attribute a real\n@attribute b real\n@attribute c {x,y}\n"
MALFORMED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "must hold a line @data before its rows, got none in 2 lines"),
    "no data": (HEAD, "got none in 4 lines"),
    "no rows": (HEAD + b"@data\n\n", "at least 1 row"),
    "no attributes": (b"@relation r\n@data\n1\n", "line 2: @data must come after at least 1 @attribute"),
    "one attribute": (b"@attribute a {x}\n@data\nx\n", "at least 1 attribute beside the class 'a'"),
    "cut off row": (HEAD + b"@data\n1,2,x\n1,2", "line 7: a row must hold 3 values, one for each attribute, got 2"),
    "long row": (HEAD + b"@data\n1,2,x,\n", "line 6: .* got 4"),
    "empty value": (HEAD + b"@data\n1,,x\n", "line 6: a value must not be empty"),
    "undeclared": (HEAD + b"@data\n1,2,z\n", "line 6: a value of 'c' must be declared, got 'z'"),
    "case": (HEAD + b"@data\n1,2,X\n", "line 6: .* did you mean 'x'"),
    "no number": (HEAD + b"@data\n1,2,x\n1,two,x\n", "line 7: a value of 'b' must be a finite number, got 'two'"),
    "missing class": (HEAD + b"@data\n1,2,?\n", "line 6: the class 'c' must be known"),
    "NUL": (HEAD + b"@data\n1,\x002,x\n", "line 6: .*NUL"),
    "encoding": (HEAD + b"@data\n1,2,x\n1,2,\xe9\n", "line 7: byte 0xe9 is not utf-8"),
    "keyword": (b"@atribute a real\n", "line 1: @atribute means nothing here: did you mean '@attribute'"),
    "text": (b"a,b,c\n1,2,3\n", "line 1: a line before @data must begin with @"),
    "data with rest": (HEAD + b"@data 1,2,x\n", "line 5: nothing may follow @data"),
    "same name": (HEAD + b"@attribute a {x}\n@data\n", "line 5: attributes must have different names, got 'a' twice"),
    "fraction": (
        b"@attribute a real\n@attribute c real\n@data\n1,2.5\n",
        "the class 'c' must hold names or whole numbers, got 2.5",
    ),
}


@pytest.mark.parametrize("reader", [read_keel, read_arff])
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_give_one_clear_error(tmp_path, reader, case):
    raw, told = MALFORMED[case]
    path = tmp_path / "bad.file"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"bad.file.*{told}"):
        reader(path)


@pytest.mark.parametrize("reader", [read_keel, read_arff])
def test_a_folder_and_a_missing_file(tmp_path, reader):
    with pytest.raises(InputError, match="this is a folder"):
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
    with pytest.raises(InputError, match="the class must be a declared attribute, got 'K': did you mean 'k'"):
        reader(raw, target="K")


def test_a_numeric_class_of_many_values_is_suspect():
    raw = b"@attribute a real\n@attribute c integer\n@data\n" + b"".join(b"0,%d\n" % i for i in range(31))
    with pytest.warns(SuspectInputWarning, match="'c' is declared numeric and has 31 different values"):
        assert read_arff(raw).classes == tuple(range(31))


def test_names_of_the_data_set(tmp_path):
    raw = HEAD + b"@data\n1,2,x\n"
    (tmp_path / "flowers.dat").write_bytes(raw)
    assert read_keel(raw).name == "r"
    assert read_keel(tmp_path / "flowers.dat").name == "flowers"
    assert read_keel(raw, name="mine").name == "mine"
    assert read_keel(tmp_path / "flowers.dat").source == str(tmp_path / "flowers.dat")
