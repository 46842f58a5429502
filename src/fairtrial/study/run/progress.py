"""What a run shows while it goes on: a display in a terminal, a few lines elsewhere, nothing if nothing is wanted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import exp
from typing import TYPE_CHECKING, Any, Protocol

from fairtrial._text import collapse_whitespace, format_reason
from fairtrial.study.records import TrialRecord

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

        values = {
            name: getattr(self, name) for name in ("planned", "stored", "done", "left", "failed", "seconds", "interrupted")
        }
        return pd.DataFrame([values])

    def __str__(self) -> str:
        if self.left:
            begin = "stopped: " if self.interrupted else ""
            text = f"{begin}{self.stored + self.done} of {self.planned} trials are stored, {self.left} are left"
            return f"{text}{self._format_failures()}: run the same command again to go on"
        if not self.done:
            return f"all {self.planned} trials were stored before: nothing to do"
        before = f", {self.stored} before" if self.stored else ""
        return (
            f"all {self.planned} trials are stored: {self.done} done in {self.seconds:.1f} s{before}{self._format_failures()}"
        )

    def _format_failures(self) -> str:
        kinds = ", ".join(f"{count} {status}" for status, count in self.failures.items() if count)
        return f"; {self.failed} failed ({kinds})" if kinds else ""

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


_MAX_LEARNERS = 12
_MAX_NAME_LENGTH, _MAX_REASON_LENGTH = 24, 200
_MIN_RATE_SECONDS = 2.0  # seconds before which a rate says nothing
_RATE_SECONDS = 30.0  # seconds after which a trial counts for little in the rate
LearnerRecords = Sequence[tuple[str, TrialRecord]]


class Progress(Protocol):
    """What shows a run: `start` is called once, `add_records` with each batch, `stop` once, with None if the run broke off."""

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """The run begins; `stored` of the `planned` trials are done; `where` says on what it runs."""

    def add_records(self, records: LearnerRecords) -> None:
        """Records were stored: pairs of the name of the learner and the record."""

    def stop(self, summary: RunSummary | None) -> None:
        """The run is over."""


class SilentProgress:
    """Shows nothing."""

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Nothing."""

    def add_records(self, records: LearnerRecords) -> None:
        """Nothing."""

    def stop(self, summary: RunSummary | None) -> None:
        """Nothing."""


