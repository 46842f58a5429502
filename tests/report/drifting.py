"""Results with drift: a change of the test set that costs one learner accuracy, and the same change of both sets."""

from functools import cache

from fairtrial.study.archive import ConditionFacts
from tests.report.result_cases import skilled_results
from tests.study.archives import CLEAN

WORN = ConditionFacts("worn", 0.3, "", {"condition": "attribute-noise", "level": 0.3, "part": "test"})
WORN_ALL = ConditionFacts("worn-all", 0.3, "", {"condition": "attribute-noise", "level": 0.3, "part": "all"})
SKILLS = {"steady": {"clean": 0.95, "worn": 0.9, "worn-all": 0.92}, "shaken": {"clean": 0.9, "worn": 0.6, "worn-all": 0.9}}


@cache
def drifting(ideal=True):
    return skilled_results(SKILLS, sets=3, conditions=(CLEAN, WORN, WORN_ALL) if ideal else (CLEAN, WORN))
