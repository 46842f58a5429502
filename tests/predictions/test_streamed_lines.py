import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.judgement import judge


def example(models=("x", "y", "z"), n=40):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, n)
    parts = [
        pd.DataFrame(
            {"row": np.arange(n), "model": name, "truth": truth, "prediction": np.where(rng.random(n) < 0.8, truth, 1 - truth)}
        )
        for name in models
    ]
    return pd.concat(parts, ignore_index=True)


def judged(folder, table, **options):
    table.to_parquet(folder / "p.parquet")
    return judge(folder / "p.parquet", stream=True, resamples=20, **options)


@pytest.mark.parametrize(("column", "role"), [("model", "model"), ("row", "row"), ("truth", "y_true")])
def test_missing_names_are_refused(tmp_path, column, role):
    table = example().astype({column: object})
    table.loc[3, column] = None
    table[column] = table[column].map(lambda value: None if value is None else str(value))
    with pytest.raises(InputError, match=f"{role}.*'{column}'"):
        judged(tmp_path, table)


def test_a_row_in_several_folds_counts_once(tmp_path):
    table = example(["x", "y"])
    again = table.assign(prediction=1 - table["prediction"])
    found = judged(tmp_path, pd.concat([table.assign(fold=0), again.assign(fold=1)]))
    once = judged(tmp_path, table)
    assert found.pairs["rows"].eq(40).all()
    assert found.pairs["p_value"].tolist() == once.pairs["p_value"].tolist()
    assert found.scores["estimate"].equals(once.scores["estimate"])
    assert "repeated_predictions" in {note.kind for note in found.notes}


def test_duplicated_rows_are_refused(tmp_path):
    table = example()
    with pytest.raises(InputError, match="row 0"):
        judged(tmp_path, pd.concat([table, table.iloc[:1]]))


def test_models_without_common_rows_are_not_compared_and_a_model_may_be_called_0(tmp_path):
    table = example([0, 1, 2])
    table = table[~((table["model"] == 0) & (table["row"] < 20)) & ~((table["model"] == 2) & (table["row"] >= 20))]
    for found in (judged(tmp_path, table), judge(table, resamples=20)):
        assert set(found.scores["model"]) == {"0", "1", "2"}
        assert set(map(tuple, found.pairs[["first", "second"]].to_numpy())) == {("0", "1"), ("1", "2")}
        pairs = {(note.kind, note["first"], note["second"]) for note in found.notes if "first" in note.values}
        assert {("disjoint_rows", "0", "2"), ("partial_overlap", "0", "1")} <= pairs
    with pytest.raises(InputError, match="'0' and '2'"):
        judged(tmp_path, table[table["model"] != 1])


def test_weights_change_the_test_that_decides(tmp_path):
    table = example(["x", "y"]).assign(weight=lambda t: 1 + t["row"] % 3)
    found = judged(tmp_path, table).pairs.set_index("test")
    again = example(["x", "y"])
    again = again.loc[again.index.repeat(1 + again["row"] % 3)]
    right = [(part["truth"] == part["prediction"]).mean() for _, part in again.groupby("model")]
    assert found.loc["bootstrap_difference", "difference"] == pytest.approx(right[0] - right[1])
    assert found["primary"].to_dict() == {"mcnemar": False, "bootstrap_difference": True}
    assert "weights" in found.loc["mcnemar", "note"]
