import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits, count_rows

PAIRS = [([0, 1], [2, 3]), ([2, 3], [0, 1])]


class TestSplits:
    def test_positions_and_masks_are_the_same(self):
        mask = np.array([True, True, False, False])
        by_mask = Splits.from_pairs([(mask, ~mask), (~mask, mask)], 4)
        assert by_mask.content_hash == Splits.from_pairs(PAIRS, 4).content_hash

    def test_they_are_frozen_and_do_not_follow_what_they_were_made_of(self):
        train = np.array([0, 1])
        splits = Splits.from_pairs([(train, [2]), Split(train, np.array([3]))], 4)
        train[0] = 3
        for part in splits:
            assert part.train.tolist() == [0, 1]
            with pytest.raises(ValueError, match="read-only"):
                part.train[0] = 3

    def test_repeats_and_folds_are_kept_or_counted(self):
        assert [(part.repeat, part.fold) for part in Splits.from_pairs(PAIRS, 4)] == [(0, 0), (0, 1)]
        kept = Splits.from_pairs([Split(np.array([0]), np.array([1]), 3, 2)], 2)
        assert [(part.repeat, part.fold) for part in kept] == [(3, 2)]

    def test_frame_has_a_line_for_each_tested_row(self):
        frame = Splits.from_pairs(PAIRS, 4).frame()
        assert frame.to_dict("list") == {"repeat": [0] * 4, "fold": [0, 0, 1, 1], "row": [2, 3, 0, 1]}

    def test_the_hash_tells_train_from_test_and_follows_order(self):
        hashes = {
            Splits.from_pairs(given, 4).content_hash
            for given in (PAIRS, PAIRS[::-1], PAIRS[:1], [([0, 1, 2], [3])], [([0], [1, 2, 3])], [([1, 0], [2, 3]), PAIRS[1]])
        }
        hashes.add(Splits.from_pairs(PAIRS, 5).content_hash)
        assert len(hashes) == 7

    def test_of_splits_is_the_same_splits(self):
        splits = Splits.from_pairs(PAIRS, 4)
        assert Splits.from_pairs(splits, 4) is splits
        with pytest.raises(InputError, match="splits"):
            Splits.from_pairs(splits, 5)

    def test_scikit_learn_takes_them(self):
        splits = Splits.from_pairs(PAIRS, 4)
        assert len(cross_val_score(DummyClassifier(), np.zeros((4, 1)), [0, 1, 0, 1], cv=splits)) == splits.get_n_splits() == 2
        with pytest.raises(InputError, match=r"^X\b.*3"):
            list(splits.split(np.zeros((3, 1))))

    def test_text_and_pickle(self):
        splits = Splits.from_pairs([([0, 1], [2, 3, 4]), ([3, 4], [0])], 5, "by <hand>")
        assert all(value in str(splits) for value in ("by <hand>", "2 splits", "5 rows", "1 to 3"))
        assert "by &lt;hand&gt;" in splits._repr_html_()
        assert pickle.loads(pickle.dumps(splits)).content_hash == splits.content_hash
        assert len(splits) == 2

    def test_rows_on_both_sides_are_allowed(self):
        assert len(Splits.from_pairs([([0, 1, 1], [1, 2])], 3)) == 1

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([], "splits.*0"),
            ([[0, 1, 2]], "split 0.*list"),
            ([3], "split 0.*int"),
            ([([], [1])], "train of split 0.*0"),
            ([([0], [1]), ([0], [False] * 4)], "test of split 1.*0"),
            ([([0], [4])], "test of split 0.*4"),
            ([([-1], [1])], "train of split 0.*-1"),
            (
                [([0.5], [1])],
                r"train of split 0.*\[0.5\]",
            ),
            ([([True, False], [1])], "train of split 0"),
            ([([[0]], [1])], "train of split 0"),
        ],
    )
    def test_bad_splits_are_named(self, given, message):
        with pytest.raises(InputError, match=message):
            Splits.from_pairs(given, 4)


@pytest.mark.parametrize("X", [np.zeros((3, 2)), np.zeros(3), [1, 2, 3], sparse.eye(3).tocsr(), range(3)])
def test_rows_are_counted(X):
    assert count_rows(X) == 3


@pytest.mark.parametrize("X", [3, None, np.float64(1), "abc"])
def test_what_has_no_rows_is_refused(X):
    with pytest.raises(InputError, match=r"^X\b"):
        count_rows(X)
