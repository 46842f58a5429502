"""Registry of published experiments, and functions shared by their runs."""

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
from fairtrial.reproduce.papers import PAPERS, Paper

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import pandas as pd

    from fairtrial.data import Dataset

Scale = Literal["smoke", "quick", "full"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "full")
_DURATIONS = "runs.log"


@dataclass(frozen=True)
class Request:
    """Settings of a run."""

    scale: Scale
    out: Path
    jobs: int = 1
    progress: bool | None = None
    measures: tuple[str, ...] = ()
    seed: int = 1

    def pick(self, *, smoke: Any, quick: Any, full: Any) -> Any:
        """Return the value that applies at the scale of this run."""
        return {"smoke": smoke, "quick": quick, "full": full}[self.scale]


@dataclass(frozen=True)
class ResultTable:
    """A table of results that is shown on the page of an experiment and written to `NAME.csv`.

    Attributes
    ----------
    name : str
        Name of the CSV file, without its suffix.
    title : str
        Heading of the table on the page.
    frame : pandas.DataFrame
        The table.
    note : str, default ""
        Explanation of the columns, shown above the table.
    digits : int, optional
        Number of decimal places on the page. Default: chosen for each column.
    on_page : bool, default True
        Whether the page shows the table. If False, the page only links to the CSV file.
    is_main : bool, default False
        Whether the page shows the table directly after the paper's claims. Use True for a comparison with published numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.reproduce import ResultTable
    >>> ResultTable("means", "Mean accuracy", pd.DataFrame({"learner": ["c45"], "accuracy": [0.81]})).on_page
    True
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    digits: int | None = None
    on_page: bool = True
    is_main: bool = False


@dataclass(frozen=True)
class Reproduction:
    """The results of an experiment: answer, tables, claims, figures and values used in the text.

    Attributes
    ----------
    values : mapping
        Variables of the page template.
    tables : tuple of ResultTable
        Tables, in the order in which the page shows them.
    claims : tuple of Claim
        Claims with their verdicts.
    figures : mapping
        Charts, keyed by title. The first chart is the main figure, shown with the answer.
    skipped : mapping
        Parts of the experiment that were not run, each with the reason, e.g. that a data set is missing.
    answer : str, default ""
        The result in a few sentences, shown first on the page and in the overview.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.reproduce import Reproduction, ResultTable
    >>> table = ResultTable("means", "Mean accuracy", pd.DataFrame({"learner": ["c45"], "accuracy": [0.81]}))
    >>> Reproduction({}, (table,)).frame("means").shape
    (1, 2)
    """

    values: Mapping[str, Any]
    tables: tuple[ResultTable, ...]
    claims: tuple[Claim, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""

    def frame(self, name: str) -> pd.DataFrame:
        """Return the data frame of the table with this name."""
        return next(table.frame for table in self.tables if table.name == name)


@dataclass(frozen=True)
class Experiment:
    """A published experiment that can be repeated.

    Attributes
    ----------
    name : str
        Name on the command line.
    title : str
        Heading of the page.
    paper : Paper
        Bibliographic reference.
    run : callable
        Function that takes a `Request`, repeats the experiment and returns a `Reproduction`.
    template : importlib.resources.abc.Traversable
        Jinja template of the page.
    check_measures : callable, optional
        Function that raises an error if a further measure cannot be used. None if the experiment takes no further measures.

    Examples
    --------
    >>> from fairtrial.reproduce import load_experiments
    >>> load_experiments()["ranking-synthetic"].title
    'Ranking measures on simulated scores with noise'
    """

    name: str
    title: str
    paper: Paper
    run: Callable[[Request], Reproduction]
    template: Traversable
    check_measures: Callable[[Sequence[str]], None] | None = None


experiments: Registry[Experiment] = Registry("experiment", group="fairtrial.experiments")


def experiment(
    name: str,
    *,
    title: str,
    paper: str | Paper,
    template: str = "page.md.j2",
    check_measures: Callable[[Sequence[str]], None] | None = None,
) -> Callable[[Callable[[Request], Reproduction]], Callable[[Request], Reproduction]]:
    """Register the decorated function as an experiment.

    `paper` is a key of `fairtrial.reproduce.papers.PAPERS`, or a Paper.

    `template` names a file in the folder of the function's module. The template starts with `{% extends "page.md.j2" %}` and
    fills `{% block text %}`; see `fairtrial.reproduce.page`. If a folder contains several experiments, each needs its own
    template.
    """

    def register(function: Callable[[Request], Reproduction]) -> Callable[[Request], Reproduction]:
        package = function.__module__.rpartition(".")[0]
        page = resources.files(package) / template
        reference = paper if isinstance(paper, Paper) else PAPERS[paper]
        experiments.add(name, Experiment(name, title, reference, function, page, check_measures))
        return function

    return register


def load_experiments() -> Registry[Experiment]:
    """Import all experiments and return the registry.

    Returns
    -------
    Registry
        Experiments by name.

    Examples
    --------
    >>> from fairtrial.reproduce import load_experiments
    >>> sorted(load_experiments())
    ['dobscv', 'drift', 'ela', 'estimates', 'ranking-real', 'ranking-synthetic', 'tutorial']
    """
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
    """Repeat a published experiment and write its page, tables and figures to a folder.

    The results files are also stored in this folder, so repeating the same call resumes an interrupted run.

    Parameters
    ----------
    name : str
        Name of the experiment, one of `load_experiments()`.
    scale : {"smoke", "quick", "full"}, default "quick"
        `quick` takes about a minute; `full` runs the whole experiment. `smoke` takes seconds, but its numbers are meaningless.
    out : path, optional
        Output folder. Default: `reproduced/NAME`.
    jobs : int, optional
        Number of processes. Default: the number of cores.
    progress : bool, optional
        Whether to show progress. By default, a terminal shows a progress bar; elsewhere, most experiments print plain lines.
    measures : iterable of str, default ()
        Further measures for `ranking-real`: names of registered measures or import paths of functions.
    seed : int, default 1
        Seed for all random numbers.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        If an argument is invalid, if no data set is found, or if `out` contains the page of another experiment.
    UnknownNameError
        If there is no experiment with this name.

    Examples
    --------
    >>> import tempfile
    >>> from fairtrial.reproduce import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     reproduction = reproduce("ranking-synthetic", scale="smoke", out=folder, jobs=1, progress=False)
    >>> [table.name for table in reproduction.tables], reproduction.claims[0].verdict
    (['mean-errors', 'worked-examples', 'error-rates'], 'inconclusive')
    """
    from fairtrial.report.files import create_folder
    from fairtrial.reproduce.page import format_command, write_page

    chosen = load_experiments()[name]
    _check.check_one_of("scale", scale, SCALES)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be a whole number of at least 1, got {jobs!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r}")
    measures = tuple(measures)
    if measures and chosen.check_measures is None:
        raise InputError(
            f"measures must be empty for {chosen.name}, got {list(measures)}: only ranking-real takes further measures"
        )
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
    """Raise an error if this experiment would overwrite a page that another one wrote."""
    page = folder / "index.md"
    if page.is_file() and not page.read_text(encoding="utf-8", errors="replace").startswith(f"# {experiment.name}: "):
        raise InputError(
            f"out must not contain the page of another experiment, got {str(folder)!r}, whose index.md is not "
            f"the page of {experiment.name}: choose another folder"
        )
    return folder


@contextmanager
def log_duration(folder: Path, command: str) -> Iterator[None]:
    """Append the duration of a run to the log file, even if the run fails or is interrupted."""
    start = time.perf_counter()
    try:
        yield
    finally:
        with (folder / _DURATIONS).open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([command, f"{time.perf_counter() - start:.1f}"])


def read_durations(folder: Path, command: str) -> list[float]:
    """Read the durations, in seconds, of all runs of a command in this folder."""
    with (folder / _DURATIONS).open(newline="", encoding="utf-8") as file:
        return [float(seconds) for logged, seconds in csv.reader(file) if logged == command]


def read_published(name: str) -> pd.DataFrame:
    """Read a published table.

    >>> read_published("ela_table3").shape
    (32, 9)
    """
    import pandas as pd

    with (resources.files("fairtrial.reproduce") / "published" / f"{name}.csv").open() as file:
        return pd.read_csv(file)


def read_study_file(folder: str, name: str = "study") -> dict[str, Any]:
    """Read a study file from the folder of an experiment.

    >>> len(read_study_file("ela")["data"])
    32
    """
    text = (resources.files("fairtrial.reproduce") / folder / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def load_datasets(names: Mapping[str, str | Iterable[str]]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Load data sets by the paper's names, and report why each of the others is missing.

    `names` maps each of the paper's names to one or more catalogue names. The first one that is available is loaded.

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
    """Join our values with the published ones, and compute the differences with their intervals.

    Both data frames contain the key columns and the column `value`. If `interval` is true, `ours` also contains `low` and
    `high`. Rows that occur in only one data frame are kept, with missing values. The published value is treated as fixed,
    because its sampling error is unknown.

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
    """Sort rows in the order in which their keys first occur in `frames`.

    This restores an order that a join has lost.

    >>> import pandas as pd
    >>> sort_like(pd.DataFrame({"set": ["a", "b"]}), [pd.DataFrame({"set": ["b", "a"]})], ["set"])["set"].tolist()
    ['b', 'a']
    """
    import pandas as pd

    keys_in_order = pd.concat([source[list(keys)] for source in frames]).drop_duplicates()
    return keys_in_order.merge(frame, on=list(keys), how="left")
