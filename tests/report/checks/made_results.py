"""Small results made for one check: what scikit-learn's estimators predicted, or what a few lines say."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from fairtrial import Study
from fairtrial.study import Results
from fairtrial.study.archive import LearnerFacts
from tests.study.archives import CLEAN, Predictions, archive_of, data_facts, real_archive


def labelled(codes, splits, declaration=None, predict=None, learners=("first", "second"), name="made", conditions=(CLEAN,)):
    """Results of one data set of classes no and yes: `predict(learner, truth, condition)` gives labels, or scores of yes."""
    codes = np.asarray(codes, dtype=np.intp)
    facts = data_facts(name, codes, ("no", "yes"))

    def evidence(_facts, condition, learner, repeat, fold):
        test = splits[repeat, fold][1]
        found = codes[test] if predict is None else predict(learner, codes[test], condition)
        if isinstance(found, Predictions):
            return replace(found, rows=test)
        if np.asarray(found).dtype.kind == "f":
            scores = np.column_stack([1 - found, found])
            return Predictions(test, codes[test], (found > 0.5).astype(np.intp), scores, "probability")
        return Predictions(test, codes[test], np.asarray(found, dtype=np.intp), None, None)

    return Results(archive_of([facts], list(conditions), list(learners), {name: splits}, evidence, declaration))


def halves(n):
    """Two folds: even and odd rows."""
    even, odd = np.arange(0, n, 2), np.arange(1, n, 2)
    return {(0, 0): (odd, even), (0, 1): (even, odd)}


def changed(results, **parts):
    """The same results with parts of the archive replaced."""
    return Results(replace(results.archive, **parts))


def of_a_file(**options):
    """Results whose models have no class, as those of a file of predictions."""
    archive = real_archive(**options)
    return Results(replace(archive, learners=tuple(LearnerFacts(each.name, "", {}, {}) for each in archive.learners)))


@cache
def _folder():
    return tempfile.TemporaryDirectory()


@cache
def stopped_study():
    """A real study in a store, with a learner that is stopped before it converges; run once."""
    learners = {
        "bayes": {"learner": "gaussian-nb"},
        "stopped": {"learner": "logistic-regression", "parameters": {"max_iter": 2}},
    }
    study = Study(data=["iris"], learners=learners, resampling={"folds": 2}, name="stopped", seed=3)
    return study.run(Path(_folder().name) / "stopped.fairtrial", jobs=1, progress=False)
