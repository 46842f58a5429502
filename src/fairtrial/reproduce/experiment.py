"""Published experiments: how one is registered, requested, run and compared with the paper."""

from __future__ import annotations

import csv
import os
import pkgutil
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairtrial import _check
from fairtrial._registry import Registry
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.claim import Claim

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pandas as pd

    from fairtrial.data import Dataset

Scale = Literal["smoke", "quick", "full"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "full")
_DURATIONS = "runs.log"


@dataclass(frozen=True)
class Request:
    """Settings of a run: its scale, its output folder, the number of processes, the seed."""

    scale: Scale
    out: Path
    jobs: int = 1
    progress: bool | None = None
    measures: tuple[str, ...] = ()
    seed: int = 1

    def pick(self, *, smoke: Any, quick: Any, full: Any) -> Any:
        """Return the value of a setting at this scale."""
        return {"smoke": smoke, "quick": quick, "full": full}[self.scale]


@dataclass(frozen=True)
class ResultTable:
    """A table of an experiment's page, and of its file `NAME.csv`.

    `note` explains the columns. `digits` are decimal places on the page (default: chosen by column). `on_page=False`
    writes the file only.
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    digits: int | None = None
    on_page: bool = True


@dataclass(frozen=True)
class Reproduction:
    """The outcome of an experiment.

    `values` are the variables of the page template, `figures` maps titles to charts, `skipped` maps what was not run to
    the reason.
    """

    values: Mapping[str, Any]
    tables: tuple[ResultTable, ...]
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table by its name."""
        return next(table.frame for table in self.tables if table.name == name)


@dataclass(frozen=True)
class Experiment:
    """A published experiment. `run` repeats it, `template` is the Jinja template of its page.

    `check_measures` raises for a measure that the experiment cannot use; None if it takes no further measures.
    """

    name: str
    title: str
    paper: str
    run: Callable[[Request], Reproduction]
    template: Traversable
    check_measures: Callable[[Sequence[str]], None] | None = None


experiments: Registry[Experiment] = Registry("experiment", group="fairtrial.experiments")


def experiment(
    name: str,
    *,
    title: str,
    paper: str,
    template: str = "page.md.j2",
    check_measures: Callable[[Sequence[str]], None] | None = None,
) -> Callable[[Callable[[Request], Reproduction]], Callable[[Request], Reproduction]]:
    """Register a function of a Request as the experiment of this name.

    `template` is a file in the folder of the function's module. It starts with `{% extends "page.md.j2" %}` and fills
    `{% block text %}`; see `fairtrial.reproduce.page`. A folder with several experiments has one template for each.
    """

    def register(function: Callable[[Request], Reproduction]) -> Callable[[Request], Reproduction]:
        package = function.__module__.rpartition(".")[0]
        page = resources.files(package) / template
        experiments.add(name, Experiment(name, title, paper, function, page, check_measures))
        return function

    return register


def load_experiments() -> Registry[Experiment]:
    """Import every experiment of this package, which registers it, and return the registry."""
    package = import_module("fairtrial.reproduce")
    for module in pkgutil.iter_modules(package.__path__, "fairtrial.reproduce."):
        if module.ispkg and find_spec(f"{module.name}.experiment"):
            import_module(f"{module.name}.experiment")
    return experiments


