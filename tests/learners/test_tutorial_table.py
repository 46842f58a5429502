"""The tutorial's breast-cancer table on WEKA's own folds: to the printed digits, with each exception explained."""

import numpy as np
import pytest

from tests.reference import tutorial_table

DIGITS = {"acc": 1, "rmse": 4, "tpr": 2, "fpr": 2, "precision": 2, "recall": 2, "f": 2, "auc": 2, "info_score": 2}


@pytest.fixture(scope="module")
def ours(shared_data):
    assert shared_data.is_dir()
    return tutorial_table.table()


@pytest.mark.parametrize("name", ["NB", "C4.5", "3NN", "Boost"])
def test_rows_to_the_printed_digits(ours, name):
    expected = tutorial_table.published().loc[name].copy()
    if name == "C4.5":
        expected["auc"] = 0.58  # printed .59; WEKA itself prints 0.584
    for measure, digits in DIGITS.items():
        assert abs(ours.loc[name, measure] - expected[measure]) <= 0.5 * 10**-digits + 1e-9, measure


def test_the_svm_differs_in_one_case_at_its_boundary(ours):
    """WEKA's SVM of one fold is not optimal: a case lies before its boundary, and 0.003 beyond ours."""
    expected = tutorial_table.published().loc["SVM"]
    assert np.isclose(ours.loc["SVM", "acc"], 100 * 198 / 286)
    assert np.isclose(expected["acc"], round(100 * 199 / 286, 1))
    for measure in ("tpr", "fpr", "precision", "recall", "f", "auc"):
        assert abs(ours.loc["SVM", measure] - expected[measure]) < 0.011


def test_rules_within_one_point(ours):
    expected = tutorial_table.published().loc["Ripp"]
    assert abs(ours.loc["Ripp", "acc"] - expected["acc"]) <= 1
    assert abs(ours.loc["Ripp", "auc"] - expected["auc"]) <= 0.01


def test_the_page_is_what_the_script_writes(ours):
    page = (tutorial_table.ROOT / "docs" / "reference" / "tutorial-table.md").read_text()
    for name in ours.index:
        assert f"| {name} | fairtrial | {ours.loc[name, 'acc']:.1f} | {ours.loc[name, 'rmse']:.4f} |" in page
