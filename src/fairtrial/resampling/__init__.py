"""How rows are split: once for every learner, with a seed, and looked at afterwards."""

from fairtrial.resampling.audit import (
    Audit as Audit,
    audit as audit,
)
from fairtrial.resampling.bootstrap import Bootstrap as Bootstrap
from fairtrial.resampling.db_scv import DBSCV as DBSCV
from fairtrial.resampling.dob_scv import DOBSCV as DOBSCV
from fairtrial.resampling.estimate import estimate as estimate
from fairtrial.resampling.finding import Finding as Finding
from fairtrial.resampling.given import Given as Given
from fairtrial.resampling.grouped import (
    GroupKFold as GroupKFold,
    LeaveGroupOut as LeaveGroupOut,
    StratifiedGroupKFold as StratifiedGroupKFold,
)
from fairtrial.resampling.holdout import Holdout as Holdout
from fairtrial.resampling.kfold import KFold as KFold
from fairtrial.resampling.leave_one_out import LeaveOneOut as LeaveOneOut
from fairtrial.resampling.nested import (
    Nested as Nested,
    nested as nested,
)
from fairtrial.resampling.out_of_bag import (
    ErrorEstimates as ErrorEstimates,
    Estimate as Estimate,
    out_of_bag_estimates as out_of_bag_estimates,
)
from fairtrial.resampling.reading import read_splits as read_splits
from fairtrial.resampling.repeated import (
    FiveByTwo as FiveByTwo,
    Repeated as Repeated,
    TenByTen as TenByTen,
)
from fairtrial.resampling.splits import (
    Split as Split,
    Splits as Splits,
)
from fairtrial.resampling.splitter import Splitter as Splitter
from fairtrial.resampling.stratified import StratifiedKFold as StratifiedKFold
from fairtrial.resampling.subsampling import RandomSubsampling as RandomSubsampling
from fairtrial.resampling.weka import WekaFolds as WekaFolds
