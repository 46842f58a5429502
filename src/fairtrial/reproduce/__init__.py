"""Repeat published experiments and judge the claims of the papers."""

from fairtrial.reproduce.claim import Claim
from fairtrial.reproduce.experiment import Experiment, Reproduction, ResultTable, load_experiments, reproduce

__all__ = ["Claim", "Experiment", "Reproduction", "ResultTable", "load_experiments", "reproduce"]
