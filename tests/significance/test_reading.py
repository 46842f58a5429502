"""Reading of scores: layouts, measures, and errors that name the value and the line."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from fairtrial import compare
from fairtrial.errors import InputError
from fairtrial.significance import friedman, posthoc, quade
from fairtrial.significance.reading import read_scores

WIDE = pd.DataFrame({"dataset": ["iris", "wine", "glass"], "tree": [0.9, 0.8, 0.6], "bayes": [0.95, 0.7, 0.65]})


def tidy(frame=WIDE):
    return frame.melt("dataset", var_name="learner", value_name="value")


def write(tmp_path, text, name="scores.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_all_formats_give_the_same_scores(tmp_path):
    WIDE.to_csv(tmp_path / "a.csv", index=False)
    WIDE.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    WIDE.to_parquet(tmp_path / "a.parquet")
    tidy().to_csv(tmp_path / "b.csv", index=False)
    sources = [WIDE, WIDE.set_index("dataset"), tidy(), *sorted(tmp_path.iterdir())]
    expected = WIDE.set_index("dataset")
    for source in sources:
        pd.testing.assert_frame_equal(read_scores(source).to_wide(), expected)


def test_published_tables(find_published):
    scores = read_scores(find_published("garcia_herrera_2008_accuracy"))
    assert str(scores.design) == "5 learners, 30 data sets"
    assert scores.design.datasets[0] == "Abalone*"
    assert [guess.kind for guess in scores.guesses] == ["wide_table"]
    domains = read_scores(str(find_published("tutorial_friedman_domains")))
    assert domains.design.learners == ("fA", "fB", "fC")
    assert domains.design.datasets[-1] == "10"


def test_a_matrix_and_a_frame_without_names():
    assert read_scores(np.eye(3), rows="datasets").design.learners == ("0", "1", "2")
    scores = read_scores(pd.DataFrame({"a": [1.0, 2], "b": [2.0, 4]}), rows="datasets")
    assert scores.design.datasets == ("0", "1")
    assert [guess.kind for guess in scores.guesses] == ["wide_table_unnamed"]


def test_wide_with_folds():
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.4]})
    scores = read_scores(frame)
    assert str(scores.design) == "2 learners, 1 data set, 3 folds"
    both = read_scores(frame.assign(dataset="iris", run=["x", "x", "y"]))
    assert (both.design.datasets, both.design.repeats, both.design.folds) == (("iris",), 2, 2)


@pytest.mark.parametrize("index", [[5, 3, 9], [0, 0, 1], ["x", "y", "z"]])
def test_row_labels_never_turn_splits_into_data_sets(index):
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.4]}, index=index)
    assert str(read_scores(frame).design) == "2 learners, 1 data set, 3 folds"


def test_an_index_that_repeats_names_names_data_sets():
    frame = pd.DataFrame({"fold": [1, 2, 1], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.4]}, index=["iris", "iris", "wine"])
    assert read_scores(frame).design.datasets == ("iris", "wine")


def test_tidy_with_repeats_folds_and_other_names():
    frame = tidy().rename(columns={"learner": "Model", "value": "Score", "dataset": "Data Set"})
    frame = pd.concat([frame.assign(Repeat=r, Fold=f) for r in (1, 2) for f in (1, 2, 3)])
    assert str(read_scores(frame).design) == "2 learners, 3 data sets, 2 repeats, 3 folds"


def test_a_column_named_as_a_measure():
    scores = read_scores(tidy().rename(columns={"value": "accuracy"}))
    assert scores.measure == "accuracy"
    two = tidy().rename(columns={"value": "accuracy"}).assign(auc=0.5)
    with pytest.raises(InputError, match="measure="):
        read_scores(two)
    assert read_scores(two, measure="accuracy").measure == "accuracy"


def test_one_of_several_measures():
    frame = pd.concat([tidy().assign(measure="auc"), tidy().assign(measure="brier", value=lambda f: 1 - f["value"])])
    with pytest.raises(InputError, match="auc and brier: pass measure="):
        read_scores(frame)
    scores = read_scores(frame, measure="brier")
    assert scores.measure == "brier"
    assert scores.to_wide().loc["iris", "tree"] == pytest.approx(0.1)
    with pytest.raises(InputError, match=r"'brierr'.*'brier'"):
        read_scores(frame, measure="brierr")


def test_scores_pass_through():
    scores = read_scores(WIDE)
    assert read_scores(scores) is scores


BAD = {
    "one learner": ("dataset,tree\niris,0.9\nwine,0.8\n", "'tree'"),
    "no learner": ("dataset,fold\niris,1\nwine,2\n", "learners"),
    "one data set": ("dataset,tree,bayes\niris,0.9,0.8\n", "'iris'"),
    "a word": ("dataset,tree,bayes\niris,0.9,0.8\nwine,0.7,high\n", "'high' in line 3, column 'bayes'"),
    "an infinity": ("dataset,tree,bayes\niris,0.9,0.8\nwine,0.7,inf\n", "'inf' in line 3, column 'bayes'"),
    "learner twice": ("dataset,tree,tree\niris,0.9,0.8\nwine,0.7,0.6\n", "'tree'"),
    "data set twice": ("dataset,tree,bayes\niris,0.9,0.8\niris,0.7,0.6\n", "'iris'"),
    "all equal": ("dataset,tree,bayes\niris,0.5,0.5\nwine,0.5,0.5\n", "0.5"),
    "all missing": ("dataset,tree,bayes\niris,,\nwine,,\n", "missing"),
    "empty": ("", "scores.csv"),
    "header only": ("dataset,tree,bayes\n", "1 row in '.*scores.csv'"),
    "no name": ("dataset,tree,bayes\niris,0.9,0.8\n,0.7,0.6\n", "line 3, column 'dataset'"),
    "unknown column": ("dataset,learner,value,condition\niris,a,1,clean\niris,b,2,clean\n", "'condition'"),
    "no value": ("dataset,learner,fold\niris,a,1\niris,b,2\n", "'value'"),
    "transposed": ("model,iris,wine\na,1,2\nb,2,1\n", "'model'"),
    "score twice": ("dataset,learner,value\niris,a,1\niris,a,2\niris,b,2\n", "'a' on data set 'iris'.*line 3"),
    "split twice": ("dataset,fold,a,b\niris,1,1,2\niris,1,2,3\n", "'iris', fold 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_value_in_one_line(case, tmp_path):
    text, value = BAD[case]
    with pytest.raises(InputError, match=value) as caught:
        read_scores(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"'.*nowhere.csv'"):
        read_scores(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("source", [3, [1, 2], np.zeros((2, 2, 2)), [[1, 2], [3]]])
def test_objects_that_are_not_tables_are_refused(source):
    with pytest.raises(InputError, match=f"got {type(source).__name__}"):
        read_scores(source)


def test_an_empty_frame():
    with pytest.raises(InputError, match=r"\(0, 0\)"):
        read_scores(pd.DataFrame())


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 5)
    .flatmap(lambda k: st.lists(st.lists(st.integers(0, 1000), min_size=k, max_size=k), min_size=2, max_size=6))
    .filter(lambda rows: len({value for row in rows for value in row}) > 1)
)
def test_wide_and_tidy_agree(rows):
    wide = pd.DataFrame(rows, columns=[f"learner {i}" for i in range(len(rows[0]))]) / 1000
    wide.insert(0, "dataset", [f"set {i}" for i in range(len(rows))])
    shuffled = tidy(wide).sample(frac=1, random_state=0)
    first, second = read_scores(wide).to_wide(), read_scores(shuffled).to_wide()
    pd.testing.assert_frame_equal(first, second.loc[first.index, first.columns])


def test_row_numbers_are_not_a_learner_but_a_column_of_fractions_named_run_is():
    numbered = read_scores(pd.DataFrame({"id": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]}), rows="datasets")
    assert numbered.learners == ("a", "b")
    table = pd.DataFrame({"x": [0, 1, 2, 3], "a": [0.1, 0.2, 0.3, 0.1], "b": [0.2, 0.3, 0.5, 0.9]})
    counted = read_scores(table, rows="datasets")
    assert counted.learners == ("a", "b")
    named = read_scores(pd.DataFrame({"dataset": ["p", "q"], "Run": [0.2, 0.3], "b": [0.4, 0.5]}))
    assert named.learners == ("Run", "b")


# --- What the rows are ---


UNNAMED = pd.DataFrame(np.random.default_rng(0).normal(0.8, 0.05, (10, 3)), columns=["tree", "bayes", "svm"])


@pytest.mark.parametrize(
    "table",
    [
        UNNAMED,
        UNNAMED.to_numpy(),
        UNNAMED.iloc[3:],
        UNNAMED.sample(frac=1, random_state=0),
        UNNAMED.assign(id=range(1, 11)),
        pl.from_pandas(UNNAMED),
        pa.Table.from_pandas(UNNAMED),
    ],
)
def test_rows_without_names_are_ambiguous(table):
    for function in (read_scores, compare):
        with pytest.raises(InputError, match=r"rows='datasets'.*rows='folds'"):
            function(table)


def test_rows_of_a_file_without_names_are_ambiguous(tmp_path):
    for index in (True, False):
        UNNAMED.to_csv(tmp_path / "s.csv", index=index)
        with pytest.raises(InputError, match="rows='datasets'"):
            read_scores(tmp_path / "s.csv")
        assert read_scores(tmp_path / "s.csv", rows="datasets").learners == ("tree", "bayes", "svm")


def test_rows_decide_between_friedman_and_the_corrected_resampled_t_test():
    by_set, by_fold = (compare(UNNAMED[["tree", "bayes"]], rows=rows) for rows in ("datasets", "folds"))
    difference = UNNAMED["tree"] - UNNAMED["bayes"]
    assert by_set.p_value == pytest.approx(scipy.stats.wilcoxon(difference).pvalue)
    # Nadeau and Bengio (2003): the variance is multiplied by 1 / k + 1 / (k - 1) for k folds.
    statistic = difference.mean() / np.sqrt((1 / 10 + 1 / 9) * difference.var())
    assert by_fold.choice == "corrected_resampled_t"
    assert by_fold.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(statistic), 9))
    assert by_fold.p_value == compare(UNNAMED[["tree", "bayes"]].assign(fold=range(10))).p_value


@pytest.mark.parametrize(
    ("names", "design"),
    [
        ("fold {}", "3 learners, 1 data set, 10 folds"),
        ("cv_{}", "3 learners, 1 data set, 10 folds"),
        ("run {}", "3 learners, 1 data set, 10 repeats"),
        ("set {}", "3 learners, 10 data sets"),
        ("{}.csv", "3 learners, 10 data sets"),
    ],
)
def test_names_say_whether_rows_are_data_sets_or_folds(names, design):
    table = UNNAMED.set_axis([names.format(i) for i in range(10)])
    assert str(read_scores(table).design) == design
    assert str(read_scores(table, rows="folds").design).startswith("3 learners, 1 data set, 10")


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (UNNAMED.assign(fold=range(10)), "datasets"),
        (tidy(), "folds"),
        (UNNAMED.set_axis([f"fold {i}" for i in range(10)]), "datasets"),
        (UNNAMED, "sets"),
    ],
)
def test_rows_must_not_contradict_the_table(table, rows):
    with pytest.raises(InputError, match="rows must"):
        read_scores(table, rows=rows)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_frames_of_all_libraries_keep_the_names_of_the_learners(convert):
    named = UNNAMED.assign(dataset=[f"set {i}" for i in range(10)])
    pd.testing.assert_frame_equal(read_scores(convert(named)).tidy, read_scores(named).tidy)
    assert compare(convert(UNNAMED), rows="datasets").p_value == compare(UNNAMED, rows="datasets").p_value
    for test in (friedman, quade):
        assert test(convert(UNNAMED)).p_value == test(UNNAMED).p_value
    assert posthoc(convert(UNNAMED), method="holm").frame().equals(posthoc(UNNAMED, method="holm").frame())


# --- Predictions ---


@pytest.mark.parametrize(
    "columns",
    [
        {"y_true": [0, 1] * 20, "tree": [0.5, 0.25] * 20, "bayes": [0.75, 0.5] * 20},
        {"id": range(40), "truth": ["no", "yes"] * 20, "tree": ["no", "yes"] * 20, "bayes": ["no", "no"] * 20},
        {"churned": [0, 1] * 20, "tree_proba": [0.5, 0.25] * 20, "bayes_proba": [0.75, 0.5] * 20},
        {"model": ["a", "b"] * 20, "target": [0, 1] * 20, "score": [0.75, 0.5] * 20},
        {"row": range(40), "actual": ["no", "yes"] * 20, "predicted": ["no", "yes"] * 20},
    ],
)
def test_predictions_are_recognised_and_judge_is_named(columns):
    for rows in (None, "datasets"):
        with pytest.raises(InputError, match=r"got predictions with true labels in column '\w+': use judge"):
            compare(pd.DataFrame(columns), rows=rows)


def test_a_table_of_targets_is_not_a_file_of_predictions():
    table = UNNAMED.assign(target=[f"target {i}" for i in range(10)])[["target", "tree", "bayes"]]
    assert len(read_scores(table).design.datasets) == 10


# Rows and columns that contain no scores of a learner.

NAMED = pd.DataFrame(
    {
        "dataset": ["iris", "wine", "glass", "heart", "sonar", "vowel"],
        "rf": [0.619, 0.778, 0.695, 0.663, 0.683, 0.887],
        "xgb": [0.644, 0.773, 0.671, 0.647, 0.659, 0.872],
        "svm": [0.621, 0.737, 0.644, 0.628, 0.665, 0.85],
    }
)
LEARNERS = ["rf", "xgb", "svm"]


def append(name, values):
    return pd.concat([NAMED, pd.DataFrame([[name, *values]], columns=NAMED.columns)], ignore_index=True)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Average", NAMED[LEARNERS].mean().round(3)),
        ("avg.", NAMED[LEARNERS].mean().round(2)),
        ("Mean rank", NAMED[LEARNERS].rank(axis=1, ascending=False).mean().round(2)),
        ("Std", NAMED[LEARNERS].std().round(3)),
        ("Median", NAMED[LEARNERS].median()),
        ("W/T/L", ["5/0/1", "1/0/5", "0/0/6"]),
        ("Total", NAMED[LEARNERS].sum().round(3)),
        ("Rank", NAMED[LEARNERS].rank(axis=1, ascending=False).mean().round(2)),
        ("max", NAMED[LEARNERS].max()),
    ],
)
def test_a_row_that_summarizes_the_others_is_not_a_data_set(tmp_path, name, values):
    frame = append(name, list(values))
    frame.to_csv(tmp_path / "scores.csv", index=False)
    for source in (frame, frame.set_index("dataset"), tmp_path / "scores.csv"):
        verdict = compare(source, better="max")
        assert verdict.table.datasets == tuple(NAMED["dataset"])
        assert [(caveat.kind, caveat["rows"]) for caveat in verdict.caveats] == [("summary_rows", (name,))]
        assert f"Left out 1 row ({name!r})" in str(verdict)
    pd.testing.assert_frame_equal(read_scores(frame).to_wide(), NAMED.set_index("dataset"))


def test_several_summary_rows_and_those_of_folds_are_left_out():
    frame = pd.concat([append("Mean", NAMED[LEARNERS].mean()), append("SD", NAMED[LEARNERS].std()).tail(1)])
    assert read_scores(frame).exclusions[0]["rows"] == ("Mean", "SD")
    folds = append("mean", NAMED[LEARNERS].mean()).assign(dataset=[*(f"fold {i}" for i in range(6)), "mean"])
    assert str(read_scores(folds).design) == "3 learners, 1 data set, 6 folds"
    numbered = folds.rename(columns={"dataset": "fold"}).assign(fold=[1, 2, 3, 4, 5, 6, "mean"])
    assert str(read_scores(numbered).design) == "3 learners, 1 data set, 6 folds"
    long = append("Average", NAMED[LEARNERS].mean()).melt("dataset", var_name="learner", value_name="value")
    assert "Average" not in read_scores(long).design.datasets


def test_data_sets_and_learners_with_ambiguous_names_stay():
    assert "total" in read_scores(append("total", [0.5, 0.6, 0.7])).design.datasets
    assert "Meander" in read_scores(append("Meander", NAMED[LEARNERS].mean())).design.datasets
    long = NAMED.rename(columns={"svm": "mean"}).melt("dataset", var_name="learner", value_name="value")
    assert read_scores(long[["learner", "dataset", "value"]]).learners == ("rf", "xgb", "mean")
    assert read_scores(NAMED.rename(columns={"svm": "best", "rf": "average"})).learners == ("average", "xgb", "best")


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("n_rows", [150, 178, 214, 270, 208, 990], "count_columns"),
        ("k", [4, 13, 9, 13, 60, 10], "count_columns"),
        ("best", NAMED[LEARNERS].max(axis=1), "summary_columns"),
        ("Mean", NAMED[LEARNERS].mean(axis=1).round(3), "summary_columns"),
        ("rf_std", [0.02, 0.03, 0.01, 0.02, 0.04, 0.01], "other_columns"),
        ("p-value", [0.2, 0.3, 0.1, 0.2, 0.4, 0.1], "other_columns"),
        ("fit_time", [0.2, 12.0, 0.1, 3.5, 0.4, 0.1], "other_columns"),
    ],
)
def test_a_column_that_cannot_contain_scores_is_left_out(tmp_path, name, values, kind):
    frame = NAMED.assign(**{name: list(values)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    for source in (frame, tmp_path / "table.csv"):
        verdict = compare(source, better="max")
        assert verdict.table.learners == ("rf", "xgb", "svm")
        assert [(caveat.kind, caveat["columns"]) for caveat in verdict.caveats] == [(kind, (name,))]
        assert f"Left out 1 column ({name!r})" in str(verdict)


def test_counts_are_no_scores_in_percent_either_but_whole_scores_are():
    percent = NAMED.assign(**{name: (100 * NAMED[name]).round(1) for name in LEARNERS})
    assert read_scores(percent.assign(instances=[150, 178, 214, 270, 208, 990])).learners == ("rf", "xgb", "svm")
    whole = NAMED.assign(**{name: (100 * NAMED[name]).round(0) for name in LEARNERS})
    assert read_scores(whole.assign(knn=[61, 70, 60, 61, 64, 80])).learners == ("rf", "xgb", "svm", "knn")
