"""Imbalance, tiny classes and known damage are seen, and only where they are."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeaveOneOut

from fairtrial.data import read_keel
from fairtrial.data.faults import KNOWN_FAULTS
from fairtrial.errors import SuspectInputWarning
from fairtrial.report.checks import registry
from tests.report.checks.made_results import changed, halves, labelled, of_a_file
from tests.study.archives import real_results

RARE = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1] * 10


def test_accuracy_on_imbalance_is_raised_with_the_share_of_the_largest_class():
    found = registry["FT002"](labelled(RARE, halves(100)))
    assert found.outcome == "raised"
    assert found.details.iloc[0].tolist() == ["made", 100, 20, 4.0, 0.8]
    assert found.finding["proportion"] == 0.8


@pytest.mark.parametrize("measure", ["kappa", "balanced_accuracy", "g_mean"])
def test_other_measures_may_judge_imbalanced_data(measure):
    assert registry["FT002"](labelled(RARE, halves(100), {"verdict": {"measure": measure}})).outcome == "passed"


def test_accuracy_will_do_where_classes_are_nearly_equal():
    assert registry["FT002"](real_results()).outcome == "passed"


def test_classes_smaller_than_the_folds_are_tiny():
    codes = np.array([0] * 36 + [1] * 14)
    splits = {(0, fold): part for fold, part in enumerate(KFold(25).split(codes))}
    found = registry["FT003"](labelled(codes, splits))
    assert found.outcome == "raised"
    assert found.details.to_numpy().tolist() == [["made", "yes", 14, 25]]


def test_classes_of_a_few_cases_are_tiny_however_few_the_folds():
    found = registry["FT003"](labelled([0] * 31 + [1] * 9, halves(40)))
    assert (found.finding["label"], found.finding["worst"], found.finding["rows"]) == ("yes", "made", 9)


def test_leaving_one_out_makes_no_class_tiny():
    codes = np.array([0, 1] * 10)
    splits = {(0, fold): part for fold, part in enumerate(LeaveOneOut().split(codes))}
    assert registry["FT003"](labelled(codes, splits)).outcome == "passed"
    assert registry["FT003"](real_results()).outcome == "passed"


def replace_facts(**facts):
    results = real_results()
    return changed(results, datasets=tuple(replace(dataset, **facts) for dataset in results.archive.datasets))


@pytest.mark.parametrize("fault", KNOWN_FAULTS[:3], ids=lambda fault: fault.name)
def test_a_stored_fault_is_raised(fault):
    finding = registry["FT005"](replace_facts(facts={"notes": ["version 1"], "corrupted": fault.facts}))
    assert finding.outcome == "raised"
    assert finding.details["KEEL file"].tolist() == [fault.name] * 3
    assert finding.details["problem"].tolist() == [fault.problem] * 3


def test_older_files_without_a_stored_fault_are_recognised_by_content_hash(shared_data):
    with pytest.warns(SuspectInputWarning):
        heart = read_keel(shared_data / "keel-standard" / "heart.dat")
    finding = registry["FT005"](replace_facts(facts={"notes": []}, content_hash=heart.content_hash))
    assert finding.details["KEEL file"].tolist() == ["heart"] * 3


def test_other_notes_are_not_faults_and_unknown_data_are_not_judged():
    assert registry["FT005"](replace_facts(facts={"notes": ["version 1"]})).outcome == "passed"
    assert registry["FT005"](real_results()).outcome == "not applicable"
    assert registry["FT005"](of_a_file()).outcome == "not applicable"
