"""How far a study is: trials done, failed and missing, by learner; a store can be asked while it is written to."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from fairtrial.significance.scores import counted
from fairtrial.study.abstaining import abstention_sentences

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.results.results import Results

_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class HowFar:
    """Trials by learner and status, when the study ran, and what is to be said of abstentions."""

    name: str
    table: pd.DataFrame
    runs: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """A line for each learner: trials planned and those of each status that occurs."""
        return self.table.copy()

    def __str__(self) -> str:
        total = self.table.drop(columns="learner").sum()
        done = int(total["planned"] - total.get("missing", 0))
        failed = int(total.drop(["planned", "ok", "missing"], errors="ignore").sum())
        planned = int(total["planned"])
        verb = "is" if planned == 1 else "are"
        told = [f"{self.name}: {done:,} of {counted(planned, 'trial')} {verb} stored, {failed:,} of them failed"]
        told += ["", self.table.to_string(index=False, formatters=dict.fromkeys(total.index, "{:,}".format))]
        told += ["", *self.notes] if self.notes else []
        told += ["", *(_run(each) for each in self.runs[-_SHOWN:])] if self.runs else []
        return "\n".join(told)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def how_far(results: Results) -> HowFar:
    """How far the study of these results is."""
    import pandas as pd

    trials = results.trials()
    order = [each.name for each in results.archive.learners]
    counts = pd.crosstab(trials["learner"].astype(str), trials["status"].astype(str)).reindex(order, fill_value=0)
    columns = [each for each in ("ok", "error", "timeout", "memory", "crash", "missing") if each in counts]
    table = counts[columns].reset_index()
    table.insert(1, "planned", counts.sum(axis=1).to_numpy())
    table.columns.name = None
    return HowFar(results.archive.name, table, tuple(results.archive.runs), tuple(abstention_sentences(trials)))


def _run(facts: Any) -> str:
    finished = facts.get("finished")
    told = f"finished {finished}" if finished else "not finished: it is running, or was stopped at once"
    return f"run started {facts.get('started')}, engine {facts.get('engine')}, {told}"
