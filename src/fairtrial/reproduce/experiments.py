"""The experiments by name, and how one is run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fairtrial import _check
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.reproduction import SCALES, Reproduction, Request, Scale


@dataclass(frozen=True)
class Experiment:
    """A published experiment: the module whose `run(request)` does it again."""

    name: str
    title: str
    paper: str
    module: str

    def run(self, request: Request) -> Reproduction:
        """Do it again."""
        found: Reproduction = import_module(f"fairtrial.reproduce.{self.module}").run(request)
        return found


EXPERIMENTS: dict[str, Experiment] = {}


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
    """Run a published experiment again and write its page, tables and figures to the folder `out` (`reproduced/NAME`).

    `quick` is a part that takes about a minute, `full` all of it. Evidence of studies is kept in `out`, too: the same
    call goes on where it was stopped. `measures` are import paths of measures of your own, for `ranking-real`.
    """
    from fairtrial.report.files import create_folder
    from fairtrial.reproduce.ranking.joining import check_measures
    from fairtrial.reproduce.runs import clocked, times
    from fairtrial.reproduce.writing import command, write

    experiment = known(name)
    _check.check_one_of("scale", scale, SCALES)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs must be a number of processes, 1 or more, got {jobs!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more, got {seed!r}")
    asked = tuple(measures)
    if asked and experiment.name != "ranking-real":
        raise InputError(f"measures can join ranking-real only, got {list(asked)} for {experiment.name}: leave them out")
    if asked:
        check_measures(asked)
    folder = create_folder(_free(Path(out) if out is not None else Path("reproduced") / experiment.name, experiment))
    request = Request(scale, folder, jobs or os.cpu_count() or 1, progress, asked, seed)
    line = command(experiment, request)
    with clocked(folder, line):
        found = experiment.run(request)
    write(experiment, request, found, times(folder, line))
    return found


def _free(folder: Path, experiment: Experiment) -> Path:
    """The folder, unless it has a page that is not one of this experiment's and would be lost."""
    page = folder / "index.md"
    if page.is_file() and not page.read_text(encoding="utf-8", errors="replace").startswith(f"# {experiment.name}: "):
        raise InputError(
            f"out must be a folder without another page, got {str(folder)!r}, whose index.md is not of {experiment.name}: "
            "choose another folder"
        )
    return folder


def known(name: str) -> Experiment:
    """The experiment of a name.

    >>> known("elaa")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no experiment is called 'elaa': did you mean 'ela'?
    """
    if name not in EXPERIMENTS:
        raise UnknownNameError(f"no experiment is called {name!r}: {suggest_name(str(name), list(EXPERIMENTS))}")
    return EXPERIMENTS[name]


def _add(name: str, title: str, paper: str, module: str) -> None:
    EXPERIMENTS[name] = Experiment(name, title, paper, module)


_SAEZ = "Sáez, Luengo and Herrera: Evaluating the classifier behavior with noisy data considering performance and robustness"
_LOPEZ = (
    "López, Fernández and Herrera: On the importance of the validation technique for classification with imbalanced datasets"
)
_JAPKOWICZ = "Japkowicz: Performance evaluation for learning algorithms (tutorial)"
_BERRAR = "Berrar: An empirical evaluation of ranking measures with respect to robustness to noise"
_GALDI = "Galdi and Tagliaferri: Data mining: accuracy and error measures for classification and prediction"

_add("ela", "Which learner stands noise better? ELA and RLA of C4.5 and a support vector machine", _SAEZ, "ela.ela")
_add("dobscv", "Does distributing neighbours over folds change the estimate? SCV and DOB-SCV", _LOPEZ, "dobscv.dobscv")
_add("tutorial", "The worked examples and tables of the tutorial", _JAPKOWICZ, "tutorial.tutorial")
_add("drift", "Does the loss under drift tell learners apart? The flu domain", _JAPKOWICZ, "drift.drift")
_add("ranking-synthetic", "Ranking measures on simulated scores with noise", _BERRAR, "ranking.synthetic")
_add("ranking-real", "Ranking measures on real data with noise", _BERRAR, "ranking.real")
_add("estimates", "Estimates of error against the known error", _GALDI, "estimates.estimates")
