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
        tables = {(model.dataset, model.name): model.count_confusion().table.tolist() for model in every.models if model.label}
    return every, tables, notes.findings


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
    assert notes[0].kind == "labels_from_probabilities"
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
    assert notes[0].kind == "rescaled_probabilities"
    every, _, _ = read(tmp_path, frame.assign(score_a=[5.0, 1.0, 2.0]))
    assert every.models[0].kind == "decision"


def test_one_condition_and_one_repeat_are_judged(tmp_path):
    frame = pd.DataFrame(
        {"condition": ["clean"] * 4 + ["noise"] * 4, "repeat": [0, 0, 1, 1] * 2, "truth": [0, 1] * 4, "prediction": [0, 1] * 4}
    )
    _, tables, notes = read(tmp_path, frame)
    assert tables["data", "model"] == [[1, 0], [0, 1]]
    assert [note.kind for note in notes] == ["several_conditions", "repeated_predictions"]
    assert (notes[0]["lines"], notes[0]["condition"]) == (4, "clean")


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"tree_p": [0.1, 1.5]}, "probabilities of model 'tree'.*1.5"),
        ({"tree_p": [0.1, np.nan]}, "scores of model 'tree'.*'tree_p'"),
        ({"p_a": [0.5, 0.9], "p_b": [0.5, 0.9]}, "probabilities of model 'model'.*0.8"),
        ({"tree_label": ["y", "z"], "tree_p": [0.1, 0.2], "prediction": ["y", "z"]}, "y_true.*'y'"),
        ({"prediction": ["a", "b"], "weight": [1.0, -1.0]}, "weights"),
    ],
)
def test_invalid_predictions_are_refused(tmp_path, columns, match):
    with pytest.raises(InputError, match=match):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], **columns}))


def test_the_positive_class_must_exist(tmp_path):
    with pytest.raises(InputError, match=r"positive.*'c'"):
        read(tmp_path, pd.DataFrame({"truth": ["a", "b"], "tree": ["a", "b"]}), positive="c")
