import pandas as pd

from fairtrial import judge
from fairtrial.predictions.columns import ModelColumns, Roles
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, PositiveClasses

COLUMNS = ["dataset", "model", "measure", "estimate", "low", "high"]


def read_model(labels):
    dataset = read_predictions(pd.DataFrame({"y_true": labels, "m": labels})).datasets[0]
    return InMemoryModel.from_dataset(dataset, "m", dataset.get_positive_index(None))


def test_the_summary_names_every_positive_class():
    assert PositiveClasses({}).summary == ""
    summary = PositiveClasses({"a": ("yes", "no"), "b": ("well", "ill"), "c": ("yes", "no")}).summary
    assert all(name in summary for name in ("yes", "well", "a", "b", "c"))


def test_another_positive_class_reverses_only_scores_without_a_class():
    unnamed, named = (
        Roles("wide", {"y_true": "t"}, (ModelColumns("m", None, scores),))
        for scores in (((None, "s"),), (("no", "a"), ("yes", "b")))
    )
    two, three = read_model(["no", "yes"]), read_model(["a", "b", "c"])
    assert PositiveClasses.from_models([two], unnamed, False).can_flip
    assert "--positive no" in PositiveClasses.from_models([two], unnamed, False).remedy
    assert not PositiveClasses.from_models([two], named, False).can_flip
    assert PositiveClasses.from_models([three], unnamed, False).classes == {}


def test_only_intervals_entirely_below_one_half_are_below_chance():
    lines = [("data", "x", "auc", 0.3, 0.2, 0.4), ("data", "y", "auc", 0.45, 0.4, 0.51), ("data", "z", "ks", 0.1, 0.0, 0.2)]
    scores, positives = pd.DataFrame(lines, columns=COLUMNS), PositiveClasses({"data": ("b", "a b")})
    assert positives.select_below_chance(scores)["model"].tolist() == ["x"]


def test_an_auc_below_chance_is_noted_with_the_remedy():
    table = pd.DataFrame({"y_true": ["a b"] * 20 + ["b"] * 20, "x_score": [*range(30, 50), *range(20)]})
    (note,) = [note for note in judge(table, measures="auc").notes if note.kind == "below_chance"]
    assert note["models"] == ("x",)
    assert "--positive 'a b'" in note["remedy"]
