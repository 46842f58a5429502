"""Where names stand beside their points: the corner where they hide least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

_LETTER, _HEIGHT, _GAP = 7.0, 13.0, 8.0  # pixels: a letter's width, a line's height, from the point to the name
_POINT = 5.0


class Corner(NamedTuple):
    """On which side of its point a name begins, and how it is moved."""

    align: Literal["left", "right"]
    dx: float
    dy: float


CORNERS = (
    Corner("left", _GAP, -_GAP),
    Corner("right", -_GAP, -_GAP),
    Corner("left", _GAP, _GAP),
    Corner("right", -_GAP, _GAP),
)
_Box = tuple[float, float, float, float]  # left, top, right, bottom, in pixels


def corners_of(points: Sequence[tuple[float, float]], names: Sequence[str], width: float) -> list[Corner]:
    """For each point (in pixels from the upper left) the corner for its name: inside the width, off other names and points.

    >>> [corner.align for corner in corners_of([(100, 50), (110, 50), (390, 50)], ["tree", "bayes", "forest"], 400)]
    ['right', 'left', 'right']
    """
    taken: list[_Box] = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    found = []
    for at, name in zip(points, names, strict=True):
        boxes = {corner: _box(at, name, corner) for corner in CORNERS}
        costs = {corner: _hidden(box, taken, width) for corner, box in boxes.items()}
        best = min(costs, key=costs.__getitem__)
        taken.append(boxes[best])
        found.append(best)
    return found


def _box(at: tuple[float, float], name: str, corner: Corner) -> _Box:
    x, y = at[0] + corner.dx, at[1] + corner.dy
    wide = _LETTER * len(name)
    left = x if corner.align == "left" else x - wide
    return left, y - _HEIGHT / 2, left + wide, y + _HEIGHT / 2


def _hidden(box: _Box, taken: Sequence[_Box], width: float) -> float:
    """How many square pixels of others the name would cover, those outside the picture among them."""
    outside = (max(0.0, -box[0]) + max(0.0, box[2] - width)) * _HEIGHT
    return outside + sum(_shared(box, other) for other in taken)


def _shared(one: _Box, other: _Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, wide) * max(0.0, high)
