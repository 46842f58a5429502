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
        (np.full((3, 2), 0.5), r"X\[:, 1\].*X\.T"),
        (pd.DataFrame(np.full((3, 2), 0.5)), r"X\.iloc\[:, 1\]"),
        ([[0.5, 0.5]] * 3, r"np\.asarray\(X\)\[:, 1\]"),
    ],
)
def test_a_table_of_probabilities_is_refused_with_a_remedy(scores, remedy):
    with pytest.raises(InputError, match=rf"X .*\(3, \d\).*{remedy}"):
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
    with pytest.raises(InputError, match="clip"):
        ScoreNoise(0.5, clip=True).apply([2.0])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, np.nan], "X "),
        (["a"], "X "),
        (np.zeros((2, 2, 2)), r"X .*\(2, 2, 2\)"),
        ([[0.1], [0.1, 0.2]], "X "),
        (0.5, "X .*got 0"),
        ([], "X .*got 0"),
    ],
)
def test_invalid_scores_are_refused(scores, message):
    with pytest.raises(InputError, match=message):
        ScoreNoise(0.1).apply(scores)


def test_the_classes_belong_to_the_cases_of_each_repetition():
    with pytest.raises(InputError, match="got 3 and 4"):
        ScoreNoise(0.1).apply(np.zeros((2, 3)), [0, 1, 0, 1])
    assert "0.25" in str(ScoreNoise(0.25))
    with pytest.raises(InputError, match=r"clip.*'yes'"):
        ScoreNoise(0.1, clip="yes")
