"""The section that says how to have the same evidence again: versions, commands, the study file, hashes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fairtrial.errors import FairtrialError
from fairtrial.report.checks.kept import of_predictions_alone
from fairtrial.report.section import Section, Table
from fairtrial.report.sentence import Sentence, say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_PARTS = ("data", "learners", "conditions", "resampling", "measures", "verdict", "limits")


def section(results: Results) -> Section:
    """Commands, then the study file; of a file of predictions only what can be said."""
    if of_predictions_alone(results):
        given = say("These are judgements of given predictions: the same file gives the same report.")
        code = f"fairtrial judge {shlex.quote(results.archive.name)}\n"
        return Section("reproduce", "How to reproduce", (given,), (), _hashes(results), code=code)
    text, why_not = study_file(results)
    versions = versions_of(results)
    parts = [each for each in [_commands(results, versions, bool(text))] if each.code]
    if text:
        parts.append(
            Section("reproduce-study", "The study file", (say("Save this as {name}.", name=_file(results)),), code=text)
        )
    words = (say("The same versions, study file and data give the same evidence, however many workers run it."),)
    notes = (f"The study file cannot be written: {why_not}.",) if why_not else ()
    return Section("reproduce", "How to reproduce", words, (), _hashes(results), notes, tuple(parts))


def study_file(results: Results) -> tuple[str, str]:
    """The study's declaration as TOML; or nothing and why."""
    from fairtrial.study import Study

    told = results.archive.declaration
    given: dict[str, Any] = {name: told[name] for name in _PARTS if told.get(name)}
    try:
        study = Study(**given, seed=results.archive.seed, name=results.archive.name, allow_local_code=True)
        return study.toml(), ""
    except FairtrialError as error:
        return "", " ".join(str(error).split()).rstrip(".")


def versions_of(results: Results) -> dict[str, str]:
    """The versions of the last run and of the learners' packages; `python` among them where it is known."""
    runs = results.archive.runs
    found = {str(name): str(version) for name, version in (runs[-1].get("versions") or {}).items()} if runs else {}
    for each in results.archive.learners:
        for name, version in each.versions.items():
            found.setdefault(str(name), str(version))
    return found


def _commands(results: Results, versions: dict[str, str], written: bool) -> Section:
    lines = []
    packages = [f"{name}=={version}" for name, version in versions.items() if name != "python"]
    if "python" in versions:
        lines.append(f"# Python {versions['python']}")
    lines += [f"pip install {shlex.join(packages)}"] if packages else []
    store = shlex.quote(f"{results.archive.name}.fairtrial")
    if written:
        lines += [f"fairtrial run {shlex.quote(_file(results))} --store {store}", f"fairtrial report {store} --out report.html"]
    words: tuple[Sentence, ...] = (say("Install the versions of the last run, run the study, and write this page."),)
    if not written:
        words = (say("Install the versions of the last run, then run the Python code that declared the study."),)
    return Section("reproduce-commands", "Commands", words, code="".join(f"{line}\n" for line in lines))


def _file(results: Results) -> str:
    return f"{results.archive.name}.toml"


def _hashes(results: Results) -> tuple[Table, ...]:
    frame = hashes_frame(results)
    note = "Evidence of the same hash is the same, whoever ran it and when; data of the same hash have the same content."
    return (Table("reproduce-hashes", "Hashes", frame, note=note),)


def hashes_frame(results: Results) -> pd.DataFrame:
    """The hash of the evidence where there is a store, and those of the data sets."""
    import pandas as pd

    lines = [("data set", each.name, each.content_hash) for each in results.archive.datasets]
    store = getattr(results.archive, "store", None)
    if store is not None:
        lines.insert(0, ("evidence", f"{results.archive.name}.fairtrial", store.evidence_digest()))
    return pd.DataFrame(lines, columns=["of", "name", "hash"])
