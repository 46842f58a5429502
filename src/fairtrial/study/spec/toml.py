"""A study file as it stands: its text, its values, and the place of each, so that every mistake is told with its line."""

from __future__ import annotations

import bisect
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError, Problem, SpecError

if TYPE_CHECKING:
    from fairtrial.study.spec.models import StudySpec
    from fairtrial.study.spec.problems import SpecProblem
    from fairtrial.study.spec.resolve import ResolvedStudy

KeyPath = tuple[str | int, ...]


TextPosition = tuple[int, int]


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


def locate_keys(text: str) -> dict[KeyPath, TextPosition]:
    """The line and column, counted from 1, of each key and of each value of a list, by its path.

    >>> found = locate_keys('seed = 1\\n[learners]\\nc45 = {}\\nforest = { learner = "random-forest" }\\n')
    >>> found["learners", "forest"], found["learners", "forest", "learner"]
    ((4, 1), (4, 12))
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


def find_position(positions: Mapping[KeyPath, TextPosition], path: KeyPath) -> TextPosition | None:
    """The place of a path, or of what it lies in.

    >>> find_position({("learners", "c45"): (3, 1)}, ("learners", "c45", "parameters"))
    (3, 1)
    """
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return positions[path[:length]]
    return None


class _Scanner:
    """Goes once through the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.positions: dict[KeyPath, TextPosition] = {}
        self.lengths: dict[KeyPath, int] = {}
        self.starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def scan(self) -> dict[KeyPath, TextPosition]:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.position < len(self.text):
            if self.text[self.position] == "[":
                table = self._scan_header()
            else:
                self._scan_pair(table)
            self._skip(_BLANK)
        return self.positions

    def _scan_header(self) -> KeyPath:
        """A table `[a.b]`, or the next one of an array of tables `[[a.b]]`."""
        is_array = self.text.startswith("[[", self.position)
        self.position += 2 if is_array else 1
        path: KeyPath = ()
        keys = list(self._scan_keys())
        for number, (key, start) in enumerate(keys):
            path = (*path, key)
            self._note(path, start)
            if path in self.lengths or (is_array and number == len(keys) - 1):
                self.lengths[path] = self.lengths.get(path, 0) + (is_array and number == len(keys) - 1)
                path = (*path, self.lengths[path] - 1)
                self._note(path, start)
        self.position = self.text.index("]", self.position) + (2 if is_array else 1)
        return path

    def _scan_pair(self, table: KeyPath) -> None:
        path = table
        for key, start in self._scan_keys():
            path = (*path, key)
            self._note(path, start)
        self.position = self.text.index("=", self.position) + 1
        self._skip(_SPACE)
        self._scan_value(path)

    def _scan_keys(self) -> Iterator[tuple[str, int]]:
        """The parts of a key with their starts; a quoted part as tomllib reads it."""
        while True:
            self._skip(_SPACE)
            start = self.position
            quoted = _STRING.match(self.text, start)
            matched = quoted or _BARE_KEY.match(self.text, start)
            if matched is None:
                raise ValueError(f"no key at position {start}")
            self.position = matched.end()
            yield (next(iter(tomllib.loads(f"{matched[0]} = 0"))) if quoted else matched[0]), start
            self._skip(_SPACE)
            if not self.text.startswith(".", self.position):
                return
            self.position += 1

    def _scan_value(self, path: KeyPath) -> None:
        if self.text[self.position] == "[":
            self._scan_list(path)
        elif self.text[self.position] == "{":
            self._scan_inline_table(path)
        else:
            matched = _STRING.match(self.text, self.position) or _BARE_VALUE.match(self.text, self.position)
            if matched is None:
                raise ValueError(f"no value at position {self.position}")
            self.position = matched.end()

    def _scan_list(self, path: KeyPath) -> None:
        self.position += 1
        number = 0
        while self._move_to_next("]"):
            self._note((*path, number), self.position)
            self._scan_value((*path, number))
            number += 1

    def _scan_inline_table(self, path: KeyPath) -> None:
        self.position += 1
        while self._move_to_next("}"):
            self._scan_pair(path)

    def _move_to_next(self, end: str) -> bool:
        """Go on to the next member; False behind the end."""
        self._skip(_BLANK)
        if self.text[self.position] == ",":
            self.position += 1
            self._skip(_BLANK)
        if self.text[self.position] == end:
            self.position += 1
            return False
        return True

    def _skip(self, pattern: re.Pattern[str]) -> None:
        matched = pattern.match(self.text, self.position)
        self.position = matched.end() if matched else self.position

    def _note(self, path: KeyPath, start: int) -> None:
        """The first place counts: `[a.b]` and a later `[a.c]` both name a."""
        if path not in self.positions:
            line = self._find_line(start)
            self.positions[path] = (line + 1, start - self.starts[line] + 1)

    def _find_line(self, position: int) -> int:
        return bisect.bisect_right(self.starts, position) - 1


_BARE = re.compile(r"[A-Za-z0-9_-]+")


_WIDTH = 100


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def format_toml(plain: Mapping[str, Any]) -> str:
    """The text of a mapping of numbers, text, truths, lists and mappings: first values, then a table for each mapping.

    >>> print(format_toml({"seed": 1, "learners": {"c45": {}, "forest": {"learner": "random-forest"}}}), end="")
    seed = 1
    <BLANKLINE>
    [learners]
    c45 = {}
    forest = { learner = "random-forest" }
    """
    values = {name: value for name, value in plain.items() if not isinstance(value, Mapping)}
    parts = [_format_pairs(values)] if values else []
    parts += [_format_table((name,), value) for name, value in plain.items() if isinstance(value, Mapping)]
    return "\n".join(parts)


