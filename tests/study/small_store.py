"""A small study with evidence, made without running anything, for the tests of the store."""

import hashlib
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fairtrial.study.archive import ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.identity import compute_trial_keys, hash_split
from fairtrial.study.records import CODES, NUMBERS, SplitRows, TrialRecord, pack
from fairtrial.study.store import schema
from fairtrial.study.store.checksums import TRIAL_NUMBERS, TRIAL_TEXTS
from fairtrial.study.store.store import TrialLink, open_store

CONDITIONS = (("clean", 0.0), ("noise", 0.1), ("noise", 0.2))


def hashed(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class SmallStudy:
    """Two data sets (labels as text and as numbers), three conditions, two learners, 2 x 2 splits: 48 trials."""

    def __init__(self, seed=0, name="small", learners=("tree", "forest")):
        rng = np.random.default_rng(seed)
        self.seed = seed
        self.data = [
            DataFacts("flowers", hashed("flowers"), ("a", "b", "c"), rng.integers(0, 3, 12), np.arange(12), {"rows": 12}),
            DataFacts("people", hashed("people"), (0, 1), rng.integers(0, 2, 9), np.array([f"p{i}" for i in range(9)]), {}),
        ]
        self.conditions = [
            (hashed(*each), ConditionFacts(*each, "words of " + each[0], {"condition": each[0], "level": each[1]}))
            for each in CONDITIONS
        ]
        self.learners = [
            (hashed(each), LearnerFacts(each, f"package.{each}", {"depth": 3}, {"package": "1.0"})) for each in learners
        ]
        self.splits = [(data.content_hash, *each) for data in self.data for each in _splits(data)]
        self.header = {
            "name": name,
            "declaration": {"measures": ["accuracy"], "resampling": {"folds": 2}},
            "seed": seed,
            "data": [(each.name, each.content_hash) for each in self.data],
            "conditions": [(each.name, each.level, own) for own, each in self.conditions],
            "learners": [(each.name, own) for own, each in self.learners],
            "splits": {
                each.content_hash: [
                    (rows.repeat, rows.fold, own.hex()) for data, own, rows in self.splits if data == each.content_hash
                ]
                for each in self.data
            },
        }

    def plan_into(self, store):
        store.add_plan(self.header, self.data, self.conditions, self.learners, iter(self.splits))

    def links(self):
        """In the order of the study."""
        return [
            TrialLink(data.content_hash, condition, own, learner)
            for data in self.data
            for condition, _ in self.conditions
            for learner, _ in self.learners
            for data_hash, own, _ in self.splits
            if data_hash == data.content_hash
        ]

    def key(self, link):
        return compute_trial_keys(self.seed, link.data, [link.split.hex()], [link.condition], [link.learner]).tobytes()

    def arrays(self, link):
        """Prediction and scores of a trial: drawn from its key, so that they can be made again."""
        rng = np.random.default_rng(list(self.key(link)))
        (rows,) = (rows for data, own, rows in self.splits if (data, own) == (link.data, link.split))
        (data,) = (each for each in self.data if each.content_hash == link.data)
        scores = rng.dirichlet(np.ones(len(data.classes)), len(rows.test))
        return data, rows, scores.argmax(axis=1), scores

    def success(self, link, **changes):
        _, _, prediction, scores = self.arrays(link)
        facts = {"level": 0.25, "changed": 3, "fit_time": 0.5, "predict_time": 0.25, "memory": 1000}
        columns = {"prediction": pack(prediction, CODES), "scores": pack(scores, NUMBERS), "score_kind": "probability"}
        return TrialRecord(self.key(link), "ok", **{**columns, **facts, **changes})

    def failure(self, link, status="error", **changes):
        return TrialRecord(self.key(link), status, **{"error": "ValueError", "message": "no", "traceback": "line 1", **changes})

    def filled(self, path, links=None):
        with open_store(path, write=True, create=True) as store:
            self.plan_into(store)
            store.add_records([(self.success(link), link) for link in (self.links() if links is None else links)])
        return path


def _splits(data):
    """The first repeat: halves; the second: a bootstrap with rows drawn twice, unsorted, and its mirror."""
    n = len(data.codes)
    rng = np.random.default_rng(n)
    half = rng.permutation(n)[: n // 2]
    drawn = rng.integers(0, n, n)
    out = np.setdiff1d(np.arange(n), drawn)[::-1]
    parts = [
        (np.setdiff1d(np.arange(n), half), half),
        (np.sort(half), np.setdiff1d(np.arange(n), half)),
        (drawn, out),
        (out, drawn),
    ]
    numbered = [SplitRows(train, test, i // 2, i % 2) for i, (train, test) in enumerate(parts)]
    return [(bytes.fromhex(hash_split(rows.train, rows.test, rows.repeat, rows.fold)), rows) for rows in numbered]


def reseal(connection):
    """Recompute all checksums of plans and trials, as if their rows had been written with these values."""
    schema.create_functions(connection)
    columns = ", ".join((*TRIAL_NUMBERS, "key", *TRIAL_TEXTS))
    connection.execute(f"UPDATE trial SET checksum = trial_checksum({columns})")
    for table in schema.PLAN_FIELDS:
        connection.execute(f"UPDATE {table} SET checksum = NULL")
    schema.seal_rows(connection)


@contextmanager
def without_privileges():
    """A folder, and no more rights in it than a plain user has: root may do everything, so that nothing would be refused."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        was_root = os.geteuid() == 0
        if was_root:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if was_root:
                os.seteuid(0)
            os.chmod(folder, 0o777)
