"""Where each key of a TOML text stands, so that a mistake can be told with its line. tomllib has read the text before."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]
Place = tuple[int, int]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")


def places(text: str) -> dict[Path, Place]:
    """The line and column, counted from 1, of each key and of each value of a list, by its path.

    >>> found = places('seed = 1\\n[learners]\\nc45 = {}\\nforest = { learner = "random-forest" }\\n')
    >>> found["learners", "forest"], found["learners", "forest", "learner"]
    ((4, 1), (4, 12))
    """
    return _Scanner(text.replace("\r\n", "\n")).places()


def place_of(found: Mapping[Path, Place], path: Path) -> Place | None:
    """The place of a path, or of what it lies in.

    >>> place_of({("learners", "c45"): (3, 1)}, ("learners", "c45", "parameters"))
    (3, 1)
    """
    for length in range(len(path), 0, -1):
        if path[:length] in found:
            return found[path[:length]]
    return None


class _Scanner:
    """Goes once through the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, Place] = {}
        self.lengths: dict[Path, int] = {}
        self.starts = [0, *(each.end() for each in re.finditer("\n", text))]

    def places(self) -> dict[Path, Place]:
        table: Path = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)
        return self.found

    def _header(self) -> Path:
        """A table `[a.b]`, or the next one of an array of tables `[[a.b]]`."""
        several = self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        path: Path = ()
        keys = list(self._keys())
        for number, (key, start) in enumerate(keys):
            path = (*path, key)
            self._note(path, start)
            if path in self.lengths or (several and number == len(keys) - 1):
                self.lengths[path] = self.lengths.get(path, 0) + (several and number == len(keys) - 1)
                path = (*path, self.lengths[path] - 1)
                self._note(path, start)
        self.at = self.text.index("]", self.at) + (2 if several else 1)
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for key, start in self._keys():
            path = (*path, key)
            self._note(path, start)
        self.at = self.text.index("=", self.at) + 1
        self._skip(_SPACE)
        self._value(path)

    def _keys(self) -> Iterator[tuple[str, int]]:
        """The parts of a key with their starts; a quoted part as tomllib reads it."""
        while True:
            self._skip(_SPACE)
            start = self.at
            quoted = _STRING.match(self.text, start)
            matched = quoted or _BARE_KEY.match(self.text, start)
            if matched is None:
                raise ValueError(f"no key at position {start}")
            self.at = matched.end()
            yield (next(iter(tomllib.loads(f"{matched[0]} = 0"))) if quoted else matched[0]), start
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return
            self.at += 1

    def _value(self, path: Path) -> None:
        if self.text[self.at] == "[":
            self._list(path)
        elif self.text[self.at] == "{":
            self._inline_table(path)
        else:
            matched = _STRING.match(self.text, self.at) or _BARE_VALUE.match(self.text, self.at)
            if matched is None:
                raise ValueError(f"no value at position {self.at}")
            self.at = matched.end()

    def _list(self, path: Path) -> None:
        self.at += 1
        number = 0
        while self._next("]"):
            self._note((*path, number), self.at)
            self._value((*path, number))
            number += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._next("}"):
            self._pair(path)

    def _next(self, end: str) -> bool:
        """Go on to the next member; False behind the end."""
        self._skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self._skip(_BLANK)
        if self.text[self.at] == end:
            self.at += 1
            return False
        return True

    def _skip(self, what: re.Pattern[str]) -> None:
        matched = what.match(self.text, self.at)
        self.at = matched.end() if matched else self.at

    def _note(self, path: Path, start: int) -> None:
        """The first place counts: `[a.b]` and a later `[a.c]` both name a."""
        if path not in self.found:
            line = self._line(start)
            self.found[path] = (line + 1, start - self.starts[line] + 1)

    def _line(self, position: int) -> int:
        return bisect.bisect_right(self.starts, position) - 1
