import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.columns import (
    ModelColumns,
    find_duplicate_labels,
    find_score_class,
    find_wide_models,
    format_labels,
    is_named_probability,
    normalize_name,
)


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
