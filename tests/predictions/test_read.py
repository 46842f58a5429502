"""Tests of `fairtrial.predictions.read`."""

import hashlib
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fairtrial
from fairtrial import compare, data, judge
from fairtrial.data.text_tables import TextFormat
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions.columns import guess_roles
from fairtrial.predictions.judgement import record_origin
from fairtrial.predictions.read import MISSING_STRINGS, EncodedColumn, build_datasets, list_paths, read_predictions, read_table

# --- Read ---


@pytest.fixture
def long():
    rng = np.random.default_rng(3)
    truth = rng.choice(list("abc"), 30)
    parts = []
    for name in ("tree", "forest"):
        scores = rng.dirichlet([1, 1, 1], 30)
        columns = {f"score[{each}]": scores[:, i] for i, each in enumerate("abc")}
        labels = np.array(list("abc"))[scores.argmax(axis=1)]
        parts.append(pd.DataFrame({"row": np.arange(30), "learner": name, "truth": truth, "prediction": labels, **columns}))
    return pd.concat(parts, ignore_index=True)


def test_long_and_wide_tables_are_read_alike(long):
    wide = long[long["learner"] == "tree"][["row", "truth"]].reset_index(drop=True)
    for name, part in long.groupby("learner", sort=False):
        wide[name] = part["prediction"].to_numpy()
        for each in "abc":
            wide[f"{name}[{each}]"] = part[f"score[{each}]"].to_numpy()
    first, second = read_predictions(long), read_predictions(wide)
    assert first.roles.layout == "long"
    assert second.roles.layout == "wide"
    assert first.models == second.models == ("tree", "forest")
    for name in first.models:
        a, b = first.datasets[0].models[name], second.datasets[0].models[name]
        assert np.array_equal(a.prediction, b.prediction)
        assert np.array_equal(a.scores, b.scores)
    assert np.array_equal(first.datasets[0].y_true, second.datasets[0].y_true)


def test_text_and_parquet_files_are_read_alike(long, tmp_path):
    long.to_csv(tmp_path / "p.csv", index=False)
    long.to_parquet(tmp_path / "p.parquet")
    from_text, from_parquet = read_predictions(tmp_path / "p.csv"), read_predictions(tmp_path / "p.parquet")
    assert from_text.source == "p.csv"
    for name in from_text.models:
        a, b = from_text.datasets[0].models[name], from_parquet.datasets[0].models[name]
        assert np.allclose(a.scores, b.scores, atol=1e-15)
        assert np.array_equal(a.prediction, b.prediction)


def test_the_first_prediction_of_each_row():
    table = pd.DataFrame(
        {"row": [2, 1, 1, 2], "repeat": [1, 1, 0, 0], "truth": ["b", "a", "a", "b"], "prediction": ["a", "a", "b", "b"]}
    )
    model = read_predictions(table).datasets[0].models["model"]
    assert model.has_repeats
    assert model.first_lines.tolist() == [3, 2]


def test_the_index_of_the_positive_class():
    one = read_predictions(pd.DataFrame({"truth": [0, 1], "tree": [0, 1]})).datasets[0]
    assert [one.get_positive_index(positive) for positive in (None, 0, "1")] == [1, 0, 1]
    with pytest.raises(InputError, match=r"positive.*'x'"):
        one.get_positive_index("x")


def test_text_names_the_columns_and_html_is_escaped():
    found = read_predictions(pd.DataFrame({"truth": ["<i>", "b"], "tree": ["b", "b"]}))
    assert "truth" in str(found)
    assert "'<i>'" in str(found)
    assert "<i>" not in found._repr_html_()


# --- Read files ---


TABLE = pd.DataFrame({"truth": ["None", "b"], "tree": ["b", "b"], "score": [0.5, 0.25]})


@pytest.mark.parametrize(("name", "separator"), [("p.csv", ","), ("p.tsv", "\t"), ("p.txt", ";")])
def test_text_files_with_any_separator_and_a_class_called_none(tmp_path, name, separator):
    path = tmp_path / name
    TABLE.to_csv(path, index=False, sep=separator)
    assert TextFormat.detect(path, MISSING_STRINGS) == (separator, False, "utf-8")
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


# --- Origin ---


