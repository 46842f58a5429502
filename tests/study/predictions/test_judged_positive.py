import pandas as pd

from fairtrial.study.predictions.judged_positive import Positives, guessing_notes, positives_of, worse_than_guessing
from fairtrial.study.predictions.prediction_names import ModelColumns
from fairtrial.study.predictions.prediction_roles import Roles

COLUMNS = ["dataset", "model", "measure", "estimate", "low", "high"]


def test_words_say_which_and_how_and_where_data_sets_differ():
    assert Positives({"a": ("yes", "no")}, given=True).words == "The positive class is 'yes' (as asked for)."
    told = Positives({"a": ("yes", "no"), "b": ("well", "ill"), "c": ("yes", "no")}).words
    assert told.startswith("The positive class is 'yes' on a and c, 'well' on b (the second of two")
    assert Positives({}).words == ""


def test_scores_whose_columns_name_their_class_are_not_turned_by_another_positive_class():
    lone, both = (
        Roles("wide", {"truth": "t"}, (ModelColumns("m", None, scores),))
        for scores in (((None, "s"),), (("no", "a"), ("yes", "b")))
    )
    classes = {"data": (["no", "yes"], 1)}
    assert positives_of(classes, lone, False).remedy == "pass --positive no"
    assert "check which class" in positives_of(classes, both, False).remedy
    assert positives_of({"data": (["a", "b", "c"], None)}, lone, False).classes == {}


def test_only_intervals_wholly_below_one_half_are_worse_than_guessing():
    lines = [("data", "x", "auc", 0.3, 0.2, 0.4), ("data", "y", "auc", 0.45, 0.4, 0.51), ("data", "z", "ks", 0.1, 0.0, 0.2)]
    scores, positives = pd.DataFrame(lines, columns=COLUMNS), Positives({"data": ("b", "a b")})
    assert worse_than_guessing(scores, positives)["model"].tolist() == ["x"]
    assert guessing_notes(scores, positives) == [
        "auc of x, 0.3 (interval 0.2 to 0.4), is worse than guessing: perhaps the scores are those of the other class; "
        "pass --positive 'a b'."
    ]
