"""How rows are split: once for every learner, with a seed, and looked at afterwards."""

from fairtrial.resampling.splits import (
    Split as Split,
    Splits as Splits,
)
from fairtrial.resampling.splitter import Splitter as Splitter
