import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.data.text_tables import TextFormat
from fairtrial.errors import InputError
from fairtrial.predictions.read import MISSING_STRINGS, list_paths, read_table

TABLE = pd.DataFrame({"truth": ["None", "b"], "tree": ["b", "b"], "score": [0.5, 0.25]})


@pytest.mark.parametrize(("name", "separator"), [("p.csv", ","), ("p.tsv", "\t"), ("p.txt", ";")])
def test_text_files_with_any_separator_and_a_class_called_none(tmp_path, name, separator):
    path = tmp_path / name
    TABLE.to_csv(path, index=False, sep=separator)
    assert TextFormat.detect(path, MISSING_STRINGS) == (separator, False)
    table, called = read_table(path)
    assert called == name
    assert table["truth"].tolist() == ["None", "b"]
    assert table["score"].tolist() == [0.5, 0.25]


def test_parquet_several_files_and_a_pattern(tmp_path):
    for i in range(3):
        TABLE.to_parquet(tmp_path / f"part{i}.parquet")
    assert len(list_paths(str(tmp_path / "part*.parquet"))) == 3
    table, called = read_table([tmp_path / "part0.parquet", tmp_path / "part1.parquet"])
    assert len(table) == 4
    assert called == "part0.parquet and 1 more"
    assert list_paths(TABLE) == []


def test_a_named_index_becomes_a_column_and_a_plain_one_does_not():
    assert "id" in read_table(TABLE.set_index(pd.Index([7, 8], name="id")))[0]
    assert list(read_table(TABLE.set_index(pd.Index([7, 8])))[0]) == list(TABLE)


def check_refused(source, match):
    with pytest.raises(InputError, match=match):
        read_table(source)


def test_unreadable_files_are_refused(tmp_path):
    TABLE.to_csv(tmp_path / "good.csv", index=False)
    check_refused(tmp_path / "god.csv", "'good.csv'")
    (tmp_path / "empty.csv").write_text("")
    check_refused(tmp_path / "empty.csv", "empty.csv")
    (tmp_path / "header.csv").write_text("truth,tree\n")
    check_refused(tmp_path / "header.csv", "header.csv")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    check_refused(tmp_path / "bad.parquet", "bad.parquet")
    TABLE.rename(columns={"tree": "oak"}).to_csv(tmp_path / "other.csv", index=False)
    check_refused([tmp_path / "good.csv", tmp_path / "other.csv"], "'oak'")
    check_refused(3, "int")
    check_refused(pd.DataFrame([[1, 2]], columns=["truth", "truth"]), "'truth'")


@pytest.mark.parametrize("stream", [False, True])
def test_semicolons_with_decimal_commas(tmp_path, stream):
    path = tmp_path / "p.csv"
    rows = [(i, i % 2, 0.1 + 0.004 * i + 0.3 * (i % 2)) for i in range(100)]
    path.write_text("id;truth;forest_proba\n" + "".join(f"{i};{t};{p:.3f}\n".replace(".", ",") for i, t, p in rows))
    plain = pd.DataFrame(rows, columns=["id", "truth", "forest_proba"]).round(3)
    found = judge(str(path), resamples=20, measures=["auc", "brier"], stream=stream)
    assert found.scores["estimate"].tolist() == pytest.approx(
        judge(plain, resamples=20, measures=["auc", "brier"]).scores["estimate"].tolist()
    )


def test_spreadsheets_are_refused(tmp_path):
    (tmp_path / "p.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"'p\.xlsx'"):
        read_table(str(tmp_path / "p.xlsx"))
