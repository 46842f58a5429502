"""Noise filters against votes that are counted here, and against the mask of known class noise."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import EditedNearestNeighbours
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions import ClassNoise
from fairtrial.errors import InputError
from fairtrial.learners import C45, CVCF, IPF, Prepared, get_sampler


def separable_rows(n=300, seed=0):
    """Two classes, a wide gap apart in the first of three columns."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["left", "right"], n // 2)
    X = rng.normal(size=(n, 3))
    X[:, 0] = np.where(y == "left", -1, 1) * (1 + rng.random(n))
    return X, y


def noisy_rows(level=0.1, seed=0):
    """Separable rows with class noise, and the mask of the changed classes."""
    X, y = separable_rows(seed=seed)
    changed = ClassNoise(level).apply(X, y, seed)
    return X, np.asarray(changed.y), changed.mask


class RecordingTree(C45):
    """C4.5 that records the rows on which it is trained; their number is the first column."""

    trained_on: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None):
        self.trained_on.append(np.asarray(X)[:, 0].astype(int))
        return super().fit(np.asarray(X)[:, 1:], y, sample_weight)

    def predict(self, X):
        return super().predict(np.asarray(X)[:, 1:])


def record(noise_filter, X, y):
    """The rows that the filter keeps, and those on which it trained each member."""
    RecordingTree.trained_on.clear()
    noise_filter.fit_resample(np.c_[np.arange(len(y)), X], y)
    return noise_filter.sample_indices_.tolist(), list(RecordingTree.trained_on)


def find_errors(X, y, rows, candidates):
    """Which of the candidates a tree of these rows misclassifies."""
    return C45().fit(X[rows], y[rows]).predict(X[candidates]) != y[candidates]


@pytest.mark.parametrize("vote", ["majority", "consensus"])
def test_cvcf_removes_what_the_members_of_a_cross_validation_misclassify(vote):
    X, y, _ = noisy_rows(0.2)
    kept, training_rows = record(CVCF(RecordingTree(), 7, vote=vote, random_state=4), X, y)
    everything = np.arange(len(y))
    left_out = [np.setdiff1d(everything, rows) for rows in training_rows]
    assert sorted(np.concatenate(left_out).tolist()) == everything.tolist()
    for rows in left_out:
        assert abs((y[rows] == "left").sum() - (y == "left").sum() / 7) <= 1
    votes = sum(find_errors(X, y, rows, everything).astype(int) for rows in training_rows)
    expected = [row for row in everything if not (votes[row] == 7 if vote == "consensus" else votes[row] >= 4)]
    assert kept == expected
    assert len(kept) < len(y)


@pytest.mark.parametrize("vote", ["majority", "consensus"])
def test_ipf_removes_what_the_members_and_the_own_member_misclassify_until_little_is_left_to_remove(vote):
    X, y, _ = noisy_rows(0.2, seed=3)
    noise_filter = IPF(RecordingTree(), 5, vote=vote, stop_after=2, random_state=4)
    kept, training_rows = record(noise_filter, X, y)
    remaining, quiet, removed = list(range(len(y))), 0, []
    for start in range(0, len(training_rows), 5):
        assert quiet < 2
        # A row number counts from the rows of this call, which is the first column of the original table.
        partitions = training_rows[start : start + 5]
        assert sorted(np.concatenate(partitions).tolist()) == remaining
        errors = [find_errors(X, y, rows, remaining) for rows in partitions]
        noise = [
            row
            for place, row in enumerate(remaining)
            if sum(error[place] for error in errors) >= (5 if vote == "consensus" else 3)
            and any(row in rows and error[place] for rows, error in zip(partitions, errors, strict=True))
        ]
        remaining = [row for row in remaining if row not in noise]
        removed.append(len(noise))
        quiet = quiet + 1 if len(noise) <= 3 else 0  # 1 % of 300 rows
    assert quiet == 2
    assert kept == remaining
    assert noise_filter.removed_counts_ == removed


