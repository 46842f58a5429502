"""Conditions: declared perturbations of the data, such as noise, missing values and shift."""

from fairtrial.conditions.attribute_noise import AttributeNoise
from fairtrial.conditions.class_noise import ClassNoise
from fairtrial.conditions.condition import Changed, Clean, Condition, condition, from_declaration
from fairtrial.conditions.environment import Altered, Environment, altered
from fairtrial.conditions.missing_values import MissingValues
from fairtrial.conditions.score_noise import ScoreNoise
from fairtrial.conditions.sequence import Sequence
from fairtrial.conditions.shift import ClassProportion, ConceptChange, CovariateShift, PriorShift, SelectionBias
from fairtrial.conditions.train_size import TrainSize

__all__ = [
    "Altered",
    "AttributeNoise",
    "Changed",
    "ClassNoise",
    "ClassProportion",
    "Clean",
    "ConceptChange",
    "Condition",
    "CovariateShift",
    "Environment",
    "MissingValues",
    "PriorShift",
    "ScoreNoise",
    "SelectionBias",
    "Sequence",
    "TrainSize",
    "altered",
    "condition",
    "from_declaration",
]
