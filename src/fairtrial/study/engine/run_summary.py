"""What a run of a study did, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunSummary:
    """What a run did: trials planned, stored before, done now, left; failures now by status; seconds; whether it was stopped.

    With a shard, all of it counts the trials of the shard.

    >>> print(RunSummary(planned=400, stored=100, done=300, failures={"timeout": 2}, seconds=12.34))
    all 400 trials are stored: 300 done in 12.3 s, 100 before; 2 failed (2 timeout)
    >>> print(RunSummary(planned=400, stored=0, done=100, seconds=5.0, interrupted=True))
    stopped: 100 of 400 trials are stored, 300 are left: run the same command again to go on
    """

    planned: int
    stored: int
    done: int
    failures: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def left(self) -> int:
        """Trials that are still to be done."""
        return self.planned - self.stored - self.done

    @property
    def failed(self) -> int:
        """Trials that failed now."""
        return sum(self.failures.values())

    def frame(self) -> pd.DataFrame:
        """One line."""
        import pandas as pd

        facts = {
            what: getattr(self, what) for what in ("planned", "stored", "done", "left", "failed", "seconds", "interrupted")
        }
        return pd.DataFrame([facts])

    def __str__(self) -> str:
        if self.left:
            begin = "stopped: " if self.interrupted else ""
            told = f"{begin}{self.stored + self.done} of {self.planned} trials are stored, {self.left} are left"
            return f"{told}{self._failed()}: run the same command again to go on"
        if not self.done:
            return f"all {self.planned} trials were stored before: nothing to do"
        before = f", {self.stored} before" if self.stored else ""
        return f"all {self.planned} trials are stored: {self.done} done in {self.seconds:.1f} s{before}{self._failed()}"

    def _failed(self) -> str:
        kinds = ", ".join(f"{count} {status}" for status, count in self.failures.items() if count)
        return f"; {self.failed} failed ({kinds})" if kinds else ""

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
