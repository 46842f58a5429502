import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.columns import guess_roles
from fairtrial.predictions.read import EncodedColumn, build_datasets


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
