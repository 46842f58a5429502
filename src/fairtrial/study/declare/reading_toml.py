"""A study file as it stands: its text, its values, and the place of each, so that every mistake is told with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import Problem, SpecError
from fairtrial.study.declare.toml_places import Path as KeyPath, Place, places

if TYPE_CHECKING:
    from fairtrial.study.declare.declaration import Declaration
    from fairtrial.study.declare.gathering import Mistake
    from fairtrial.study.declare.resolved import Resolved

_WHERE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_REMEDIES = {"Invalid value": "text must stand in quotes", "Cannot overwrite a value": "the key is there twice"}


@dataclass(frozen=True, eq=False)
class Reading:
    """Plain values of a study with where they came from: a file, or Python with its objects."""

    values: Mapping[str, Any]
    source: str = ""
    folder: Path | None = None
    places: Mapping[KeyPath, Place] = field(default_factory=dict)
    objects: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    mistakes: Sequence[Mistake] = ()
    """Objects among the values that no study can hold."""

    def declaration(self, allow_local_code: bool = False) -> Declaration:
        """What is declared. Where its form is wrong, the rest is looked through too, so that all mistakes are told at once."""
        from fairtrial.study.declare.mistakes import as_written, declared, spec_error
        from fairtrial.study.declare.resolving import resolve_all

        found, mistakes = declared(self.values, self.mistakes)
        if not mistakes:
            return found
        _, more = resolve_all(found, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        known = self.values.get("learners", ())
        more = [each for each in more if each.path != ("verdict", "control") or found.verdict.control not in known]
        raise spec_error([*mistakes, *as_written(more, mistakes)], self.places, self.source)

    def resolve(self, declaration: Declaration, allow_local_code: bool) -> Resolved:
        """What the declaration means; mistakes with their lines."""
        from fairtrial.study.declare.mistakes import spec_error
        from fairtrial.study.declare.resolving import resolve_all

        found, mistakes = resolve_all(declaration, self.folder, objects=self.objects, allow_local_code=allow_local_code)
        if mistakes or found is None:
            raise spec_error(mistakes, self.places, self.source)
        return found


def read_toml(path: Path) -> Reading:
    """The values of a file and their places; its name is that of the study unless it gives another."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SpecError(f"{path}: the study cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise SpecError.of([Problem("", line, "a study must be text in UTF-8, and here it is not")], str(path)) from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError.of([_syntax(str(error), text)], str(path)) from None
    found = places(text)
    return Reading({"name": path.stem} | values, str(path), path.parent, found | _long_forms(values, found))


def _syntax(message: str, text: str) -> Problem:
    matched = _WHERE.fullmatch(message)
    told, line = (matched[1], int(matched[2])) if matched else (message.partition(" (at")[0], text.count("\n") + 1)
    column = f", column {matched[3]}" if matched else ", at the end"
    remedy = f": {_REMEDIES[told]}" if told in _REMEDIES else ""
    return Problem("", line, f"this is no TOML ({told[:1].lower()}{told[1:]}{column}){remedy}")


def _long_forms(values: Mapping[str, Any], found: Mapping[KeyPath, Place]) -> dict[KeyPath, Place]:
    """The places of what is written in a short form, under the paths of the long one."""
    more: dict[KeyPath, Place] = {}
    for path, place in found.items():
        match path:
            case ("data", int(number)):
                more["data", "sets", number] = place
            case ("learners" | "conditions" as section, int(number)) if isinstance(values[section][number], str):
                more[section, values[section][number]] = place
            case ("conditions", str(name), int(number)):
                more["conditions", name, "level", number] = place
            case _:
                pass
    return more
