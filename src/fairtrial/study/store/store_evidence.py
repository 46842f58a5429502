"""The evidence of trials, as lines of a store: what comes in, what stays, and a hash of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fairtrial.errors import StoreError
from fairtrial.study.plan.identity import split_hash, trial_key
from fairtrial.study.records import FAILURES, PROTOCOL, Evidence, Rows
from fairtrial.study.store import schema, store_values as values

PUT_TRIAL = schema.insertion("trial", schema.TRIAL)
PUT_EVIDENCE = schema.insertion("evidence", schema.EVIDENCE)
_EVIDENCE = """
SELECT key, dataset.hash, condition.hash, hex(split.hash), learner.hash, seed, trial.protocol, status, score_kind, trial.level,
    changed, test_level, test_changed, error, prediction, scores, test_rows, truth
FROM trial LEFT JOIN evidence ON evidence.trial = trial.id LEFT JOIN dataset ON dataset.id = trial.dataset
LEFT JOIN condition ON condition.id = trial.condition LEFT JOIN split ON split.id = trial.split
LEFT JOIN learner ON learner.id = trial.learner
"""
"""What counts as evidence, and what it is about: times, memory and texts that tell of the machine do not."""

_LINKS = """
SELECT trial.id, key, status, seed, trial.protocol, trial.dataset, split.dataset, dataset.hash, split.hash, condition.hash,
    learner.hash
FROM trial LEFT JOIN dataset ON dataset.id = trial.dataset LEFT JOIN condition ON condition.id = trial.condition
LEFT JOIN split ON split.id = trial.split LEFT JOIN learner ON learner.id = trial.learner
"""

_REMEDY = "take a copy of the store from before, or run the study into a new one"
_MEAN_TIMES = """
SELECT dataset.hash, learner.hash, means.seconds, means.trials FROM (
    SELECT dataset, learner, avg(fit_time + predict_time) AS seconds, count(fit_time + predict_time) AS trials
    FROM trial WHERE status = 'ok' GROUP BY dataset, learner
) AS means
JOIN dataset ON dataset.id = means.dataset JOIN learner ON learner.id = means.learner WHERE means.trials > 0
"""


def put_evidence(
    connection: sqlite3.Connection,
    batch: Iterable[tuple[Evidence, tuple[int, int, int, int]]],
    seed: int | str,
    run: int | None,
) -> None:
    """Evidence with the numbers of its data set, condition, split and learner.

    A success replaces a failure; a failure replaces an earlier one, and attempts are counted; a success stays for good.
    """
    fresh = connection.execute("SELECT ifnull(max(id), 0) FROM trial").fetchone()[0]
    for evidence, link in batch:
        found = connection.execute("SELECT id, status, attempts FROM trial WHERE key = ?", (evidence.key,)).fetchone()
        trial, status, attempts = found or (fresh + 1, None, 0)
        if status == "ok":
            continue
        fresh = max(fresh, trial)
        about = (*link, seed, PROTOCOL, run, evidence.status, attempts + 1)
        connection.execute(PUT_TRIAL, (trial, evidence.key, *about, *_facts(evidence)))
        blobs = (evidence.prediction, evidence.scores, evidence.rows, evidence.truth)
        if any(blobs):
            line = (trial, *blobs[:2], evidence.score_kind, *blobs[2:], values.checksum(blobs))
            connection.execute(PUT_EVIDENCE, line)


def _facts(evidence: Evidence) -> tuple[Any, ...]:
    texts = (evidence.notes, evidence.error, evidence.message, evidence.traceback, evidence.log)
    return (
        evidence.level,
        _whole(evidence.changed),
        evidence.test_level,
        _whole(evidence.test_changed),
        evidence.fit_time,
        evidence.predict_time,
        evidence.fit_cpu,
        evidence.predict_cpu,
        _whole(evidence.memory),
        *map(values.storable, texts),
    )


def _whole(value: int | None) -> int | None:
    return None if value is None else int(value)


def evidence_hashes(connection: sqlite3.Connection, keys: Sequence[bytes] | None = None) -> Iterator[tuple[bytes, bytes]]:
    """Key and hash of the evidence of each trial, or of those with these keys, in the order of keys."""
    chosen = "" if keys is None else f" WHERE key IN ({', '.join('?' * len(keys))})"
    for line in connection.execute(f"{_EVIDENCE}{chosen} ORDER BY key", keys or ()):
        yield line[0], values.evidence_hash(line[0], line[1:-4], line[-4:])


def mean_times(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[float, int]]:
    """For each data set and learner, by hash: mean seconds of a successful trial, and how many there are."""
    return {(data, learner): (seconds, trials) for data, learner, seconds, trials in connection.execute(_MEAN_TIMES)}


def refuse_wrong_links(connection: sqlite3.Connection) -> None:
    """Each trial must be of the data set, condition, split and learner that its key was made of, each split of its rows."""
    for trial, key, status, seed, protocol, own, of_split, *hashes in connection.execute(_LINKS):
        data, split, condition, learner = hashes
        if None in hashes or own != of_split or status not in ("ok", *FAILURES) or not str(seed).lstrip("-").isdigit():
            raise StoreError(f"trial {trial} is damaged, what it is about is not there: {_REMEDY}")
        if trial_key(int(seed), data, split.hex(), condition, learner, protocol) != key:
            raise StoreError(f"trial {trial} is damaged, its key is not that of what it is about: {_REMEDY}")
    query = (
        "SELECT split.id, split.hash, repeat, fold, test, train, n_rows FROM split JOIN dataset ON dataset.id = split.dataset"
    )
    for number, own, repeat, fold, *packed in connection.execute(query):
        train, test = values.unpack_split(*packed)
        if bytes.fromhex(split_hash(Rows(train, test, repeat, fold))) != own:
            raise StoreError(f"split {number} is damaged, its rows are not those that it was made of: {_REMEDY}")


def refuse_damaged(connection: sqlite3.Connection) -> None:
    """All evidence must be as it was written."""
    for trial, *blobs, kept in connection.execute("SELECT trial, prediction, scores, test_rows, truth, checksum FROM evidence"):
        values.refuse_damaged(trial, blobs, kept)
