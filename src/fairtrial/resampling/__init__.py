"""Reproducible splits that all learners share, bootstrap estimates, and audits of splits."""

from fairtrial.resampling.audit import Audit, audit
from fairtrial.resampling.bootstrap import Bootstrap
from fairtrial.resampling.dob_scv import DBSCV, DOBSCV
from fairtrial.resampling.estimate import ErrorEstimates, Estimate, NoInformation, estimate, out_of_bag_estimates
from fairtrial.resampling.generalisation import NestedCV, PairedSubsampling, conservative_z_interval, nested_cv_interval
from fairtrial.resampling.grouped import GroupKFold, LeaveGroupOut, StratifiedGroupKFold
from fairtrial.resampling.layout import AuditFinding
from fairtrial.resampling.nested import Nested, nested
from fairtrial.resampling.scikit_learn import ScikitLearnSplitter
from fairtrial.resampling.splits import Split, Splits, read_splits
from fairtrial.resampling.splitter import FoldSplitter, Splitter, scheme
from fairtrial.resampling.splitters import (
    CompleteCV,
    FiveByTwo,
    Given,
    Holdout,
    KFold,
    LeaveOneOut,
    RandomSubsampling,
    Repeated,
    StratifiedKFold,
    TenByTen,
)
from fairtrial.resampling.temporal import TemporalSplit
from fairtrial.resampling.weka import WekaFolds

__all__ = [
    "DBSCV",
    "DOBSCV",
    "Audit",
    "AuditFinding",
    "Bootstrap",
    "CompleteCV",
    "ErrorEstimates",
    "Estimate",
    "FiveByTwo",
    "FoldSplitter",
    "Given",
    "GroupKFold",
    "Holdout",
    "KFold",
    "LeaveGroupOut",
    "LeaveOneOut",
    "Nested",
    "NestedCV",
    "NoInformation",
    "PairedSubsampling",
    "RandomSubsampling",
    "Repeated",
    "ScikitLearnSplitter",
    "Split",
    "Splits",
    "Splitter",
    "StratifiedGroupKFold",
    "StratifiedKFold",
    "TemporalSplit",
    "TenByTen",
    "WekaFolds",
    "audit",
    "conservative_z_interval",
    "estimate",
    "nested",
    "nested_cv_interval",
    "out_of_bag_estimates",
    "read_splits",
    "scheme",
]
