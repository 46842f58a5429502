"""Measures that are computed from scores in one linear pass over tallies.

Each row of `pos` and `neg` is a tally, with the highest score first. Resampling and padding create entries with pos = neg = 0,
which do not count as thresholds. The value of a measure is NaN if there are no positives or no negatives.
"""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel


@kernel
def sum_counts(counts: FloatArray) -> float:
    """Sum one row in float64."""
    total = 0.0
    for i in range(counts.size):
        total += counts[i]
    return total


@kernel
def compute_auc(pos: FloatArray, neg: FloatArray, out: FloatArray) -> None:
    """Compute the proportion of correctly ordered (positive, negative) pairs. Ties count half."""
    for b in range(pos.shape[0]):
        tp, fp, area = 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            p, q = float(pos[b, i]), float(neg[b, i])
            area += q * (tp + 0.5 * p)
            tp += p
            fp += q
        # With fractional weights, rounding may make the area of a perfect ranking slightly larger than the product.
        out[b] = min(area / (tp * fp), 1.0) if tp > 0 and fp > 0 else np.nan


@kernel
def compute_partial_auc(pos: FloatArray, neg: FloatArray, max_fpr: float, out: FloatArray) -> None:
    """Compute the area under the interpolated ROC curve up to the false positive rate `max_fpr`."""
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        limit = max_fpr * N
        tp, fp, area = 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            p, q = float(pos[b, i]), float(neg[b, i])
            if fp + q >= limit:
                width = limit - fp
                height = p * width / q if q > 0 else 0.0
                area += width * (tp + 0.5 * height)
                break
            area += q * (tp + 0.5 * p)
            tp += p
            fp += q
        out[b] = area / (P * N) if P > 0 and N > 0 else np.nan


@kernel
def compute_sauc(values: FloatArray, pos: FloatArray, neg: FloatArray, out: FloatArray) -> None:
    """Compute the mean of max(s+ - s-, 0) over all pairs, without cancellation errors."""
    for b in range(pos.shape[0]):
        row = b if values.shape[0] > 1 else 0
        tp, fp, gaps, total, last = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            p, q = float(pos[b, i]), float(neg[b, i])
            if p + q == 0:
                continue
            if tp > 0:
                gaps += tp * (last - values[row, i])
            last = values[row, i]
            total += q * gaps
            tp += p
            fp += q
        out[b] = total / (tp * fp) if tp > 0 and fp > 0 else np.nan


@kernel
def compute_soft_auc(
    values: FloatArray, pos: FloatArray, neg: FloatArray, beta: float, coefficients: FloatArray, out: FloatArray
) -> None:
    """Compute the mean of 1 / (1 + exp(-beta (s+ - s-))) over all pairs.

    If the positive has the higher score, the sigmoid is 1 - x / (1 + x) with x = exp(-beta |s+ - s-|). If the negative has the
    higher score, it is x / (1 + x). This ratio is approximated by the polynomial x * sum(coefficients[k] x^k). Its terms are
    products of functions of one score, so running sums over the cases with higher scores are sufficient. These are sums of
    exp(-(k + 1) beta (s - current score)).
    """
    terms = coefficients.size
    above_pos, above_neg = np.empty(terms), np.empty(terms)
    for b in range(pos.shape[0]):
        row = b if values.shape[0] > 1 else 0
        above_pos[:], above_neg[:] = 0.0, 0.0
        tp, fp, total, last = 0.0, 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            p, q = float(pos[b, i]), float(neg[b, i])
            if p + q == 0:
                continue
            factor = np.exp(-beta * (last - values[row, i])) if tp + fp > 0 else 0.0
            power, tail_pos, tail_neg = 1.0, 0.0, 0.0
            for k in range(terms):
                power *= factor
                above_pos[k] *= power
                above_neg[k] *= power
                tail_pos += coefficients[k] * above_pos[k]
                tail_neg += coefficients[k] * above_neg[k]
                above_pos[k] += p
                above_neg[k] += q
            total += q * (tp - tail_pos) + p * tail_neg + 0.5 * p * q
            last = values[row, i]
            tp += p
            fp += q
        out[b] = min(max(total / (tp * fp), 0.0), 1.0) if tp > 0 and fp > 0 else np.nan


