"""A small archive in memory, filled with what scikit-learn's estimators predict, or with made-up predictions."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from fairtrial.conditions import Clean
from fairtrial.study.archive import TRIAL_COLUMNS, ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.results import Results

CLEAN = ConditionFacts("clean", 0.0, "clean", Clean().describe())
LEARNERS = {
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0, max_depth=3),
    "ridge": RidgeClassifier(),
    "near": KNeighborsClassifier(3),
}


@dataclass(frozen=True, eq=False)
class MemoryArchive:
    """Evidence in lists: `kept[i]` belongs to the line of `lines` whose trial is i."""

    datasets: tuple
    conditions: tuple
    learners: tuple
    splits: dict
    lines: pd.DataFrame
    kept: list
    declaration: dict = field(default_factory=dict)
    name: str = "example"
    seed: int = 0
    runs: tuple = ()
    asked: list = field(default_factory=list)
    schemes: tuple = ("stratified",)

    def select_scheme(self, name):
        return self

    def trials(self):
        return self.lines.copy()

    def predictions(self, trials):
        self.asked.extend(trials)
        return (self.kept[number] for number in trials)

    def split(self, dataset, repeat, fold):
        return self.splits[dataset][repeat, fold]


def data_facts(name, codes, classes):
    codes = np.asarray(codes, dtype=np.intp)
    return DataFacts(name, name, tuple(classes), codes, np.arange(len(codes)))


def learner_facts(names):
    return tuple(LearnerFacts(name, name, {}, {}) for name in names)


def archive_of(datasets, conditions, learners, splits, evidence, declaration=None):
    """An archive of `evidence`: (data set, condition, learner, repeat, fold) -> Predictions, or a status."""
    lines, kept = [], []
    for facts in datasets:
        for repeat, fold in splits[facts.name]:
            for condition in conditions:
                for learner in learners:
                    found = evidence(facts, condition, learner, repeat, fold)
                    line = dict.fromkeys(TRIAL_COLUMNS, None)
                    line |= {"dataset": facts.name, "condition": condition.name, "level": condition.level}
                    line |= {"learner": learner, "repeat": repeat, "fold": fold, "trial": -1}
                    if isinstance(found, str):
                        line |= {"status": found}
                        if found != "missing":
                            line |= {"error": "ValueError", "message": "no such luck", "traceback": "...", "log": ""}
                    else:
                        line |= {"status": "ok", "trial": len(kept), "fit_time": 0.02, "predict_time": 0.01}
                        line |= {"fit_cpu": 0.02, "predict_cpu": 0.01, "memory": 1000}
                        line |= {"abstentions": int((found.prediction == ABSTAINED).sum())}
                        kept.append(found)
                    lines.append(line)
    frame = pd.DataFrame(lines, columns=list(TRIAL_COLUMNS))
    frame = frame.astype(dict.fromkeys(["dataset", "condition", "learner", "status"], "category"))  # as a store gives them
    return MemoryArchive(
        tuple(datasets), tuple(conditions), learner_facts(learners), splits, frame, kept, dict(declaration or {})
    )


def folds(y, repeats, n_splits, seed=0):
    found = {}
    for repeat in range(repeats):
        cv = StratifiedKFold(n_splits, shuffle=True, random_state=seed + repeat)
        found |= {(repeat, fold): split for fold, split in enumerate(cv.split(np.zeros(len(y)), y))}
    return found


def trained(estimator, X, y, train, test, change=None, k=None):
    """What an estimator predicts; `change` swaps a share of the training labels."""
    labels = y[train].copy()
    if change:
        picked = np.random.default_rng(7).permutation(len(labels))[: round(change * len(labels))]
        labels[picked] = (labels[picked] + 1) % k
    fitted = clone(estimator).fit(X[train], labels)
    if hasattr(fitted, "predict_proba"):
        scores, kind = fitted.predict_proba(X[test]), "probability"
    else:
        found = fitted.decision_function(X[test])
        scores, kind = (found if found.ndim == 2 else np.column_stack([-found, found])), "decision"
    return Predictions(test, y[test], fitted.predict(X[test]).astype(np.intp), scores, kind)


@cache
def real_sources():
    loaders = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
    found = {}
    for name, load in loaders.items():
        bunch = load()
        rows = np.random.default_rng(1).permutation(len(bunch.target))[:150]
        found[name] = bunch.data[rows], bunch.target[rows].astype(np.intp), tuple(map(str, bunch.target_names))
    return found


@cache
def real_evidence(repeats=1, n_splits=5, levels=(0.0, 0.2)):
    """Data sets, conditions, splits and evidence of real estimators; made once."""
    sources = real_sources()
    datasets = [data_facts(name, y, classes) for name, (_, y, classes) in sources.items()]
    conditions = [
        ConditionFacts("class-noise", level, f"{level:g} class noise", {"condition": "class-noise", "level": level})
        if level
        else CLEAN
        for level in levels
    ]
    splits = {name: folds(y, repeats, n_splits) for name, (_, y, _) in sources.items()}
    found = {}
    for name, (X, y, classes) in sources.items():
        for where, (train, test) in splits[name].items():
            for condition in conditions:
                for learner, estimator in LEARNERS.items():
                    one = trained(estimator, X, y, train, test, condition.level, len(classes))
                    found[name, condition.name, condition.level, learner, *where] = one
    return datasets, conditions, splits, found


def real_archive(replaced=None, declaration=None, repeats=1, levels=(0.0, 0.2), names=None):
    """An archive of three data sets, four learners, clean and 20 % class noise; `replaced(...)` may give a status instead."""
    datasets, conditions, splits, found = real_evidence(repeats=repeats, levels=levels)
    datasets = [each for each in datasets if names is None or each.name in names]

    def evidence(facts, condition, learner, repeat, fold):
        told = replaced(facts.name, condition, learner, repeat, fold) if replaced else None
        return told or found[facts.name, condition.name, condition.level, learner, repeat, fold]

    return archive_of(datasets, conditions, list(LEARNERS), splits, evidence, declaration)


def real_results(*args, **options):
    return Results(real_archive(*args, **options))


def random_predictions(rng, codes, test, k, kind="probability", ties=False, absent=False):
    """Made-up evidence; with ties, and with a class that the learner never names."""
    n = len(test)
    scores = rng.random((n, k))
    if ties:
        scores = np.round(scores * 3) + 1e-3
    if kind == "probability":
        scores = scores / scores.sum(axis=1, keepdims=True)
    predicted = scores[:, : k - 1].argmax(axis=1) if absent else scores.argmax(axis=1)
    return Predictions(test, codes[test], predicted.astype(np.intp), scores if kind else None, kind)
