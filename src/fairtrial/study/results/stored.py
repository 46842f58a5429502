"""Store the scores of large studies, and check whether the inputs of a study have changed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from glob import has_magic
from pathlib import Path
from typing import Any

from fairtrial.errors import StoreError
from fairtrial.study.store.store import open_store

LARGE_STUDY = 20_000
"""Minimum number of trials for which scores are stored. Recomputing the scores of such a large study takes seconds."""

_SOURCE = Path(__file__).parents[2]


def store_scores(path: str | os.PathLike[str], study: str, study_file: Path | None = None) -> None:
    """Store the scores of a large study for the measures that it declares.

    Nothing is stored if the study is incomplete or its scores are already stored. If `study_file` is given, a hash of the
    inputs is also stored, so `count_unchanged` can detect changes. If the results file cannot be written, no error is raised,
    because scores can always be computed from the predictions.
    """
    from fairtrial.study.results.results import open_results

    with open_store(path) as store:
        if store.read_derived(_get_name(study)) is not None:
            return
    results = open_results(path, study)
    n_trials = len(results.trials())
    if n_trials < LARGE_STUDY or not results.complete:
        return
    values = results.pack_scores()
    del results  # closes the file
    inputs = None if study_file is None else hash_inputs(study_file)
    values[_get_name(study)] = json.dumps({"inputs": inputs, "trials": n_trials}).encode()
    with suppress(StoreError), open_store(path, write=True) as store:
        store.write_derived(values)


def count_unchanged(path: Path, study_file: Path) -> int | None:
    """Return the number of trials if the study is complete and unchanged, otherwise None.

    Only files and installed packages are compared. Neither data sets nor learners are loaded.
    """
    if not path.exists():
        return None
    try:
        with open_store(path) as store:
            value = store.read_derived(_get_name(read_name(study_file)))
            stored = json.loads(value) if value is not None else {}
            if stored.get("inputs") is None or stored["inputs"] != hash_inputs(study_file):
                return None
            store.check(quick=True)
            return int(stored["trials"])
    except (StoreError, OSError, ValueError):  # the run itself reports these errors
        return None


def hash_inputs(study_file: Path) -> str | None:
    """Hash the study file, the data files, the installed packages and the Python version.

    These inputs determine the trials. Return None if the hash cannot be computed without loading the study, for example if a
    data set is a folder or a glob pattern.
    """
    packages = _list_packages()
    try:
        content = study_file.read_bytes()
        texts = list(_iter_data_texts(tomllib.loads(content.decode("utf-8-sig"))["data"]))
        files = [_hash_data(study_file.parent, text) for text in texts]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # the run itself reports a wrong study file
        return None
    if packages is None or None in files or "FAIRTRIAL_DATA" in os.environ:
        return None
    source = sorted((str(file), *_stamp(file)) for file in _SOURCE.rglob("*.py"))
    facts = (sys.version, sys.platform, str(study_file.parent.resolve()), packages, source, texts, files)
    return hashlib.sha256(repr(facts).encode() + content).hexdigest()


def _get_name(study: str) -> str:
    return f"finished/{study}"


def read_name(study_file: Path) -> str:
    """Read the name of a study from its study file, without checking the file."""
    try:
        return str(tomllib.loads(study_file.read_bytes().decode("utf-8-sig")).get("name", study_file.stem))
    except (OSError, ValueError, RecursionError):  # the run itself reports a wrong study file
        return study_file.stem


def _iter_data_texts(data: Any) -> Iterator[str]:
    """Iterate over the names and paths of data sets in the section `data` of a study file."""
    if isinstance(data, list):
        yield from data
        return
    for key, entry in data.items():
        if key == "sets":
            yield from entry
        else:
            yield entry if isinstance(entry, str) else entry.get("file") or entry["set"]


def _hash_data(folder: Path, text: str) -> str | None:
    """Hash a data file.

    Return an empty string for the name of a data set in the catalogue. Return None for folders, glob patterns, zip files and
    OpenML data sets.
    """
    path = folder / os.path.expanduser(text)
    if has_magic(text) or text.startswith("openml:") or path.is_dir() or path.suffix.lower() == ".zip":
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def _list_packages() -> list[str] | None:
    """List the installed packages with their versions.

    Return None if a package other than fairtrial is installed in editable mode, because its code can change.
    """
    names: list[str] = []
    for folder in dict.fromkeys(sys.path):
        with suppress(OSError):
            names += os.listdir(folder or ".")
    links = [name for name in names if name.endswith(".egg-link") or (name.endswith(".pth") and "editable" in name)]
    if any("fairtrial" not in name for name in links):
        return None
    return sorted(name for name in names if name.endswith((".dist-info", ".egg-info", ".egg")))


def _stamp(file: Path) -> tuple[int, int]:
    facts = file.stat()
    return facts.st_mtime_ns, facts.st_size
