import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures.confusion import Confusion
from fairtrial.predictions.streamed import StreamedFile, StreamedModels
from fairtrial.predictions.validate import Notes


def read(folder, frame, positive=None, **given):
    path = folder / "p.parquet"
    frame.to_parquet(path)
    notes = Notes()
    with StreamedFile([path], **given) as file:
        every = StreamedModels(file, positive, notes)
        tables = {(one.dataset, one.name): every.count_confusion(one).table.tolist() for one in every.models if one.label}
    return every, tables, notes.sentences


def test_confusions_of_a_long_file(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {each: rng.choice(values, 200) for each, values in (("truth", list("abc")), ("prediction", list("abc")))}
    )
    frame = frame.assign(model=rng.choice(["x", "y"], 200), dataset=rng.choice(["d", "e"], 200))
    _, tables, _ = read(tmp_path, frame)
    assert len(tables) == 4
    for (dataset, model), table in tables.items():
        own = frame[(frame["dataset"] == dataset) & (frame["model"] == model)]
        assert (
            table
            == Confusion.from_labels(own["truth"].to_numpy(), own["prediction"].to_numpy(), labels=list("abc")).table.tolist()
        )


def test_labels_are_read_off_probabilities_of_two_and_of_three_classes(tmp_path):
    rng = np.random.default_rng(2)
    scores = rng.dirichlet([1, 1, 1], 100)
    frame = pd.DataFrame({"truth": rng.choice(list("abc"), 100), **{f"p_{each}": scores[:, i] for i, each in enumerate("abc")}})
    _, tables, notes = read(tmp_path, frame)
    labels = np.array(list("abc"))[scores.argmax(axis=1)]
    assert (
        tables["data", "model"] == Confusion.from_labels(frame["truth"].to_numpy(), labels, labels=list("abc")).table.tolist()
    )
    assert "most likely classes" in notes[0]
    two = pd.DataFrame({"truth": [0, 1, 1], "tree_p": [0.2, 0.5, 0.7], "old": [0.0, 1.0, 0.0]})
    _, tables, _ = read(tmp_path, two)
    assert tables["data", "tree"] == [[1, 0], [1, 1]]
    assert tables["data", "old"] == [[1, 0], [1, 1]]
    _, tables, _ = read(tmp_path, two, positive=0)
    assert tables["data", "tree"] == [[0, 1], [2, 0]]


def test_rounded_probabilities_are_rescaled_and_others_are_scores(tmp_path):
    frame = pd.DataFrame(
        {"truth": list("abc"), "score_a": [0.33, 0.2, 0.1], "score_b": [0.33, 0.6, 0.1], "score_c": [0.33, 0.2, 0.8]}
    )
    every, _, notes = read(tmp_path, frame)
    assert every.models[0].kind == "probability"
    assert "rescaled" in notes[0]
    every, _, _ = read(tmp_path, frame.assign(score_a=[5.0, 1.0, 2.0]))
    assert every.models[0].kind == "decision"


def test_one_condition_and_one_repeat_are_judged(tmp_path):
    frame = pd.DataFrame(
        {"condition": ["clean"] * 4 + ["noise"] * 4, "repeat": [0, 0, 1, 1] * 2, "truth": [0, 1] * 4, "prediction": [0, 1] * 4}
    )
    _, tables, notes = read(tmp_path, frame)
    assert tables["data", "model"] == [[1, 0], [0, 1]]
    assert "only the 4 lines of clean are judged" in notes[0]
    assert "first prediction of each row" in notes[1]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"tree_p": [0.1, 1.5]}, "between 0 and 1, got 1.5"),
        ({"tree_p": [0.1, np.nan]}, "finite numbers, got 1 lines"),
        ({"p_a": [0.5, 0.9], "p_b": [0.5, 0.9]}, "sum to 1 in each row, got a sum that is off by 0.8"),
        (
            {"tree_label": ["y", "z"], "tree_p": [0.1, 0.2], "prediction": ["y", "z"]},
            "must predict labels of the truth, got none",
        ),
        ({"prediction": ["a", "b"], "weight": [1.0, -1.0]}, "weights must be finite and not negative, got 1 lines"),
    ],
)
def test_what_cannot_be_judged_is_told(tmp_path, columns, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], **columns}))


def test_the_positive_class_must_exist(tmp_path):
    with pytest.raises(InputError, match="got 'c': "):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], "tree": ["a", "b"]}), positive="c")