def test_files_are_hashed_and_the_command_can_be_typed(tmp_path):
    path = tmp_path / "it's.csv"
    path.write_bytes(b"truth,p")
    options = {
        "measures": get_measure("ks"),
        "seed": 3,
        "stream": False,
        "subgroup": ["sex", "age"],
        "y_true": "t",
        "row": None,
    }
    found = record_origin([path], options)
    assert found.files == (("it's.csv", hashlib.sha256(b"truth,p").hexdigest()),)
    command = '"it\'s.csv" --measure ks --seed 3 --subgroup sex --subgroup age --y-true t'
    assert shlex.split(found.command)[2:] == shlex.split(command)
    assert found.version == fairtrial.__version__


def test_a_frame_has_neither():
    assert record_origin([], {}).command == ""


# --- Datasets ---


def built(columns, positive=None, **given):
    table = pd.DataFrame(columns)
    return build_datasets(table, guess_roles(table, **given), positive)


LONG = {
    "row": ["r1", "r2", "r2", "r1"],
    "model": ["x", "x", "y", "y"],
    "truth": ["a", "b", "b", "a"],
    "prediction": ["a", "a", "b", "a"],
    "weight": [1.0, 2.0, 2.0, 1.0],
    "group": ["u", None, None, "u"],
}


def test_lines_in_any_order_are_matched_by_row():
    (one,), _ = built(LONG)
    assert one.row_ids.tolist() == ["r1", "r2"]
    assert one.y_true.tolist() == [0, 1]
    assert one.models["x"].row_indices.tolist() == [0, 1]
    assert one.models["y"].row_indices.tolist() == [1, 0]
    assert one.models["y"].prediction.tolist() == [1, 0]
    assert one.weights.tolist() == [1.0, 2.0]
    assert one.subgroups["group"].tolist() == ["u", "(missing)"]


@pytest.mark.parametrize(
    ("column", "values", "match"),
    [
        ("truth", ["a", "b", "a", "a"], "y_true.*'r2'"),
        ("weight", [1.0, 2.0, 3.0, 1.0], "'weight'"),
        ("group", ["u", "v", "w", "u"], "'group'"),
        ("row", ["r1", "r1", "r2", "r1"], "'r1'"),
        ("truth", ["a", None, "b", "a"], "y_true.*'truth'"),
        ("truth", ["a", "a", "a", "a"], "y_true.*'a'"),
        ("weight", [1.0, np.nan, 2.0, 1.0], "weights"),
    ],
)
def test_inconsistent_rows_are_refused(column, values, match):
    with pytest.raises(InputError, match=match):
        built({**LONG, column: values})


def test_without_ids_lines_are_numbered_within_each_model():
    columns = {key: LONG[key] for key in ("model", "prediction")} | {"truth": ["a", "b", "a", "b"]}
    (one,), notes = built(columns)
    assert one.row_ids.tolist() == [1, 2]
    assert "rows_in_file_order" in {note.kind for note in notes}
    with pytest.raises(InputError, match=r"y_true.*row 1"):
        built({**columns, "truth": ["a", "b", "b", "a"]})


def test_data_sets_have_their_own_classes_rows_and_scores():
    (first, second), _ = built(
        {
            "dataset": ["one"] * 3 + ["two"] * 2,
            "row": [1, 2, 3, 1, 2],
            "truth": ["a", "b", "c", "x", "y"],
            "score[a]": [0.6, 0.2, 0.2, np.nan, np.nan],
            "score[b]": [0.2, 0.6, 0.2, np.nan, np.nan],
            "score[c]": [0.2, 0.2, 0.6, np.nan, np.nan],
            "score[x]": [np.nan] * 3 + [0.9, 0.4],
            "score[y]": [np.nan] * 3 + [0.1, 0.6],
        }
    )
    assert first.classes == ("a", "b", "c")
    assert second.classes == ("x", "y")
    assert second.models["model"].scores.tolist() == [[0.9, 0.1], [0.4, 0.6]]
    assert first.models["model"].prediction.tolist() == [0, 1, 2]


def test_of_several_conditions_the_clean_one_is_judged():
    columns = {"condition": ["clean", "clean", "noise", "noise"], "level": [0.0, 0.0, 0.1, 0.1], "row": [1, 2, 1, 2]}
    (one,), notes = built({**columns, "truth": ["a", "b", "b", "a"], "prediction": ["a", "b", "a", "b"]})
    assert len(one.y_true) == 2
    assert [(note.kind, note["lines"], note["condition"]) for note in notes] == [("several_conditions", 2, "clean 0")]


