"""Tests of `fairtrial.predictions.columns`."""

import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.errors import InputError
from fairtrial.predictions.columns import (
    ModelColumns,
    Roles,
    find_duplicate_labels,
    find_score_class,
    find_wide_models,
    format_labels,
    guess_roles,
    is_named_probability,
    normalize_name,
)
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, PositiveClasses

# --- Columns ---


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


# --- Column names ---


@pytest.mark.parametrize(
    "column", ["score_a", "p_a", "proba_a", "score[a]", "prob a", "P(a)", "a_score", "y_score.a", "score_A"]
)
def test_ways_to_name_the_score_of_a_class(column):
    assert find_score_class(column, ["a", "b"]) == "a"


@pytest.mark.parametrize("column", ["score", "forest_score", "score_c", "a", "spa_a"])
def test_names_that_tell_no_class(column):
    assert find_score_class(column, ["a", "b"]) is None


def test_names_of_probabilities():
    said = {name: is_named_probability(name) for name in ("p_a", "forest_proba", "prob[a]", "P", "score_a", "price", "forest")}
    assert said == {
        "p_a": True,
        "forest_proba": True,
        "prob[a]": True,
        "P": True,
        "score_a": False,
        "price": False,
        "forest": False,
    }


def test_simple_names_and_label_texts():
    assert normalize_name("Y_True") == normalize_name("y-true") == normalize_name("y true") == "ytrue"
    assert format_labels(pd.Series([1.0, 2.0, None])) == ["1", "2"]
    assert format_labels(pd.Series([1.5])) == ["1.5"]


def models(**columns):
    frame = pd.DataFrame(columns)
    return find_wide_models(frame, list(columns), ["a", "b"])


def test_wide_columns_by_name_and_contents():
    found = models(
        forest=["a", "b"],
        forest_score=[0.2, 0.4],
        **{"svm[a]": [0.5, 0.5], "svm[b]": [0.5, 0.5]},
        pred_tree=["a", "a"],
        age=[3, 4],
    )
    assert found == (
        ModelColumns("forest", "forest", ((None, "forest_score"),)),
        ModelColumns("svm", None, (("a", "svm[a]"), ("b", "svm[b]"))),
        ModelColumns("tree", "pred_tree", ()),
    )


def test_a_suffix_is_a_class_only_if_every_class_has_one():
    whole = models(nb_a=[0.1, 0.2], nb_b=[0.9, 0.8])
    assert whole == (ModelColumns("nb", None, (("a", "nb_a"), ("b", "nb_b"))),)
    assert [model.name for model in models(nb_a=[0.1, 0.2])] == ["nb_a"]


def test_numbers_are_models_only_if_nothing_else_is():
    assert [model.name for model in models(x=[0.1, 0.2], y=[0.3, 0.4])] == ["x", "y"]
    assert [model.name for model in models(x=[0.1, 0.2], tree=["a", "b"])] == ["tree"]
    assert models(age=[30, 40]) == ()


def test_a_text_cell_in_a_score_column_is_refused():
    frame = pd.DataFrame({"forest_proba": [0.1, "n/a", 0.3], "tree_proba": [0.1, 0.2, 0.3]}).astype({"forest_proba": object})
    with pytest.raises(InputError, match=r"'forest'.*'n/a'.*'forest_proba'"):
        find_wide_models(frame, list(frame), ["a", "b"])
    frame["forest_proba"], frame["decision_notes"] = [0.5, 0.6, 0.7], ["late", "early", "late"]
    assert [model.name for model in find_wide_models(frame, list(frame), ["a", "b"])] == ["forest", "tree"]


def test_one_and_zero_are_true_and_false():
    assert find_duplicate_labels(["1"], ["False", "True"]) == {"1": "True"}
    assert find_duplicate_labels(["TRUE", "FALSE"], ["0", "1"]) == {"TRUE": "1", "FALSE": "0"}
    assert find_duplicate_labels(["0", "1", "2"], ["False", "True"]) == {}
    assert find_duplicate_labels(["True"], ["False", "True"]) == {}
    assert find_duplicate_labels(["0", "1"], ["a", "b"]) == {}


# --- Unused columns ---


def test_a_column_with_an_unknown_label_is_not_used_and_noted(judge_table):
    table = pd.DataFrame({"y_true": ["yes", "no"] * 20, "tree": ["yes", "no"] * 20, "svm": ["yes", "no", "maybe", "no"] * 10})
    judgement = judge_table(table)
    assert judgement.roles.unused == ("svm",)
    (note,) = [note for note in judgement.notes if note.kind == "unused_unknown_label"]
    assert (note["column"], note["label"]) == ("svm", "maybe")


# --- Positive classes ---


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
