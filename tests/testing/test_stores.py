"""Our stores meet the contract, and for each rule a broken store is reported under this rule alone."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from fairtrial.errors import StoreError
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.sqlite import SQLiteStore
from fairtrial.study.store.store import MergedFile, stores
from fairtrial.testing import find_violations, list_rules, parametrize_with_contract


@parametrize_with_contract("store", stores.values())
def test_our_stores_meet_the_contract(check):
    check()


class CreatesMissingFiles(SQLiteStore):
    @classmethod
    def open(cls, path, *, write=False, create=False):
        if not Path(path).exists():
            super().open(path, write=True, create=True).close()
        return super().open(path, write=write, create=create)


class LosesVersions(SQLiteStore):
    def add_plan(self, header, datasets, conditions, learners, splits):
        bare = [(learner_hash, replace(facts, versions={})) for learner_hash, facts in learners]
        super().add_plan(header, datasets, conditions, bare, splits)


class IgnoresRepeatedPlans(SQLiteStore):
    def add_plan(self, header, datasets, conditions, learners, splits):
        with self.file.read_connection() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM study")]
        if header["name"] not in names:
            super().add_plan(header, datasets, conditions, learners, splits)


class LosesNotes(SQLiteStore):
    def add_records(self, batch):
        super().add_records((replace(record, notes=None), link) for record, link in batch)


class ArchiveOfStoredTrials(StoreArchive):
    def trials(self):
        trials = super().trials()
        return trials[trials["status"] != "missing"]


class HidesMissingTrials(SQLiteStore):
    def open_archive(self, study=None):
        return ArchiveOfStoredTrials.from_file(self.file, study)


class IgnoresRetry(SQLiteStore):
    def find_done(self, retry=()):
        return super().find_done()


class HidesCrashes(SQLiteStore):
    def count_by_status(self):
        return {status: number for status, number in super().count_by_status().items() if status != "crash"}


class AddsOneByOne(SQLiteStore):
    def add_records(self, batch):
        for pair in batch:
            super().add_records([pair])


class ReplacesSuccesses(SQLiteStore):
    def add_records(self, batch):
        batch = list(batch)
        if self.file.writable:
            with self._write() as connection:
                for record, _ in batch:
                    connection.execute("DELETE FROM evidence WHERE trial IN (SELECT id FROM trial WHERE key = ?)", [record.key])
                    connection.execute("DELETE FROM trial WHERE key = ?", [record.key])
        super().add_records(batch)


class KeepsFailures(SQLiteStore):
    def add_records(self, batch):
        done = self.find_done()
        super().add_records([(record, link) for record, link in batch if record.key not in done])


class RefusesReadersWhileWriting(SQLiteStore):
    @classmethod
    def open(cls, path, *, write=False, create=False):
        if not write and Path(f"{path}.lock").exists():
            raise StoreError("busy")
        return super().open(path, write=write, create=create)


class IgnoresRecordsOfReaders(SQLiteStore):
    def add_records(self, batch):
        if self.file.writable:
            super().add_records(batch)


class TakesSecondWriters(SQLiteStore):
    @classmethod
    def open(cls, path, *, write=False, create=False):
        is_locked = Path(f"{path}.lock").exists()
        return super().open(path, write=write and not is_locked, create=create and not is_locked)


class LosesFactsOfRuns(SQLiteStore):
    def finish_run(self, run, facts):
        super().finish_run(run, {})


class HalfTimes(SQLiteStore):
    def compute_mean_times(self):
        return {pair: (seconds / 2, number) for pair, (seconds, number) in super().compute_mean_times().items()}


class DigestOfTimes(SQLiteStore):
    def compute_digest(self):
        return super().compute_digest() + repr(sorted(self.compute_mean_times().values()))


class KeepsDerivedValues(SQLiteStore):
    def read_derived(self, name):
        return super().read_derived(name) or (b"\x00\x01" if name == "scores" else None)


class ArchiveWithShift(StoreArchive):
    """The predictions depend on a file beside the store that has no checksum."""

    def predictions(self, trials):
        shift = Path(f"{self.file.path}.shift").read_bytes()[0]
        for predictions in super().predictions(trials):
            yield replace(predictions, prediction=predictions.prediction + shift)


class UnprotectedPredictions(SQLiteStore):
    @classmethod
    def open(cls, path, *, write=False, create=False):
        store = super().open(path, write=write, create=create)
        with suppress(FileExistsError), open(f"{os.path.realpath(path)}.shift", "xb") as file:
            file.write(b"\0")
        return store

    def open_archive(self, study=None):
        return ArchiveWithShift.from_file(self.file, study)


class MergesNothing(SQLiteStore):
    def merge_from(self, source):
        return MergedFile(os.fspath(source.path), 0, 0, 0, 0, 0), []


BROKEN = {
    "missing_files_are_refused": CreatesMissingFiles,
    "plans_come_back": LosesVersions,
    "plans_can_be_repeated": IgnoresRepeatedPlans,
    "records_come_back": LosesNotes,
    "planned_trials_are_listed": HidesMissingTrials,
    "done_trials_are_listed": IgnoresRetry,
    "statuses_are_counted": HidesCrashes,
    "batches_are_atomic": AddsOneByOne,
    "successes_are_never_replaced": ReplacesSuccesses,
    "failures_are_replaced": KeepsFailures,
    "readers_see_committed_records": RefusesReadersWhileWriting,
    "readers_cannot_write": IgnoresRecordsOfReaders,
    "second_writer_is_refused": TakesSecondWriters,
    "runs_are_noted": LosesFactsOfRuns,
    "mean_times_are_computed": HalfTimes,
    "digest_depends_on_predictions": DigestOfTimes,
    "changed_trials_delete_derived_values": KeepsDerivedValues,
    "corruption_is_detected": UnprotectedPredictions,
    "merged_stores_equal_whole": MergesNothing,
}


def test_every_rule_has_a_broken_example():
    assert list(BROKEN) == [rule.name for rule in list_rules("store")]


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_store_is_reported_under_its_rule_alone(rule, monkeypatch):
    if rule != "corruption_is_detected":  # the slowest rule reads the store once for each changed byte
        monkeypatch.setattr("fairtrial.testing.stores._N_CORRUPTED_BYTES", 2)
    assert list(find_violations("store", BROKEN[rule].open)) == [rule]
