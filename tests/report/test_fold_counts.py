"""What splits alone tell."""

import numpy as np
import pytest

from fairtrial.report.figures.folds import build_splits, draw_rarest_class
from fairtrial.report.sections.folds import build_fold_lines, count_fold_coverage, count_repeated_ids, select_fold_findings
from fairtrial.study import Results
from fairtrial.study.archive import DataFacts
from tests.report.result_cases import cases
from tests.study.archives import CLEAN, Predictions, archive_of


def split_results(parts, codes, ids=None):
    """Results of one learner, which is always right, with these splits."""
    codes = np.asarray(codes, dtype=np.intp)
    facts = DataFacts("d", "d", ("a", "b"), codes, np.arange(len(codes)) if ids is None else np.asarray(ids, dtype=object))
    splits = {"d": {(0, fold): tuple(np.asarray(each, dtype=np.intp) for each in part) for fold, part in enumerate(parts)}}

    def evidence(facts, _condition, _learner, repeat, fold):
        test = splits["d"][repeat, fold][1]
        return Predictions(test, facts.codes[test], facts.codes[test], None, None)

    return Results(archive_of([facts], [CLEAN], ["x"], splits, evidence)), facts


def test_splits_are_those_of_the_archive():
    results = cases()["several"]
    facts = results.archive.datasets[0]
    found = build_splits(results, facts)
    assert len(found) == 5
    assert np.array_equal(found.splits[3].test, results.archive.split(facts.name, 0, 3)[1])


def test_counts_of_a_leaky_split():
    results, facts = split_results([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], [0, 0, 0, 1, 1, 0])
    layout, counts = count_fold_coverage(results, facts)
    lines = build_fold_lines("d", layout, counts)
    assert lines["in both"].tolist() == [1, 0]
    assert lines["rarest class"].unique().tolist() == ["b"]
    assert lines["proportion in test"].tolist() == pytest.approx([2 / 3, 0])
    assert lines["proportion overall"].unique().tolist() == pytest.approx([1 / 3])
    leak = next(each.text for each in select_fold_findings(layout, counts) if each.check == "in train and test")
    assert "fold 0 (1 of 3 test rows)" in leak  # as `Results.scores` counts: the first fold is 0


def test_predictions_without_training_rows_are_not_blamed_for_absent_classes():
    results, facts = split_results([([], [0, 1, 2, 3])], [0, 1, 0, 1])
    assert [each.check for each in select_fold_findings(*count_fold_coverage(results, facts)) if each.level == "fault"] == []
    trained, facts = split_results([([0, 2], [1, 3])], [0, 1, 0, 1])
    assert "class absent from training" in [each.check for each in select_fold_findings(*count_fold_coverage(trained, facts))]


def test_rows_without_a_class_are_counted_apart():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, -1])
    layout, counts = count_fold_coverage(results, facts)
    assert layout.classes == ("a", "b", "(no class)")
    assert counts.test.sum() == 4


def test_repeated_ids_are_found_across_the_cut():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1], ids=["p", "q", "p", "r"])
    assert count_repeated_ids(facts, count_fold_coverage(results, facts)[0]) == (2, 2)
    results, facts = split_results([([0, 1], [2, 3])], [0, 1, 0, 1], ids=["p", "p", "q", "r"])
    assert count_repeated_ids(facts, count_fold_coverage(results, facts)[0]) == (2, 0)


def test_the_figure_shows_the_first_repeat():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1])
    lines = build_fold_lines("d", *count_fold_coverage(results, facts))
    lines.loc[1, "repeat"] = 2
    rows = max(draw_rarest_class(lines).to_dict()["datasets"].values(), key=len)
    assert [(row["dataset"], row["fold"], row["share"]) for row in rows] == [("d", 1.0, 0.5)]
