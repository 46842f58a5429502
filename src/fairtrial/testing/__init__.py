"""Contract tests for third-party learners, splitters, measures, engines and stores, and assertions on models."""

from fairtrial.testing.contract import ContractRule, find_violations, list_rules, parametrize_with_contract
from fairtrial.testing.decisions import assert_non_inferior
from fairtrial.testing.engines import check_engine
from fairtrial.testing.learners import check_learner
from fairtrial.testing.measures import check_measure
from fairtrial.testing.splitters import check_splitter
from fairtrial.testing.stores import check_store

__all__ = [
    "ContractRule",
    "assert_non_inferior",
    "check_engine",
    "check_learner",
    "check_measure",
    "check_splitter",
    "check_store",
    "find_violations",
    "list_rules",
    "parametrize_with_contract",
]
