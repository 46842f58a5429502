"""Stores that were filled apart, such as the shards of a cluster's job array, become one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.study.store import schema, store_plan
from fairtrial.study.store.store import Store
from fairtrial.study.store.store_evidence import PUT_EVIDENCE, PUT_TRIAL, evidence_hashes

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 500
_TABLES = {
    "dataset": ("hash", "name", "n_rows", "classes", "codes", "row_id_type", "row_ids", "facts"),
    "condition": ("hash", "name", "level", "words", "description"),
    "learner": ("hash", "name", "class_name", "parameters", "versions"),
}


@dataclass(frozen=True)
class MergedFile:
    """What one file gave: trials that were new, that replaced what was there, or that were there already and were kept.

    `different` counts the trials that succeeded in this file and in an earlier one, with different evidence.
    """

    file: str
    trials: int
    added: int
    replaced: int
    kept: int
    different: int


@dataclass(frozen=True, repr=False)
class Merged:
    """What came of a merge: a line for each file, and what is worth knowing."""

    target: str
    files: tuple[MergedFile, ...]
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """A line for each file that was merged."""
        import pandas as pd

        return pd.DataFrame([asdict(each) for each in self.files], columns=list(MergedFile.__dataclass_fields__))

    def __str__(self) -> str:
        added, replaced = (sum(getattr(each, what) for each in self.files) for what in ("added", "replaced"))
        files = f"{len(self.files)} file" + ("s" if len(self.files) > 1 else "")
        told = f"{self.target}: {added} trials added and {replaced} replaced from {files}"
        return "\n".join([told, *self.notes])

    def __repr__(self) -> str:
        return f"<Merged {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{'<br>'.join(escape(line) for line in str(self).splitlines())}</p>{self.frame().to_html(index=False)}"


def merge(target: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]]) -> Merged:
    """Put the evidence of all sources into the target, which is made where it is not there. The sources stay as they are.

    The order does not matter, and merging again changes nothing. Where two files hold the same trial, a success wins over a
    failure. Two different successes of one trial, which a learner that is not repeatable can leave, are told; that with the
    smaller hash is kept, so that any order keeps the same.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-1", "part-2"):
    ...         Store.open(f"{folder}/{name}.fairtrial", write=True, create=True).close()
    ...     merged = merge(f"{folder}/all.fairtrial", [f"{folder}/part-1.fairtrial", f"{folder}/part-2.fairtrial"])
    >>> merged.frame()["trials"].tolist()
    [0, 0]
    """
    if isinstance(sources, (str, os.PathLike)) or not sources:
        raise InputError(f"sources must be a list of at least 1 store, got {sources!r}")
    for source in sources:
        if os.path.realpath(source) == os.path.realpath(target):
            raise InputError(f"sources must not hold the target, got {os.fspath(source)!r}: merge into another file")
    with ExitStack() as opened:
        parts = [opened.enter_context(Store.open(source)) for source in sources]
        whole = opened.enter_context(Store.open(target, write=True, create=True))
        notes: list[str] = []
        files = tuple(_merge_one(whole, part, notes) for part in parts)
    return Merged(os.fspath(target), files, tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class _Numbers:
    """From the numbers of the source to those of the target."""

    dataset: dict[int, int]
    condition: dict[int, int]
    split: dict[int, int]
    learner: dict[int, int]
    run: dict[int | None, int | None]

    def of(self, line: dict[str, Any], number: int, attempts: int) -> dict[str, Any]:
        """The line of the trial as the target keeps it."""
        moved = {what: getattr(self, what)[line[what]] for what in ("dataset", "condition", "split", "learner", "run")}
        return {**line, **moved, "id": number, "trial": number, "attempts": attempts}


def _merge_one(target: Store, source: Store, notes: list[str]) -> MergedFile:
    counts = dict.fromkeys(("trials", "added", "replaced", "kept", "different"), 0)
    with source.reading() as theirs:
        theirs.execute("BEGIN")  # the source stands still for us, also while it is being written
        with target.writing() as ours:
            numbers = _merge_plans(ours, theirs, source.path, notes)
        for lines in _batches(theirs):
            _merge_lines(target, theirs, lines, numbers, counts)
        theirs.execute("ROLLBACK")
    if counts["different"]:
        notes.append(
            f"{counts['different']} trials of {source.path.name} have other evidence elsewhere: a learner is not repeatable"
        )
    return MergedFile(os.fspath(source.path), **counts)


def _merge_plans(ours: sqlite3.Connection, theirs: sqlite3.Connection, path: Path, notes: list[str]) -> _Numbers:
    maps = {table: _merge_table(ours, theirs, table, columns) for table, columns in _TABLES.items()}
    splits = theirs.execute("SELECT dataset, hash, repeat, fold, test, train FROM split")
    moved = ((maps["dataset"][dataset], *line) for dataset, *line in splits)
    ours.executemany("INSERT OR IGNORE INTO split (dataset, hash, repeat, fold, test, train) VALUES (?, ?, ?, ?, ?, ?)", moved)
    known = store_plan.Ids.of(ours).split
    found = theirs.execute("SELECT id, dataset, hash FROM split")
    split = {number: known[maps["dataset"][dataset], own] for number, dataset, own in found}
    for name, header, protocol in theirs.execute("SELECT name, header, protocol FROM study ORDER BY turn").fetchall():
        if store_plan.put_study(ours, name, header, protocol):
            notes.append(f"the study {name!r} is declared differently in {path.name}: the declaration of the last file is kept")
    return _Numbers(maps["dataset"], maps["condition"], split, maps["learner"], _merge_runs(ours, theirs))


def _merge_table(ours: sqlite3.Connection, theirs: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> dict[int, int]:
    ours.executemany(schema.insertion(table, columns, "IGNORE"), theirs.execute(f"SELECT {', '.join(columns)} FROM {table}"))
    known = dict(ours.execute(f"SELECT hash, id FROM {table}"))
    return {number: known[own] for number, own in theirs.execute(f"SELECT id, hash FROM {table}")}


def _merge_runs(ours: sqlite3.Connection, theirs: sqlite3.Connection) -> dict[int | None, int | None]:
    studies: dict[str | None, int | None] = dict(ours.execute("SELECT name, id FROM study"))
    found = theirs.execute(
        "SELECT run.id, token, study.name, started, finished, facts FROM run LEFT JOIN study ON study.id = run.study"
    ).fetchall()
    for _, token, study, *line in found:
        ours.execute(
            "INSERT INTO run (token, study, started, finished, facts) VALUES (?, ?, ?, ?, ?) ON CONFLICT (token) "
            "DO UPDATE SET finished = excluded.finished, facts = excluded.facts WHERE excluded.finished IS NOT NULL",
            (token, studies.get(study), *line),
        )
    known = dict(ours.execute("SELECT token, id FROM run"))
    return {None: None} | {number: known[token] for number, token, *_ in found}


def _batches(theirs: sqlite3.Connection) -> Iterator[list[dict[str, Any]]]:
    """Lines of trials with their evidence, some at a time."""
    columns = [*(f"trial.{name}" for name in schema.TRIAL), *(f"evidence.{name}" for name in schema.EVIDENCE)]
    found = theirs.execute(f"SELECT {', '.join(columns)} FROM trial LEFT JOIN evidence ON evidence.trial = trial.id")
    names = (*schema.TRIAL, *schema.EVIDENCE)
    while lines := found.fetchmany(_AT_ONCE):
        yield [dict(zip(names, line, strict=True)) for line in lines]


def _merge_lines(
    target: Store, theirs: sqlite3.Connection, lines: list[dict[str, Any]], numbers: _Numbers, counts: dict[str, int]
) -> None:
    keys = [line["key"] for line in lines]
    with target.writing() as ours:
        query = f"SELECT key, id, status, attempts FROM trial WHERE key IN ({', '.join('?' * len(keys))})"
        stored = {key: line for key, *line in ours.execute(query, keys)}
        own, other = (dict(evidence_hashes(connection, list(stored))) for connection in (ours, theirs))
        fresh = ours.execute("SELECT ifnull(max(id), 0) FROM trial").fetchone()[0]
        for line in lines:
            key = line["key"]
            number, status, attempts = stored.get(key, (fresh + 1, None, 0))
            fresh = max(fresh, number)
            outcome = _outcome(status, line["status"], own.get(key), other.get(key))
            counts["trials"] += 1
            counts[outcome] += 1
            counts["different"] += status == line["status"] == "ok" and own[key] != other[key]
            _keep(ours, outcome, numbers.of(line, number, max(attempts, line["attempts"])))


def _outcome(status: str | None, offered: str, own: bytes | None, other: bytes | None) -> str:
    """What becomes of a trial that is offered: any order of files must end alike, so it goes by status, then by hash."""
    if own is None or other is None:
        return "added"
    return "replaced" if (offered != "ok", other) < (status != "ok", own) else "kept"


def _keep(ours: sqlite3.Connection, outcome: str, line: dict[str, Any]) -> None:
    if outcome == "kept":
        ours.execute("UPDATE trial SET attempts = :attempts WHERE id = :id AND attempts < :attempts", line)
        return
    ours.execute(PUT_TRIAL, [line[name] for name in schema.TRIAL])
    if line["checksum"] is not None:
        ours.execute(PUT_EVIDENCE, [line[name] for name in schema.EVIDENCE])
