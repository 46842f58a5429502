import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from fairtrial.conditions import ScoreNoise
from fairtrial.errors import InputError


def test_errors_are_uniform_and_touch_every_score():
    scores = np.full((50, 100), 0.5)
    changed = ScoreNoise(0.2).apply(scores, np.zeros(100), rng=1)
    errors = (changed.X - scores).ravel()
    assert kstest(errors, "uniform", (-0.2, 0.4)).pvalue > 0.01
    assert changed.mask.all()
    assert changed.mask.shape == scores.shape
    assert changed.level == np.abs(errors).max() <= 0.2
    assert changed.rows.tolist() == list(range(100))
    assert (scores == 0.5).all()


def test_forms():
    assert isinstance(ScoreNoise(0.1).apply([0.2, 0.3], rng=1).X, list)
    assert ScoreNoise(0.1).apply(np.array([0.2, 0.3], dtype=np.float32), rng=1).X.dtype == np.float32
    assert ScoreNoise(0.1).apply(np.array([0, 1]), rng=1).X.dtype == np.float64
    column = pd.Series([0.2, 0.3], index=[5, 6], name="s")
    changed = ScoreNoise(0.1).apply(column, ["a", "b"], rng=1)
    assert changed.X.index.equals(column.index)
    assert changed.X.name == "s"
    assert changed.y == ["a", "b"]
    frame = pd.DataFrame([[0.1, 0.2]], columns=["p", "q"])
    assert ScoreNoise(0.1).apply(frame, rng=1).X.columns.tolist() == ["p", "q"]


@pytest.mark.parametrize("kind", ["float32", "float64", "Float32", "Float64"])
def test_floats_keep_their_type(kind):
    column = pd.Series([0.2, 0.3], dtype=kind)
    changed = ScoreNoise(0.1).apply(column, rng=1)
    assert changed.X.dtype == kind
    assert changed.mask.all()
    frame = pd.DataFrame([[0.1, 1], [0.3, 0]], columns=["p", "p"]).astype(object)
    frame.isetitem(0, column)
    frame.isetitem(1, [1, 0])
    assert ScoreNoise(0.1).apply(frame, rng=1).X.dtypes.astype(str).tolist() == [kind, "float64"]


@pytest.mark.parametrize(
    ("scores", "remedy"),
    [
        (pd.DataFrame({"p": [0.1, 0.2, 0.3]}), r"X.iloc\[:, 0\]"),
        (np.full((3, 2), 0.5), r"such as X\[:, 1\] .*, or batches as X.T"),
        (pd.DataFrame(np.full((3, 2), 0.5)), r"such as X.iloc\[:, 1\]"),
        ([[0.5, 0.5]] * 3, r"such as np.asarray\(X\)\[:, 1\]"),
    ],
)
def test_a_table_of_probabilities_is_told_what_to_do(scores, remedy):
    told = rf"a vector \(n,\), or batches \(B, n\), got shape \(3, \d\) for 3 cases: pass the one column that counts, {remedy}"
    with pytest.raises(InputError, match=told):
        ScoreNoise(0.1).apply(scores, [0, 1, 1])


def test_a_square_table_is_a_batch():
    assert ScoreNoise(0.1).apply(np.zeros((2, 2)), [0, 1], rng=1).rows.tolist() == [0, 1]


def test_clipping():
    scores = np.array([0.0, 1.0] * 200)
    changed = ScoreNoise(0.5, clip=True).apply(scores, rng=1)
    assert changed.X.min() == 0
    assert changed.X.max() == 1
    assert changed.chosen == 400
    assert changed.mask.mean() == pytest.approx(0.5, abs=0.1)
    free = ScoreNoise(0.5).apply(scores, rng=1)
    assert free.X.min() < 0
    with pytest.raises(InputError, match="between 0 and 1 to be clipped"):
        ScoreNoise(0.5, clip=True).apply([2.0])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, np.nan], "X must be finite"),
        (["a"], "X must hold numbers"),
        (np.zeros((2, 2, 2)), r"a vector \(n,\), or batches \(B, n\), got shape \(2, 2, 2\)"),
        ([[0.1], [0.1, 0.2]], "rows of different lengths"),
        (0.5, "at least 1 row"),
        ([], "at least 1 row"),
    ],
)
def test_what_is_not_a_score(scores, message):
    with pytest.raises(InputError, match=message):
        ScoreNoise(0.1).apply(scores)


def test_the_classes_belong_to_the_cases_of_each_repetition():
    with pytest.raises(InputError, match="X has 3, y has 4"):
        ScoreNoise(0.1).apply(np.zeros((2, 3)), [0, 1, 0, 1])
    assert str(ScoreNoise(0.25)) == "score noise up to 0.25 in the test part"
    with pytest.raises(InputError, match="clip must be one of"):
        ScoreNoise(0.1, clip="yes")
