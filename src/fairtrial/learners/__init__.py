"""The learners of the papers as scikit-learn estimators, and a catalogue of others."""

from fairtrial.learners.c45 import C45 as C45
from fairtrial.learners.catalogue import (
    learner_class as learner_class,
    listing as listing,
    make_learner as make_learner,
    registry as registry,
)
from fairtrial.learners.chi import Chi as Chi
from fairtrial.learners.ensembles import AdaBoostM1 as AdaBoostM1, Bagging as Bagging
from fairtrial.learners.learner import Learner as Learner, MarginLearner as MarginLearner
from fairtrial.learners.naive_bayes import NaiveBayes as NaiveBayes
from fairtrial.learners.nearest_neighbours import NearestNeighbours as NearestNeighbours
from fairtrial.learners.one_r import OneR as OneR
from fairtrial.learners.pdfc import PDFC as PDFC
from fairtrial.learners.prepared import (
    Facts as Facts,
    Prepared as Prepared,
    facts_of as facts_of,
    get_sampler as get_sampler,
    sampler_classes as sampler_classes,
)
from fairtrial.learners.ripper import Ripper as Ripper
from fairtrial.learners.stump import Stump as Stump
from fairtrial.learners.svm import SMO as SMO, PukSVC as PukSVC
