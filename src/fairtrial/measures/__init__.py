"""Measures of performance with metadata and confidence intervals.

Every measure is a callable object: `auc(y_true, y_score)` computes the value, `auc.facts` contains the metadata, `auc.scorer()`
returns a scikit-learn scorer and `auc.of(tally)` computes the value from a sufficient statistic.
"""

from fairtrial.measures import regression
from fairtrial.measures.batch import batch
from fairtrial.measures.confusion import Cells, Confusion
from fairtrial.measures.curves import (
    brier_curve,
    calibration_curve,
    cost_curve,
    cost_lines,
    gain_curve,
    precision_recall_curve,
    roc_curve,
    roc_hull,
    tpr_fpr_curve,
)
from fairtrial.measures.differences import Differences, difference, differences
from fairtrial.measures.efficiency import Efficiency, efficiency
from fairtrial.measures.evaluate import Evaluation, evaluate
from fairtrial.measures.intervals import Interval, interval
from fairtrial.measures.labels import accuracy, balanced_accuracy, error_rate, g_mean, kappa, mcc
from fairtrial.measures.measure import Measure, MeasureFacts, get_measure, measure, registry
from fairtrial.measures.one_class import (
    diagnostic_odds_ratio,
    f_score,
    fnr,
    fowlkes_mallows,
    fpr,
    jaccard,
    markedness,
    negative_likelihood_ratio,
    npv,
    positive_likelihood_ratio,
    precision,
    recall,
    single_point_auc,
    specificity,
    youden_j,
)
from fairtrial.measures.probability import brier, calibration_error, information_score, log_loss, mae, rmse, spherical_score
from fairtrial.measures.projection import Projection, projection
from fairtrial.measures.rank_table import RankTable, rank_table
from fairtrial.measures.ranking import (
    abc,
    auc,
    auch,
    average_precision,
    gini,
    h_measure,
    hand_till,
    ks,
    lift,
    mer,
    mwl,
    partial_auc,
    sauc,
    taks,
)
from fairtrial.measures.robustness import brm, ela, performance_deterioration, rla
from fairtrial.measures.scorer import MeasureScorer
from fairtrial.measures.tally import ScoreTally

__all__ = [
    "Cells",
    "Confusion",
    "Differences",
    "Efficiency",
    "Evaluation",
    "Interval",
    "Measure",
    "MeasureFacts",
    "MeasureScorer",
    "Projection",
    "RankTable",
    "ScoreTally",
    "abc",
    "accuracy",
    "auc",
    "auch",
    "average_precision",
    "balanced_accuracy",
    "batch",
    "brier",
    "brier_curve",
    "brm",
    "calibration_curve",
    "calibration_error",
    "cost_curve",
    "cost_lines",
    "diagnostic_odds_ratio",
    "difference",
    "differences",
    "efficiency",
    "ela",
    "error_rate",
    "evaluate",
    "f_score",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "g_mean",
    "gain_curve",
    "get_measure",
    "gini",
    "h_measure",
    "hand_till",
    "information_score",
    "interval",
    "jaccard",
    "kappa",
    "ks",
    "lift",
    "log_loss",
    "mae",
    "markedness",
    "mcc",
    "measure",
    "mer",
    "mwl",
    "negative_likelihood_ratio",
    "npv",
    "partial_auc",
    "performance_deterioration",
    "positive_likelihood_ratio",
    "ppv",
    "precision",
    "precision_recall_curve",
    "projection",
    "rank_table",
    "recall",
    "registry",
    "regression",
    "rla",
    "rmse",
    "roc_curve",
    "roc_hull",
    "sauc",
    "sensitivity",
    "single_point_auc",
    "specificity",
    "spherical_score",
    "taks",
    "tnr",
    "tpr",
    "tpr_fpr_curve",
    "youden_j",
]

sensitivity = tpr = recall
tnr = specificity
ppv = precision