def _format_table(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """A table, whose own tables are written in one line each, or apart where one of them is too long for that."""
    apart = _find_long_tables(table)
    inline = {name: value for name, value in table.items() if name not in apart}
    head = f"[{'.'.join(_format_key(part) for part in path)}]\n"
    parts = [head + _format_pairs(inline)] if inline or not apart else []
    return "\n".join([*parts, *(_format_table((*path, name), value) for name, value in apart.items())])


def _find_long_tables(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """All tables of a table in which one is long, as long as no other value stands behind the first: order has a meaning."""
    inner = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    last = list(table)[len(table) - len(inner) :]
    if last != list(inner) or not any(len(_format_pair(name, value)) > _WIDTH for name, value in inner.items()):
        return {}
    return inner


def _format_pairs(values: Mapping[str, Any]) -> str:
    return "".join(f"{_format_pair(name, value)}\n" for name, value in values.items())


def _format_pair(name: str, value: Any) -> str:
    written = f"{_format_key(name)} = {_format_value(value)}"
    if len(written) > _WIDTH and isinstance(value, (list, tuple)):
        return "\n".join([f"{_format_key(name)} = [", *(f"    {_format_value(item)}," for item in value), "]"])
    return written


def _format_key(name: object) -> str:
    if not isinstance(name, str):
        raise InputError(f"keys must be text to be written as TOML, got {name!r}")
    return name if _BARE.fullmatch(name) else _quote_text(name)


def _format_value(value: Any) -> str:
    """One value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return _format_number(value)
    if isinstance(value, str):
        return _quote_text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_format_value, value))}]"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_format_key(name)} = {_format_value(item)}" for name, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise InputError(f"values must be numbers, text, truths, lists or mappings to be written as TOML, got {value!r}")


def _format_number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def _quote_text(text: str) -> str:
    return '"' + "".join(_escape_character(character) for character in text) + '"'


def _escape_character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{ord(character):04x}" if ord(character) < 0x20 or ord(character) == 0x7F else character


_POSITION = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)


_REMEDIES = {"Invalid value": "text must stand in quotes", "Cannot overwrite a value": "the key is there twice"}


@dataclass(frozen=True, eq=False)
class SpecSource:
    """Plain values of a study with where they came from: a file, or Python with its objects."""

    values: Mapping[str, Any]
    source: str = ""
    folder: Path | None = None
    positions: Mapping[KeyPath, TextPosition] = field(default_factory=dict)
    objects: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    problems: Sequence[SpecProblem] = ()
    """Objects among the values that no study can hold."""

    def read_spec(self, allow_local_code: bool = False) -> StudySpec:
        """What is declared. Where its form is wrong, the rest is looked through too, so that all mistakes are told at once."""
        from fairtrial.study.spec.problems import build_spec_error, restore_indices, validate_spec
        from fairtrial.study.spec.resolve import resolve_all

        spec, problems = validate_spec(self.values, self.problems)
        if not problems:
            return spec
        _, more = resolve_all(spec, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        learners = self.values.get("learners", ())
        more = [problem for problem in more if problem.path != ("verdict", "control") or spec.verdict.control not in learners]
        raise build_spec_error([*problems, *restore_indices(more, problems)], self.positions, self.source)

    def resolve(self, declaration: StudySpec, allow_local_code: bool) -> ResolvedStudy:
        """What the declaration means; mistakes with their lines."""
        from fairtrial.study.spec.problems import build_spec_error
        from fairtrial.study.spec.resolve import resolve_all

        resolved, problems = resolve_all(declaration, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        if problems or resolved is None:
            raise build_spec_error(problems, self.positions, self.source)
        return resolved


def read_toml(path: Path) -> SpecSource:
    """The values of a file and their places; its name is that of the study unless it gives another."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SpecError(f"{path}: the study cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SpecError.from_problems(
            [Problem("", line, "a study must be text in UTF-8, and here it is not")], str(path)
        ) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError.from_problems([_build_syntax_problem(str(error), text)], str(path)) from None
    positions = locate_keys(text)
    return SpecSource({"name": path.stem} | values, str(path), path.parent, positions | _expand_positions(values, positions))


def _build_syntax_problem(message: str, text: str) -> Problem:
    matched = _POSITION.fullmatch(message)
    reason, line = (matched[1], int(matched[2])) if matched else (message.partition(" (at")[0], text.count("\n") + 1)
    column = f", column {matched[3]}" if matched else ", at the end"
    remedy = f": {_REMEDIES[reason]}" if reason in _REMEDIES else ""
    return Problem("", line, f"this is no TOML ({reason[:1].lower()}{reason[1:]}{column}){remedy}")


def _expand_positions(values: Mapping[str, Any], positions: Mapping[KeyPath, TextPosition]) -> dict[KeyPath, TextPosition]:
    """The places of what is written in a short form, under the paths of the long one."""
    more: dict[KeyPath, TextPosition] = {}
    for path, position in positions.items():
        match path:
            case ("data", int(number)):
                more["data", "sets", number] = position
            case ("learners" | "conditions" as section, int(number)) if isinstance(values[section][number], str):
                more[section, values[section][number]] = position
            case ("conditions", str(name), int(number)):
                more["conditions", name, "level", number] = position
            case _:
                pass
    return more
