"""The contract for stores: records are read back unchanged, batches are written as a whole, and corruption is detected."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_count
from fairtrial.errors import StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.identity import compute_trial_keys, hash_split
from fairtrial.study.records import CODES, NUMBERS, SplitRows, Status, TrialRecord, pack
from fairtrial.study.store.store import ResultsStore, TrialLink
from fairtrial.testing.contract import Contract, require

if TYPE_CHECKING:
    import pandas as pd

OpenStore = Callable[..., ResultsStore]

_SEED = 20
_N_CORRUPTED_BYTES = 60
_TRIAL_KEY = ["dataset", "condition", "level", "learner", "repeat", "fold"]


class _ExampleStudy:
    """A study of 16 trials: two data sets, two conditions, two learners and two folds, with non-ASCII names."""

    def __init__(self, name: str = "Größe", seed: int = _SEED) -> None:
        rng = np.random.default_rng(_SEED)
        self.seed = seed
        self.datasets = [
            DataFacts("blüten", _hash("blüten"), ("å", "ß", "c"), rng.integers(0, 3, 12), np.arange(12), {"rows": 12}),
            DataFacts("人", _hash("人"), (0, 1), rng.integers(0, 2, 8), np.array([f"p{i}" for i in range(8)]), {}),
        ]
        levels = (("clean", 0.0), ("noise", 0.25))
        self.conditions = [
            (_hash(condition, level), ConditionFacts(condition, level, f"summary of {condition}", {"level": level}))
            for condition, level in levels
        ]
        self.learners = [
            (_hash(learner), LearnerFacts(learner, f"package.{learner}", {"depth": 3}, {"package": "1.0"}))
            for learner in ("naïve", "forest")
        ]
        self.splits = [(data.content_hash, *split) for data in self.datasets for split in _make_splits(len(data.codes))]
        self.header = {
            "name": name,
            "declaration": {"measures": ["accuracy"], "resampling": {"folds": 2}},
            "seed": seed,
            "data": [(data.name, data.content_hash) for data in self.datasets],
            "conditions": [(facts.name, facts.level, condition_hash) for condition_hash, facts in self.conditions],
            "learners": [(facts.name, learner_hash) for learner_hash, facts in self.learners],
            "splits": {
                data.content_hash: [
                    (rows.repeat, rows.fold, split_hash.hex())
                    for data_hash, split_hash, rows in self.splits
                    if data_hash == data.content_hash
                ]
                for data in self.datasets
            },
        }
        self.links = [
            TrialLink(data.content_hash, condition_hash, split_hash, learner_hash)
            for data in self.datasets
            for condition_hash, _ in self.conditions
            for learner_hash, _ in self.learners
            for data_hash, split_hash, _ in self.splits
            if data_hash == data.content_hash
        ]

    def add_plan(self, store: ResultsStore) -> None:
        store.add_plan(self.header, self.datasets, self.conditions, self.learners, iter(self.splits))

    def make_key(self, link: TrialLink) -> bytes:
        keys = compute_trial_keys(self.seed, link.data, [link.split.hex()], [link.condition], [link.learner])
        return bytes(keys.tobytes())

    def make_predictions(self, link: TrialLink) -> tuple[SplitRows, DataFacts, Any]:
        """Return the split, data set and scores of a trial. The scores are random but reproducible."""
        rng = np.random.default_rng(list(self.make_key(link)))
        rows = next(rows for data_hash, split_hash, rows in self.splits if (data_hash, split_hash) == (link.data, link.split))
        data = next(data for data in self.datasets if data.content_hash == link.data)
        return rows, data, rng.dirichlet(np.ones(len(data.classes)), len(rows.test))

    def make_success(self, link: TrialLink, **changes: Any) -> TrialRecord:
        _, _, scores = self.make_predictions(link)
        columns = {
            "prediction": pack(scores.argmax(axis=1), CODES),
            "scores": pack(scores, NUMBERS),
            "score_kind": "probability",
        }
        facts = {"level": 0.25, "changed": 3, "fit_time": 0.5, "predict_time": 0.25, "memory": 1000, "notes": "größer"}
        return TrialRecord(self.make_key(link), "ok", **{**columns, **facts, **changes})

    def make_failure(self, link: TrialLink, status: Status = "error") -> TrialRecord:
        return TrialRecord(self.make_key(link), status, error="ValueError", message="unbekannt: ß", traceback="line 1")

    def pair_successes(self, links: Iterable[TrialLink]) -> list[tuple[TrialRecord, TrialLink]]:
        return [(self.make_success(link), link) for link in links]


class _StoreCase:
    """A function that opens stores, a new folder, and an example study."""

    def __init__(self, open_store: OpenStore, folder: Path) -> None:
        self.open_store = open_store
        self.study = _ExampleStudy()
        self._folder = folder
        self._n_paths = 0

    def make_path(self) -> Path:
        """Create a path in a new folder, because a store may consist of several files."""
        self._n_paths += 1
        folder = self._folder / f"store {self._n_paths}"
        folder.mkdir(parents=True)
        return folder / "größe 1.fairtrial"

    def create(self, path: Path | None = None) -> ResultsStore:
        """Create a store with the plan of the study."""
        store = self.open_store(path or self.make_path(), write=True, create=True)
        self.study.add_plan(store)
        return store

    def fill(self, links: Iterable[TrialLink] | None = None) -> Path:
        """Create and close a store that contains successful trials, by default all trials of the study."""
        path = self.make_path()
        with self.create(path) as store:
            store.add_records(self.study.pair_successes(self.study.links if links is None else links))
        return path

    def require_records(self, store: ResultsStore, links: Iterable[TrialLink]) -> None:
        """Require that the store returns exactly the predictions of these trials, unchanged."""
        archive, links = store.open_archive(), list(links)
        trials = archive.trials()
        done = trials[trials["status"] == "ok"]
        expected = {self._describe_trial(link): link for link in links}
        require(len(done) == len(links), f"{format_count(len(done), 'successful trial')} instead of {len(links)}")
        for trial, predictions in zip(done.itertuples(index=False), archive.predictions(done["trial"].tolist()), strict=True):
            key = tuple(getattr(trial, name) for name in _TRIAL_KEY)
            require(key in expected, f"the unknown trial {key}")
            rows, data, scores = self.study.make_predictions(expected[key])
            columns = {
                "rows": rows.test,
                "y_true": data.codes[rows.test],
                "prediction": scores.argmax(axis=1),
                "scores": scores,
            }
            for name, values in columns.items():
                require(np.array_equal(getattr(predictions, name), values), f"different {name} for {key}")

    def _describe_trial(self, link: TrialLink) -> tuple[Any, ...]:
        data = next(data for data in self.study.datasets if data.content_hash == link.data)
        condition = dict(self.study.conditions)[link.condition]
        rows, _, _ = self.study.make_predictions(link)
        return data.name, condition.name, condition.level, dict(self.study.learners)[link.learner].name, rows.repeat, rows.fold


@contextmanager
def _open_case(open_store: OpenStore) -> Iterator[_StoreCase]:
    with tempfile.TemporaryDirectory() as folder:
        yield _StoreCase(open_store, Path(folder))


_contract = Contract("store", _open_case)


def check_store(open_store: OpenStore) -> None:
    """Check that a results store satisfies the contract for stores.

    Parameters
    ----------
    open_store : callable
        The function that you register in `stores`. The function takes a path and the keywords `write` and `create`.

    Raises
    ------
    AssertionError
        If a rule is violated. The message names each violated rule, the value found and a remedy.

    Examples
    --------
    >>> from fairtrial.study.store.store import open_store
    >>> check_store(open_store)
    """
    _contract.check(open_store)


def _hash(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _make_splits(n_rows: int) -> list[tuple[bytes, SplitRows]]:
    """Create two folds, each with half of the rows in random order."""
    order = np.random.default_rng(n_rows).permutation(n_rows)
    halves = order[: n_rows // 2], order[n_rows // 2 :]
    splits = [SplitRows(halves[1 - fold], halves[fold], 0, fold) for fold in range(2)]
    return [(bytes.fromhex(hash_split(rows.train, rows.test, rows.repeat, rows.fold)), rows) for rows in splits]


def _find_error(action: Callable[[], Any]) -> Exception | None:
    try:
        action()
    except Exception as error:
        return error
    return None


@_contract.rule("raise StoreError if the path does not exist and create is False")
def check_missing_files_are_refused(case: _StoreCase) -> None:
    """Opening a path that does not exist must raise StoreError unless create=True."""
    path = case.make_path()
    for write in (False, True):
        error = _find_error(lambda write=write: case.open_store(path, write=write).close())  # type: ignore[misc]
        require(isinstance(error, StoreError), f"{error!r} with write={write}")


@_contract.rule("store plans without loss, with text as Unicode")
def check_plans_come_back(case: _StoreCase) -> None:
    """The plan of a study, including non-ASCII names, must be read back unchanged after the store has been closed."""
    study, path = case.study, case.make_path()
    case.create(path).close()
    with case.open_store(path) as store:
        archive = store.open_archive()
        require(archive.name == study.header["name"], f"the study {archive.name!r}")
        require(archive.seed == study.seed, f"the seed {archive.seed}")
        require(dict(archive.declaration) == study.header["declaration"], f"the declaration {archive.declaration}")
        require(list(archive.conditions) == [facts for _, facts in study.conditions], f"conditions {archive.conditions}")
        require(list(archive.learners) == [facts for _, facts in study.learners], f"learners {archive.learners}")
        for data, expected in zip(archive.datasets, study.datasets, strict=True):
            require((data.name, data.classes) == (expected.name, expected.classes), f"the data set {data.name!r}")
            require(np.array_equal(data.codes, expected.codes), f"different classes for the rows of {data.name!r}")
            require(data.row_ids.tolist() == expected.row_ids.tolist(), f"different ids for the rows of {data.name!r}")
        names = {data.content_hash: data.name for data in study.datasets}
        for data_hash, _, rows in study.splits:
            train, test = archive.split(names[data_hash], rows.repeat, rows.fold)
            same = np.array_equal(train, rows.train) and np.array_equal(test, rows.test)
            require(same, f"different rows in fold {rows.fold} of {names[data_hash]!r}")


@_contract.rule("ignore a plan that is stored already, and remember which study was added last")
def check_plans_can_be_repeated(case: _StoreCase) -> None:
    """Adding a plan again must change nothing, except that its study becomes the latest one."""
    other = _ExampleStudy("other", seed=1)
    with case.create() as store:
        store.add_records(case.study.pair_successes(case.study.links))
        other.add_plan(store)
        latest = store.open_archive().name
        require(latest == "other", f"the study {latest!r} after 'other' was added")
        case.study.add_plan(store)
        latest = store.open_archive().name
        require(latest == case.study.header["name"], f"the study {latest!r} after its plan was added again")
        case.require_records(store, case.study.links)


@_contract.rule("store the columns of a record without loss")
def check_records_come_back(case: _StoreCase) -> None:
    """Records must be read back unchanged after the store has been closed."""
    with case.open_store(case.fill()) as store:
        case.require_records(store, case.study.links)
        for record, trial in zip(_sort_successes(case), _sort_trials(store), strict=True):
            for name in ("fit_time", "predict_time", "memory", "changed", "notes"):
                value = getattr(trial, name)
                require(value == getattr(record, name), f"{name}={value!r} instead of {getattr(record, name)!r}")


def _sort_successes(case: _StoreCase) -> list[TrialRecord]:
    return [case.study.make_success(link) for link in case.study.links]


def _sort_trials(store: ResultsStore) -> Iterator[Any]:
    trials: pd.DataFrame = store.open_archive().trials()
    return trials.itertuples(index=False)


@_contract.rule("list a planned trial without a record as missing")
def check_planned_trials_are_listed(case: _StoreCase) -> None:
    """The table of trials must have a row for each planned trial, in the order of the study, even if the trial has not run."""
    with case.open_store(case.fill(case.study.links[3:5])) as store:
        trials = store.open_archive().trials()
        listed = [tuple(row) for row in trials[_TRIAL_KEY].itertuples(index=False)]
        expected = [case._describe_trial(link) for link in case.study.links]
        require(listed == expected, f"{len(listed)} trials in a different order than the {len(expected)} planned ones")
        done = [index for index, status in enumerate(trials["status"]) if status != "missing"]
        require(done == [3, 4], f"trials {done} instead of [3, 4] that are not missing")


@_contract.rule("return the keys of all records except the failures in retry")
def check_done_trials_are_listed(case: _StoreCase) -> None:
    """find_done must return the keys of stored trials except failures with a status in `retry`."""
    study = case.study
    ok, late, wrong = study.links[:3]
    with case.create() as store:
        store.add_records([(study.make_success(ok), ok), (study.make_failure(late, "timeout"), late)])
        store.add_records([(study.make_failure(wrong), wrong)])
        retries: list[tuple[tuple[Status, ...], tuple[TrialLink, ...]]] = [
            ((), (ok, late, wrong)),
            (("timeout",), (ok, wrong)),
            (("timeout", "error", "ok"), (ok,)),
        ]
        for retry, links in retries:
            done, expected = store.find_done(retry), {study.make_key(link) for link in links}
            require(done == expected, f"{len(done)} keys instead of {len(expected)} for retry={retry}")


@_contract.rule("count the latest record of each trial")
def check_statuses_are_counted(case: _StoreCase) -> None:
    """count_by_status must count each trial once, by the status of its record."""
    study = case.study
    with case.create() as store:
        store.add_records(study.pair_successes(study.links[:3]))
        store.add_records([(study.make_failure(link, "crash"), link) for link in study.links[3:5]])
        counts = store.count_by_status()
    require(counts == {"ok": 3, "crash": 2}, f"{counts}")


@_contract.rule("write each batch in one transaction")
def check_batches_are_atomic(case: _StoreCase) -> None:
    """A batch that raises an error must leave no record behind, and later batches must succeed."""
    study = case.study
    unknown = study.links[2]._replace(learner="unknown")
    with case.create() as store:
        batch = [*study.pair_successes(study.links[:2]), (study.make_success(study.links[2]), unknown)]
        error = _find_error(lambda: store.add_records(batch))
        require(isinstance(error, StoreError), f"{error!r} for a record of an unknown learner")
        require(not store.find_done(), f"{format_count(len(store.find_done()), 'record')} of a batch that failed")
        store.add_records(study.pair_successes(study.links[:2]))
        case.require_records(store, study.links[:2])


@_contract.rule("keep a stored success, whatever is added later")
def check_successes_are_never_replaced(case: _StoreCase) -> None:
    """A success must not be replaced by a failure or by another success of the same trial."""
    study, link = case.study, case.study.links[0]
    _, _, scores = study.make_predictions(link)
    other = replace(study.make_success(link), prediction=pack(1 - scores.argmax(axis=1).clip(0, 1), CODES))
    with case.create() as store:
        for record in (study.make_success(link), study.make_failure(link), other):
            store.add_records([(record, link)])
        case.require_records(store, [link])


@_contract.rule("replace a stored failure by the new record of the trial")
def check_failures_are_replaced(case: _StoreCase) -> None:
    """A failure must be replaced by a later failure or success of the same trial."""
    study, link = case.study, case.study.links[0]
    with case.create() as store:
        for record, counts in (
            (study.make_failure(link, "error"), {"error": 1}),
            (study.make_failure(link, "timeout"), {"timeout": 1}),
            (study.make_success(link), {"ok": 1}),
        ):
            store.add_records([(record, link)])
            require(store.count_by_status() == counts, f"{store.count_by_status()} instead of {counts}")


@_contract.rule("commit before add_records returns")
def check_readers_see_committed_records(case: _StoreCase) -> None:
    """A reader that opens the store while it is being written must see all records that were added."""
    path = case.make_path()
    with case.create(path) as store:
        for n in (1, 3):
            store.add_records(case.study.pair_successes(case.study.links[:n]))
            with case.open_store(path) as reader:
                case.require_records(reader, case.study.links[:n])


@_contract.rule("raise StoreError if the store was opened with write=False")
def check_readers_cannot_write(case: _StoreCase) -> None:
    """A store that was opened for reading must reject records."""
    path = case.fill([])
    with case.open_store(path) as store:
        error = _find_error(lambda: store.add_records(case.study.pair_successes(case.study.links[:1])))
    require(isinstance(error, StoreError), f"{error!r}")


@_contract.rule("lock the store while it is open for writing")
def check_second_writer_is_refused(case: _StoreCase) -> None:
    """A second writer must receive a StoreError while the first writer has the store open."""
    path = case.make_path()
    with case.create(path):
        error = _find_error(lambda: case.open_store(path, write=True).close())
    require(isinstance(error, StoreError), f"{error!r}")
    case.open_store(path, write=True).close()


@_contract.rule("record the start and the end of each run with all facts")
def check_runs_are_noted(case: _StoreCase) -> None:
    """A run must be listed with the facts passed to start_run and finish_run."""
    path = case.make_path()
    with case.create(path) as store:
        run = store.start_run({"engine": "local", "jobs": 2})
        store.finish_run(run, {"trials": 5})
        error = _find_error(lambda: store.finish_run(run + 99, {}))
        require(isinstance(error, StoreError), f"{error!r} for the end of a run that did not start")
    with case.open_store(path) as store:
        runs = store.open_archive().runs
    require(len(runs) == 1, f"{len(runs)} runs")
    facts = {name: runs[0].get(name) for name in ("engine", "jobs", "trials")}
    require(facts == {"engine": "local", "jobs": 2, "trials": 5}, f"{facts}")
    require(runs[0]["finished"], "a finished run without the time of its end")


@_contract.rule("average fit_time + predict_time over the successful trials")
def check_mean_times_are_computed(case: _StoreCase) -> None:
    """compute_mean_times must average the times of successful trials for each data set and learner."""
    study = case.study
    with case.create() as store:
        first, second = [link for link in study.links if (link.data, link.learner) == _get_pair(study.links[0])][:2]
        store.add_records(
            [(study.make_success(first, fit_time=1.0), first), (study.make_success(second, fit_time=2.0), second)]
        )
        store.add_records([(study.make_failure(study.links[-1]), study.links[-1])])
        times = store.compute_mean_times()
    require(times == {_get_pair(first): (1.75, 2)}, f"{times}")


def _get_pair(link: TrialLink) -> tuple[str, str]:
    return link.data, link.learner


@_contract.rule("hash the predictions, not the order, times or messages")
def check_digest_depends_on_predictions(case: _StoreCase) -> None:
    """The digest must depend on the predictions, but not on the order, times or notes of the records."""
    study = case.study
    batch = study.pair_successes(study.links)
    slower = [(replace(record, fit_time=9.0, notes=None), link) for record, link in batch[::-1]]
    _, _, scores = study.make_predictions(study.links[0])
    other = replace(batch[0][0], prediction=pack(1 - scores.argmax(axis=1).clip(0, 1), CODES))
    digests = []
    for records in (batch, slower, [(other, batch[0][1]), *batch[1:]]):
        with case.create() as store:
            store.add_records(records)
            digests.append(store.compute_digest())
    require(digests[0] == digests[1], "a different digest for a different order and different times")
    require(digests[0] != digests[2], "the same digest for different predictions")


@_contract.rule("delete derived values in the transaction that changes trials")
def check_changed_trials_delete_derived_values(case: _StoreCase) -> None:
    """Derived values must be available until a trial is added or deleted."""
    study = case.study
    for change in ("add", "forget"):
        with case.create() as store:
            store.add_records(study.pair_successes(study.links[:-1]))
            store.write_derived({"scores": b"\x00\x01", "other": b""})
            require(store.read_derived("scores") == b"\x00\x01", "another derived value than the stored one")
            require(store.read_derived("unknown") is None, "a derived value that was never stored")
            if change == "add":
                store.add_records(study.pair_successes(study.links[-1:]))
            else:
                store.forget(study.learners[0][1].name)
            require(store.read_derived("scores") is None, f"a derived value after {change} changed the trials")


@_contract.rule("store a checksum of each record and compare it in check()")
def check_corruption_is_detected(case: _StoreCase) -> None:
    """Reading a store with a changed byte must raise StoreError or return unchanged records."""
    path = case.fill()
    with case.open_store(path) as store:
        store.check()
    for file in sorted(file for file in path.parent.rglob("*") if file.is_file()):
        size = file.stat().st_size
        for offset in np.unique(np.linspace(0, size - 1, _N_CORRUPTED_BYTES).astype(int)).tolist():
            require(_is_harmless(case, path, file, offset), f"different records after byte {offset} of {size} was changed")


def _is_harmless(case: _StoreCase, path: Path, file: Path, offset: int) -> bool:
    """Return whether a copy of the store with one changed byte raises an error or returns the same records."""
    folder = case.make_path().parent
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)
    copied = folder / file.relative_to(path.parent)
    content = bytearray(copied.read_bytes())
    content[offset] ^= 0xFF
    copied.write_bytes(content)
    try:
        with case.open_store(folder / path.name) as store:
            store.check()
            case.require_records(store, case.study.links)
    except StoreError:
        return True
    except Exception:
        return False
    finally:
        shutil.rmtree(folder)
    return True


@_contract.rule("add the records that are missing and keep the successes that are there")
def check_merged_stores_equal_whole(case: _StoreCase) -> None:
    """A merged store must contain the records of all stores, in whatever order and however often they are merged."""
    study = case.study
    parts = case.fill(study.links[:9]), case.fill(study.links[6:])
    for order in (parts, parts[::-1]):
        with case.create() as target:
            for path in (*order, order[0]):
                with case.open_store(path) as source:
                    digest = source.compute_digest()
                    merged, _ = target.merge_from(source)
                    require(source.compute_digest() == digest, "a changed source")
            require(
                (merged.added, merged.replaced) == (0, 0), f"{format_count(merged.added, 'record')} added by a second merge"
            )
            case.require_records(target, study.links)
