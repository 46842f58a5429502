"""Chunks that are out: sent, sent again where a worker lacks the data set or was lost, halved where it keeps being lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtrial.errors import FairtrialError
from fairtrial.study.records import Chunk, Evidence, Needs, Task

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.engine.engine import Engine

MOST_LOSSES = 3
MOST_SILENCES = 3


@dataclass(frozen=True, eq=False)
class Sent:
    """A chunk that is out, how often it was lost with its worker, and how often it came back without any evidence."""

    chunk: Chunk
    losses: int = 0
    silences: int = 0


class InFlight:
    """The chunks that an engine has. `datasets` gives the data set of a content hash, for workers that have not met it."""

    def __init__(self, engine: Engine, datasets: Callable[[str], Dataset]) -> None:
        self._engine, self._datasets = engine, datasets
        self._sent: dict[Future[Any], Sent] = {}
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def idle(self) -> bool:
        """Whether nothing is out, and nothing is left to be told."""
        return not self._sent and self._failure is None

    @property
    def broken(self) -> bool:
        """Whether there is a failure that is none of a trial: nothing more is to be sent."""
        return self._failure is not None

    def send(self, chunk: Chunk) -> None:
        """Send a chunk out for the first time."""
        self._submit(Sent(chunk))

    def _submit(self, sent: Sent, dataset: Dataset | None = None) -> None:
        if self.broken:
            return
        try:
            future = self._engine.submit(sent.chunk, dataset)
        except Exception as error:
            self._fail(f"takes no more work ({error}): start it again")
        else:
            self._sent[future] = sent

    def _fail(self, what: str) -> None:
        self._failure = self._failure or FairtrialError(
            f"the engine {self._engine.name} {what}, and run the same command again to go on with what is left"
        )

    def arrived(self, seconds: float, *, again: bool = True) -> list[Evidence]:
        """The evidence that came within so many seconds, as soon as there is any. Without `again`, nothing is sent out.

        A failure that is not one of a trial is raised once the evidence that came with it has been handed over.
        """
        evidence: list[Evidence] = []
        if self._failure is None:
            wait(self._sent, timeout=seconds, return_when=FIRST_COMPLETED)
            evidence = self._finished(again)
            if not evidence and self._engine.gone():
                self._fail("takes no more work (it has been lost): start it again")
        if self._failure is not None:
            evidence += self._finished(again=False)  # what came in the meantime
            self._sent.clear()
            if not evidence:
                raise self._failure
        return evidence

    def _finished(self, again: bool) -> list[Evidence]:
        """What the chunks that are back have brought; all are taken out before any is sent again."""
        back = [(future, self._sent.pop(future)) for future in list(self._sent) if future.done()]
        return [each for future, sent in back for each in self._answer(future, sent, again)]

    def cancel(self) -> None:
        """Take back what has not begun; what is cancelled is no longer out."""
        for future in list(self._sent):
            if future.cancel():
                del self._sent[future]

    def _answer(self, future: Future[Any], sent: Sent, again: bool) -> Sequence[Evidence]:
        failure = _failure(future)
        if failure is not None:
            if self._engine.lost(failure):
                return self._lost(sent) if again else ()
            self._failure = self._failure or failure
            return ()
        answer = future.result()
        if isinstance(answer, Needs):
            if again:
                self._submit(sent, self._datasets(answer.data))
            return ()
        left = _unanswered(sent.chunk, answer)
        if left and again:
            self._stopped(Sent(replace(sent.chunk, tasks=left), sent.losses, 0 if answer else sent.silences + 1))
        return answer  # type: ignore[no-any-return]

    def _stopped(self, sent: Sent) -> None:
        """A chunk that came back before its end was stopped where it ran, which is no fault of its trials."""
        if sent.silences < MOST_SILENCES:
            self._submit(sent)
        else:
            self._fail(f"answered {MOST_SILENCES} times without the evidence of a trial: look at its workers")

    def _lost(self, sent: Sent) -> Sequence[Evidence]:
        losses, tasks = sent.losses + 1, sent.chunk.tasks
        if losses < MOST_LOSSES:
            self._submit(Sent(sent.chunk, losses))
        elif len(tasks) == 1:
            return [_crash(tasks[0])]
        else:
            middle = len(tasks) // 2
            for half in (tasks[:middle], tasks[middle:]):
                self._submit(Sent(replace(sent.chunk, tasks=half)))
        return ()


def _failure(future: Future[Any]) -> BaseException | None:
    return CancelledError() if future.cancelled() else future.exception()


def _unanswered(chunk: Chunk, evidence: Sequence[Evidence]) -> tuple[Task, ...]:
    answered = {each.key for each in evidence}
    return tuple(task for task in chunk.tasks if task.key not in answered)


def _crash(task: Task) -> Evidence:
    return Evidence(task.key, "crash", error="WorkerLost", message="lost three times with the worker that ran it")
