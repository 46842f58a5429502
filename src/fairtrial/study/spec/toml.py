"""Read and write study files (TOML), and find the line numbers of their keys."""

from __future__ import annotations

import bisect
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from fairtrial.errors import InputError, Problem, SpecError
from fairtrial.study.spec.models import StudySpec, is_path
from fairtrial.study.spec.objects import PLACEHOLDER, Objects, PythonReader
from fairtrial.study.spec.problems import KeyPath, SpecProblem, TextPosition, build_spec_error, restore_indices

if TYPE_CHECKING:
    from fairtrial.study.spec.resolve import ResolvedStudy

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

_POSITION = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)

_SYNTAX_REMEDIES = {"Invalid value": "put text in quotes", "Cannot overwrite a value": "the key occurs twice"}

_MAX_DEPTH = 50

_OBJECT_REMEDIES = {
    "data": "write it to a file with fairtrial.data.write and use that file",
    "learners": "install its class as a package, and use numbers, text, lists or learners as parameters",
    "conditions": "declare it by name, with numbers, text or lists as parameters",
}


@dataclass(frozen=True, eq=False)
class SpecSource:
    """The plain values of a study and their source: a file, or Python code that may contain objects."""

    values: Mapping[str, Any]
    source: str = ""
    folder: Path | None = None
    positions: Mapping[KeyPath, TextPosition] = field(default_factory=dict)
    objects: Objects = field(default_factory=dict)
    problems: Sequence[SpecProblem] = ()
    """Problems caused by values that a study cannot contain."""

    @classmethod
    def from_python(cls, sections: Mapping[str, Any]) -> SpecSource:
        """Build the source from sections that may contain objects: data sets, estimators, conditions and splitters."""
        reader = PythonReader()
        values = reader.read(sections)
        return cls(values, objects=reader.objects, problems=reader.collector.problems)

    @classmethod
    def from_file(cls, path: Path) -> SpecSource:
        """Build the source from a TOML file. The name of the file is the default name of the study."""
        if path.is_dir():
            raise SpecError(f"{path} is a folder: pass a file")
        try:
            content = path.read_bytes()
            if content.startswith(b"SQLite format 3"):
                raise SpecError(f"{path} is a results file, not a study file: pass the study file (*.toml)")
            text = content.decode("utf-8-sig")
        except OSError as error:
            raise SpecError(f"{path}: the study file cannot be read ({error.strerror or error}): check the path") from None
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise SpecError.from_problems(
                [Problem("", line, "a study file must be UTF-8 text, got invalid bytes: save it as UTF-8")], str(path)
            ) from None
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            problem = _build_syntax_problem(str(error), text, path.suffix.lower() in (".toml", ""))
            raise SpecError.from_problems([problem], str(path)) from None
        except RecursionError:
            values = None
        if values is None or _is_too_deep(values):
            message = f"a study file must have at most {_MAX_DEPTH} levels of tables and lists, got more: remove some"
            raise SpecError.from_problems([Problem("", None, message)], str(path))
        positions = locate_keys(text)
        return cls({"name": path.stem} | values, str(path), path.parent, positions | _expand_positions(values, positions))

    def read_spec(self, allow_local_code: bool = False) -> StudySpec:
        """Read the specification.

        If problems are found, the valid parts are also resolved, so one error reports all problems.
        """
        spec, problems = StudySpec.read_valid_parts(self.values, self.problems)
        if not problems:
            return spec
        from fairtrial.study.spec.resolve import resolve_spec  # imported here because it imports scikit-learn

        _, more = resolve_spec(spec, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        learners = self.values.get("learners", ())
        more = [problem for problem in more if problem.path != ("verdict", "control") or spec.verdict.control not in learners]
        raise build_spec_error([*problems, *restore_indices(more, problems)], self.positions, self.source)

    def resolve(self, spec: StudySpec, allow_local_code: bool = False) -> ResolvedStudy:
        """Resolve the specification. A SpecError reports all problems with their line numbers."""
        from fairtrial.study.spec.resolve import resolve_spec  # imported here because it imports scikit-learn

        resolved, problems = resolve_spec(spec, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        if problems or resolved is None:
            raise build_spec_error(problems, self.positions, self.source)
        return resolved

    def to_toml(self, spec: StudySpec, folder: Path | None = None) -> str:
        """Format the study as the text of a study file. If `folder` is given, data paths are made relative to it."""
        _refuse_placeholders(spec)
        short_form = spec.to_short_form()
        old = self.folder or Path()
        if folder is not None and folder.resolve() != old.resolve():
            short_form = self._convert_paths(short_form, lambda text: _make_relative(text, old, folder))
        try:
            return tomli_w.dumps(short_form)
        except TypeError as error:
            raise InputError(f"the study cannot be written as TOML: {error}") from None

    def to_absolute(self, spec: StudySpec) -> dict[str, Any]:
        """Return the specification as plain values with absolute data paths."""
        folder = (self.folder or Path()).resolve()
        return self._convert_paths(
            spec.to_dict(), lambda text: os.path.normpath(os.path.join(folder, os.path.expanduser(text)))
        )

    def _convert_paths(self, plain: dict[str, Any], convert_path: Callable[[str], str]) -> dict[str, Any]:
        folder = self.folder or Path()

        def convert_entry(entry: Any) -> Any:
            if isinstance(entry, list):
                return [convert_path(text) if is_path(text, folder) else text for text in entry]
            keys = [key for key in ("file", "set") if key in entry and (key == "file" or is_path(entry[key], folder))]
            return entry | {key: convert_path(entry[key]) for key in keys}

        return plain | {"data": {name: convert_entry(entry) for name, entry in plain["data"].items()}}


def _is_too_deep(values: Any) -> bool:
    """Return whether tables and lists are nested too deeply. The function is not recursive, so it can check any depth."""
    members = [values]
    for _ in range(_MAX_DEPTH):
        nested = [member for member in members if isinstance(member, (dict, list))]
        members = [item for member in nested for item in (member.values() if isinstance(member, dict) else member)]
    return any(isinstance(member, (dict, list)) for member in members)


def _make_relative(text: str, old: Path, new: Path) -> str:
    """Convert a path relative to the old folder to a path relative to the new folder."""
    if text.startswith("~") or os.path.isabs(text):
        return text
    return Path(os.path.relpath(old.resolve() / text, new.resolve())).as_posix()


def _refuse_placeholders(spec: StudySpec) -> None:
    """Refuse a study with objects that cannot be written to a file."""
    plain = spec.to_dict()
    for section, remedy in _OBJECT_REMEDIES.items():
        for name, entry in plain[section].items():
            if isinstance(entry, Mapping) and PLACEHOLDER in entry:
                raise InputError(f"{section}.{name} cannot be written to a study file ({entry[PLACEHOLDER]}): {remedy}")
    for scheme in spec.resampling:
        placeholder = scheme.parameters.get(PLACEHOLDER)
        if placeholder is not None:
            raise InputError(f"resampling cannot be written to a study file ({placeholder}): use a registered scheme")


def _build_syntax_problem(message: str, text: str, is_toml: bool) -> Problem:
    matched = _POSITION.fullmatch(message)
    reason, line = (matched[1], int(matched[2])) if matched else (message.partition(" (at")[0], text.count("\n") + 1)
    column = f", column {matched[3]}" if matched else ", at the end"
    remedy = f": {_SYNTAX_REMEDIES[reason]}" if reason in _SYNTAX_REMEDIES else ""
    if not is_toml:
        remedy = ": pass a study file (*.toml); fairtrial judge reads predictions, and fairtrial compare reads scores"
    return Problem("", line, f"invalid TOML ({reason[:1].lower()}{reason[1:]}{column}){remedy}")


def _expand_positions(values: Mapping[str, Any], positions: Mapping[KeyPath, TextPosition]) -> dict[KeyPath, TextPosition]:
    """Find the positions of values that are written in short form.

    The keys of the result are the locations of the values in the full form.
    """
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


def locate_keys(text: str) -> dict[KeyPath, TextPosition]:
    """Locate each key and each value of a list in the text of a TOML file.

    >>> positions = locate_keys('seed = 1\\n[learners]\\nc45 = {}\\nforest = { learner = "random-forest" }\\n')
    >>> positions["learners", "forest"], positions["learners", "forest", "learner"]
    ((4, 1), (4, 12))
    """
    return _Scanner(text.replace("\r\n", "\n")).scan()


class _Scanner:
    """A scanner that finds the keys in the text of a TOML file."""

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
        """Scan the header of a table `[a.b]` or of an array of tables `[[a.b]]`."""
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
        """Yield the parts of a dotted key with their positions."""
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
        """Move to the next member of a list or table. Return False after the last member."""
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
        """Record the position of a key unless it is known. For example, `[a.b]` and a later `[a.c]` both contain `a`."""
        if path not in self.positions:
            line = self._find_line(start)
            self.positions[path] = (line + 1, start - self.starts[line] + 1)

    def _find_line(self, position: int) -> int:
        return bisect.bisect_right(self.starts, position) - 1
