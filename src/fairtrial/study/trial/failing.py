"""A failure as it is kept: its status, the class of the error, its message and where it came from."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from fairtrial.study.records import Evidence, Status
from fairtrial.study.trial.file_names import named_from_package
from fairtrial.study.trial.measuring import plain_text

_MESSAGE, _TRACEBACK = 2000, 4000


@dataclass(frozen=True)
class Failure:
    """What is told of an error; its frames, and all that they hold, are gone.

    >>> Failure.of(ValueError("3 rows are too few")).message
    '3 rows are too few'
    """

    status: Status
    error: str
    message: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure of an error; `memory` where it, or what caused it, is a lack of memory."""
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        status: Status = "memory" if _lacks_memory(error) else "error"
        return cls(status, name, _message(error), _trace(error))

    def evidence(self, key: bytes, **more: Any) -> Evidence:
        """The evidence of a trial that failed so."""
        return Evidence(key, self.status, error=self.error, message=self.message, traceback=self.traceback, **more)


def _lacks_memory(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, MemoryError):
            return True
        seen.add(id(error))
        error = error.__cause__
    return False


def _message(error: BaseException) -> str:
    try:
        return plain_text(error, _MESSAGE)
    except Exception:
        return "(it cannot be told)"


def _trace(error: BaseException) -> str:
    """The end of the traceback; files are named from the folder of their package on."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        return ""
    return plain_text(named_from_package(text)[-_TRACEBACK:], 2 * _TRACEBACK)[-_TRACEBACK:]
