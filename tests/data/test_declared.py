import pytest

from fairtrial.data.arff import read_arff
from fairtrial.data.keel import read_keel
from fairtrial.errors import InputError, SuspectInputWarning

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
