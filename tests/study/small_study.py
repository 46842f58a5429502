"""A small study whose names are resolved, and executors that answer without learning anything."""

from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions import ClassNoise, Clean
from fairtrial.data import Dataset
from fairtrial.study.records import ResourceLimits, TrialRecord
from fairtrial.study.spec.resolve import NamedData
from fairtrial.study.spec.schemes import build_scheme


@dataclass(frozen=True)
class SmallStudy:
    """Two data sets x two conditions x two learners x three folds: 24 trials."""

    name: str = "small"
    seed: int = 3
    declaration: dict = field(default_factory=dict)
    data: tuple = ()
    conditions: tuple = (
        SimpleNamespace(name="clean", level=0.0, condition=Clean()),
        SimpleNamespace(name="class-noise", level=0.1, condition=ClassNoise(0.1)),
    )
    learners: tuple = (
        SimpleNamespace(name="bayes", estimator=GaussianNB()),
        SimpleNamespace(name="tree", estimator=DecisionTreeClassifier()),
    )
    schemes: tuple = (SimpleNamespace(name="stratified", scheme=build_scheme({"scheme": "stratified", "folds": 3})),)
    limits: ResourceLimits = field(default_factory=ResourceLimits)


def small_study(**changes):
    data = tuple(NamedData(name, flowers(seed)) for seed, name in enumerate(["first", "second"]))
    return SmallStudy(**{"data": data, **changes})


def flowers(seed, rows=60):
    rng = np.random.default_rng(seed)
    classes = np.arange(rows) % 3
    table = pd.DataFrame({f"x{i}": classes + rng.normal(size=rows) for i in range(3)})
    return Dataset.from_table(table, [f"class {each}" for each in classes])


class Answering(Executor):
    """Answers at once with a success that took so long that each trial travels alone; `said` are the chunks that it got."""

    def __init__(self, answer=None):
        self.said = []
        self._answer = answer or (lambda chunk: [TrialRecord(task.key, "ok", fit_time=9.0) for task in chunk.tasks])

    def submit(self, function, chunk, dataset):
        self.said.append(chunk)
        future = Future()
        try:
            future.set_result(self._answer(chunk))
        except Exception as error:
            future.set_exception(error)
        return future

    @property
    def trials(self):
        return [task.key for chunk in self.said for task in chunk.tasks]


class Watching:
    """A display that counts, and does something after so many trials."""

    def __init__(self, after=None, then=None):
        self.started, self.names, self.evidence, self.summaries = [], [], [], []
        self._apply_rule, self._then = after, then

    def start(self, study, learners, planned, stored, where):
        self.started.append((study, tuple(learners), planned, stored, where))

    def add_records(self, records):
        before = len(self.evidence)
        self.names += [name for name, _ in records]
        self.evidence += [evidence for _, evidence in records]
        if self._then is not None and before < self._apply_rule <= len(self.evidence):
            self._then()

    def stop(self, summary):
        self.summaries.append(summary)
