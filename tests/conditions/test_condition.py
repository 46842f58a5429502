"""Behaviour that all conditions share, and properties of every noise condition."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions import (
    AttributeNoise,
    ClassNoise,
    ClassProportion,
    Clean,
    Condition,
    MissingValues,
    ScoreNoise,
    Sequence,
    from_declaration,
)
from fairtrial.conditions.condition import Changed, check_level, round_count
from fairtrial.errors import InputError

TRANSITION = {"a": {"b": 0.7, "c": 0.3}, "b": {"a": 1.0}, "c": {"a": 0.5, "b": 0.5}}
CLASS_NOISE = {
    "symmetric-uniform": {},
    "symmetric-completely-uniform": {},
    "transition-matrix": {"transition": TRANSITION},
    "next-class": {},
    "pairwise": {"pairs": [("a", "b"), ("b", "a"), ("c", "a")]},
    "majority-to-second": {"of": "class"},
    "minority-driven": {"minority_share": 0.5},
    "neighbourwise-borderline": {},
    "margin-borderline": {},
}
ALL = {
    **{
        f"class {name}": lambda level, name=name, more=more: ClassNoise(level, name, **more)
        for name, more in CLASS_NOISE.items()
    },
    **{
        f"attribute {name}": lambda level, name=name: AttributeNoise(level, name)
        for name in ("symmetric-uniform", "permutation", "gaussian", "unconditional-gaussian")
    },
    "attribute same rows": lambda level: AttributeNoise(level, same_rows=True),
    "missing mcar": MissingValues,
    "missing mar": lambda level: MissingValues(level, "mar", by="size"),
    "missing mnar": lambda level: MissingValues(level, "mnar"),
    "missing table": lambda level: MissingValues(level, spread="table"),
    "proportion": lambda level: ClassProportion(level, positive="a"),
    "sequence": lambda level: Sequence([ClassNoise(level), AttributeNoise(level)]),
}
# Schemes that may draw the old value.
MEETING_THEMSELVES = (
    "class symmetric-completely-uniform",
    "attribute permutation",
    "attribute gaussian",
    "attribute unconditional-gaussian",
)


def data(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 9, size=n),
            "hue": pd.Categorical(rng.choice(["red", "green", "blue"], size=n), ["red", "green", "blue", "never"]),
        },
        index=rng.permutation(n) + 100,
    )
    y = pd.Series(pd.Categorical([*"abca", *rng.choice(["a", "b", "c"], n - 4).tolist()], list("abcd")), X.index)
    X.iloc[:2, 1:] = [[0, "red"], [8, "green"]]  # no attribute is constant
    return X, y.rename("kind")


@pytest.mark.parametrize("which", ALL)
@given(n=st.integers(8, 40), thousandths=st.integers(0, 900), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_every_noise_changes_what_its_mask_says_and_nothing_else(which, n, thousandths, seed):
    X, y = data(n, seed)
    before = X.copy(deep=True), y.copy(deep=True)
    noise = ALL[which](thousandths / 1000)
    changed = noise.apply(X, y, seed)
    pd.testing.assert_frame_equal(X, before[0])
    pd.testing.assert_series_equal(y, before[1])
    # the same seed gives the same change
    again = noise.apply(X, y, np.random.default_rng(seed))
    pd.testing.assert_frame_equal(changed.X, again.X)
    pd.testing.assert_series_equal(changed.y, again.y)
    # types, index and names stay, but for integers that become missing
    assert changed.y.dtype == y.dtype
    assert changed.y.name == "kind"
    assert list(changed.X.columns) == list(X.columns)
    assert changed.X.index.equals(X.index[changed.rows])
    assert all(new in (old, "float64") for new, old in zip(changed.X.dtypes, X.dtypes, strict=True))
    # the mask is where old and new differ
    old_X, old_y = X.iloc[changed.rows], y.iloc[changed.rows]
    cells = np.column_stack([different(old_X.iloc[:, j], changed.X.iloc[:, j]) for j in range(3)])
    rows = different(old_y, changed.y)
    if isinstance(noise, ClassProportion):
        assert not cells.any()
        assert not rows.any()
        assert np.array_equal(np.flatnonzero(~changed.mask), changed.rows)
    elif isinstance(noise, Sequence):
        assert np.array_equal(changed.mask, rows | cells.any(axis=1))
        assert np.array_equal(changed.steps[0].mask, rows)
        assert np.array_equal(changed.steps[1].mask, cells)
    else:
        found = rows if changed.mask.ndim == 1 else cells
        assert np.array_equal(changed.mask, found)
        assert rows.any() == (changed.mask.ndim == 1 and found.any())
    # exactly as many as the level says
    assert changed.chosen == stated(which, Fraction(thousandths, 1000), n, y.value_counts())
    if which in MEETING_THEMSELVES:
        assert changed.mask.sum() <= changed.chosen
    elif which != "sequence":
        assert changed.mask.sum() == changed.chosen


def stated(which, level, n, counts):
    """How many are chosen: `round` of a fraction rounds halves to even."""
    m = round(level * n)
    if which.startswith("class "):
        return {
            "class majority-to-second": round(level * int(counts.max())),
            "class minority-driven": round(level * 2 * int(counts[counts > 0].min())),
        }.get(which, m)
    return {
        "attribute unconditional-gaussian": 2 * n + m if level else 0,
        "missing mar": 2 * m,
        "missing table": round(level * 3 * n),
        "proportion": round(level * int(counts["a"])),
        "sequence": 4 * m,
    }.get(which, 3 * m)


def different(old, new):
    both = old.isna().to_numpy() & new.isna().to_numpy()
    return (old.astype(object).to_numpy() != new.astype(object).to_numpy()) & ~both


@pytest.mark.parametrize("make", [*ALL.values(), ScoreNoise], ids=[*ALL, "scores"])
def test_level_zero_is_the_identity(make):
    X, y = data(12, 1)
    X = X if make is not ScoreNoise else X["size"]
    changed = make(0.0).apply(X, y, 1)
    assert changed.level == 0
    assert changed.chosen == 0
    assert not changed.mask.any()
    assert changed.X.equals(X)
    assert changed.y.equals(y)


@pytest.mark.parametrize("make", [*ALL.values(), ScoreNoise], ids=[*ALL, "scores"])
@pytest.mark.parametrize("level", [-0.1, 1.1, float("nan"), float("inf"), "0.1", None, True])
def test_levels_outside_are_refused(make, level):
    if level is None and make is ALL["class transition-matrix"]:
        assert make(level).level is None  # the matrix says how much
        return
    with pytest.raises(InputError, match="level"):
        make(level)


def test_a_level_in_per_cent_is_recognised():
    with pytest.raises(InputError, match=r"level.*got 10: .*0\.1"):
        check_level(10)


@pytest.mark.parametrize("make", ALL.values(), ids=ALL)
def test_every_noise_describes_itself_and_comes_back(make):
    noise = make(0.25)
    described = noise.describe()
    assert described["condition"] == noise.name
    back = from_declaration(**described)
    assert back == noise
    assert hash(back) == hash(noise)
    assert back.content_hash == noise.content_hash
    assert make(0.5).content_hash != noise.content_hash
    assert str(noise) == noise.summarise()
    assert "25 %" in noise.summarise() or isinstance(noise, Sequence)
    assert noise.summarise() in noise._repr_html_().replace("&#x27;", "'")


@given(st.integers(0, 1000), st.integers(0, 200))
def test_exact_count_rounds_halves_to_even(thousandths, n):
    assert round_count(thousandths / 1000, n) == round(Fraction(thousandths, 1000) * n)


def test_a_change_unpacks_and_lists_what_changed():
    changed = Changed([1], ["a"], np.array([True, False]), 0.5, np.arange(2), 2)
    X, y, mask, level = changed
    assert (X, y, mask.tolist(), level) == ([1], ["a"], [True, False], 0.5)
    assert str(changed).startswith("1 of 2 rows")
    assert changed.chosen == 2
    assert changed.frame().to_dict("list") == {"row": [0]}
    assert "realized" in changed._repr_html_()
    cells = Changed(None, None, np.array([[False, True], [True, False]]), 0.5, np.arange(2))
    assert cells.frame().to_dict("list") == {"row": [0, 1], "column": [1, 0]}
    assert str(cells).startswith("2 of 4 values")
    assert cells.chosen == 2


def test_parts():
    noise = ClassNoise(0.1)
    assert noise.part == "train"
    assert noise.limit_to("train") is noise
    assert noise.limit_to("test") == Clean()
    assert ClassNoise(0.1, part="all").limit_to("test").level == 0.1
    assert str(Clean()) == "clean"
    with pytest.raises(InputError, match=r"part.*'both'"):
        ClassNoise(0.1, part="both")
    with pytest.raises(InputError, match=r"part.*'all'"):
        noise.limit_to("all")


def test_x_and_y_must_have_the_same_positive_number_of_rows():
    with pytest.raises(InputError, match="got 2 and 3"):
        Clean().apply([[1], [2]], [1, 2, 3])
    with pytest.raises(InputError, match=r"X.*got 0"):
        ClassNoise(0.1).apply([], [])
    with pytest.raises(InputError, match="rng"):
        Clean().apply([[1]], [1], rng=-1)


def test_a_custom_condition():
    @dataclass(frozen=True)
    class Nothing(Condition):
        pass

    with pytest.raises(NotImplementedError):
        Nothing().apply([[1]], [1])
    assert str(Nothing()).startswith("Nothing")


def test_one_and_one_point_zero_are_the_same_level():
    assert ClassNoise(1).content_hash == ClassNoise(1.0).content_hash == ClassNoise(np.float64(1)).content_hash