class LineProgress:
    """One line at the start, one at the end, and one for each kind of failure: for logs."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str, str | None]] = set()

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """One line."""
        self._print_line(f"{study}: {planned} trials, {stored} stored before, {where}")

    def add_records(self, records: LearnerRecords) -> None:
        """A line for each failure of a new kind."""
        for learner, record in records:
            kind = (learner, record.status, record.error)
            if record.status != "ok" and kind not in self._reported:
                self._reported.add(kind)
                self._print_line(_format_failure(learner, record))

    def stop(self, summary: RunSummary | None) -> None:
        """One line."""
        if summary is not None:
            self._print_line(str(summary))

    def _print_line(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class LiveProgress(LineProgress):
    """A display with a bar, failures, the rate, the time left, and the mean times of each learner (rich)."""

    def __init__(self, console: Any = None) -> None:
        super().__init__()
        self._console = console
        self._live: Any = None
        self._times: dict[str, _LearnerTimes] = {}

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Open the display."""
        from rich.console import Console
        from rich.live import Live as Display

        self._console = self._console or Console(stderr=True)
        super().start(study, learners, planned, stored, where)
        self._times = {name: _LearnerTimes() for name in learners}
        self._bar, self._failed, self._left, self._rate = _make_bar(self._console), 0, planned - stored, Rate()
        self._task = self._bar.add_task(collapse_whitespace(study, _MAX_NAME_LENGTH), total=planned, completed=stored)
        self._live = Display(get_renderable=self._render, console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def add_records(self, records: LearnerRecords) -> None:
        """Move on."""
        super().add_records(records)
        for learner, record in records:
            self._times[learner].add(record)
        self._failed += sum(record.status != "ok" for _, record in records)
        self._left -= len(records)
        self._rate.add(len(records))
        self._bar.update(self._task, advance=len(records))

    def stop(self, summary: RunSummary | None) -> None:
        """Close the display and print what was done."""
        if self._live is not None:
            self._live.stop()
        super().stop(summary)

    def _print_line(self, text: str) -> None:
        if self._console is None:  # nothing was to be done
            super()._print_line(text)
            return
        from rich.text import Text

        self._console.print(Text(text), soft_wrap=True)

    def _render(self) -> Any:
        from rich.console import Group
        from rich.table import Column, Table
        from rich.text import Text

        # The name folds where there is little room, so that nothing else is cut.
        others = [Column(name, no_wrap=True) for name in ("trials", "failed", "mean fit", "mean predict")]
        table = Table(Column("learner", overflow="fold"), *others, box=None, pad_edge=False)
        ordered = sorted(self._times.items(), key=lambda pair: (-pair[1].failed, -pair[1].mean))
        for name, times in ordered[:_MAX_LEARNERS]:
            table.add_row(Text(collapse_whitespace(name)), *times.format_cells())
        hidden = len(ordered) - _MAX_LEARNERS
        more = [Text(f"and {hidden} more, which fail less or are faster")] if hidden > 0 else []
        return Group(self._bar, self._render_status(), table, *more)

    def _render_status(self) -> Any:
        """Failures, rate and time left: what is known of them."""
        from rich.text import Text

        parts = [Text(f"{self._failed} failed", style="red")] if self._failed else []
        if (rate := self._rate.value) is not None:
            parts += [Text(f"{rate:.3g} a second"), Text(f"{_format_clock(self._left / rate)} left")]
        return Text(", ").join(parts)


class Rate:
    """Trials a second, smoothed over about half a minute; None while too few have come."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = self._last = clock()
        self._trials = self._seconds = 0.0

    def add(self, trials: int) -> None:
        """So many have just come."""
        now = self._clock()
        weight = exp((self._last - now) / _RATE_SECONDS)
        self._trials, self._seconds = weight * self._trials + trials, weight * self._seconds + now - self._last
        self._last = now

    @property
    def value(self) -> float | None:
        """The rate, once it means something."""
        return self._trials / self._seconds if self._last - self._started >= _MIN_RATE_SECONDS and self._trials else None


class _LearnerTimes:
    """The sums of one learner's times, and how many trials have them."""

    def __init__(self) -> None:
        self.trials, self.failed = 0, 0
        self._fit, self._predict = [0.0, 0], [0.0, 0]

    def add(self, record: TrialRecord) -> None:
        self.trials += 1
        self.failed += record.status != "ok"
        for sums, seconds in ((self._fit, record.fit_time), (self._predict, record.predict_time)):
            if seconds is not None:
                sums[0] += seconds
                sums[1] += 1

    @property
    def mean(self) -> float:
        return sum(total / count for total, count in (self._fit, self._predict) if count)

    def format_cells(self) -> tuple[str, ...]:
        means = (_format_seconds(total / count) if count else "" for total, count in (self._fit, self._predict))
        return (str(self.trials), str(self.failed or ""), *means)


def choose_progress(progress: bool | Progress | None) -> Progress:
    """None: a display in a terminal or a notebook, lines elsewhere. True: the display. False: nothing. Or an object of yours.

    >>> type(choose_progress(False)).__name__
    'SilentProgress'
    """
    if progress is False:
        return SilentProgress()
    if progress is True or (progress is None and _is_interactive()):
        return LiveProgress()
    return LineProgress() if progress is None else progress


def _is_interactive() -> bool:
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    return "ipykernel" in sys.modules


def _make_bar(console: Any) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn
    from rich.table import Column

    counts = MofNCompleteColumn(table_column=Column(no_wrap=True))
    return Bar(TextColumn("{task.description}", markup=False), BarColumn(), counts, console=console)


def _format_seconds(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> _format_seconds(0.0021), _format_seconds(3.14159)
    ('2.1 ms', '3.14 s')
    """
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _format_clock(seconds: float) -> str:
    """Seconds as a clock shows them.

    >>> _format_clock(75.2), _format_clock(7384)
    ('1:15', '2:03:04')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _format_failure(learner: str, record: TrialRecord) -> str:
    first_line = next(iter((record.message or "").splitlines()), "")
    reason_text = format_reason(record.error, first_line, _MAX_REASON_LENGTH)
    return f"{collapse_whitespace(learner)}: {record.status}{f' ({reason_text})' if reason_text else ''}; the study goes on"