def test_labels_of_numbers_and_text_are_matched_by_their_text():
    assert EncodedColumn.from_column(pd.Series([1.0, 0.0, None])).values == [1, 0]
    (one,), _ = built({"truth": [0, 1, 1], "prediction": ["0", "1", "0"]})
    assert one.classes == (0, 1)
    assert one.models["model"].prediction.tolist() == [0, 1, 0]


def test_repeats_and_folds_keep_their_numbers_and_names_are_numbered():
    columns = {"row": [1, 2, 1, 2], "truth": [0, 1, 0, 1], "prediction": [0, 1, 1, 1]}
    (one,), _ = built({**columns, "repeat": [3, 3, 7, 7], "fold": ["u", "v", "u", "v"]})
    model = one.models["model"]
    assert model.repeat.tolist() == [3, 3, 7, 7]
    assert model.fold.tolist() == [0, 1, 0, 1]


def test_predictions_mistaken_for_true_labels_are_refused_with_their_column(judge_table):
    rows = {
        "row": [0, 1, 2, 0, 1, 2],
        "model": list("aaabbb"),
        "label": list("xyxyyx"),
        "score": [0.1, 0.8, 0.3, 0.6, 0.9, 0.2],
    }
    with pytest.raises(InputError, match=r"y_true.*'label'.*y_true=COLUMN"):
        judge_table(pd.DataFrame(rows))


# --- Missing values ---


def make_incomplete(rows=200):
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, rows).astype(float)
    columns = {name: 1 / (1 + np.exp(-(y_true - 0.5 + (1 + i) * rng.normal(size=rows)))) for i, name in enumerate("ab")}
    table = pd.DataFrame({"id": range(rows), "y_true": y_true, "a_proba": columns["a"], "b_proba": columns["b"]})
    table.loc[3, "a_proba"] = table.loc[[5, 7], "b_proba"] = table.loc[7, "y_true"] = np.nan
    return table


@pytest.mark.parametrize("with_ids", [True, False])
def test_incomplete_rows_are_removed_on_request_and_counted(judge_table, with_ids):
    table = make_incomplete() if with_ids else make_incomplete().drop(columns="id")
    with pytest.raises(InputError, match=r"y_true must not be missing.*drop_missing=True"):
        judge_table(table)
    judgement = judge_table(table, measures=["auc", "brier"], drop_missing=True)
    expected = judge_table(table.dropna(), measures=["auc", "brier"])
    pd.testing.assert_frame_equal(judgement.scores, expected.scores)
    (note,) = [note for note in judgement.notes if note.kind == "dropped_missing"]
    assert (note["rows"], note["total"]) == (3, 200)
    assert "3 rows of 200 were removed" in str(judgement)
    assert "--drop-missing" in judgement.origin.command


def test_an_incomplete_row_of_a_long_file_is_removed_for_all_models(judge_table):
    wide = make_incomplete()
    long = wide.melt(["id", "y_true"], ["a_proba", "b_proba"], "model", "score")
    judgement = judge_table(long, measures="auc", drop_missing=True)
    expected = judge_table(wide.dropna(), measures="auc")
    assert judgement.scores["estimate"].tolist() == pytest.approx(expected.scores["estimate"].tolist())
    assert "unequal_rows" not in {note.kind for note in judgement.notes}
    (note,) = [note for note in judgement.notes if note.kind == "dropped_missing"]
    assert (note["rows"], note["total"]) == (3, 200)


def test_removing_lines_of_a_long_file_without_ids_does_not_shift_the_rows_of_other_models():
    wide = make_incomplete()
    long = wide.melt(["id", "y_true"], ["a_proba", "b_proba"], "model", "score").drop(columns="id")
    judgement, expected = judge(long, measures="auc", drop_missing=True), judge(wide.dropna(), measures="auc")
    assert judgement.findings[0].pairs[0].p_adjusted == pytest.approx(expected.findings[0].pairs[0].p_adjusted)


def test_scores_that_a_model_does_not_have_are_not_missing(judge_table):
    table = pd.DataFrame({"model": ["tree"] * 40 + ["rule"] * 40, "id": [*range(40)] * 2, "y_true": [0, 1] * 40})
    table["prediction"] = [0, 1, 1, 1] * 20
    table["score"] = [0.2, 0.6, 0.7, 0.8] * 10 + [np.nan] * 40
    judgement = judge_table(table, measures="accuracy", drop_missing=True)
    assert "dropped_missing" not in {note.kind for note in judgement.notes}
    assert judgement.scores["rows"].tolist() == [40, 40]


