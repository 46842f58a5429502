"""Loss and deterioration where the test part changes."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import performance_deterioration
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.records import Predictions
from fairtrial.study.results.results import Results
from tests.study.archives import CLEAN, archive_of, data_facts


def shift(part, name=None):
    return ConditionFacts(name or f"drift-{part}", 0.3, f"drift in {part}", {"condition": "drift", "level": 0.3, "part": part})


def results_of(conditions, errors, positives=60, folds=2, n=200):
    """Learners that err in so many of n test rows by condition; under a shift the first `positives` rows are of class b."""
    facts = data_facts("flu", [0, 1] * n, ("a", "b"))

    def evidence(_, condition, learner, __, fold):
        truth = facts.codes[:n] if condition is CLEAN else (np.arange(n) < positives).astype(np.intp)
        wrong = errors[learner][condition.name] + fold
        return Predictions(np.arange(n), truth, np.where(np.arange(n) < wrong, 1 - truth, truth), None, None)

    splits = {"flu": {(0, fold): (np.arange(n, 2 * n), np.arange(n)) for fold in range(folds)}}
    return Results(archive_of([facts], conditions, list(errors), splits, evidence))


def test_the_printed_example_of_the_flu_study():
    # Trained on the usual population, in a hard winter among the poor: errors in per mille, pD as printed.
    errors = {
        "1R": {"clean": 200, "drift-test": 337, "drift-all": 274},
        "tree": {"clean": 200, "drift-test": 188, "drift-all": 168},
    }
    conditions = [CLEAN, shift("test"), shift("all")]
    found = results_of(conditions, errors, positives=462, folds=1, n=1000).deterioration()
    assert found["pd"].round(2).tolist() == [0.34, 0.07]
    assert found["pd"].tolist() == pytest.approx(performance_deterioration([337, 188], [274, 168], 462).tolist())
    assert found["trivial"].tolist() == pytest.approx([0.462, 0.462])
    assert found["note"].tolist() == ["", ""]


def test_loss_is_paired_by_split():
    errors = {
        "tree": {"clean": 20, "drift-test": 50, "drift-all": 40},
        "rule": {"clean": 20, "drift-test": 20, "drift-all": 20},
    }
    found = results_of([CLEAN, shift("test"), shift("all")], errors).deterioration().set_index("learner")
    assert found.loc["tree", "loss"] == pytest.approx(0.15)
    assert found.loc["tree", ["loss_low", "loss_high"]].tolist() == pytest.approx([0.15, 0.15])
    assert found.loc["tree", "pd"] == pytest.approx((50.5 - 40.5) / (60 - 40.5))
    assert found.loc["rule", "loss"] == pytest.approx(0, abs=1e-12)
    assert found["splits"].tolist() == [2, 2]


def test_what_is_to_be_declared_is_said():
    errors = {"tree": {"clean": 20, "x": 50}, "rule": {"clean": 20, "x": 20}}
    with pytest.warns(UndefinedMeasureWarning, match=r"pd is undefined in 2 of 2 rows: .*x 0.3 \(drift\) with part = 'all'"):
        found = results_of([CLEAN, shift("test", "x")], errors).deterioration()
    assert found["pd"].isna().all()
    assert found["loss"].tolist() == pytest.approx([0.15, 0.0])
    with pytest.raises(InputError, match="part = 'test'"):
        results_of([CLEAN, shift("all")], {"a": {"clean": 1, "drift-all": 2}}).deterioration()


def test_a_learner_that_is_no_better_than_trivial_has_no_pd():
    errors = {"tree": {"clean": 20, "drift-test": 70, "drift-all": 80}}
    with pytest.warns(UndefinedMeasureWarning, match="trivial classifier"):
        found = results_of([CLEAN, shift("test"), shift("all")], errors).deterioration()
    assert np.isnan(found["pd"].iloc[0])


def test_without_clean_trials_there_is_no_loss():
    found = results_of([shift("test"), shift("all")], {"a": {"drift-test": 40, "drift-all": 30}}).deterioration()
    assert isinstance(found, pd.DataFrame)
    assert found[["clean", "loss", "loss_low"]].isna().all().all()
    assert found["pd"].iloc[0] == pytest.approx((40.5 - 30.5) / (60 - 30.5))
