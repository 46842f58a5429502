import pandas as pd

from fairtrial.predictions.columns import ModelColumns, Roles
from fairtrial.predictions.statistics import (
    PositiveClasses,
    find_below_chance,
    find_positive_classes,
    format_below_chance_notes,
)

COLUMNS = ["dataset", "model", "measure", "estimate", "low", "high"]


def test_words_say_which_and_how_and_where_data_sets_differ():
    assert PositiveClasses({"a": ("yes", "no")}, specified=True).summary == "The positive class is 'yes' (as asked for)."
    told = PositiveClasses({"a": ("yes", "no"), "b": ("well", "ill"), "c": ("yes", "no")}).summary
    assert told.startswith("The positive class is 'yes' on a and c, 'well' on b (the second of two")
    assert PositiveClasses({}).summary == ""


def test_scores_whose_columns_name_their_class_are_not_turned_by_another_positive_class():
    lone, both = (
        Roles("wide", {"truth": "t"}, (ModelColumns("m", None, scores),))
        for scores in (((None, "s"),), (("no", "a"), ("yes", "b")))
    )
    classes = {"data": (["no", "yes"], 1)}
    assert find_positive_classes(classes, lone, False).remedy == "pass --positive no"
    assert "check which class" in find_positive_classes(classes, both, False).remedy
    assert find_positive_classes({"data": (["a", "b", "c"], None)}, lone, False).classes == {}


def test_only_intervals_wholly_below_one_half_are_worse_than_guessing():
    lines = [("data", "x", "auc", 0.3, 0.2, 0.4), ("data", "y", "auc", 0.45, 0.4, 0.51), ("data", "z", "ks", 0.1, 0.0, 0.2)]
    scores, positives = pd.DataFrame(lines, columns=COLUMNS), PositiveClasses({"data": ("b", "a b")})
    assert find_below_chance(scores, positives)["model"].tolist() == ["x"]
    assert format_below_chance_notes(scores, positives) == [
        "auc of x, 0.3 (interval 0.2 to 0.4), is worse than guessing: perhaps the scores are those of the other class; "
        "pass --positive 'a b'."
    ]
