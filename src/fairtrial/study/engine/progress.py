"""What a run shows while it goes on: a display in a terminal, a few lines elsewhere, nothing if nothing is wanted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, Protocol

from fairtrial.study.one_line import one_line, reason
from fairtrial.study.records import Evidence

if TYPE_CHECKING:
    from fairtrial.study.engine.run_summary import RunSummary

_MOST_LEARNERS = 12
_LONGEST_NAME, _LONGEST_REASON = 24, 200
_SETTLED = 2.0  # seconds before which a rate says nothing
_MEMORY = 30.0  # seconds after which a trial counts for little in the rate
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
    """A display with a bar, failures, the rate, the time left, and the mean times of each learner (rich)."""

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
        self._bar, self._failed, self._left, self._rate = _bar(self._console), 0, planned - stored, Rate()
        self._task = self._bar.add_task(one_line(study, _LONGEST_NAME), total=planned, completed=stored)
        self._live = Display(get_renderable=self._picture, console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def came(self, arrived: Arrived) -> None:
        """Move on."""
        super().came(arrived)
        for learner, evidence in arrived:
            self._times[learner].add(evidence)
        self._failed += sum(evidence.status != "ok" for _, evidence in arrived)
        self._left -= len(arrived)
        self._rate.add(len(arrived))
        self._bar.update(self._task, advance=len(arrived))

    def stop(self, summary: RunSummary | None) -> None:
        """Close the display and tell what was done."""
        if self._live is not None:
            self._live.stop()
        super().stop(summary)

    def _say(self, text: str) -> None:
        if self._console is None:  # nothing was to be done
            super()._say(text)
            return
        from rich.text import Text

        self._console.print(Text(text), soft_wrap=True)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.table import Column, Table
        from rich.text import Text

        # The name folds where there is little room, so that nothing else is cut.
        others = [Column(name, no_wrap=True) for name in ("trials", "failed", "mean fit", "mean predict")]
        table = Table(Column("learner", overflow="fold"), *others, box=None, pad_edge=False)
        ordered = sorted(self._times.items(), key=lambda pair: (-pair[1].failed, -pair[1].mean))
        for name, times in ordered[:_MOST_LEARNERS]:
            table.add_row(Text(one_line(name)), *times.words())
        hidden = len(ordered) - _MOST_LEARNERS
        more = [Text(f"and {hidden} more, which fail less or are faster")] if hidden > 0 else []
        return Group(self._bar, self._facts(), table, *more)

    def _facts(self) -> Any:
        """Failures, rate and time left: what is known of them."""
        from rich.text import Text

        facts = [Text(f"{self._failed} failed", style="red")] if self._failed else []
        if (rate := self._rate.value) is not None:
            facts += [Text(f"{rate:.3g} a second"), Text(f"{_clock(self._left / rate)} left")]
        return Text(", ").join(facts)


class Rate:
    """Trials a second, smoothed over about half a minute; None while there is too little to tell."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._last = clock()
        self._trials = self._seconds = 0.0

    def add(self, trials: int) -> None:
        """So many have just come."""
        now = self._clock()
        kept = exp((self._last - now) / _MEMORY)
        self._trials, self._seconds = kept * self._trials + trials, kept * self._seconds + now - self._last
        self._last = now

    @property
    def value(self) -> float | None:
        """The rate, once it means something."""
        return self._trials / self._seconds if self._last - self._begun >= _SETTLED and self._trials else None


class _Times:
    """The sums of one learner's times, and how many trials told them."""

    def __init__(self) -> None:
        self.trials, self.failed = 0, 0
        self._fit, self._predict = [0.0, 0], [0.0, 0]

    def add(self, evidence: Evidence) -> None:
        self.trials += 1
        self.failed += evidence.status != "ok"
        for sums, seconds in ((self._fit, evidence.fit_time), (self._predict, evidence.predict_time)):
            if seconds is not None:
                sums[0] += seconds
                sums[1] += 1

    @property
    def mean(self) -> float:
        return sum(total / told for total, told in (self._fit, self._predict) if told)

    def words(self) -> tuple[str, ...]:
        means = (_seconds(total / told) if told else "" for total, told in (self._fit, self._predict))
        return (str(self.trials), str(self.failed or ""), *means)


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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn
    from rich.table import Column

    counts = MofNCompleteColumn(table_column=Column(no_wrap=True))
    return Bar(TextColumn("{task.description}", markup=False), BarColumn(), counts, console=console)


def _seconds(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> _seconds(0.0021), _seconds(3.14159)
    ('2.1 ms', '3.14 s')
    """
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _clock(seconds: float) -> str:
    """Seconds as a clock tells them.

    >>> _clock(75.2), _clock(7384)
    ('1:15', '2:03:04')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _failure(learner: str, evidence: Evidence) -> str:
    first_line = next(iter((evidence.message or "").splitlines()), "")
    told = reason(evidence.error, first_line, _LONGEST_REASON)
    return f"{one_line(learner)}: {evidence.status}{f' ({told})' if told else ''}; the study goes on"
