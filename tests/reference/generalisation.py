"""Intervals of the generalisation error, written from the formulas of the papers.

`nested_cv` is Algorithm 1 of Bates, Hastie & Tibshirani (2024) with the corrections of their sections on the bias and on the
restricted standard error. `conservative_z` is the estimator of Nadeau & Bengio (2003), section 4.2.
"""

from math import sqrt
from statistics import NormalDist, mean, stdev, variance


def nested_cv(repeats, rows, level):
    """Each repeat is a list of (losses on the fold, losses of the inner cross-validation without the fold)."""
    es, a_list, b_list, outer = [], [], [], []
    for repeat in repeats:
        for e_out, e_in in repeat:
            a_list.append((mean(e_in) - mean(e_out)) ** 2)
            b_list.append(variance(e_out) / len(e_out))
            es += e_in
            outer += e_out
    folds = len(repeats[0])
    mse = (folds - 1) / folds * (mean(a_list) - mean(b_list))
    naive = stdev(es) / sqrt(rows)
    error = sqrt(mse) if mse > 0 else 0
    error = naive if error < naive else sqrt(folds) * naive if error > sqrt(folds) * naive else error
    bias = (1 + (folds - 2) / folds) * (mean(es) - mean(outer))
    return limits(mean(es) - bias, error, level)


def conservative_z(scores, pairs, level):
    """`pairs` are the scores of the two halves of each division of the rows."""
    differences = [mean(first) - mean(second) for first, second in pairs]
    return limits(mean(scores), sqrt(sum(difference**2 for difference in differences) / (2 * len(pairs))), level)


def limits(estimate, error, level):
    z = NormalDist().inv_cdf((1 + level) / 2)
    return estimate, estimate - z * error, estimate + z * error
