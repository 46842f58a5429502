"""Measures of performance: what a learner's evidence is worth, with facts and intervals.

Every measure is a callable object: `auc(y_true, y_score)` gives the number, `auc.facts` what is known of it, `auc.scorer()` a
scikit-learn scorer, `auc.of(tally)` the value of a statistic that was built before.
"""

from fairtrial.measures import regression as regression
from fairtrial.measures.batch import batch as batch
from fairtrial.measures.confusion import Cells as Cells, Confusion as Confusion
from fairtrial.measures.curves import (
    brier_curve as brier_curve,
    calibration_curve as calibration_curve,
    cost_curve as cost_curve,
    cost_lines as cost_lines,
    gain_curve as gain_curve,
    precision_recall_curve as precision_recall_curve,
    roc_curve as roc_curve,
    roc_hull as roc_hull,
    tpr_fpr_curve as tpr_fpr_curve,
)
from fairtrial.measures.differences import Differences as Differences, difference as difference, differences as differences
from fairtrial.measures.efficiency import Efficiency as Efficiency, efficiency as efficiency
from fairtrial.measures.evaluate import Evaluation as Evaluation, evaluate as evaluate
from fairtrial.measures.intervals import Interval as Interval, interval as interval
from fairtrial.measures.labels import (
    accuracy as accuracy,
    balanced_accuracy as balanced_accuracy,
    error_rate as error_rate,
    g_mean as g_mean,
    kappa as kappa,
    mcc as mcc,
)
from fairtrial.measures.measure import (
    Measure as Measure,
    MeasureFacts as MeasureFacts,
    get_measure as get_measure,
    measure as measure,
    registry as registry,
)
from fairtrial.measures.one_class import (
    diagnostic_odds_ratio as diagnostic_odds_ratio,
    f_score as f_score,
    fnr as fnr,
    fowlkes_mallows as fowlkes_mallows,
    fpr as fpr,
    jaccard as jaccard,
    markedness as markedness,
    negative_likelihood_ratio as negative_likelihood_ratio,
    npv as npv,
    positive_likelihood_ratio as positive_likelihood_ratio,
    precision as precision,
    recall as recall,
    single_point_auc as single_point_auc,
    specificity as specificity,
    youden_j as youden_j,
)
from fairtrial.measures.probability import (
    brier as brier,
    calibration_error as calibration_error,
    information_score as information_score,
    log_loss as log_loss,
    mae as mae,
    rmse as rmse,
    spherical_score as spherical_score,
)
from fairtrial.measures.projection import Projection as Projection, projection as projection
from fairtrial.measures.rank_table import RankTable as RankTable, rank_table as rank_table
from fairtrial.measures.ranking import (
    abc as abc,
    auc as auc,
    auch as auch,
    average_precision as average_precision,
    gini as gini,
    h_measure as h_measure,
    hand_till as hand_till,
    ks as ks,
    lift as lift,
    mer as mer,
    mwl as mwl,
    partial_auc as partial_auc,
    sauc as sauc,
    taks as taks,
)
from fairtrial.measures.robustness import (
    brm as brm,
    ela as ela,
    performance_deterioration as performance_deterioration,
    rla as rla,
)
from fairtrial.measures.scorer import MeasureScorer as MeasureScorer
from fairtrial.measures.tally import ScoreTally as ScoreTally

sensitivity = tpr = recall
tnr = specificity
ppv = precision
