"""What a run shows while it goes on: a display in a terminal, a few lines elsewhere, nothing if nothing is wanted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fairtrial.study.records import Evidence

if TYPE_CHECKING:
    from fairtrial.study.engine.run_summary import RunSummary

_MOST_LEARNERS = 12
_FAILED = "[red]{task.fields[failed]}"
Arrived = Sequence[tuple[str, Evidence]]


class Progress(Protocol):
    """Whoever wants to see a run: `start` comes once, `came` with each batch, `stop` once: None where the run broke off."""

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """The run begins; `stored` of the `planned` trials are done; `where` says on what it runs."""

    def came(self, arrived: Arrived) -> None:
        """Evidence was stored: pairs of the learner's name and the evidence."""

    def stop(self, summary: RunSummary | None) -> None:
        """The run is over."""


class Silent:
    """Shows nothing."""

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Nothing."""

    def came(self, arrived: Arrived) -> None:
        """Nothing."""

    def stop(self, summary: RunSummary | None) -> None:
        """Nothing."""


class Lines:
    """One line at the start, one at the end, and one for each kind of failure: for logs."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str, str | None]] = set()

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """One line."""
        self._say(f"{study}: {planned} trials, {stored} stored before, {where}")

    def came(self, arrived: Arrived) -> None:
        """A line for each failure of a new kind."""
        for learner, evidence in arrived:
            kind = (learner, evidence.status, evidence.error)
            if evidence.status != "ok" and kind not in self._told:
                self._told.add(kind)
                self._say(_failure(learner, evidence))

    def stop(self, summary: RunSummary | None) -> None:
        """One line."""
        if summary is not None:
            self._say(str(summary))

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Live(Lines):
    """A display with a bar, the rate, the time left, failures, and the mean times of each learner (rich)."""

    def __init__(self, console: Any = None) -> None:
        super().__init__()
        self._console = console
        self._live: Any = None
        self._times: dict[str, _Times] = {}

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Open the display."""
        from rich.console import Console
        from rich.live import Live as Display

        self._console = self._console or Console(stderr=True)
        super().start(study, learners, planned, stored, where)
        self._times = {name: _Times() for name in learners}
        self._bar, self._failed = _bar(self._console), 0
        self._task = self._bar.add_task(study, total=planned, completed=stored, rate="", failed="")
        self._live = Display(get_renderable=self._picture, console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def came(self, arrived: Arrived) -> None:
        """Move on."""
        super().came(arrived)
        for learner, evidence in arrived:
            self._times[learner].add(evidence)
        self._failed += sum(evidence.status != "ok" for _, evidence in arrived)
        speed = self._bar.tasks[0].speed
        rate, failed = f"{speed:.3g} a second" if speed else "", f"{self._failed} failed" if self._failed else ""
        self._bar.update(self._task, advance=len(arrived), rate=rate, failed=failed)

    def stop(self, summary: RunSummary | None) -> None:
        """Close the display and tell what was done."""
        if self._live is not None:
            self._live.stop()
        super().stop(summary)

    def _say(self, text: str) -> None:
        if self._console is None:  # nothing was to be done
            super()._say(text)
        else:
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table("learner", "trials", "mean fit", "mean predict", "failed", box=None, pad_edge=False)
        slowest = sorted(self._times.items(), key=lambda pair: -pair[1].mean)
        for name, times in slowest[:_MOST_LEARNERS]:
            table.add_row(Text(name), *times.words())
        return Group(self._bar, table)


class _Times:
    """The sums of one learner's times."""

    def __init__(self) -> None:
        self.trials, self.failed, self.fit, self.predict = 0, 0, 0.0, 0.0

    def add(self, evidence: Evidence) -> None:
        self.trials += 1
        self.failed += evidence.status != "ok"
        self.fit += evidence.fit_time or 0.0
        self.predict += evidence.predict_time or 0.0

    @property
    def mean(self) -> float:
        return (self.fit + self.predict) / max(1, self.trials)

    def words(self) -> tuple[str, ...]:
        if not self.trials:
            return ("0", "", "", "")
        fit, predict = (_seconds(total / self.trials) for total in (self.fit, self.predict))
        return (str(self.trials), fit, predict, str(self.failed or ""))


def progress_of(wanted: bool | Progress | None) -> Progress:
    """None: a display in a terminal or a notebook, lines elsewhere. True: the display. False: nothing. Or an object of yours.

    >>> type(progress_of(False)).__name__
    'Silent'
    """
    if wanted is False:
        return Silent()
    if wanted is True or (wanted is None and _terminal()):
        return Live()
    return Lines() if wanted is None else wanted


def _terminal() -> bool:
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    return "ipykernel" in sys.modules


def _bar(console: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn, TimeRemainingColumn

    name, rate, failed = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[rate]}"), _FAILED
    return Bar(name, BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn(), TextColumn(failed), console=console)


def _seconds(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> _seconds(0.0021), _seconds(3.14159)
    ('2.1 ms', '3.14 s')
    """
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _failure(learner: str, evidence: Evidence) -> str:
    reason = next(iter((evidence.message or "").splitlines()), "")
    told = ": ".join(part for part in (evidence.error, reason) if part)
    return f"{learner}: {evidence.status}{f' ({told})' if told else ''}; the study goes on"
