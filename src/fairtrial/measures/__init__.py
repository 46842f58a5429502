"""Measures of performance: what a learner's evidence is worth, with facts and intervals.

Every measure is a callable object: `auc(y_true, y_score)` gives the number, `auc.facts` what is known of it, `auc.scorer()` a
scikit-learn scorer, `auc.of(tally)` the value of a statistic that was built before.
"""

from fairtrial.measures import regression as regression
from fairtrial.measures.batch import batch as batch
from fairtrial.measures.confusion import Cells as Cells
from fairtrial.measures.confusion import Confusion as Confusion
from fairtrial.measures.labels import (
    accuracy as accuracy,
)
from fairtrial.measures.labels import (
    balanced_accuracy as balanced_accuracy,
)
from fairtrial.measures.labels import (
    error_rate as error_rate,
)
from fairtrial.measures.labels import (
    g_mean as g_mean,
)
from fairtrial.measures.labels import (
    kappa as kappa,
)
from fairtrial.measures.labels import (
    mcc as mcc,
)
from fairtrial.measures.labels import (
    single_point_auc as single_point_auc,
)
from fairtrial.measures.measure import (
    Facts as Facts,
)
from fairtrial.measures.measure import (
    Measure as Measure,
)
from fairtrial.measures.measure import (
    get_measure as get_measure,
)
from fairtrial.measures.measure import (
    measure as measure,
)
from fairtrial.measures.measure import (
    registry as registry,
)
from fairtrial.measures.multiclass import hand_till as hand_till
from fairtrial.measures.one_class import (
    diagnostic_odds_ratio as diagnostic_odds_ratio,
)
from fairtrial.measures.one_class import (
    f_score as f_score,
)
from fairtrial.measures.one_class import (
    fnr as fnr,
)
from fairtrial.measures.one_class import (
    fowlkes_mallows as fowlkes_mallows,
)
from fairtrial.measures.one_class import (
    fpr as fpr,
)
from fairtrial.measures.one_class import (
    jaccard as jaccard,
)
from fairtrial.measures.one_class import (
    markedness as markedness,
)
from fairtrial.measures.one_class import (
    negative_likelihood_ratio as negative_likelihood_ratio,
)
from fairtrial.measures.one_class import (
    npv as npv,
)
from fairtrial.measures.one_class import (
    positive_likelihood_ratio as positive_likelihood_ratio,
)
from fairtrial.measures.one_class import (
    precision as precision,
)
from fairtrial.measures.one_class import (
    recall as recall,
)
from fairtrial.measures.one_class import (
    specificity as specificity,
)
from fairtrial.measures.one_class import (
    youden_j as youden_j,
)
from fairtrial.measures.probability import (
    brier as brier,
)
from fairtrial.measures.probability import (
    calibration_error as calibration_error,
)
from fairtrial.measures.probability import (
    information_score as information_score,
)
from fairtrial.measures.probability import (
    log_loss as log_loss,
)
from fairtrial.measures.probability import (
    mae as mae,
)
from fairtrial.measures.probability import (
    rmse as rmse,
)
from fairtrial.measures.probability import (
    spherical_score as spherical_score,
)
from fairtrial.measures.ranking import (
    abc as abc,
)
from fairtrial.measures.ranking import (
    auc as auc,
)
from fairtrial.measures.ranking import (
    auch as auch,
)
from fairtrial.measures.ranking import (
    average_precision as average_precision,
)
from fairtrial.measures.ranking import (
    gini as gini,
)
from fairtrial.measures.ranking import (
    h_measure as h_measure,
)
from fairtrial.measures.ranking import (
    ks as ks,
)
from fairtrial.measures.ranking import (
    lift as lift,
)
from fairtrial.measures.ranking import (
    mer as mer,
)
from fairtrial.measures.ranking import (
    mwl as mwl,
)
from fairtrial.measures.ranking import (
    partial_auc as partial_auc,
)
from fairtrial.measures.ranking import (
    sauc as sauc,
)
from fairtrial.measures.ranking import (
    taks as taks,
)
from fairtrial.measures.scorer import MeasureScorer as MeasureScorer
from fairtrial.measures.tally import ScoreTally as ScoreTally

sensitivity = tpr = recall
tnr = specificity
ppv = precision
