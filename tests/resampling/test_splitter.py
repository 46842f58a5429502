import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling.bootstrap import Bootstrap
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import FoldSplitter, Splitter, SplitterInput, check_class_sizes


class Halves(FoldSplitter):
    _uses_classes = True

    def _assign_folds(self, rows, rng):
        self.seen = rows
        return np.arange(rows.n) % self.n_splits


class Forever(Splitter):
    """Endless splits, which nobody may ask for all at once."""

    def _iter_splits(self, rows, rng):
        while True:
            yield Split(np.array([0]), np.array([1]))


def read(y=None, groups=None, n=4):
    splitter = Halves(2)
    splitter.freeze(range(n), y, groups)
    return splitter.seen


class TestRows:
    def test_classes_are_coded_and_named(self):
        rows = read(["b", "a", "b", "c"])
        assert rows.y.tolist() == [1, 0, 1, 2]
        assert rows.class_names == ("a", "b", "c")

    def test_unused_categories_and_absent_partners_do_not_count(self):
        rows = read(pd.Series(["b", "a", "b", "b"], dtype=pd.CategoricalDtype(["z", "b", "a"])))
        assert rows.class_names == ("a", "b")
        assert read([1, 1, 1, 1]).class_names == (1,)
        assert read([1, 1, 1, 1]).y.tolist() == [0, 0, 0, 0]

    @pytest.mark.parametrize("dtype", ["Int64", "boolean", "string"])
    def test_nullable_columns(self, dtype):
        values = {"Int64": [1, 0, 1, 1], "boolean": [True, False, True, True], "string": ["b", "a", "b", "b"]}[dtype]
        assert read(pd.Series(values, dtype=dtype)).y.tolist() == [1, 0, 1, 1]

    def test_groups_are_coded(self):
        assert read([0, 1, 0, 1], ["x", "a", "x", "b"]).groups.tolist() == [2, 0, 2, 1]
        assert read([0, 1, 0, 1], [2.5, 0.1, 2.5, 0.2]).groups.tolist() == [2, 0, 2, 1]

    def test_what_is_missing_is_named(self):
        rows = SplitterInput(3, None, None, None)
        with pytest.raises(InputError, match=r"^y\b.*Scheme"):
            rows.require_classes("Scheme")
        with pytest.raises(InputError, match=r"^groups.*Scheme"):
            rows.require_groups("Scheme")


class TestFoldSplitter:
    def test_folds_become_splits(self):
        assert [(train.tolist(), test.tolist()) for train, test in Halves(2).split(range(3), [0, 0, 0])] == [
            ([1], [0, 2]),
            ([0, 2], [1]),
        ]
        assert Halves().get_n_splits() == 5

    @pytest.mark.parametrize(
        ("n_splits", "message"),
        [(1, "n_splits.*1"), (2.0, "n_splits.*2.0"), (True, "whole number")],
    )
    def test_bad_counts(self, n_splits, message):
        with pytest.raises(InputError, match=message):
            Halves(n_splits)

    def test_more_folds_than_rows(self):
        with pytest.raises(InputError, match=r"n_splits.*4"):
            Halves(4).freeze(range(3), [0, 0, 0])

    def test_bad_seed(self):
        with pytest.raises(InputError, match=r"random_state.*'x'"):
            Halves(2, random_state="x").freeze(range(3), [0, 0, 0])


class TestSplitter:
    def test_splits_are_made_one_after_the_other(self):
        splits = Forever().split(range(2))
        assert len([next(splits) for _ in range(3)]) == 3

    def test_a_scheme_must_say_how(self):
        with pytest.raises(NotImplementedError):
            Splitter().freeze(range(2))
        with pytest.raises(NotImplementedError):
            Splitter().get_n_splits()
        with pytest.raises(NotImplementedError):
            FoldSplitter().freeze(range(9))

    def test_repr_tells_what_differs_from_the_default(self):
        assert repr(Halves()) == "Halves()"
        assert repr(Halves(7, random_state=0)) == "Halves(n_splits=7, random_state=0)"

    def test_what_goes_in(self):
        with pytest.raises(InputError, match=r"^X\b"):
            Halves(2).freeze(5)
        with pytest.raises(InputError, match=r"^y\b.*shape"):
            Halves(2).freeze(range(3), np.eye(3))


class TestEnoughOfEachClass:
    def test_a_rare_class_is_warned_about_by_its_name(self):
        rows = read(["a", "a", "a", "b"])
        with pytest.warns(SuspectInputWarning, match="'b'.*1.*3"):
            check_class_sizes(rows, 3, "scheme")

    def test_no_class_is_large_enough(self):
        with pytest.raises(InputError, match=r"n_splits.*3"):
            check_class_sizes(read(["a", "a", "b", "b"]), 3, "scheme")

    def test_all_are_large_enough(self):
        check_class_sizes(read(["a", "a", "b", "b"]), 2, "scheme")


def test_more_splits_than_can_be_kept_are_refused():
    with pytest.raises(InputError, match="1,000,000,000"):
        Bootstrap(10**9).freeze(np.zeros((9, 1)))
    assert repr(Bootstrap(2, random_state=1).freeze(np.zeros((9, 1)))).startswith("<Splits Bootstrap(")