@kernel
def compute_kappa_area(pos: FloatArray, neg: FloatArray, out: FloatArray) -> None:
    """Integrate Cohen's kappa over the false positive rate.

    The ROC curve is linear between its points. With prevalence c and proportion a of cases predicted positive, kappa is
    2 c (1 - c) (TPR - FPR) / (c (1 - a) + (1 - c) a). The numerator and the denominator are linear between two points, so the
    integral contains a logarithm.
    """
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        c = P / (P + N)
        tp, fp, area = 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            p, q = float(pos[b, i]), float(neg[b, i])
            if q > 0:
                start = c + (1 - 2 * c) * (tp + fp) / (P + N)
                ratio = (1 - 2 * c) * (p + q) / (P + N) / start
                gap, step = tp / P - fp / N, p / P - q / N
                if abs(ratio) < 1e-3:
                    mean = 1 - ratio / 2 + ratio**2 / 3 - ratio**3 / 4 + ratio**4 / 5
                    slope = 1 / 2 - ratio / 3 + ratio**2 / 4 - ratio**3 / 5 + ratio**4 / 6
                else:
                    mean = np.log1p(ratio) / ratio
                    slope = (1 - mean) / ratio
                area += q / N * (gap * mean + step * slope) / start
            tp += p
            fp += q
        out[b] = 2 * c * (1 - c) * area if P > 0 and N > 0 else np.nan


@kernel
def compute_ks(pos: FloatArray, neg: FloatArray, signed: bool, out: FloatArray) -> None:
    """Compute the largest |TPR - FPR| or, if `signed` is true, the largest TPR - FPR."""
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        tp, fp, best = 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            tp += pos[b, i]
            fp += neg[b, i]
            gap = tp / P - fp / N
            best = max(best, gap if signed else abs(gap))
        out[b] = best if P > 0 and N > 0 else np.nan


@kernel
def compute_taks(pos: FloatArray, neg: FloatArray, truncated: bool, out: FloatArray) -> None:
    """Compute the mean of TPR - FPR over the inner thresholds (taKS) or the area (ABC).

    For the area, the sum of TPR - FPR is divided by the number of inner thresholds + 1.
    """
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        tp, fp, gaps, distinct = 0.0, 0.0, 0.0, 0
        for i in range(pos.shape[1]):
            if pos[b, i] + neg[b, i] == 0:
                continue
            tp += pos[b, i]
            fp += neg[b, i]
            gaps += tp / P - fp / N
            distinct += 1
        steps = distinct - 1 if truncated else distinct
        out[b] = gaps / steps if distinct > 1 and P > 0 and N > 0 else np.nan


@kernel
def compute_average_precision(pos: FloatArray, neg: FloatArray, out: FloatArray) -> None:
    """Compute the sum of precision times the increase in recall over all thresholds."""
    for b in range(pos.shape[0]):
        tp, fp, total = 0.0, 0.0, 0.0
        for i in range(pos.shape[1]):
            tp += pos[b, i]
            fp += neg[b, i]
            if pos[b, i] > 0:
                total += pos[b, i] * tp / (tp + fp)
        out[b] = min(total / tp, 1.0) if tp > 0 and fp > 0 else np.nan


@kernel
def compute_min_loss(pos: FloatArray, neg: FloatArray, cost: FloatArray, out: FloatArray) -> None:
    """Compute the minimum weighted loss over all thresholds of each tally.

    The loss in tally b is (c FP + (1 - c) FN) / n, with c = cost[b].
    """
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        c = cost[b]
        tp, fp, best = 0.0, 0.0, (1 - c) * P
        for i in range(pos.shape[1]):
            tp += pos[b, i]
            fp += neg[b, i]
            best = min(best, c * fp + (1 - c) * (P - tp))
        out[b] = best / (P + N) if P > 0 and N > 0 else np.nan


@kernel
def compute_lift(pos: FloatArray, neg: FloatArray, fraction: float, out: FloatArray) -> None:
    """Compute the lift: observed over expected positives in the highest-scoring fraction.

    If the fraction ends within a group of equal scores, a proportional part of the group is included.
    """
    for b in range(pos.shape[0]):
        P, N = sum_counts(pos[b]), sum_counts(neg[b])
        limit = fraction * (P + N)
        tp, seen = 0.0, 0.0
        for i in range(pos.shape[1]):
            p, here = float(pos[b, i]), float(pos[b, i]) + float(neg[b, i])
            if seen + here >= limit:
                if here > 0:
                    tp += p * (limit - seen) / here
                break
            tp += p
            seen += here
        out[b] = tp / (fraction * P) if P > 0 and N > 0 else np.nan