def reproduce(
    name: str,
    *,
    scale: Scale = "quick",
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: bool | None = None,
    measures: Iterable[str] = (),
    seed: int = 1,
) -> Reproduction:
    """Repeat a published experiment; write its page, tables and figures to a folder (default: `reproduced/NAME`).

    `quick` takes about a minute, `full` repeats all of it. Results files are kept in `out`, so the same call resumes an
    interrupted run. `measures` are import paths of your own measures, for `ranking-real`.
    """
    from fairtrial.report.files import create_folder
    from fairtrial.reproduce.page import format_command, write_page

    chosen = load_experiments()[name]
    _check.check_one_of("scale", scale, SCALES)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be a number of processes, 1 or more, got {jobs!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, got {seed!r}")
    measures = tuple(measures)
    if measures and chosen.check_measures is None:
        raise InputError(f"{chosen.name} takes no further measures, got {list(measures)}: ranking-real does")
    if measures and chosen.check_measures is not None:
        chosen.check_measures(measures)
    folder = create_folder(_check_folder(Path(out) if out is not None else Path("reproduced") / chosen.name, chosen))
    request = Request(scale, folder, jobs or os.cpu_count() or 1, progress, measures, seed)
    command = format_command(chosen, request)
    with log_duration(folder, command):
        reproduction = chosen.run(request)
    write_page(chosen, request, reproduction, read_durations(folder, command))
    return reproduction


def _check_folder(folder: Path, experiment: Experiment) -> Path:
    """Refuse a folder whose page belongs to something else and would be overwritten."""
    page = folder / "index.md"
    if page.is_file() and not page.read_text(encoding="utf-8", errors="replace").startswith(f"# {experiment.name}: "):
        raise InputError(
            f"out must be a folder without another page, got {str(folder)!r}, whose index.md does not belong to "
            f"{experiment.name}: choose another folder"
        )
    return folder


@contextmanager
def log_duration(folder: Path, command: str) -> Iterator[None]:
    """Log how long this run of the command took, even if it is interrupted or fails."""
    start = time.perf_counter()
    try:
        yield
    finally:
        with (folder / _DURATIONS).open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([command, f"{time.perf_counter() - start:.1f}"])


def read_durations(folder: Path, command: str) -> list[float]:
    """Read the seconds of every run of the command that wrote to the folder."""
    with (folder / _DURATIONS).open(newline="", encoding="utf-8") as file:
        return [float(seconds) for logged, seconds in csv.reader(file) if logged == command]


def read_published(name: str) -> pd.DataFrame:
    """Read a published table by its name. Published tables are compared with ours; they are never an input.

    >>> read_published("ela_table3").shape
    (32, 9)
    """
    import pandas as pd

    with (resources.files("fairtrial.reproduce") / "published" / f"{name}.csv").open() as file:
        return pd.read_csv(file)


def read_study_file(folder: str, name: str = "study") -> dict[str, Any]:
    """Read a study file of an experiment's folder.

    >>> len(read_study_file("ela")["data"])
    32
    """
    text = (resources.files("fairtrial.reproduce") / folder / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def load_datasets(names: Mapping[str, str | Iterable[str]]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Load data sets; return them by the paper's name, and the reason for each one that is missing.

    `names` maps the paper's name to a name in the catalogue, or to several, of which the first that exists is loaded.

    >>> datasets, missing = load_datasets({"Iris": "iris", "Nowhere": ["no-such-set"]})
    >>> list(datasets), list(missing)
    (['Iris'], ['Nowhere'])
    """
    from fairtrial.data import load

    datasets: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for name, candidates in names.items():
        for candidate in [candidates] if isinstance(candidates, str) else candidates:
            try:
                datasets[name] = load(candidate)
                break
            except UnknownNameError:
                missing.setdefault(name, f"{candidate} was not found: set FAIRTRIAL_DATA to the folder that contains it")
            except InputError as error:
                missing.setdefault(name, str(error))
    return datasets, {name: reason for name, reason in missing.items() if name not in datasets}


def compare_with_published(
    ours: pd.DataFrame, published: pd.DataFrame, keys: Sequence[str], *, interval: bool = True
) -> pd.DataFrame:
    """Join our values with the published ones: `ours`, `published`, `difference` and the interval of the difference.

    Both frames have the keys and a column `value`; ours also has `low` and `high`. A row that only one of them has stays,
    with missing values. The published value is treated as fixed, because its sampling error is unknown.

    >>> import pandas as pd
    >>> ours = pd.DataFrame({"set": ["iris"], "value": [94.0], "low": [92.0], "high": [96.0]})
    >>> published = pd.DataFrame({"set": ["iris", "wine"], "value": [95.0, 97.0]})
    >>> compare_with_published(ours, published, ["set"]).values.tolist()
    [['iris', 94.0, 95.0, -1.0, -3.0, 1.0], ['wine', nan, 97.0, nan, nan, nan]]
    """
    keys = list(keys)
    columns = [*keys, "value", *(("low", "high") if interval else ())]
    theirs = published[[*keys, "value"]].rename(columns={"value": "published"})
    both = sort_like(ours[columns].merge(theirs, on=keys, how="outer"), [ours, theirs], keys)
    table = both[keys].assign(ours=both["value"], published=both["published"])
    table["difference"] = table["ours"] - table["published"]
    if interval:
        table["low"], table["high"] = (both[end] - table["published"] for end in ("low", "high"))
    return table


def sort_like(frame: pd.DataFrame, frames: Sequence[pd.DataFrame], keys: Sequence[str]) -> pd.DataFrame:
    """Sort rows by the order in which the keys first occur in `frames`; a join sorts them otherwise.

    >>> import pandas as pd
    >>> sort_like(pd.DataFrame({"set": ["a", "b"]}), [pd.DataFrame({"set": ["b", "a"]})], ["set"])["set"].tolist()
    ['b', 'a']
    """
    import pandas as pd

    keys_in_order = pd.concat([source[list(keys)] for source in frames]).drop_duplicates()
    return keys_in_order.merge(frame, on=list(keys), how="left")
