"""Progress of a run: a live display in a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import exp
from typing import TYPE_CHECKING, Any, Protocol

from fairtrial._text import collapse_whitespace, format_count, format_duration, format_reason, generalize_message, join_names
from fairtrial.study.records import TrialRecord

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run. If the run covered only one shard, all numbers refer to the trials of this shard.

    Attributes
    ----------
    planned : int
        Number of planned trials.
    stored : int
        Number of trials that earlier runs stored.
    done : int
        Number of trials that this run stored, including failed ones.
    failures : mapping of str to int
        Number of failed trials of this run for each status.
    seconds : float
        Duration of this run.
    interrupted : bool
        Whether the run was interrupted before all trials were done.
    forgotten : int
        Number of stored trials that were deleted so that they could run again.

    Examples
    --------
    >>> print(RunSummary(planned=400, stored=100, done=300, failures={"timeout": 2}, seconds=12.34))
    400 of 400 trials stored (300 in 12 s, 100 before), 2 failed (2 timeout)
    >>> print(RunSummary(planned=400, stored=0, done=100, seconds=5.0, interrupted=True))
    stopped: 100 of 400 trials stored, 300 missing: rerun the command to resume
    """

    planned: int
    stored: int
    done: int
    failures: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False
    forgotten: int = 0

    @property
    def left(self) -> int:
        """Number of trials that have not run."""
        return self.planned - self.stored - self.done

    @property
    def failed(self) -> int:
        """Number of trials that failed in this run."""
        return sum(self.failures.values())

    def frame(self) -> pd.DataFrame:
        """Return the summary as a table with one row."""
        import pandas as pd

        values = {
            name: getattr(self, name) for name in ("planned", "stored", "done", "left", "failed", "seconds", "interrupted")
        }
        return pd.DataFrame([values])

    def __str__(self) -> str:
        counts = f"{self.stored + self.done:,} of {format_count(self.planned, 'trial')} stored"
        if self.left:
            prefix = "stopped: " if self.interrupted else ""
            return f"{prefix}{counts}, {self.left:,} missing{self._format_failures()}: rerun the command to resume"
        if not self.done:
            return f"{counts}: nothing to run"
        before = f", {self.stored:,} before" if self.stored else ""
        repeated = f", {format_count(self.forgotten, 'trial')} forgotten and rerun" if self.forgotten else ""
        return f"{counts} ({self.done:,} in {format_duration(self.seconds)}{before}){repeated}{self._format_failures()}"

    def _format_failures(self) -> str:
        causes = [f"{count:,} {status}" for status, count in self.failures.items() if count]
        return f", {self.failed:,} failed ({join_names(causes)})" if causes else ""

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


_MAX_LEARNERS = 12
_MAX_NAME_LENGTH, _MAX_REASON_LENGTH = 24, 200
_MIN_RATE_SECONDS = 2.0  # no rate is shown before this time
_RATE_SECONDS = 30.0  # time constant of the smoothed rate
_COMPILING = "Compiling kernels (first run only) ..."
LearnerRecords = Sequence[tuple[str, TrialRecord]]


class Progress(Protocol):
    """Interface of a display that shows the progress of a run.

    The run calls `start` once, `add_records` for each batch of records, and `stop` once. A display can also have the method
    `show_compilation(learner, index, total)`, which is called before `start` if kernels must be compiled.
    """

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Show the start of the run. `planned` and `stored` are numbers of trials, and `where` describes the engine."""

    def add_records(self, records: LearnerRecords) -> None:
        """Show newly stored records. `records` contains pairs of learner name and record."""

    def stop(self, summary: RunSummary | None) -> None:
        """Show the end of the run. The summary is None if the run failed."""


class SilentProgress:
    """A display that shows nothing."""

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Do nothing."""

    def add_records(self, records: LearnerRecords) -> None:
        """Do nothing."""

    def stop(self, summary: RunSummary | None) -> None:
        """Do nothing."""


