import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, norm

from fairtrial.conditions import AttributeNoise
from fairtrial.errors import InputError, SuspectInputWarning

N = 4000
RNG = np.random.default_rng(8)
BIG = pd.DataFrame(
    {"u": RNG.uniform(0, 2, N), "v": RNG.normal(size=N), "w": RNG.choice(list("pqr"), N), "c": RNG.integers(0, 7, N)}
)


def test_each_attribute_for_itself():
    changed = AttributeNoise(0.25).apply(BIG, rng=1)
    assert changed.mask.sum(axis=0).tolist() == [1000] * 4
    assert changed.level == 0.25
    # independent choices: two attributes share a sixteenth of the rows, give or take four standard deviations
    assert abs((changed.mask[:, 0] & changed.mask[:, 1]).sum() - N / 16) < 4 * np.sqrt(N / 16)
    together = AttributeNoise(0.25, same_rows=True).apply(BIG, rng=1)
    assert (together.mask == together.mask[:, :1]).all()
    assert together.mask.sum() == 4000


def test_uniform_values():
    changed = AttributeNoise(0.5).apply(BIG, rng=2)
    new = changed.X["u"][changed.mask[:, 0]]
    assert kstest(new, "uniform", (BIG["u"].min(), np.ptp(BIG["u"]))).pvalue > 0.01
    assert changed.X["c"].dtype == BIG["c"].dtype
    assert changed.X["c"].between(0, 6).all()


def test_permutation_keeps_the_values_of_each_attribute():
    changed = AttributeNoise(0.3, "permutation").apply(BIG, rng=3)
    for name in BIG:
        assert sorted(changed.X[name]) == sorted(BIG[name])
    assert changed.chosen == 4 * 1200
    # two of three values that are permuted meet another one in a nominal attribute of three equal groups
    assert changed.mask[:, 2].sum() / 1200 == pytest.approx(2 / 3, abs=0.06)
    assert changed.level == changed.mask.sum() / (4 * N)
    # a plain permutation of m values has one fixed point on average
    fixed = [
        4 - AttributeNoise(1.0, "permutation").apply([[1.5], [2.5], [3.5], [4.5]], rng=seed).mask.sum() for seed in range(600)
    ]
    assert np.mean(fixed) == pytest.approx(1.0, abs=0.15)


def test_gaussian_errors():
    X = np.column_stack([np.full(N, 0.5), np.full(N, 5.0)])
    noise = AttributeNoise(1.0, "gaussian", ranges={0: (-9.5, 10.5), 1: (0, 10)})
    changed = noise.apply(np.vstack([X, [[0.25, 5]]]), rng=4)
    errors = changed.X[:-1, 0] - 0.5
    # the standard deviation is 4, and the range ends 2.5 of them away
    assert (np.abs(errors) < 4).mean() == pytest.approx(norm.cdf(1) - norm.cdf(-1), abs=0.025)
    assert (np.abs(errors) == 10).mean() == pytest.approx(2 * norm.sf(2.5), abs=0.006)
    assert changed.X[:, 0].min() >= -9.5
    assert changed.X[:, 1].min() >= 0
    assert changed.X[:, 1].max() <= 10
    assert np.array_equal(changed.X[:, 1], np.floor(changed.X[:, 1]))
    # rounded, so that some stay: P(|error| < 1/2) with standard deviation 2
    assert 1 - changed.mask[:, 1].mean() == pytest.approx(2 * norm.cdf(0.25) - 1, abs=0.03)
    smaller = AttributeNoise(1.0, "gaussian", k=0.05, ranges={0: (-9.5, 10.5)}, columns=[0]).apply(
        np.vstack([X, [[0.25, 5]]]), rng=4
    )
    assert smaller.X[:, 0].std() == pytest.approx(1.0, rel=0.05)


def test_gaussian_errors_are_clipped_to_the_data():
    changed = AttributeNoise(0.9, "gaussian", k=2.0).apply(BIG, rng=5)
    for name in "uvc":
        assert changed.X[name].min() == BIG[name].min()
        assert changed.X[name].max() == BIG[name].max()