def test_a_file_without_complete_rows_is_refused(judge_table):
    table = make_incomplete().assign(weight=np.nan)
    with pytest.raises(InputError, match="all 200 rows"):
        judge_table(table, drop_missing=True)


# --- Formats ---


PLAIN = pd.DataFrame({"id": range(60), "y_true": ["dé", "non"] * 30, "a_proba": np.linspace(0.05, 0.95, 60).round(3)})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("suffix", "encoding", "separator", "decimal", "peculiarities"),
    [
        ("csv", "utf-8", ",", ".", ()),
        ("csv", "utf-8-sig", ",", ".", ()),
        ("csv", "utf-16", ";", ",", ("UTF-16 encoding", "semicolons between columns", "decimal commas")),
        ("csv", "utf-16-be", "\t", ".", ("UTF-16 encoding", "tabs between columns")),
        ("tsv", "latin-1", "\t", ",", ("Latin-1 encoding", "decimal commas")),
        ("txt", "latin-1", "|", ".", ("Latin-1 encoding", "vertical bars between columns")),
        ("csv", "utf-8", ",", ",", ("decimal commas",)),
    ],
)
def test_encodings_delimiters_and_decimal_commas_are_detected_and_reported(
    tmp_path, stream, suffix, encoding, separator, decimal, peculiarities
):
    path = tmp_path / f"p.{suffix}"
    PLAIN.to_csv(path, index=False, encoding=encoding, sep=separator, decimal=decimal)
    judgement = judge(path, measures="brier", positive="non", resamples=20, stream=stream)
    expected = np.mean((PLAIN["a_proba"] - (PLAIN["y_true"] == "non")) ** 2)
    assert judgement.scores["estimate"].tolist() == pytest.approx([expected])
    assert judgement.positives.classes == {"data": ("non", "dé")}
    notes = [note["peculiarities"] for note in judgement.notes if note.kind == "file_format"]
    assert notes == ([peculiarities] if peculiarities else [])


@pytest.mark.parametrize("stream", [False, True])
def test_json_lines_are_read_like_text_tables(tmp_path, stream):
    PLAIN.to_json(tmp_path / "p.jsonl", orient="records", lines=True)
    judgement = judge(tmp_path / "p.jsonl", measures="brier", positive="non", resamples=20, stream=stream)
    expected = judge(PLAIN, measures="brier", positive="non", resamples=20).scores["estimate"]
    assert judgement.scores["estimate"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)  # DuckDB sums in any order


@pytest.mark.parametrize("stream", [False, True])
def test_duplicate_names_of_columns_are_refused(tmp_path, stream):
    path = tmp_path / "p.csv"
    path.write_text("y_true,a_proba,a_proba\n" + "0,0.2,0.3\n1,0.4,0.5\n" * 20)
    with pytest.raises(InputError, match="'a_proba' twice"):
        judge(path, stream=stream)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, lambda frame: pl.from_pandas(frame).lazy(), dict])
def test_frames_of_all_libraries_are_judged_alike(convert):
    table = make_incomplete().dropna().astype({"y_true": int})
    expected = judge(table, measures=["auc", "accuracy"], resamples=20)
    judgement = judge(convert(table), measures=["auc", "accuracy"], resamples=20)
    pd.testing.assert_frame_equal(judgement.scores, expected.scores)
    assert judgement.roles == expected.roles


def test_a_corrupted_parquet_file_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "corrupted.parquet"
    pd.DataFrame({"name": ["alpha", "beta"] * 20, "tree": [0.1, 0.9] * 20}).to_parquet(path, compression=None)
    path.write_bytes(path.read_bytes().replace(b"alpha", b"alph\xe1"))  # pyarrow raises an ArrowException
    for read in (judge, compare, data.read):
        with pytest.raises(InputError, match=r"^[^\n]*corrupted\.parquet cannot be read as Parquet: [^\n]*$"):
            read(path)


def test_a_model_with_a_single_row_is_described_and_not_compared(tmp_path):
    rows = [f"{row},{'no' if row % 2 else 'yes'},tree,0.{row + 10}" for row in range(20)]
    path = tmp_path / "predictions.csv"
    path.write_text("\n".join(["row,y_true,model,score", *rows, "0,yes,bayes,0.9"]))
    judgement = judge(path, resamples=100)  # warnings of NumPy are errors here
    assert judgement.pairs["outcome"].tolist() == ["cannot be decided"]
    assert set(judgement.frame()["model"]) == {"tree", "bayes"}