class LineProgress:
    """A display of plain lines for logs: one at the start, one at the end, and one for each cause of failure."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str | None, str]] = set()

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Print the number of trials."""
        self._print_line(f"{study}: {format_count(planned, 'trial')}, {stored:,} already stored, {where}")

    def show_compilation(self, learner: str, index: int, total: int) -> None:
        """Print a line before the first of `total` learner classes is compiled."""
        if index == 0:
            self._print_line(_COMPILING)

    def add_records(self, records: LearnerRecords) -> None:
        """Print the first failure of each cause."""
        for learner, record in records:
            kind = (record.status, record.error, generalize_message(record.message or ""))
            if record.status != "ok" and kind not in self._reported:
                self._reported.add(kind)
                self._print_line(_format_failure(learner, record))

    def stop(self, summary: RunSummary | None) -> None:
        """Print the summary."""
        if summary is not None:
            self._print_line(str(summary))

    def _print_line(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class LiveProgress(LineProgress):
    """A live display with a progress bar, failures, rate, remaining time, and the mean times of each learner."""

    def __init__(self, console: Any = None) -> None:
        super().__init__()
        self._console = console
        self._live: Any = None
        self._compilation: Any = None
        self._times: dict[str, _LearnerTimes] = {}

    def start(self, study: str, learners: Sequence[str], planned: int, stored: int, where: str) -> None:
        """Start the display."""
        from rich.console import Console
        from rich.live import Live as Display

        self._stop_compilation()
        self._console = self._console or Console(stderr=True)
        super().start(study, learners, planned, stored, where)
        self._times = {name: _LearnerTimes() for name in learners}
        self._bar, self._failed, self._left, self._rate = _make_bar(self._console), 0, planned - stored, Rate()
        self._task = self._bar.add_task(collapse_whitespace(study, _MAX_NAME_LENGTH), total=planned, completed=stored)
        self._live = Display(get_renderable=self._render, console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def show_compilation(self, learner: str, index: int, total: int) -> None:
        """Print a line at the first call. Until the run starts, show which learner class is being compiled."""
        from rich.console import Console

        self._console = self._console or Console(stderr=True)
        super().show_compilation(learner, index, total)
        self._stop_compilation()
        self._compilation = self._console.status(f"{learner} ({index + 1} of {total})")
        self._compilation.start()

    def _stop_compilation(self) -> None:
        if self._compilation is not None:
            self._compilation.stop()
            self._compilation = None

    def add_records(self, records: LearnerRecords) -> None:
        """Update the display."""
        super().add_records(records)
        for learner, record in records:
            self._times[learner].add(record)
        self._failed += sum(record.status != "ok" for _, record in records)
        self._left -= len(records)
        self._rate.add(len(records))
        self._bar.update(self._task, advance=len(records))

    def stop(self, summary: RunSummary | None) -> None:
        """Close the display and print the summary."""
        self._stop_compilation()
        if self._live is not None:
            self._live.stop()
        super().stop(summary)

    def _print_line(self, text: str) -> None:
        if self._console is None:  # no trial was run
            super()._print_line(text)
            return
        from rich.text import Text

        self._console.print(Text(text), soft_wrap=True)

    def _render(self) -> Any:
        from rich.console import Group
        from rich.table import Column, Table
        from rich.text import Text

        # If space is limited, only the name is wrapped.
        others = [Column(name, no_wrap=True) for name in ("trials", "failed", "mean fit", "mean predict")]
        table = Table(Column("learner", overflow="fold"), *others, box=None, pad_edge=False)
        ordered = sorted(self._times.items(), key=lambda pair: (-pair[1].failed, -pair[1].mean))
        for name, times in ordered[:_MAX_LEARNERS]:
            table.add_row(Text(collapse_whitespace(name)), *times.format_cells())
        hidden = len(ordered) - _MAX_LEARNERS
        more = [Text(f"and {format_count(hidden, 'other learner')} with fewer failures or shorter times")] if hidden > 0 else []
        return Group(self._bar, self._render_status(), table, *more)

    def _render_status(self) -> Any:
        """Render the number of failures, the rate and the remaining time if they are known."""
        from rich.text import Text

        parts = [Text(f"{self._failed:,} failed", style="red")] if self._failed else []
        if (rate := self._rate.value) is not None:
            parts += [Text(f"{rate:.3g} trials/s"), Text(f"{format_duration(self._left / rate)} left")]
        return Text(", ").join(parts)


class Rate:
    """The rate in trials per second, smoothed over about half a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = self._last = clock()
        self._trials = self._seconds = 0.0

    def add(self, trials: int) -> None:
        """Add trials that were just finished."""
        now = self._clock()
        weight = exp((self._last - now) / _RATE_SECONDS)
        self._trials, self._seconds = weight * self._trials + trials, weight * self._seconds + now - self._last
        self._last = now

    @property
    def value(self) -> float | None:
        """Trials per second. The value is None until a trial finishes at least two seconds after the start."""
        return self._trials / self._seconds if self._last - self._started >= _MIN_RATE_SECONDS and self._trials else None


class _LearnerTimes:
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
        means = (format_duration(total / count) if count else "" for total, count in (self._fit, self._predict))
        return (str(self.trials), str(self.failed or ""), *means)


def choose_progress(progress: bool | Progress | None) -> Progress:
    """Choose a progress display.

    True selects the live display, and False selects no display. None selects the live display in terminals and notebooks, and
    plain lines elsewhere. A custom display is returned unchanged.

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


def _format_failure(learner: str, record: TrialRecord) -> str:
    first_line = next(iter((record.message or "").splitlines()), "")
    reason_text = format_reason(record.error, first_line, _MAX_REASON_LENGTH)
    return f"{collapse_whitespace(learner)}: {record.status}{f' ({reason_text})' if reason_text else ''}; the run continues"
