"""Time two implementations alternately in one process and compute the median ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    what: str
    peer: str
    ours_ms: float
    peer_ms: float
    ratio: float
    target: float

    @property
    def met(self) -> bool:
        return self.ratio >= self.target


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def side_by_side(
    what: str,
    ours: Callable[[], object],
    peer_name: str,
    peer: Callable[[], object],
    target: float,
    rounds: int,
    share: int = 1,
) -> Line:
    """Time both alternately after an untimed round; `share` is the number of models per call of fairtrial."""
    ours()
    peer()
    pairs = [(seconds(ours), seconds(peer)) for _ in range(rounds)]
    line = Line(
        what,
        peer_name,
        1e3 * statistics.median(mine for mine, _ in pairs) / share,
        1e3 * statistics.median(theirs for _, theirs in pairs),
        share * statistics.median(theirs / mine for mine, theirs in pairs),
        target,
    )
    return tell(line)


def tell(line: Line) -> Line:
    verdict = "met" if line.met else "MISSED"
    print(
        f"{line.what}: {line.ours_ms:.4g} ms, {line.peer} {line.peer_ms:.4g} ms, "
        f"{line.ratio:.1f}x (target {line.target:g}x: {verdict})",
        flush=True,
    )
    return line
