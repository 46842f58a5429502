import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_files import paths_of, separator_of, table_of

TABLE = pd.DataFrame({"truth": ["None", "b"], "tree": ["b", "b"], "score": [0.5, 0.25]})


@pytest.mark.parametrize(("name", "separator"), [("p.csv", ","), ("p.tsv", "\t"), ("p.txt", ";")])
def test_text_files_with_any_separator_and_a_class_called_none(tmp_path, name, separator):
    path = tmp_path / name
    TABLE.to_csv(path, index=False, sep=separator)
    assert separator_of(path) == separator
    table, called = table_of(path)
    assert called == name
    assert table["truth"].tolist() == ["None", "b"]
    assert table["score"].tolist() == [0.5, 0.25]


def test_parquet_several_files_and_a_pattern(tmp_path):
    for i in range(3):
        TABLE.to_parquet(tmp_path / f"part{i}.parquet")
    assert len(paths_of(str(tmp_path / "part*.parquet"))) == 3
    table, called = table_of([tmp_path / "part0.parquet", tmp_path / "part1.parquet"])
    assert len(table) == 4
    assert called == "part0.parquet and 1 more"
    assert paths_of(TABLE) == []


def test_a_named_index_becomes_a_column_and_a_plain_one_does_not():
    assert "id" in table_of(TABLE.set_index(pd.Index([7, 8], name="id")))[0]
    assert list(table_of(TABLE.set_index(pd.Index([7, 8])))[0]) == list(TABLE)


def refused(source, told):
    with pytest.raises(InputError, match=told):
        table_of(source)


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path):
    TABLE.to_csv(tmp_path / "good.csv", index=False)
    refused(tmp_path / "god.csv", "did you mean 'good.csv'")
    (tmp_path / "empty.csv").write_text("")
    refused(tmp_path / "empty.csv", "got an empty file")
    (tmp_path / "header.csv").write_text("truth,tree\n")
    refused(tmp_path / "header.csv", "at least 1 line of predictions, got none")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    refused(tmp_path / "bad.parquet", "must be a CSV, TSV or Parquet file")
    TABLE.rename(columns={"tree": "oak"}).to_csv(tmp_path / "other.csv", index=False)
    refused([tmp_path / "good.csv", tmp_path / "other.csv"], "same columns, got 'oak'")
    refused(3, "must be a file or a frame, got int")
    refused(pd.DataFrame([[1, 2]], columns=["truth", "truth"]), "'truth' more than once")
