"""DOB-SCV, DB-SCV and their distances by looking at every pair: slow and plain."""

import math

import numpy as np


def distances(points, kinds, one, others):
    """Sums over the columns in order; kinds: 0 squared difference, 1 the same with gaps, 2 overlap."""
    total = np.zeros(len(others))
    for column, kind in enumerate(kinds):
        with np.errstate(invalid="ignore"):
            apart = points[others, column] - points[one, column]
        if kind == 2:
            apart = np.where(apart == 0, 0.0, 1.0)
        total += np.where(np.isnan(apart), 1.0, apart * apart)
    return total


def nearest(points, kinds, one, others, count):
    """Of the others, ascending, the nearest; equal distances by number."""
    order = np.argsort(distances(points, kinds, one, others), kind="stable")
    return others[order][:count].tolist()


def groups(points, kinds, seeds, size):
    left, members = set(range(len(points))), []
    for seed in map(int, seeds):
        if seed in left:
            left.discard(seed)
            found = nearest(points, kinds, seed, np.array(sorted(left), dtype=int), size - 1)
            left.difference_update(found)
            members += [seed, *found]
    return members


def chain(points, kinds, start):
    left, walk = set(range(len(points))) - {start}, [start]
    while left:
        walk += nearest(points, kinds, walk[-1], np.array(sorted(left)), 1)
        left.discard(walk[-1])
    return walk


def heom(rows, nominal):
    """All distances of rows of plain values, None where missing."""
    columns = list(zip(*rows, strict=True))
    present = [[value for value in column if value is not None] for column in columns]
    spans = [0 if nominal[j] or not present[j] else max(present[j]) - min(present[j]) for j in range(len(columns))]

    def apart(j, a, b):
        if a is None or b is None:
            return 1.0
        if nominal[j]:
            return float(a != b)
        return (a - b) / spans[j] if spans[j] else 0.0

    return np.array(
        [[math.sqrt(sum(apart(j, *pair) ** 2 for j, pair in enumerate(zip(a, b, strict=True)))) for b in rows] for a in rows]
    )


def keel_groups(rows, nominal, classes, of_class, seeds, size):
    """KEEL's groups of the rows of one class: lists of rows, the seed first."""
    numbers = [[row[j] for row in rows if row[j] is not None] for j in range(len(nominal))]
    names = sorted(set(classes))

    def share(j, value, name):
        having = [label for row, label in zip(rows, classes, strict=True) if row[j] == value]
        return having.count(name) / len(having)

    def apart(a, b):
        total = 0.0
        for j in range(len(nominal)):
            if rows[a][j] is None or rows[b][j] is None:
                total += 1
            elif nominal[j]:
                total += math.sqrt(sum((share(j, rows[a][j], name) - share(j, rows[b][j], name)) ** 2 for name in names))
            else:
                total += abs(rows[a][j] - rows[b][j]) / 4 * np.std(numbers[j])
        return math.sqrt(total)

    left, found = [row for row in range(len(rows)) if classes[row] == of_class], []
    for seed in seeds:
        if seed in left:
            ranked = sorted((apart(seed, other), other) for other in left if other != seed)
            group = [seed, *[other for distance, other in ranked if distance > 0][: size - 1]]
            left = [row for row in left if row not in group]
            found.append(group)
    return found


def outlyingness_by_fold(X, y, folds):
    """Mean distance to the centre of the class (standardised), each fold relative to all."""
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    far = np.empty(len(y))
    for label in np.unique(y):
        own = y == label
        far[own] = np.sqrt(((Z[own] - Z[own].mean(axis=0)) ** 2).sum(axis=1))
    return np.array([far[folds == fold].mean() for fold in range(folds.max() + 1)]) / far.mean()
