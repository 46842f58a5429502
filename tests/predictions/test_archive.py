import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.measures import accuracy
from fairtrial.predictions.archive import PredictionArchive
from fairtrial.predictions.read import read_predictions
from fairtrial.study.archive import TRIAL_COLUMNS
from fairtrial.study.store.transfer import export


def lines():
    rng = np.random.default_rng(0)
    parts = []
    for dataset in ("one", "two"):
        truth = rng.permutation(np.repeat(["a", "b"], 10))
        for name in ("tree", "forest"):
            p = rng.random(20)
            columns = {"dataset": dataset, "row": np.arange(20), "fold": np.arange(20) % 4, "learner": name, "truth": truth}
            parts.append(pd.DataFrame({**columns, "score[a]": 1 - p, "score[b]": p}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def archive():
    return PredictionArchive(read_predictions(lines()), measures=["accuracy"])


def test_a_trial_for_each_data_set_split_and_model(archive):
    trials = archive.trials()
    assert tuple(trials.columns) == TRIAL_COLUMNS
    assert len(trials) == 2 * 4 * 2
    assert trials["status"].eq("ok").all()
    assert trials["trial"].is_unique
    assert [each.name for each in archive.learners] == ["tree", "forest"]
    assert [each.name for each in archive.datasets] == ["one", "two"]
    assert archive.datasets[0].counts.tolist() == [10, 10]
    assert archive.conditions[0].name == "clean"
    assert archive.conditions[0].level == 0


def test_predictions_are_those_of_the_file(archive):
    table, trials = lines(), archive.trials()
    for line, found in zip(trials.to_dict("records"), archive.predictions(trials["trial"].tolist()), strict=True):
        own = table[
            (table["dataset"] == line["dataset"]) & (table["learner"] == line["learner"]) & (table["fold"] == line["fold"])
        ]
        assert found.rows.tolist() == own["row"].tolist()
        assert found.y_true.tolist() == (own["truth"] == "b").astype(int).tolist()
        assert found.prediction.tolist() == (own["score[b]"] > own["score[a]"]).astype(int).tolist()
        assert np.array_equal(found.scores, own[["score[a]", "score[b]"]].to_numpy())
        assert found.score_kind == "probability"


def test_splits_are_what_is_tested_and_the_rest(archive):
    train, test = archive.split("one", 0, 1)
    assert test.tolist() == [1, 5, 9, 13, 17]
    assert len(train) == 15
    with pytest.raises(InputError, match="did you mean 'one'"):
        archive.split("on", 0, 1)
    with pytest.raises(InputError, match="trial"):
        list(archive.predictions([16]))


def test_a_model_without_a_split_has_a_missing_trial():
    table = lines()
    short = table[~((table["learner"] == "tree") & (table["fold"] == 2) & (table["dataset"] == "one"))]
    trials = PredictionArchive(read_predictions(short)).trials()
    gone = trials[trials["status"] == "missing"]
    assert gone[["dataset", "learner", "fold"]].values.tolist() == [["one", "tree", 2]]
    assert gone["trial"].tolist() == [-1]


def test_what_is_exported_is_read_again(archive, tmp_path):
    export(archive, tmp_path / "out.csv")
    again = PredictionArchive(read_predictions(tmp_path / "out.csv"))
    ours, theirs = archive.trials(), again.trials()
    assert ours[["dataset", "learner", "fold"]].equals(theirs[["dataset", "learner", "fold"]])
    pairs = zip(archive.predictions(ours["trial"].tolist()), again.predictions(theirs["trial"].tolist()), strict=True)
    for a, b in pairs:
        assert np.array_equal(a.prediction, b.prediction)
        assert np.allclose(a.scores, b.scores, atol=1e-15)
    assert [each.content_hash for each in archive.datasets] != [each.content_hash for each in archive.datasets[::-1]]


def test_results_are_made_of_it(archive):
    from fairtrial.study.results.results import Results

    scores = Results(archive).scores(["accuracy"])
    table = lines()
    own = table[(table["dataset"] == "two") & (table["learner"] == "forest") & (table["fold"] == 0)]
    expected = accuracy(own["truth"].to_numpy(), np.where(own["score[b]"] > 0.5, "b", "a"))
    found = scores[(scores["dataset"] == "two") & (scores["learner"] == "forest") & (scores["fold"] == 0)]
    assert found["value"].tolist() == [expected]