def test_unconditional_gaussian():
    changed = AttributeNoise(0.1, "unconditional-gaussian").apply(BIG, rng=6)
    errors = changed.X["v"] - BIG["v"]
    assert errors.var() / BIG["v"].var() == pytest.approx(0.1, rel=0.1)
    assert changed.mask[:, 1].mean() > 0.99
    assert changed.mask[:, 2].sum() == 400
    assert (changed.X["c"] == changed.X["c"].round()).all()
    ratios = [((changed.X[name] - BIG[name]).var() / BIG[name].var()) for name in "uvc"]
    assert changed.level == pytest.approx((sum(ratios) + 0.1) / 4)


def test_constant_attributes_are_skipped_with_a_warning():
    X = pd.DataFrame({"u": [1.0, 2.0, 3.0, 4.0], "one": 1.0, "same": "x", "none": np.nan})
    with pytest.warns(SuspectInputWarning, match="one, same and none"):
        changed = AttributeNoise(0.5).apply(X, rng=1)
    assert changed.mask.sum(axis=0).tolist() == [2, 0, 0, 0]
    assert changed.level == 2 / 12  # of the values that are there
    for scheme in ("permutation", "unconditional-gaussian"):
        with pytest.warns(SuspectInputWarning):
            AttributeNoise(0.5, scheme).apply(X, rng=1)
    known = AttributeNoise(0.5, ranges={"one": (0, 3)}, columns=["one"]).apply(X, rng=1)
    assert known.mask.sum() == 2


def test_missing_values_stay_missing_and_are_not_counted():
    X = BIG.copy()
    X.iloc[:1000, 0] = np.nan
    X.iloc[:200, 2] = None
    for scheme in ("symmetric-uniform", "permutation", "gaussian", "unconditional-gaussian"):
        changed = AttributeNoise(0.5, scheme).apply(X, rng=1)
        assert changed.X.isna().equals(X.isna())
        assert not changed.mask[X.isna().to_numpy()].any()
    assert AttributeNoise(0.5).apply(X, rng=1).mask.sum(axis=0).tolist() == [1500, 2000, 1900, 2000]
    assert AttributeNoise(0.5, same_rows=True).apply(X, rng=1).mask[:, 1].sum() == 2000


def test_columns_and_declared_categories():
    X = pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.Categorical(list("xyxy"), list("xyz"))})
    assert AttributeNoise(1.0, columns=["a"]).apply(X, rng=1).mask.sum(axis=0).tolist() == [4, 0]
    assert set(AttributeNoise(1.0).apply(X, rng=1).X["b"]) == {"x", "y"}
    wide = [AttributeNoise(1.0, ranges={"b": list("xyz")}).apply(X, rng=seed).X["b"] for seed in range(20)]
    assert any("z" in set(each) for each in wide)
    assert all(each.dtype == X["b"].dtype for each in wide)


def test_matrices_and_lists():
    matrix = np.arange(12).reshape(6, 2)
    changed = AttributeNoise(0.5).apply(matrix, rng=1)
    assert changed.X.dtype == matrix.dtype
    assert (matrix != changed.X).sum() == 6
    rows = AttributeNoise(0.5).apply(matrix.tolist(), rng=1).X
    assert rows == changed.X.tolist()
    assert all(type(value) is int for row in rows for value in row)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scheme": "gauss"}, "scheme.*'gauss'"),
        ({"k": 0}, "k .*got 0"),
        ({"k": float("nan")}, "k .*got nan"),
        ({"same_rows": 1}, "same_rows.*got 1"),
        ({"ranges": [(0, 1)]}, r"ranges.*\[\(0, 1\)\]"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        AttributeNoise(0.1, **parameters)


def test_wrong_columns():
    with pytest.raises(InputError, match=r"columns.*'u'"):
        AttributeNoise(0.1, columns="u").apply(BIG)
    with pytest.raises(InputError, match=r"ranges.*'z'"):
        AttributeNoise(0.1, ranges={"z": (0, 1)}).apply(BIG)
    assert "in u" in str(AttributeNoise(0.1, columns=["u"]))


def test_no_columns_at_all_are_an_error():
    with pytest.raises(InputError, match="columns"):
        AttributeNoise(0.5, columns=[]).apply([[1.0, 2.0], [3.0, 4.0]])
