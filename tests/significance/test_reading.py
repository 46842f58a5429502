"""Score files: what is guessed, and the sentence for each kind of bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError
from fairtrial.significance.reading import read_scores

WIDE = pd.DataFrame({"dataset": ["iris", "wine", "glass"], "tree": [0.9, 0.8, 0.6], "bayes": [0.95, 0.7, 0.65]})


def tidy(frame=WIDE):
    return frame.melt("dataset", var_name="learner", value_name="value")


def written(tmp_path, text, name="scores.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_every_format_gives_the_same(tmp_path):
    WIDE.to_csv(tmp_path / "a.csv", index=False)
    WIDE.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    WIDE.to_parquet(tmp_path / "a.parquet")
    tidy().to_csv(tmp_path / "b.csv", index=False)
    sources = [WIDE, WIDE.set_index("dataset"), tidy(), *sorted(tmp_path.iterdir())]
    expected = WIDE.set_index("dataset")
    for source in sources:
        pd.testing.assert_frame_equal(read_scores(source).to_wide(), expected)


def test_published_tables(find_published):
    found = read_scores(find_published("garcia_herrera_2008_accuracy"))
    assert str(found.design) == "5 learners, 30 data sets"
    assert found.design.datasets[0] == "Abalone*"
    assert "the first column" in found.guesses[0]
    domains = read_scores(str(find_published("tutorial_friedman_domains")))
    assert domains.design.learners == ("fA", "fB", "fC")
    assert domains.design.datasets[-1] == "10"


def test_a_matrix_and_a_frame_without_names():
    assert read_scores(np.eye(3)).design.learners == ("0", "1", "2")
    found = read_scores(pd.DataFrame({"a": [1.0, 2], "b": [2.0, 4]}))
    assert found.design.datasets == ("0", "1")
    assert "no names" in found.guesses[0]


def test_wide_with_folds():
    frame = pd.DataFrame({"fold": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.1, 0.4]})
    found = read_scores(frame)
    assert str(found.design) == "2 learners, 1 data set, 3 folds"
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
    found = read_scores(tidy().rename(columns={"value": "accuracy"}))
    assert found.measure == "accuracy"
    two = tidy().rename(columns={"value": "accuracy"}).assign(auc=0.5)
    with pytest.raises(InputError, match="pass measure= to choose"):
        read_scores(two)
    assert read_scores(two, measure="accuracy").measure == "accuracy"


def test_one_of_several_measures():
    frame = pd.concat([tidy().assign(measure="auc"), tidy().assign(measure="brier", value=lambda f: 1 - f["value"])])
    with pytest.raises(InputError, match="must be of one measure, got auc, brier: pass measure="):
        read_scores(frame)
    found = read_scores(frame, measure="brier")
    assert found.measure == "brier"
    assert found.to_wide().loc["iris", "tree"] == pytest.approx(0.1)
    with pytest.raises(InputError, match="did you mean 'brier'"):
        read_scores(frame, measure="brierr")


def test_scores_pass_through():
    found = read_scores(WIDE)
    assert read_scores(found) is found


BAD = {
    "one learner": ("dataset,tree\niris,0.9\nwine,0.8\n", "at least 2 learners to compare, got only 'tree'"),
    "no learner": ("dataset,fold\niris,1\nwine,2\n", "at least 2 learners to compare, got none"),
    "one data set": ("dataset,tree,bayes\niris,0.9,0.8\n", "several data sets, or from repeats or folds of one"),
    "a word": ("dataset,tree,bayes\niris,0.9,0.8\nwine,0.7,high\n", "got 'high' in line 3, column 'bayes'"),
    "an infinity": ("dataset,tree,bayes\niris,0.9,0.8\nwine,0.7,inf\n", "got 'inf' in line 3, column 'bayes'"),
    "learner twice": ("dataset,tree,tree\niris,0.9,0.8\nwine,0.7,0.6\n", "column must occur once in the table, got 'tree'"),
    "data set twice": ("dataset,tree,bayes\niris,0.9,0.8\niris,0.7,0.6\n", "data set must occur once in the table, got 'iris'"),
    "all equal": ("dataset,tree,bayes\niris,0.5,0.5\nwine,0.5,0.5\n", "differ somewhere, got 0.5 in every cell"),
    "all missing": ("dataset,tree,bayes\niris,,\nwine,,0.5\n".replace("0.5", ""), "got none: all cells are missing"),
    "empty": ("", "empty file"),
    "header only": ("dataset,tree,bayes\n", "rows below the header, got none"),
    "no name": ("dataset,tree,bayes\niris,0.9,0.8\n,0.7,0.6\n", "must name its data set, got none in line 3"),
    "unknown column": (
        "dataset,learner,value,condition\niris,a,1,clean\niris,b,2,clean\n",
        "and no others, got 'condition': drop it, or keep the rows of one setting",
    ),
    "no value": ("dataset,learner,fold\niris,a,1\niris,b,2\n", "got no column of numbers: name the column of numbers 'value'"),
    "transposed": ("model,iris,wine\na,1,2\nb,2,1\n", "transpose a table whose column 'model' names rows"),
    "score twice": (
        "dataset,learner,value\niris,a,1\niris,a,2\niris,b,2\n",
        "got learner 'a' on data set 'iris' more than once \\(again in line 3\\): number the repeats",
    ),
    "split twice": (
        "dataset,fold,a,b\niris,1,1,2\niris,1,2,3\n",
        "each split must occur once in the table, got 'iris', fold 1 more than once: number the repeats",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(case, tmp_path):
    text, sentence = BAD[case]
    with pytest.raises(InputError, match=sentence) as caught:
        read_scores(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"must be a file that exists, got '.*nowhere.csv'"):
        read_scores(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("source", [3, [1, 2], np.zeros((2, 2, 2)), [[1, 2], [3]]])
def test_what_is_no_table(source):
    with pytest.raises(InputError, match="a file, a frame or a matrix"):
        read_scores(source)


def test_an_empty_frame():
    with pytest.raises(InputError, match="got an empty table"):
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


def test_row_numbers_are_no_learner_and_a_learner_may_be_called_run():
    numbered = read_scores(pd.DataFrame({"id": [1, 2, 3], "a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]}))
    assert numbered.learners == ("a", "b")
    counted = read_scores(pd.DataFrame({"x": [0, 1, 2, 3], "a": [0.1, 0.2, 0.3, 0.1], "b": [0.2, 0.3, 0.5, 0.9]}))
    assert counted.learners == ("a", "b")
    named = read_scores(pd.DataFrame({"dataset": ["p", "q"], "Run": [0.2, 0.3], "b": [0.4, 0.5]}))
    assert named.learners == ("Run", "b")
