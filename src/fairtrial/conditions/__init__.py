"""Controlled changes of the data: noise and shift, by an exact amount, with proof of what changed."""

from fairtrial.conditions.attribute_noise import AttributeNoise as AttributeNoise
from fairtrial.conditions.class_noise import ClassNoise as ClassNoise
from fairtrial.conditions.condition import (
    Changed as Changed,
    Clean as Clean,
    Condition as Condition,
    condition as condition,
    from_declaration as from_declaration,
    registry as registry,
)
from fairtrial.conditions.environment import Altered as Altered, Environment as Environment, altered as altered
from fairtrial.conditions.missing_values import MissingValues as MissingValues
from fairtrial.conditions.score_noise import ScoreNoise as ScoreNoise
from fairtrial.conditions.sequence import Sequence as Sequence
from fairtrial.conditions.shift import (
    ClassProportion as ClassProportion,
    ConceptChange as ConceptChange,
    CovariateShift as CovariateShift,
    PriorShift as PriorShift,
    SelectionBias as SelectionBias,
)
