"""Contract tests for learners, splitters, measures, engines and stores of third parties."""

from fairtrial.testing.contract import ContractRule, list_rules, parametrize_with_contract
from fairtrial.testing.engines import check_engine
from fairtrial.testing.learners import check_learner
from fairtrial.testing.measures import check_measure
from fairtrial.testing.splitters import check_splitter

__all__ = [
    "ContractRule",
    "check_engine",
    "check_learner",
    "check_measure",
    "check_splitter",
    "list_rules",
    "parametrize_with_contract",
]
