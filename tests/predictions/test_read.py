import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.read import read_predictions


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
