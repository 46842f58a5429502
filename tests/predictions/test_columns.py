import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.columns import guess_roles

LONG = pd.DataFrame(
    {
        "Row ID": [1, 2, 1, 2],
        "Classifier": ["x", "x", "y", "y"],
        "Y_true": ["a", "b", "a", "b"],
        "label": ["a", "a", "b", "b"],
        "p_a": [0.9, 0.6, 0.1, 0.4],
        "p_b": [0.1, 0.4, 0.9, 0.6],
        "sex": ["f", "m", "f", "m"],
        "shoe": [40, 41, 40, 41],
    }
)
WIDE = pd.DataFrame({"y": ["a", "b"], "one": ["a", "a"], "two": ["b", "b"], "extra": [1, 2]})


def test_a_long_table_is_understood_by_its_names():
    roles = guess_roles(LONG)
    assert roles.layout == "long"
    assert dict(roles.columns) == {"y_true": "Y_true", "model": "Classifier", "row": "Row ID"}
    assert roles.models[0].label == "label"
    assert roles.models[0].scores == (("a", "p_a"), ("b", "p_b"))
    assert roles.subgroups == ("sex",)
    assert roles.unused == ("shoe",)


def test_what_is_given_is_not_guessed_and_is_shown_as_given():
    roles = guess_roles(LONG, y_true="label", prediction="Y_true", subgroup="shoe")
    assert roles.columns["y_true"] == "label"
    assert roles.models[0].label == "Y_true"
    assert roles.subgroups == ("shoe",)
    how = roles.frame().set_index("column")["how"]
    assert how[["label", "Y_true", "shoe"]].eq("given").all()
    assert how["Classifier"] == "guessed"
    assert "sex" in roles.unused


def test_a_wide_table_by_mapping_by_list_and_by_guess():
    expected = [("one", "one"), ("two", "two")]
    for given in ({}, {"prediction": ["one", "two"]}, {"prediction": {"one": "one", "two": "two"}}):
        roles = guess_roles(WIDE, **given)
        assert roles.layout == "wide"
        assert [(each.name, each.label) for each in roles.models] == expected


def test_scores_by_mapping_of_class_and_of_model():
    frame = WIDE.assign(fa=[0.2, 0.3], fb=[0.8, 0.7])
    lone = guess_roles(frame, scores={"a": "fa", "b": "fb"})
    assert lone.layout == "long"
    assert lone.models[0].scores == (("a", "fa"), ("b", "fb"))
    wide = guess_roles(frame, scores={"forest": {"a": "fa", "b": "fb"}}, prediction={"one": "one"})
    assert [(one.name, one.label, one.scores) for one in wide.models] == [
        ("one", "one", ()),
        ("forest", None, (("a", "fa"), ("b", "fb"))),
    ]


@pytest.mark.parametrize(
    ("frame", "given", "told"),
    [
        (LONG, {"y_true": "Y_tru"}, "y_true must name a column of the file, got 'Y_tru': did you mean 'Y_true'"),
        (LONG.drop(columns=["Y_true", "label"]), {}, "must have a column of true labels"),
        (WIDE[["y", "extra"]], {}, "must have predicted labels or scores"),
        (LONG, {"scores": ["shoe", "p_a"]}, "must name the class of each column, got 'shoe'"),
        (LONG, {"learner": "Classifier"}, "no role is called 'learner'"),
        (LONG, {"model": "Classifier", "prediction": ["label", "sex"]}, "prediction must name one column"),
    ],
)
def test_what_cannot_be_understood_is_told_in_a_sentence(frame, given, told):
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        guess_roles(frame, **given)


def test_words_and_html_name_every_column_and_escape():
    roles = guess_roles(WIDE.rename(columns={"one": "<b>"}))
    assert all(repr(name) in roles.summary for name in ("y", "<b>", "two", "extra"))
    assert "<b>" not in roles._repr_html_()
    assert "&lt;b&gt;" in roles._repr_html_()