FILTERS = {
    "ipf": lambda: IPF(random_state=1),
    "cvcf": lambda: CVCF(random_state=1),
    "edited-nearest-neighbours": lambda: EditedNearestNeighbours(sampling_strategy="all", kind_sel="mode"),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_removed_rows_are_mostly_those_with_a_changed_class(name, seed):
    X, y, is_noisy = noisy_rows(0.1, seed)
    noise_filter = FILTERS[name]()
    noise_filter.fit_resample(X, np.unique(y, return_inverse=True)[1])  # imbalanced-learn's filter does not accept text
    is_removed = ~np.isin(np.arange(len(y)), noise_filter.sample_indices_)
    assert is_noisy[is_removed].mean() > (0.7 if name == "edited-nearest-neighbours" else 0.9)
    assert is_removed[is_noisy].mean() > 0.8


def test_clean_separable_rows_are_all_kept():
    X, y = separable_rows()
    for noise_filter in (IPF(random_state=1), CVCF(random_state=1)):
        rows, labels = noise_filter.fit_resample(X, y)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(labels, y)


def test_imbalanced_learn_edits_all_classes_as_wilson_does():
    """Wilson 1972: a row is removed if most of its 3 nearest neighbours have another class."""
    X, y, _ = noisy_rows(0.2)
    sampler = get_sampler("edited-nearest-neighbours", sampling_strategy="all", kind_sel="mode")
    codes = (y == "right").astype(int)
    sampler.fit_resample(X, codes)
    neighbours = NearestNeighbors(n_neighbors=4).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    agrees = (y[neighbours] == y[:, None]).sum(axis=1) >= 2
    assert set(sampler.sample_indices_) == set(np.flatnonzero(agrees))
    learner = Prepared(C45(), sampler=sampler).fit(X, y)  # passes codes instead of text
    assert learner.learner_.tree_.count_cases(0) == agrees.sum()
    assert set(learner.predict(X)) == {"left", "right"}


def test_frames_keep_their_types_and_the_order_of_rows():
    X, y, _ = noisy_rows(0.2)
    table = pd.DataFrame({"number": X[:, 0], "word": pd.Categorical(np.where(X[:, 1] > 0, "big", "small"))})
    rows, labels = IPF(random_state=0).fit_resample(table, pd.Series(y))
    assert rows["word"].dtype == table["word"].dtype
    assert rows.index.is_monotonic_increasing
    assert labels.index.tolist() == rows.index.tolist()


def test_prepared_filters_training_rows_with_nominal_columns():
    X, y, is_noisy = noisy_rows(0.2)
    table = pd.DataFrame({"side": pd.Categorical(np.where(X[:, 0] > 0, "east", "west")), "number": X[:, 1]})
    learner = Prepared(C45(), sampler=CVCF(random_state=1)).fit(table, y)
    assert learner.learner_.tree_.count_cases(0) == pytest.approx((~is_noisy).sum(), abs=5)
    assert learner.preparation_ == {"sampler": "CVCF(random_state=1)"}


def test_filters_work_in_pipelines_and_with_other_base_learners():
    X, y, is_noisy = noisy_rows(0.2)
    pipeline = make_pipeline(CVCF(KNeighborsClassifier(9), random_state=0), DecisionTreeClassifier(random_state=0))
    plain = DecisionTreeClassifier(random_state=0).fit(X, y)
    truth = np.where(is_noisy, np.where(y == "left", "right", "left"), y)
    assert (pipeline.fit(X, y).predict(X) == truth).mean() > (plain.predict(X) == truth).mean()


def test_the_seed_determines_the_result_and_reaches_the_members():
    X, y, _ = noisy_rows(0.3)
    noise_filter = IPF(DecisionTreeClassifier(max_features=1), random_state=7)
    first, second = (clone(noise_filter).fit_resample(X, y)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert get_sampler("ipf", n_partitions=3).n_partitions == 3
    assert get_sampler("cvcf", vote="consensus").vote == "consensus"


@pytest.mark.parametrize(
    ("noise_filter", "message"),
    [
        (IPF(n_partitions=1), "n_partitions.*1"),
        (IPF(n_partitions=11), "n_partitions must be at most 10.*11"),
        (IPF(vote="all"), "vote.*'consensus'.*'all'"),
        (IPF(stop_proportion=-0.1), "stop_proportion.*-0.1"),
        (IPF(stop_after=0), "stop_after.*0"),
        (CVCF(n_folds=11), "n_folds must be at most 10.*11"),
        (CVCF("c45"), "estimator.*'c45'"),
    ],
)
def test_wrong_parameters_are_refused(noise_filter, message):
    with pytest.raises(InputError, match=message):
        noise_filter.fit_resample(np.arange(10.0)[:, None], [0, 1] * 5)


def test_rows_and_classes_must_match():
    with pytest.raises(InputError, match="same number of rows, got 10 and 9"):
        IPF().fit_resample(np.zeros((10, 1)), [0] * 9)
