"""How rows are split: once for every learner, with a seed, and looked at afterwards."""

from fairtrial.resampling.audit import Audit as Audit, audit as audit
from fairtrial.resampling.bootstrap import Bootstrap as Bootstrap
from fairtrial.resampling.dob_scv import DBSCV as DBSCV, DOBSCV as DOBSCV
from fairtrial.resampling.estimate import estimate as estimate
from fairtrial.resampling.grouped import (
    GroupKFold as GroupKFold,
    LeaveGroupOut as LeaveGroupOut,
    StratifiedGroupKFold as StratifiedGroupKFold,
)
from fairtrial.resampling.layout import Finding as Finding
from fairtrial.resampling.nested import Nested as Nested, nested as nested
from fairtrial.resampling.out_of_bag import (
    ErrorEstimates as ErrorEstimates,
    Estimate as Estimate,
    out_of_bag_estimates as out_of_bag_estimates,
)
from fairtrial.resampling.splits import Split as Split, Splits as Splits, read_splits as read_splits
from fairtrial.resampling.splitter import Splitter as Splitter
from fairtrial.resampling.splitters import (
    FiveByTwo as FiveByTwo,
    Given as Given,
    Holdout as Holdout,
    KFold as KFold,
    LeaveOneOut as LeaveOneOut,
    RandomSubsampling as RandomSubsampling,
    Repeated as Repeated,
    StratifiedKFold as StratifiedKFold,
    TenByTen as TenByTen,
)
from fairtrial.resampling.weka import WekaFolds as WekaFolds
