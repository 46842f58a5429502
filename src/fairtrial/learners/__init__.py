"""scikit-learn estimators from the reproduced papers, and a catalogue of other learners."""

from fairtrial.learners.c45 import C45
from fairtrial.learners.catalogue import learner_class, listing, make_learner
from fairtrial.learners.chi import Chi
from fairtrial.learners.ensembles import AdaBoostM1, Bagging
from fairtrial.learners.learner import Learner, MarginLearner, register_learner
from fairtrial.learners.naive_bayes import NaiveBayes
from fairtrial.learners.nearest_neighbours import NearestNeighbours
from fairtrial.learners.noise_filters import CVCF, IPF
from fairtrial.learners.one_r import OneR
from fairtrial.learners.pdfc import PDFC
from fairtrial.learners.prepared import Facts, Prepared, facts_of, get_sampler, sampler_classes
from fairtrial.learners.ripper import Ripper
from fairtrial.learners.stump import Stump
from fairtrial.learners.svm import SMO, PukSVC

__all__ = [
    "C45",
    "CVCF",
    "IPF",
    "PDFC",
    "SMO",
    "AdaBoostM1",
    "Bagging",
    "Chi",
    "Facts",
    "Learner",
    "MarginLearner",
    "NaiveBayes",
    "NearestNeighbours",
    "OneR",
    "Prepared",
    "PukSVC",
    "Ripper",
    "Stump",
    "facts_of",
    "get_sampler",
    "learner_class",
    "listing",
    "make_learner",
    "register_learner",
    "sampler_classes",
]
