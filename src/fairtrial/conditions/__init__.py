"""Controlled changes of the data: noise and shift, by an exact amount, with proof of what changed."""

from fairtrial.conditions.attribute_noise import AttributeNoise as AttributeNoise
from fairtrial.conditions.class_noise import ClassNoise as ClassNoise
from fairtrial.conditions.class_proportion import ClassProportion as ClassProportion
from fairtrial.conditions.concept_change import ConceptChange as ConceptChange
from fairtrial.conditions.condition import (
    Changed as Changed,
    Clean as Clean,
    Condition as Condition,
    condition as condition,
    registry as registry,
)
from fairtrial.conditions.covariate_shift import CovariateShift as CovariateShift
from fairtrial.conditions.declaring import from_declaration as from_declaration
from fairtrial.conditions.environment import Altered as Altered, Environment as Environment, altered as altered
from fairtrial.conditions.missing_values import MissingValues as MissingValues
from fairtrial.conditions.prior_shift import PriorShift as PriorShift
from fairtrial.conditions.score_noise import ScoreNoise as ScoreNoise
from fairtrial.conditions.selection_bias import SelectionBias as SelectionBias
from fairtrial.conditions.sequence import Sequence as Sequence
