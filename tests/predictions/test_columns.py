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


def test_columns_of_a_long_table_are_recognized_by_name():
    roles = guess_roles(LONG)
    assert roles.layout == "long"
    assert dict(roles.columns) == {"y_true": "Y_true", "model": "Classifier", "row": "Row ID"}
    assert roles.models[0].label == "label"
    assert roles.models[0].scores == (("a", "p_a"), ("b", "p_b"))
    assert roles.subgroups == ("sex",)
    assert roles.unused == ("shoe",)


def test_given_roles_are_not_guessed():
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
        assert [(model.name, model.label) for model in roles.models] == expected


def test_scores_by_mapping_of_class_and_of_model():
    frame = WIDE.assign(fa=[0.2, 0.3], fb=[0.8, 0.7])
    lone = guess_roles(frame, scores={"a": "fa", "b": "fb"})
    assert lone.layout == "long"
    assert lone.models[0].scores == (("a", "fa"), ("b", "fb"))
    wide = guess_roles(frame, scores={"forest": {"a": "fa", "b": "fb"}}, prediction={"one": "one"})
    assert [(model.name, model.label, model.scores) for model in wide.models] == [
        ("one", "one", ()),
        ("forest", None, (("a", "fa"), ("b", "fb"))),
    ]


@pytest.mark.parametrize(
    ("frame", "given", "match"),
    [
        (LONG, {"y_true": "Y_tru"}, "y_true.*'Y_tru'.*'Y_true'"),
        (LONG.drop(columns=["Y_true", "label"]), {}, "y_true=COLUMN"),
        (WIDE[["y", "extra"]], {}, "prediction=COLUMN"),
        (LONG, {"scores": ["shoe", "p_a"]}, "scores.*'shoe'"),
        (LONG, {"learner": "Classifier"}, "'learner'"),
        (LONG, {"model": "Classifier", "prediction": ["label", "sex"]}, "prediction"),
    ],
)
def test_roles_that_cannot_be_resolved_are_refused(frame, given, match):
    with pytest.raises(InputError, match=match):
        guess_roles(frame, **given)


def test_the_summary_names_every_used_column_and_html_is_escaped():
    roles = guess_roles(WIDE.rename(columns={"one": "<b>"}))
    assert all(name in roles.summary for name in ("y", "<b>", "two"))
    assert "<b>" not in roles._repr_html_()
    assert "&lt;b&gt;" in roles._repr_html_()
