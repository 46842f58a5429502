"""The two studies of the tutorial: eight learners on four domains, four learners on ten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.data_sets import found_sets
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.study_files import study_file

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study import Results

EIGHT = {
    "Breast Cancer": "uci/breast-cancer",
    "Labour": "uci/labor",
    "Liver": "keel-standard/bupa",
    "Anneal": "uci/anneal",
}
TEN = {
    "Anneal": "uci/anneal",
    "Audiology": "uci/audiology",
    "Balance Scale": "uci/balance-scale",
    "Breast Cancer": "uci/breast-cancer",
    "Contact Lenses": "uci/contact-lenses",
    "Pima Diabetes": "uci/diabetes",
    "Glass": "uci/glass",
    "Hepatitis": "uci/hepatitis",
    "Hypothyroid": "uci/hypothyroid",
    "Tic-Tac-Toe": "uci/tic-tac-toe",
}
_SMOKE = ("Contact Lenses", "Hepatitis")


def eight_learners(request: Request) -> tuple[Results | None, dict[str, str]]:
    """Eight learners on the domains that are found, and why others are not; None where none is."""
    return _run("eight_learners", EIGHT, request)


def ten_domains(request: Request) -> tuple[Results | None, dict[str, str]]:
    """Four learners on the domains that are found; at smoke scale on two small ones."""
    names = {name: TEN[name] for name in _SMOKE} if request.scale == "smoke" else TEN
    return _run("ten_domains", names, request)


def _run(name: str, names: dict[str, str], request: Request) -> tuple[Results | None, dict[str, str]]:
    from fairtrial import Study

    sets, missing = _looked_for(names)
    if not sets:
        return None, missing
    given = declared(name, folds=request.pick(smoke=2, quick=10, full=10)) | {"seed": request.seed}
    study = Study(data=dict(sets), **given)
    jobs = request.pick(smoke=1, quick=request.jobs, full=request.jobs)
    results: Results = study.run(request.out / f"{study.name}.fairtrial", jobs=jobs, progress=request.progress)
    return results, missing


def declared(name: str, folds: int) -> dict[str, Any]:
    """What the study file declares, with so many folds; these are WEKA's of seed 1, as printed, whatever the study's seed.

    >>> sorted(declared("ten_domains", 10)), declared("ten_domains", 10)["resampling"]["scheme"]
    (['learners', 'measures', 'name', 'resampling', 'seed'], 'weka')
    """
    found = study_file("tutorial", name)
    found["resampling"]["folds"] = folds
    return found


def labour() -> tuple[Dataset | None, dict[str, str]]:
    """The Labour data, which most of the tutorial's examples are about."""
    sets, missing = _looked_for({"Labour": EIGHT["Labour"]})
    return sets.get("Labour"), missing


def _looked_for(names: dict[str, str]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """The sets that are there, and why others are not: no set of another name is proposed for one that is not found."""
    sets, missing = found_sets(names)
    plain = {
        name: f"{names[name]} is not found: name the folder that holds it by FAIRTRIAL_DATA"
        if why.startswith("no data set is called")
        else why
        for name, why in missing.items()
    }
    return sets, plain
