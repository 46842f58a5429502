"""Tests of `fairtrial.predictions.columns`."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import roc_auc_score

from fairtrial import judge
from fairtrial.errors import InputError
from fairtrial.predictions.columns import (
    ModelColumns,
    Roles,
    find_duplicate_labels,
    find_score_class,
    find_usual_positive,
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
    for specified in ({}, {"prediction": ["one", "two"]}, {"prediction": {"one": "one", "two": "two"}}):
        roles = guess_roles(WIDE, **specified)
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
    (note,) = [note for note in judge(table, measures="auc", positive="b").notes if note.kind == "below_chance"]
    assert note["models"] == ("x",)
    assert "--positive 'a b'" in note["remedy"]


def make_scores(positive, negative, names=("a_score", "b_score"), rows=200):
    """Scores that rank the positive class first, with different noise."""
    rng = np.random.default_rng(0)
    is_positive = rng.random(rows) < 0.3
    columns = {name: is_positive + (1 + i) * rng.normal(size=rows) for i, name in enumerate(names)}
    return pd.DataFrame({"y_true": np.where(is_positive, positive, negative), **columns})


@pytest.mark.parametrize("measures", [None, "brier", "accuracy", "average_precision"])
def test_no_winner_is_declared_if_every_model_ranks_the_other_class_first(judge_table, measures):
    table = make_scores("ash", "oak")
    table[["a_score", "b_score"]] = 1 / (1 + np.exp(-table[["a_score", "b_score"]]))
    message = r"every model ranks 'ash' above 'oak', which is the positive class here\. Pass positive='ash'\."
    with pytest.raises(InputError, match=message):
        judge_table(table, measures=measures)
    judgement = judge_table(table, measures="auc", positive="ash")
    expected = [roc_auc_score(table["y_true"] == "ash", table[name]) for name in ("a_score", "b_score")]
    assert judgement.scores["estimate"].tolist() == pytest.approx(expected)
    assert judge_table(table, measures="auc", positive="oak").findings  # the user insists


def test_one_reversed_model_is_noted_and_does_not_stop_the_others(judge_table):
    table = make_scores("oak", "elm").assign(c_score=lambda frame: -frame["a_score"])
    judgement = judge_table(table, measures="auc")
    (note,) = [note for note in judgement.notes if note.kind == "below_chance"]
    assert note["models"] == ("c",)
    outcomes = judgement.pairs.set_index(["first", "second"])["outcome"]
    assert outcomes["a", "c"] == outcomes["b", "c"] == "cannot be decided"
    assert outcomes["a", "b"] != "cannot be decided"


@pytest.mark.parametrize("positive", [None, "oak", "elm"])
@pytest.mark.parametrize("measures", [None, "brier", "accuracy"])
def test_a_model_with_inverted_scores_neither_wins_nor_loses(judge_table, measures, positive):
    table = make_scores("oak", "elm")
    table[["a_score", "b_score"]] = 1 / (1 + np.exp(-table[["a_score", "b_score"]]))
    table["a_score"] = 1 - table["a_score"]
    judgement = judge_table(table, measures=measures, positive=positive)
    assert judgement.pairs["outcome"].tolist() == ["cannot be decided"]
    assert "beats" not in judgement.summary[0]
    (note,) = [note for note in judgement.notes if note.kind == "below_chance"]
    name = "b" if positive == "elm" else "a"
    assert note["models"] == (name,)
    assert f"score column of {name}" in note["remedy"]


def test_inverted_scores_do_not_matter_if_the_file_has_predicted_labels(judge_table):
    table = make_scores("oak", "elm").assign(a_score=lambda frame: -frame["a_score"], a=lambda frame: frame["y_true"])
    judgement = judge_table(table.assign(b="elm"), measures="accuracy")
    assert judgement.pairs["outcome"].tolist() == ["better"]


def test_inverted_scores_prevent_the_comparison_over_folds():
    table = make_scores("oak", "elm").assign(b_score=lambda frame: -frame["b_score"], fold=lambda frame: frame.index % 5)
    judgement = judge(table, measures="auc", resamples=20)
    assert judgement.verdict is None
    assert "inverted" in next(note["reason"] for note in judgement.notes if note.kind == "no_comparison")


@pytest.mark.parametrize(
    ("positive", "negative"),
    [("fraud", "legit"), ("churn", "no churn"), ("+", "-"), ("Default", "Paid"), ("malignant", "other"), ("attack", "normal")],
)
def test_the_usual_name_of_a_positive_class_is_used_and_reported(judge_table, positive, negative):
    table = make_scores(positive, negative)
    judgement = judge_table(table, measures="auc")
    assert judgement.positives.classes == {"data": (positive, negative)}
    assert f"positive class {positive}" in str(judgement)
    assert judgement.scores["estimate"][0] == pytest.approx(roc_auc_score(table["y_true"] == positive, table["a_score"]))


@pytest.mark.parametrize("names", [("a_p_ash", "b_p_ash"), ("a_proba(ash)", "b_proba(ash)"), ("a_ash_score", "b_ash_score")])
def test_score_columns_name_the_positive_class(judge_table, names):
    table = make_scores("ash", "oak", names)
    table[list(names)] = 1 / (1 + np.exp(-table[list(names)]))
    judgement = judge_table(table, measures="auc")
    assert judgement.positives.classes == {"data": ("ash", "oak")}
    assert "positive class ash (named by the score columns)" in " ".join(str(judgement).split())
    assert judgement.scores["model"].tolist() == ["a", "b"]


@given(st.lists(st.sampled_from(["1", "2", "0", "a", "yes", "no", "fraud", "f", "t", "n", "y", "-1"]), min_size=2, max_size=2))
def test_the_choice_of_a_positive_class_does_not_depend_on_the_order(labels):
    if labels[0] != labels[1]:
        assert find_usual_positive(labels) == find_usual_positive(labels[::-1])


# --- Labels in another coding ---


CODINGS = [("No", "Yes"), ("0", "1"), ("false", "true"), ("FALSE", "TRUE"), ("-1", "1"), ("neg", "pos"), ("n", "y")]


@pytest.mark.parametrize("predicted", CODINGS)
@pytest.mark.parametrize("true", CODINGS)
def test_labels_in_another_coding_are_matched_and_reported(judge_table, true, predicted):
    rng = np.random.default_rng(1)
    y_true, y_pred = rng.integers(0, 2, (2, 60))
    table = pd.DataFrame(
        {"y_true": np.array(true)[y_true], "tree_pred": np.array(predicted)[y_pred], "tree_proba": rng.random(60)}
    )
    judgement = judge_table(table, measures="accuracy", positive=judge_table(table, measures="accuracy").classes["class"].max())
    assert judgement.scores["estimate"].tolist() == [pytest.approx((y_true == y_pred).mean())]
    kinds = {note.kind for note in judgement.notes}
    assert not kinds & {"missing_labels", "unknown_label", "class_never_predicted", "labels_from_probabilities"}


@given(st.permutations(range(3)), st.sampled_from([str.upper, str.title, lambda label: f" {label} "]))
def test_a_mapping_of_labels_is_one_to_one(order, change):
    classes = ["ash", "elm", "oak"]
    labels = [change(classes[i]) for i in order]
    assert find_duplicate_labels(labels, classes) == {change(name): name for name in classes}


@pytest.mark.parametrize(
    "labels",
    [["good", "bad"], ["1", "2"], ["True", "true"], ["Yes", "yes"], ["yes", "maybe"], []],
)
def test_an_ambiguous_coding_is_not_matched(labels):
    assert find_duplicate_labels(labels, ["0", "1"] if "True" in labels or "Yes" in labels else ["no", "yes"]) == {}


@pytest.mark.parametrize(("y_true", "predicted"), [([0, 1], [1, 2]), ([0, 1], ["good", "bad"]), ([0, 1, 2], [1, 2, 3])])
def test_labels_that_cannot_be_matched_are_refused_and_not_called_missing(judge_table, y_true, predicted):
    table = pd.DataFrame(
        {"y_true": y_true * 20, "tree_pred": predicted * 20, "tree_proba": [0.2, 0.7, 0.4, 0.6, 0.1] * (4 * len(y_true))}
    )
    with pytest.raises(InputError, match=rf"'tree'.* labels of y_true \(0.*got '({predicted[0]}|{predicted[-1]})'"):
        judge_table(table)


def test_a_class_that_is_predicted_but_never_true_counts_as_an_error(judge_table):
    table = pd.DataFrame({"y_true": [0, 1, 2] * 20, "tree_pred": [0, 1, 7] * 20})
    judgement = judge_table(table, measures="accuracy")
    assert judgement.scores["estimate"].tolist() == [pytest.approx(2 / 3)]
    assert {"unknown_label", "class_never_predicted"} <= {note.kind for note in judgement.notes}


# --- Common names of columns ---


SCORES = [0.2, 0.7, 0.4, 0.6, 0.1, 0.9]


@pytest.mark.parametrize("name", ["y_test", "actual", "target", "Y_Test", "actuals", "churned"])
def test_columns_of_true_labels_are_recognised(judge_table, name):
    judgement = judge_table(pd.DataFrame({name: [0, 1] * 30, "sex": ["f", "m"] * 30, "score": SCORES * 10}), measures="auc")
    assert judgement.roles.columns["y_true"] == name
    assert f"true labels {name}" in str(judgement)


@pytest.mark.parametrize("name", ["pred_proba", "y_score", "prob_1", "p(yes)", "y_pred_proba", "proba_1", "pred", "p_yes"])
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_columns_of_scores_are_recognised(judge_table, name, labels):
    judgement = judge_table(pd.DataFrame({"y_true": list(labels) * 30, name: SCORES * 10}), measures="auc")
    assert judgement.scores["model"].tolist() == ["model"]
    assert judgement.scores["estimate"].tolist() == [roc_auc_score([0, 1] * 30, SCORES * 10)]


@pytest.mark.parametrize(
    "pattern", ["{}_pred_proba", "{}_y_score", "{}_prob_1", "{}_p(yes)", "pred_proba_{}", "p_yes_{}", "{}_pred"]
)
def test_scores_of_several_models_are_recognised(judge_table, pattern):
    table = pd.DataFrame(
        {"y_true": ["no", "yes"] * 30, pattern.format("a"): SCORES * 10, pattern.format("b"): SCORES[::-1] * 10}
    )
    assert judge_table(table, measures="auc", positive="yes").scores["model"].tolist() == ["a", "b"]


def test_numbered_models_are_not_scores_of_a_class():
    table = pd.DataFrame({"y_true": [0, 1] * 3, "model_1_proba": SCORES, "model_2_proba": SCORES})
    assert [model.name for model in guess_roles(table).models] == ["model_1", "model_2"]


def test_a_column_that_looks_like_a_prediction_is_never_dropped_silently(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 30, "a_pred": [0, 1] * 30, "svm_out": SCORES * 10, "b_pred": ["x", "y", "z"] * 20})
    notes = {note.kind: note for note in judge_table(table, measures="accuracy").notes}
    assert notes["unused_probabilities"]["columns"] == ("svm_out",)
    assert notes["unused_prediction"]["column"] == "b_pred"


# --- Row ids ---


@pytest.mark.parametrize("name", ["customer_id", "patientId", "transaction", "UUID"])
def test_a_column_of_ids_pairs_the_rows_of_a_long_file(judge_table, name):
    wide = make_scores("yes", "no")
    wide[name] = [f"c{i}" for i in range(len(wide))]
    long = wide.melt([name, "y_true"], ["a_score", "b_score"], "model", "score").sample(frac=1, random_state=0)
    judgement, expected = judge_table(long, measures="auc"), judge_table(wide, measures="auc")
    assert judgement.roles.columns["row"] == name
    assert dict(zip(judgement.findings[0].names, judgement.findings[0].values, strict=True)) == pytest.approx(
        dict(zip(["a_score", "b_score"], expected.scores["estimate"], strict=True))
    )
    assert judgement.findings[0].pairs[0].difference == pytest.approx(expected.findings[0].pairs[0].difference)


def test_ids_that_repeat_with_other_content_or_are_missing_do_not_identify_rows(judge_table):
    table = make_scores("yes", "no").assign(customer=lambda frame: np.arange(len(frame)) // 2)
    assert judge_table(table, measures="auc").roles.get("row") is None
    table["customer"] = [None, *map(str, range(len(table) - 1))]
    assert judge_table(table, measures="auc").roles.get("row") is None


@pytest.mark.parametrize("name", ["id", "customer_id"])
def test_rows_that_are_repeated_exactly_count_once_and_are_reported(judge_table, name):
    table = make_scores("yes", "no")
    table.insert(0, name, range(len(table)))
    judgement = judge_table(pd.concat([table, table.head(30)]), measures="auc")
    assert judgement.findings[0].n == len(table)
    assert judgement.scores["estimate"].tolist() == judge_table(table, measures="auc").scores["estimate"].tolist()
    (note,) = [note for note in judgement.notes if note.kind == "duplicated_rows"]
    assert note["lines"] == 30


def test_lines_that_are_repeated_exactly_are_reported_without_ids(judge_table):
    table = make_scores("yes", "no")
    (note,) = [note for note in judge_table(pd.concat([table] * 2), measures="auc").notes if note.kind == "duplicated_lines"]
    assert note["lines"] == len(table)
    for few in (table.round(0), table.assign(tree=table["y_true"])[["y_true", "tree"]]):
        assert "duplicated_lines" not in {note.kind for note in judge_table(few, measures="accuracy").notes}


# --- Unknown answers, spellings, percentages, attributes and missing true labels ---


def make_answers(**columns):
    labels = ["cat", "dog", "bird"] * 20
    return pd.DataFrame({"id": range(60), "label": labels, "net": labels[1:] + labels[:1], **columns})


def list_kinds(judgement):
    return [note.kind for note in judgement.notes]


def test_one_unknown_answer_does_not_remove_a_model(judge_table):
    judgement = judge_table(make_answers(vit=["I cannot answer", *(["cat", "dog", "bird"] * 20)[1:]]), measures="accuracy")
    assert judgement.findings[0].names == ("vit", "net")
    assert judgement.findings[0].values[0] == pytest.approx(59 / 60)
    (note,) = [note for note in judgement.notes if note.kind == "unknown_label"]
    assert (note["models"], note["label"]) == (("vit",), "I cannot answer")
    assert "'I cannot answer'" in str(judgement)


def test_many_unknown_answers_are_one_note(judge_table):
    answers = [f"refusal {i}" if i < 5 else label for i, label in enumerate(["cat", "dog", "bird"] * 20)]
    judgement = judge_table(make_answers(vit=answers), measures="accuracy")
    (note,) = [note for note in judgement.notes if note.kind == "unknown_labels"]
    assert (note["models"], note["labels"]) == (("vit",), 5)
    assert "unknown_label" not in list_kinds(judgement)


def test_spellings_that_differ_in_case_only_are_matched_and_reported(judge_table):
    spelled = ["Cat", *(["cat", "dog", "bird"] * 20)[1:59], "bird "]
    judgement = judge_table(make_answers(vit=spelled), measures="accuracy", suffix="parquet")
    assert judgement.findings[0].values[0] == 1.0
    (note,) = [note for note in judgement.notes if note.kind == "matched_labels"]
    assert note["aliases"] == ("Cat = cat", "bird  = bird")


def test_naming_one_of_several_columns_reports_the_others(judge_table):
    table = make_answers(vit=["cat", "dog", "bird"] * 20)
    (note,) = [note for note in judge_table(table, prediction="vit").notes if note.kind == "unnamed_labels"]
    assert note["columns"] == ("net",)
    assert "unnamed_labels" not in list_kinds(judge_table(table, prediction=["vit", "net"]))


@pytest.mark.parametrize("pattern", ["{:.1f}%", "{:.1f} %"])
def test_percentages_are_scores_and_are_reported(judge_table, pattern):
    numbers = np.random.default_rng(0).random(60).round(3)
    table = pd.DataFrame({"y_true": [0, 1] * 30, "svm": SCORES * 10, "cnn": [pattern.format(100 * x) for x in numbers]})
    judgement = judge_table(table, measures="auc")
    estimates = judgement.scores.set_index("model")["estimate"]
    assert estimates["cnn"] == pytest.approx(roc_auc_score(table["y_true"], numbers))
    (note,) = [note for note in judgement.notes if note.kind == "percentages"]
    assert note["columns"] == ("cnn",)
    assert "'cnn'" in str(judgement)


def test_numbers_mixed_with_text_are_not_dropped_silently(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 30, "svm": SCORES * 10, "cnn": ["error", *map(str, (SCORES * 10)[1:])]})
    judgement = judge_table(table, measures="auc")
    (note,) = [note for note in judgement.notes if note.kind == "unused_text"]
    assert (note["column"], note["text"]) == ("cnn", "error")
    assert "'cnn'" in str(judgement)


def test_an_amount_beside_probabilities_is_not_a_model(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 30, "a": SCORES * 10, "b": SCORES[::-1] * 10, "amount": [12.5, 110.25, 7.75] * 20})
    judgement = judge_table(table, measures="auc")
    assert set(judgement.findings[0].names) == {"a", "b"}
    (note,) = [note for note in judgement.notes if note.kind == "unused_numbers"]
    assert note["columns"] == ("amount",)
    assert "'amount'" in str(judgement)
    named = judge_table(table, measures="auc", scores={"a": "a", "amount": "amount"})
    assert set(named.findings[0].names) == {"a", "amount"}
    assert set(judge_table(table.drop(columns=["a", "b"]), measures="auc").findings[0].names) == {"amount"}


def test_percentages_beside_named_probabilities_are_reported(judge_table):
    table = pd.DataFrame({"y_true": ["ham", "spam"] * 30, "p_spam": SCORES * 10, "age": [12.5, 70.25, 7.75] * 20})
    assert [note.kind for note in judge_table(table, measures="auc").notes if note.kind.startswith("unused")] == []
    judgement = judge_table(table.assign(**{"bayes spam %": [12.5, 70.25, 7.75] * 20}), measures="auc")
    (note,) = [note for note in judgement.notes if note.kind == "unused_numbers"]
    assert note["columns"] == ("bayes spam %",)
    assert "'bayes spam %'" in str(judgement)


@pytest.mark.parametrize("marker", ["?", "NA", "n/a", "NaN", "null", "None", "-", ".", " "])
def test_a_true_label_that_means_missing_is_not_a_class(judge_table, marker):
    table = make_answers()
    expected = judge_table(table.iloc[4:], measures="accuracy", suffix="parquet")
    table.loc[:3, "label"] = marker
    with pytest.raises(InputError, match=r"y_true must not be missing.*drop_missing=True"):
        judge_table(table, measures="accuracy", suffix="parquet")
    judgement = judge_table(table, measures="accuracy", suffix="parquet", drop_missing=True)
    assert judgement.scores["estimate"].tolist() == expected.scores["estimate"].tolist()
    assert judgement.class_counts == expected.class_counts


@pytest.mark.parametrize(
    ("labels", "predicted", "options"),
    [
        (["none", "mild", "severe"], ["none", "mild", "mild"], {}),
        (["+", "-"], ["+", "+"], {}),
        (["none", "mild", "severe"], ["mild", "mild", "severe"], {"positive": "none"}),
    ],
)
def test_a_class_called_none_or_minus_is_a_class(judge_table, labels, predicted, options):
    table = pd.DataFrame({"y_true": labels * 20, "tree": predicted * 20})
    judgement = judge_table(table, measures="accuracy", **options)
    assert set(judgement.class_counts["data"]) == set(labels)
