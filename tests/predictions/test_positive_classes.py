import pandas as pd

from fairtrial import judge
from fairtrial.predictions.columns import ModelColumns, Roles
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, PositiveClasses

COLUMNS = ["dataset", "model", "measure", "estimate", "low", "high"]


def test_words_say_which_and_how_and_where_data_sets_differ():
    assert PositiveClasses({"a": ("yes", "no")}, specified=True).summary == "The positive class is 'yes' (as asked for)."
    told = PositiveClasses({"a": ("yes", "no"), "b": ("well", "ill"), "c": ("yes", "no")}).summary
    assert told.startswith("The positive class is 'yes' on a and c, 'well' on b (the second of two")
    assert PositiveClasses({}).summary == ""


def test_scores_whose_columns_name_their_class_are_not_turned_by_another_positive_class():
    lone, both = (
        Roles("wide", {"y_true": "t"}, (ModelColumns("m", None, scores),))
        for scores in (((None, "s"),), (("no", "a"), ("yes", "b")))
    )
    two, three = read_model(["no", "yes"]), read_model(["a", "b", "c"])
    assert PositiveClasses.from_models([two], lone, False).remedy == "pass --positive no"
    assert "check which class" in PositiveClasses.from_models([two], both, False).remedy
    assert PositiveClasses.from_models([three], lone, False).classes == {}


def read_model(labels):
    dataset = read_predictions(pd.DataFrame({"y_true": labels, "m": labels})).datasets[0]
    return InMemoryModel.from_dataset(dataset, "m", dataset.get_positive_index(None))


def test_only_intervals_wholly_below_one_half_are_worse_than_guessing():
    lines = [("data", "x", "auc", 0.3, 0.2, 0.4), ("data", "y", "auc", 0.45, 0.4, 0.51), ("data", "z", "ks", 0.1, 0.0, 0.2)]
    scores, positives = pd.DataFrame(lines, columns=COLUMNS), PositiveClasses({"data": ("b", "a b")})
    assert positives.select_below_chance(scores)["model"].tolist() == ["x"]
    table = pd.DataFrame({"y_true": ["a b"] * 20 + ["b"] * 20, "x_score": [*range(30, 50), *range(20)]})
    note = next(note for note in judge(table, measures="auc").notes if note.startswith("auc of x, 0 "))
    assert note.endswith("is worse than guessing: perhaps the scores are those of the other class; pass --positive 'a b'.")
