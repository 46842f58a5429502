"""Repeat published experiments, compare the results with the published ones, and judge the papers' claims."""

from fairtrial.reproduce.claim import Claim
from fairtrial.reproduce.experiment import Experiment, Reproduction, ResultTable, load_experiments, reproduce

__all__ = ["Claim", "Experiment", "Reproduction", "ResultTable", "load_experiments", "reproduce"]
