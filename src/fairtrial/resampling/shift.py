"""Permutation tests for shift between training and test sets.

Each split is compared with random splits. The statistics are computed within each class, to detect a shift in a single class.
They are also computed over all classes together, to detect a shift that all classes share. A permutation exchanges rows of the
same class among the splits. It preserves sizes, class counts and overlaps. Splits that ignore the attributes are therefore
exchangeable with the permutations.

Each statistic is standardized by its mean and standard deviation over the permutations. There are four families of shift
statistics: energy distances, AUCs, attributes and outlying rows. The tests for excessive similarity form further families.
Within a family, the maximum is tested (Westfall & Young's max T). Across families, the smallest p-value is tested. The given
splits count as one of the permutations, so the probability of *any* finding under random stratified folds is at most alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._frames import BoolArray
from fairtrial.kernels import mixed_distance, ranking, two_sample
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.resampling.layout import SplitLayout

NEIGHBOURS = 10
ENERGY, AUC, KS, HELLINGER = "energy distance", "two-sample AUC", "KS", "Hellinger"
OUTLYING, OUTLYING_FOLD = "outlying", "outlying in all repeats"
_SHIFT_CHUNK = 32
_MAX_SHIFT_WORK = 6_000_000_000
_MAX_CELLS = 50_000_000
_SIMILARITY_CHECKS = {ENERGY, AUC}
_TWO_SIDED = {OUTLYING, OUTLYING_FOLD}


def rank_within_classes(values: FloatArray, nominal: BoolArray, labels: IntArray) -> FloatArray:
    """Replace each number with the proportion of smaller numbers in its class.

    Ties, including the number itself, count half. Nominal and missing values are not changed.

    >>> values, is_nominal = np.array([[1.0], [3.0], [700.0], [900.0]]), np.array([False])
    >>> rank_within_classes(values, is_nominal, np.array([0, 0, 1, 1])).ravel().tolist()
    [0.25, 0.75, 0.25, 0.75]
    """
    from scipy.stats import rankdata

    ranks = values.copy()
    numeric_columns = np.flatnonzero(~nominal)
    for code in np.unique(labels):
        block = np.ix_(labels == code, numeric_columns)
        counts = np.maximum(1, (~np.isnan(values[block])).sum(axis=0))
        ranks[block] = (rankdata(values[block], axis=0, nan_policy="omit") - 0.5) / counts
    return ranks


def compute_centre(values: FloatArray, nominal: BoolArray) -> FloatArray:
    """Compute the mean of each numeric column and the mode of each nominal column.

    The result is NaN for columns in which all values are missing.

    >>> compute_centre(np.array([[1.0, 2.0], [3.0, 2.0], [np.nan, 0.0]]), np.array([False, True])).tolist()
    [2.0, 2.0]
    """
    centre = np.full(values.shape[1], np.nan)
    for j, present in enumerate(values[~np.isnan(values[:, j]), j] for j in range(values.shape[1])):
        if len(present):
            distinct, counts = np.unique(present, return_counts=True) if nominal[j] else (present, present)
            centre[j] = distinct[np.argmax(counts)] if nominal[j] else present.mean()
    return centre


def compute_outlyingness(values: FloatArray, nominal: BoolArray) -> FloatArray:
    """Compute the distance of each row from the centre, relative to the mean distance.

    All results are 1 if all rows are equal.

    >>> compute_outlyingness(np.array([[0.0], [2.0], [3.0], [7.0]]), np.array([False])).tolist()
    [1.5, 0.5, 0.0, 2.0]
    """
    centre_distances = np.empty((len(values), 1))
    mixed_distance.compute_distances(values, compute_centre(values, nominal)[None], nominal, centre_distances)
    mean = centre_distances.mean()
    return centre_distances[:, 0] / mean if mean > 0 else np.ones(len(values))


@dataclass(frozen=True, eq=False)
class PermutedStatistic:
    """The values of one statistic for several combinations of split, class and attribute.

    The code -1 stands for all classes or for all attributes.

    `values[0]` contains the values of the given splits. The other rows contain the values of the permutations.
    """

    check: str
    values: npt.NDArray[np.float32] | FloatArray
    split: IntArray
    label: IntArray
    attribute: IntArray


@dataclass(frozen=True, eq=False)
class _ClassSample:
    """Sampled rows of a class or of all classes (-1), with their neighbours and distances.

    `used` contains row indices of the data set, beginning with the sampled rows. `neighbours` contains indices into `used`.
    """

    code: int
    used: IntArray
    neighbours: IntArray
    distances: FloatArray
    orders: list[tuple[IntArray, BoolArray] | tuple[IntArray, int]]
    outlying: FloatArray

    @property
    def n_sampled(self) -> int:
        return len(self.distances)


@dataclass(frozen=True, eq=False)
class Shift:
    """Statistics for the shift tests, with the sample sizes from which they were computed.

    `class_sizes` and `n_sampled` contain the number of rows and of sampled rows in each class. `by_attribute` states whether
    statistics of single attributes were computed. `n_pooled` is the number of rows that are sampled regardless of class. It is
    0 if there is only one class.
    """

    statistics: tuple[PermutedStatistic, ...]
    class_sizes: IntArray
    n_sampled: IntArray
    n_pooled: int
    by_attribute: bool


def compute_shift(layout: SplitLayout, n_permutations: int, max_rows: int, seed: np.random.SeedSequence) -> Shift:
    """Compute the statistics of the examined splits and of their permutations.

    There are no statistics if all test sets have only one row.

    >>> from fairtrial.resampling.layout import read_layout
    >>> x, fold = np.arange(20.0)[:, None], np.arange(20) // 10
    >>> layout = read_layout([(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in (0, 1)], (x, None))
    >>> shift = compute_shift(layout, 9, 1000, np.random.SeedSequence(0))
    >>> statistics = {statistic.check: statistic.values[0] for statistic in shift.statistics}
    >>> statistics["KS"].tolist()
    [1.0, 1.0]
    """
    sides = layout.compute_sides()
    sizes, d = np.bincount(layout.labels, minlength=len(layout.classes)), len(layout.columns.names)
    if max(len(layout.splits.splits[s].test) for s in layout.examined_splits) < 2:
        return Shift((), sizes, np.zeros_like(sizes), 0, False)
    strata_sizes = np.append(sizes, layout.n_rows) if len(sizes) > 1 else sizes
    sample_counts = compute_sample_sizes(strata_sizes, sides.shape[1], d, n_permutations, max_rows)
    by_attribute = sides.shape[1] * d * len(strata_sizes) * (n_permutations + 1) <= _MAX_CELLS
    sampling_seed, permutation_seed = seed.spawn(2)
    samples = list(_iter_class_samples(layout, sample_counts, sampling_seed, by_attribute))
    outlying_sums = [np.zeros((n_permutations + 1, sides.shape[1])) for _ in range(4)]
    statistics: list[PermutedStatistic] = []
    for sample, class_statistics in zip(
        samples, _compute_statistics(layout, samples, sides, n_permutations, permutation_seed), strict=True
    ):
        statistics += _iter_statistics(layout, sample.code, class_statistics, by_attribute)
        if sample.code >= 0:
            weight = sizes[sample.code] / sample.n_sampled
            outlying_sums = [
                total + class_sum * weight for total, class_sum in zip(outlying_sums, class_statistics.sums, strict=True)
            ]
    n_sampled = np.where(sizes < 2, 0, sample_counts[: len(sizes)])
    n_pooled = int(sample_counts[-1]) if len(sizes) > 1 else 0
    return Shift((*statistics, *_iter_outlying_statistics(layout, outlying_sums)), sizes, n_sampled, n_pooled, by_attribute)


def compute_sample_sizes(sizes: IntArray, splits: int, attributes: int, n_permutations: int, max_rows: int) -> IntArray:
    """Compute how many rows of each class to examine.

    The number is at most `max_rows`. It is smaller if the tests would take too long.

    >>> compute_sample_sizes(np.array([50_000, 300]), 5, 10, 499, 1000).tolist()
    [1000, 300]
    """
    sample_counts = np.minimum(sizes, max_rows)
    per_class = _MAX_SHIFT_WORK / max(1, len(sizes))
    for code, size in enumerate(sizes):
        while (
            sample_counts[code] > 50
            and _estimate_work(sample_counts[code], size, splits * (n_permutations + 1), attributes) > per_class
        ):
            sample_counts[code] = int(0.8 * sample_counts[code])
    return sample_counts


def _estimate_work(n_sampled: float, size: float, columns: float, attributes: float) -> float:
    """Estimate the number of basic operations for attributes, neighbours and energy distances."""
    return float(n_sampled * columns * (attributes + NEIGHBOURS + n_sampled / 16) + n_sampled * size * attributes)


def _iter_class_samples(
    layout: SplitLayout, sample_counts: IntArray, seed: np.random.SeedSequence, by_attribute: bool
) -> Iterator[_ClassSample]:
    """Sample rows of each class that has two or more rows.

    If there are several classes, also sample rows of all classes together.
    """
    streams = seed.spawn(len(sample_counts))
    for code in range(len(layout.classes)):
        members = np.flatnonzero(layout.labels == code)
        if len(members) > 1:
            yield _prepare_class(
                layout, code, members, layout.scaled_values[members], int(sample_counts[code]), streams[code], by_attribute
            )
    if len(layout.classes) > 1:
        ranks = rank_within_classes(layout.columns.values, layout.columns.nominal, layout.labels)
        rows = replace(layout, columns=replace(layout.columns, values=ranks)).scaled_values
        yield _prepare_class(layout, -1, np.arange(layout.n_rows), rows, int(sample_counts[-1]), streams[-1], by_attribute)


def _prepare_class(
    layout: SplitLayout,
    code: int,
    members: IntArray,
    rows: FloatArray,
    n_sampled: int,
    seed: np.random.SeedSequence,
    by_attribute: bool,
) -> _ClassSample:
    nominal, rows = layout.columns.nominal, np.ascontiguousarray(rows)
    queries = np.sort(np.random.default_rng(seed).permutation(len(members))[:n_sampled])
    k = max(1, min(NEIGHBOURS, (len(members) - 1) // 4))
    neighbours = np.concatenate(
        run_in_chunks(lambda start, stop: _find_neighbours(queries[start:stop], rows, nominal, k), n_sampled, 64)
    )
    used = np.concatenate([queries, np.setdiff1d(neighbours, queries)])
    position = np.empty(len(members), dtype=np.intp)
    position[used] = np.arange(len(used))
    matrix = np.empty((n_sampled, n_sampled))
    mixed_distance.compute_distances(rows[queries], rows[queries], nominal, matrix)
    orders = [_order_values(rows[queries, j], bool(nominal[j])) for j in range(len(nominal))] if by_attribute else []
    return _ClassSample(code, members[used], position[neighbours], matrix, orders, compute_outlyingness(rows, nominal)[queries])


def _find_neighbours(queries: IntArray, rows: FloatArray, nominal: BoolArray, k: int) -> IntArray:
    out = np.empty((len(queries), k), dtype=np.intp)
    mixed_distance.find_nearest_rows(queries, rows, nominal, out)
    return out


def _order_values(values: FloatArray, nominal: bool) -> tuple[IntArray, BoolArray] | tuple[IntArray, int]:
    """Encode a nominal column, or sort a numeric column.

    For a nominal column, return the codes and the number of codes. For a numeric column, return the order, and mark the end of
    each group of ties. Missing values are last.
    """
    present, codes = np.unique(values, return_inverse=True)
    if nominal:
        return codes.astype(np.intp), len(present)
    order = np.argsort(codes, kind="stable").astype(np.intp)
    return order, np.append(np.diff(codes[order]) > 0, True)


@dataclass(frozen=True, eq=False)
class _ClassStatistics:
    """Statistics of one class or of all classes, by permutation and split.

    `attributes` contains one statistic per attribute. `sums` contains sums and counts for the statistics of outlying rows.
    """

    energy: FloatArray
    auc: FloatArray
    attributes: npt.NDArray[np.float32]
    sums: tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def _compute_statistics(
    layout: SplitLayout,
    samples: list[_ClassSample],
    sides: npt.NDArray[np.uint8],
    n_permutations: int,
    seed: np.random.SeedSequence,
) -> list[_ClassStatistics]:
    """Compute the statistics of each class under the same permutations."""
    streams = seed.spawn(-(-n_permutations // _SHIFT_CHUNK))
    used = np.unique(np.concatenate([sample.used for sample in samples]))
    positions = [np.searchsorted(used, sample.used) for sample in samples]

    def evaluate_chunk(start: int, stop: int) -> list[_ClassStatistics]:
        arrangements = layout.permute_sides(used, sides, stop - start, np.random.default_rng(streams[start // _SHIFT_CHUNK]))
        if start == 0:
            arrangements = np.concatenate([sides[used][None], arrangements])
        return [
            _evaluate_sample(sample, arrangements[:, position]) for sample, position in zip(samples, positions, strict=True)
        ]

    return [_join_chunks(chunks) for chunks in zip(*run_in_chunks(evaluate_chunk, n_permutations, _SHIFT_CHUNK), strict=True)]


def _join_chunks(chunks: Sequence[_ClassStatistics]) -> _ClassStatistics:
    return _ClassStatistics(
        np.concatenate([chunk.energy for chunk in chunks]),
        np.concatenate([chunk.auc for chunk in chunks]),
        np.concatenate([chunk.attributes for chunk in chunks]),
        (*(np.concatenate([chunk.sums[i] for chunk in chunks]) for i in range(4)),),  # type: ignore[arg-type]
    )


def _evaluate_sample(sample: _ClassSample, sides: npt.NDArray[np.uint8]) -> _ClassStatistics:
    b, _, splits = sides.shape
    sampled_sides = np.ascontiguousarray(sides[:, : sample.n_sampled])
    marks = np.moveaxis(sampled_sides, 1, 0).reshape(sample.n_sampled, b * splits)
    energy = two_sample.compute_energy_distances(
        sample.distances, (marks & 1).astype(np.float64), (marks >> 1).astype(np.float64)
    )
    attributes = np.empty((b, splits, len(sample.orders)), dtype=np.float32)
    out = np.empty((b, splits))
    for j, (first, second) in enumerate(sample.orders):
        if isinstance(second, int):
            two_sample.compute_hellinger(first, second, sampled_sides, out)
        else:
            two_sample.compute_kolmogorov_smirnov(first, second, sampled_sides, out)
        attributes[:, :, j] = out
    sums = [np.zeros((b, splits)) for _ in range(4)]
    two_sample.sum_by_side(sample.outlying, sampled_sides, sums[0], sums[1])
    two_sample.sum_by_side(np.ones(sample.n_sampled), sampled_sides, sums[2], sums[3])
    return _ClassStatistics(
        energy.reshape(b, splits), _compute_auc(sample, sides), attributes, (sums[0], sums[1], sums[2], sums[3])
    )


def _compute_auc(sample: _ClassSample, sides: npt.NDArray[np.uint8]) -> FloatArray:
    (b, _, splits), k = sides.shape, sample.neighbours.shape[1]
    pos, neg = np.empty((b, splits, 2 * k + 1), dtype=np.intp), np.empty((b, splits, 2 * k + 1), dtype=np.intp)
    two_sample.tally_neighbours(np.arange(sample.n_sampled), sample.neighbours, sides, pos, neg)
    out = np.empty(b * splits)
    ranking.compute_auc(pos.reshape(b * splits, -1), neg.reshape(b * splits, -1), out)
    return out.reshape(b, splits)


def _iter_statistics(
    layout: SplitLayout, code: int, class_statistics: _ClassStatistics, by_attribute: bool
) -> Iterator[PermutedStatistic]:
    splits = class_statistics.attributes.shape[1]
    split, label, none = layout.examined_splits, np.full(splits, code), np.full(splits, -1)
    yield PermutedStatistic(ENERGY, class_statistics.energy, split, label, none)
    yield PermutedStatistic(AUC, class_statistics.auc, split, label, none)
    for check, columns in ((KS, layout.columns.numeric), (HELLINGER, layout.columns.nominal)):
        selected = np.flatnonzero(columns) if by_attribute else np.empty(0, dtype=np.intp)
        values = class_statistics.attributes[:, :, selected].reshape(len(class_statistics.energy), -1)
        if len(selected):
            indices = np.repeat(split, len(selected)), np.full(splits * len(selected), code), np.tile(selected, splits)
            yield PermutedStatistic(check, values, *indices)


def _iter_outlying_statistics(layout: SplitLayout, sums: list[FloatArray]) -> Iterator[PermutedStatistic]:
    """Compare the distances of test and training rows from the class centres.

    The second statistic averages over folds with the same number in all repeats, to detect an effect of the fold number.
    """
    test, train, m, n = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        values = (test / m) / (train / n) - 1
    yield PermutedStatistic(OUTLYING, values, layout.examined_splits, *_make_wildcards(values.shape[1]))
    folds = {len(members) for members in layout.repeats}
    if len(layout.repeats) > 1 and len(folds) == 1 and folds != {1} and len(layout.examined_splits) == len(layout.splits):
        split_indices = np.array(layout.repeats)
        yield PermutedStatistic(
            OUTLYING_FOLD, values[:, split_indices].mean(axis=1), split_indices[0], *_make_wildcards(split_indices.shape[1])
        )


def _make_wildcards(n: int) -> tuple[IntArray, IntArray]:
    """Return two arrays of -1, the code for all classes and for all attributes."""
    return np.full(n, -1), np.full(n, -1)


@dataclass(frozen=True, eq=False)
class ShiftTest:
    """Test of one statistic in each cell, i.e. for each split, class and attribute.

    `expected` is the mean of the statistic over the permutations, and `low` and `high` are the limits of its central 95 %
    interval. `p` is the p-value of the individual test, and `p_adjusted` is adjusted for multiple testing.
    """

    statistic: PermutedStatistic
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    p_adjusted: FloatArray


@dataclass(frozen=True)
class SimilarityTest:
    """Result of a test for excessive similarity of training and test sets.

    `mean` is the mean statistic of the given splits, and `expected` is the mean over all permutations.
    """

    check: str
    mean: float
    expected: float
    p_adjusted: float


def compute_shift_tests(statistics: Sequence[PermutedStatistic]) -> tuple[list[ShiftTest], list[SimilarityTest]]:
    """Test all statistics for shift and for excessive similarity, with adjusted p-values.

    >>> values = np.vstack([[9.0, 5.0], np.random.default_rng(0).normal(size=(99, 2))])
    >>> statistic = PermutedStatistic("energy distance", values, np.arange(2), np.zeros(2, int), np.full(2, -1))
    >>> tests, _ = compute_shift_tests([statistic])
    >>> tests[0].p_adjusted.tolist()
    [0.01, 0.01]
    """
    if not statistics:
        return [], []
    scores = [_standardise(statistic) for statistic in statistics]
    families: dict[str, FloatArray] = {}
    for statistic, z in zip(statistics, scores, strict=True):
        name = _get_family(statistic)
        top = z.max(axis=1)
        families[name] = np.maximum(families[name], top) if name in families else top
    means = {
        name: _average_scores(name, statistics, scores)
        for name in _SIMILARITY_CHECKS
        if any(_is_within_class(statistic, name) for statistic in statistics)
    }
    similarity = {f"alike: {name}": -mean for name, mean in sorted(means.items())}
    ranks = {name: _compute_p_values(top, top) for name, top in (families | similarity).items()}
    smallest = np.min(list(ranks.values()), axis=0)
    shift_tests = [
        _make_shift_test(
            statistic, z, _adjust_for_families(smallest, _compute_p_values(families[_get_family(statistic)], z[0]))
        )
        for statistic, z in zip(statistics, scores, strict=True)
    ]
    return shift_tests, [
        _make_similarity_test(name, statistics, float(_adjust_for_families(smallest, ranks[f"alike: {name}"][:1])[0]))
        for name in sorted(means)
    ]


def count_families(statistics: Sequence[PermutedStatistic]) -> int:
    """Count the families of tests that share alpha, including the tests of similarity."""
    return len({_get_family(statistic) for statistic in statistics}) + sum(
        any(_is_within_class(statistic, name) for statistic in statistics) for name in _SIMILARITY_CHECKS
    )


def _get_family(statistic: PermutedStatistic) -> str:
    if statistic.check in {ENERGY, AUC}:
        return statistic.check
    return OUTLYING if statistic.check in _TWO_SIDED else "attributes"


def _standardise(statistic: PermutedStatistic) -> FloatArray:
    """Standardize a statistic by the mean and standard deviation over the permutations.

    Standardized statistics are rounded, so equal statistics stay equal. Two-sided tests use absolute values. Undefined and
    constant statistics are set to zero.
    """
    values = statistic.values.astype(np.float64)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    constant = ~(spread > 1e-6 * np.abs(values).max(axis=0, initial=0.0))
    z = np.where(constant, 0.0, (values - mean) / np.where(constant, 1.0, spread))
    return np.asarray(np.round(np.abs(z) if statistic.check in _TWO_SIDED else z, 6), dtype=np.float64)


def _is_within_class(statistic: PermutedStatistic, name: str) -> bool:
    """Return whether a statistic has this name and is computed within single classes."""
    return statistic.check == name and bool((statistic.label >= 0).all())


def _average_scores(name: str, statistics: Sequence[PermutedStatistic], scores: Sequence[FloatArray]) -> FloatArray:
    selected = [z for statistic, z in zip(statistics, scores, strict=True) if _is_within_class(statistic, name)]
    return np.asarray(np.round(np.concatenate(selected, axis=1).mean(axis=1), 6))


def _compute_p_values(reference: FloatArray, observed: FloatArray) -> FloatArray:
    """Compute the proportion of reference values at or above each observed value."""
    ordered = np.sort(reference)
    return np.asarray(1 - np.searchsorted(ordered, observed, side="left") / len(ordered))


def _adjust_for_families(smallest: FloatArray, p: FloatArray) -> FloatArray:
    """Adjust p-values for the number of families.

    The adjusted value is the proportion of permutations whose smallest p-value does not exceed `p`.
    """
    return np.asarray(np.searchsorted(np.sort(smallest), p + 1e-12, side="right") / len(smallest))


def _make_shift_test(statistic: PermutedStatistic, z: FloatArray, p_adjusted: FloatArray) -> ShiftTest:
    values = statistic.values
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    p = (z >= z[0]).mean(axis=0)
    undefined = np.isnan(values[0])
    p, p_adjusted = np.where(undefined, np.nan, p), np.where(undefined, np.nan, p_adjusted)
    return ShiftTest(statistic, values.mean(axis=0, dtype=np.float64), low, high, p, p_adjusted)


def _make_similarity_test(name: str, statistics: Sequence[PermutedStatistic], p_adjusted: float) -> SimilarityTest:
    values = np.concatenate([statistic.values for statistic in statistics if _is_within_class(statistic, name)], axis=1)
    defined = values[:, ~np.isnan(values).any(axis=0)]
    if defined.shape[1] == 0:
        return SimilarityTest(name, float("nan"), float("nan"), 1.0)
    return SimilarityTest(name, float(defined[0].mean()), float(defined.mean()), p_adjusted)
