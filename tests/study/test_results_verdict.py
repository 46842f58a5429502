"""Tests of `fairtrial.study.results.verdict`."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial import compare
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import InputError
from fairtrial.significance import corrected_resampled_t
from fairtrial.study.records import Predictions
from fairtrial.study.results.results import Results
from fairtrial.study.results.stacking import SplitGrid, compute_half_width, compute_mean_half_width, compute_test_fraction
from fairtrial.study.results.summary import find_left_out_splits
from tests.report.result_cases import skilled_results
from tests.study.archives import CLEAN, archive_of, data_facts, real_archive, real_results

# --- Verdict ---
# Verdicts compared with `compare` on the table of means or splits.


STATED = {"verdict": {"measure": "balanced_accuracy", "control": "tree", "alpha": 0.1, "rope": None, "failures": "trivial"}}


def list_kinds(verdict):
    return [reason.kind for reason in verdict.reasons]


def test_over_data_sets_it_is_that_of_the_means():
    results = real_results()
    verdict = results.verdict("accuracy")
    direct = compare(results.wide("accuracy"), measure="accuracy")
    assert (verdict.choice, verdict.p_value, verdict.order) == (direct.choice, direct.p_value, direct.order)
    np.testing.assert_allclose(verdict.table.values, direct.table.values)
    condition, design = verdict.reasons[:2]
    assert (condition.kind, condition["condition"]) == ("condition", "clean")
    assert (design.kind, design["design"]) == ("design", "4 learners, 3 data sets, 5 folds")


def test_under_noise_it_is_that_of_the_noisy_scores():
    results = real_results()
    verdict = results.verdict("kappa", condition="class-noise", control="tree", alpha=0.1)
    direct = compare(results.wide("kappa", "class-noise"), measure="kappa", control="tree", alpha=0.1)
    assert verdict.pairs().equals(direct.pairs()) or np.allclose(verdict.pairs()["p_adjusted"], direct.pairs()["p_adjusted"])
    assert verdict.reasons[0] == Finding.of("condition", condition="class-noise 0.2", effect="0.2 class noise")


def test_settings_come_from_the_declaration():
    results = real_results(declaration=STATED)
    verdict = results.verdict()
    assert (verdict.measure, verdict.control, verdict.alpha) == ("balanced_accuracy", "tree", 0.1)
    assert results.verdict("accuracy", control="near", alpha=0.01).control == "near"


def test_a_rope_is_for_the_declared_measure_alone():
    results = real_results(declaration={"verdict": {"measure": "accuracy", "rope": 0.01}}, names=["iris", "wine"])
    verdict, other = results.verdict(), results.verdict("kappa")
    assert "rope_used_pairs" in list_kinds(verdict)
    k = len(verdict.table.learners)
    assert (len(verdict.posteriors), len(other.posteriors)) == (k * (k - 1) // 2, 0)
    assert "rope_used_pairs" not in list_kinds(other)


def test_one_data_set_is_judged_by_its_splits():
    results = real_results(names=["wine"], repeats=2, levels=(0.0,))
    scores = results.scores("accuracy")
    table = scores.pivot_table(index=["repeat", "fold"], columns="learner", values="value", sort=False, observed=True)
    direct = compare(table[list(dict.fromkeys(scores["learner"]))].reset_index(), measure="accuracy", test_fraction=0.2)
    verdict = results.verdict("accuracy")
    assert verdict.unit == "split"
    np.testing.assert_allclose(sorted(verdict.pairs()["p_raw"]), sorted(direct.pairs()["p_raw"]))


def test_the_share_of_test_rows_comes_from_the_splits():
    facts = data_facts("x", [0, 1] * 15, ("a", "b"))
    splits = {"x": {(repeat, 0): (np.arange(10, 30), np.arange(10)) for repeat in range(6)}}

    def evidence(_, __, learner, repeat, ___):
        wrong = repeat % 3 if learner == "good" else 3 + repeat % 4
        truth = facts.codes[:10]
        return Predictions(np.arange(10), truth, np.where(np.arange(10) < wrong, 1 - truth, truth), None, None)

    verdict = Results(archive_of([facts], [CLEAN], ["good", "bad"], splits, evidence)).verdict("accuracy")
    (reason,) = (reason for reason in verdict.reasons if reason.kind == "test_corrected_t")
    assert reason["fraction"] == pytest.approx(1 / 3)
    gaps = np.array([(3 + r % 4 - r % 3) / 10 for r in range(6)])
    t = gaps.mean() / np.sqrt((1 / 6 + 10 / 20) * gaps.var(ddof=1))
    assert verdict.outcome.statistic == pytest.approx(t)


def test_failures_and_missing_trials_are_findings():
    def lost(dataset, _, learner, __, fold):
        if (dataset, learner) == ("wine", "tree"):
            return "memory"
        return "missing" if (dataset, fold) == ("iris", 4) else None

    results = real_results(lost)
    findings = {reason.kind: reason for reason in results.verdict("accuracy").reasons}
    assert dict(findings["incomplete"].values) == {"missing": 4, "trials": 60}
    assert dict(findings["failures"].values) == {"failed": 5, "trials": 60, "by_learner": ("tree: 5 memory",)}
    assert findings["failed_datasets_excluded"]["datasets"] == ("wine",)
    assert "failed_learners_excluded" not in findings
    worst = results.verdict("accuracy", failures="worst-rank")
    assert worst.ranks().loc["wine", "tree"] == 4
    assert "failures_worst_rank" in list_kinds(worst)
    trivial = results.verdict("accuracy", failures="trivial")
    assert "failures_trivial" in list_kinds(trivial)
    assert trivial.table.values[1, 1] < 0.5


def test_infinite_scores_are_refused_with_the_remedy():
    def sure(dataset, _, learner, __, ___):
        if learner == "tree":
            rows = np.arange(4)
            return Predictions(
                rows, np.zeros(4, int), np.ones(4, int), np.eye(3)[[1, 1, 1, 1]][:, : 2 + (dataset != "cancer")], "probability"
            )
        return None

    results = real_results(sure)
    with pytest.raises(InputError, match=r"log_loss must be finite.*clip=1e-6"):
        results.verdict("log_loss", positive=None)


def test_one_learner_is_nothing_to_compare():
    facts = data_facts("x", [0, 1] * 15, ("a", "b"))
    truth = facts.codes[:10]
    one = Predictions(np.arange(10), truth, truth, None, None)
    splits = {"x": {(0, fold): (np.arange(10, 30), np.arange(10)) for fold in range(3)}}
    with pytest.raises(InputError, match="at least 2 learners, got only 'only'"):
        Results(archive_of([facts], [CLEAN], ["only"], splits, lambda *_: one)).verdict("accuracy")


def test_a_learner_that_fails_everywhere_does_not_cost_the_verdict():
    results = real_results(lambda *place: "crash" if place[2] == "tree" else None)
    verdict = results.verdict("accuracy")
    direct = compare(results.wide("accuracy").drop(columns="tree"), measure="accuracy")
    assert (verdict.choice, verdict.p_value, verdict.order) == (direct.choice, direct.p_value, direct.order)
    findings = {reason.kind: reason for reason in verdict.reasons}
    assert findings["failures"]["by_learner"] == ("tree: 15 crash",)
    assert findings["failed_learners_excluded"]["learners"] == ("tree",)
    with pytest.raises(InputError, match=r"control must be .*, got 'tree'"):
        results.verdict("accuracy", control="tree")
    alone = real_results(lambda *place: "crash" if place[2] != "tree" else None)
    with pytest.raises(InputError, match=r"got only 'tree': .*failures='worst-rank'"):
        alone.verdict("accuracy")


def single_rows(names):
    """Leave-one-out: each split tests on one row."""
    sets = [data_facts(name, [0, 1] * 4, ("a", "b")) for name in names]
    splits = {name: {(0, row): (np.delete(np.arange(8), row), np.array([row])) for row in range(8)} for name in names}

    def evidence(facts, _, learner, __, row):
        share = 0.9 - 0.05 * row if learner == "good" else 0.4 + 0.03 * row
        scores = np.eye(2)[facts.codes[[row]]] * (2 * share - 1) + 1 - share
        return Predictions(np.array([row]), facts.codes[[row]], scores.argmax(axis=1).astype(np.intp), scores, "probability")

    return Results(archive_of(sets, [CLEAN], ["good", "bad"], splits, evidence))


def test_single_rows_have_no_area_and_the_remedy_is_named():
    with pytest.raises(InputError, match=r"auc must .*16 trials .*accuracy or brier"):
        single_rows(["x"]).verdict("auc")
    results = single_rows(["x", "y", "z"])
    with pytest.raises(InputError, match=r"compare\(results.wide\('auc', pooled=True\), measure='auc'\)"):
        results.verdict("auc")
    assert results.verdict("brier").order == ("good", "bad")
    assert compare(results.wide("auc", pooled=True), measure="auc").order == ("good", "bad")


def test_a_measure_without_values_and_a_study_that_has_not_run():
    facts = data_facts("x", [0, 1] * 15, ("a", "b"))
    splits = {"x": {(0, fold): (np.arange(10, 30), np.arange(10)) for fold in range(3)}}
    labels = Predictions(np.arange(10), facts.codes[:10], facts.codes[:10], None, None)
    with pytest.raises(InputError, match=r"auc must .*6 trials: .*scores\('auc'\)"):
        Results(archive_of([facts], [CLEAN], ["a", "b"], splits, lambda *_: labels)).verdict("auc")
    with pytest.raises(InputError, match="successful trials, got none of 6 trials"):
        Results(archive_of([facts], [CLEAN], ["a", "b"], splits, lambda *_: "missing")).verdict("auc")


# --- Shared splits ---
# Means over the splits that learners share, against means written out.


NAN = np.nan


def scores_of(values, statuses=None):
    """values[data set][learner] is a value for each fold; statuses[data set, learner, fold] are others than ok."""
    lines = [
        (dataset, "clean", 0.0, learner, 0, fold, "taks", value, (statuses or {}).get((dataset, learner, fold), "ok"))
        for dataset, learners in values.items()
        for learner, those in learners.items()
        for fold, value in enumerate(those)
    ]
    names = ["dataset", "condition", "level", "learner", "repeat", "fold", "measure", "value", "status"]
    return pd.DataFrame(lines, columns=names).astype({"dataset": "category", "learner": "category"})


def test_a_split_that_a_learner_lacks_counts_for_none():
    means = SplitGrid.from_scores(scores_of({"x": {"a": [1.0, 2.0, 3.0, NAN], "b": [4.0, 5.0, 6.0, 70.0]}})).compute_means()
    assert means.loc["x"].to_dict() == {"a": 2.0, "b": 5.0}


def test_a_learner_without_any_value_costs_the_others_nothing():
    scores = scores_of({"x": {"a": [1.0, 3.0], "b": [NAN, NAN]}, "y": {"a": [5.0, 7.0], "b": [NAN, 1.0]}})
    means = SplitGrid.from_scores(scores).compute_means()
    assert means.loc["x", "a"] == 2.0
    assert np.isnan(means.loc["x", "b"])
    assert means.loc["y"].to_dict() == {"a": 7.0, "b": 1.0}


def test_without_a_common_split_there_is_no_mean():
    scores = scores_of({"x": {"a": [1.0, NAN], "b": [NAN, 1.0]}, "y": {"a": [1.0, 2.0], "b": [1.0, 2.0]}})
    means = SplitGrid.from_scores(scores).compute_means()
    assert means.index.tolist() == ["y"]


def test_a_learner_that_failed_has_no_value_and_costs_no_split():
    scores = scores_of({"x": {"a": [1.0, NAN, 3.0], "b": [1.0, 2.0, 9.0]}}, {("x", "a", 1): "timeout"})
    assert SplitGrid.from_scores(scores).values["a"].isna().all()
    assert SplitGrid.from_scores(scores).shared.all()
    assert SplitGrid.from_scores(scores).compute_means().loc["x", "b"] == 4.0


def test_left_out_splits_are_counted():
    values = {"x": {"a": [1.0, NAN, NAN], "b": [1.0, 2.0, 3.0]}, "y": {"a": [1.0, 2.0, NAN], "b": [1.0, 2.0, 3.0]}}
    finding = find_left_out_splits(scores_of(values), [CLEAN])
    assert (finding.kind, finding["measure"], finding["left_out"], finding["splits"]) == ("splits_left_out", "taks", 3, 6)
    assert finding["datasets"] == ("x: 2", "y: 1")
    assert find_left_out_splits(scores_of({"x": {"a": [1.0], "b": [2.0]}}), [CLEAN]) is None


def lost(dataset, _, learner, __, fold):
    return "missing" if (dataset, learner) == ("wine", "tree") and fold in (1, 3) else None


def test_wide_tables_and_verdicts_compare_on_the_same_splits():
    results = real_results(lost)
    scores = results.scores("accuracy")
    own = scores[(scores["dataset"] == "wine") & (scores["condition"] == "clean") & scores["fold"].isin([0, 2, 4])]
    for learner, mean in results.wide("accuracy").loc["wine"].items():
        assert mean == pytest.approx(own[own["learner"] == learner]["value"].mean())
    verdict = results.verdict("accuracy").table
    np.testing.assert_allclose(verdict.values, results.wide("accuracy").loc[list(verdict.datasets), list(verdict.learners)])


def test_summary_notes_left_out_splits_of_each_measure():
    notes = real_results(lost, declaration={"measures": ["accuracy", "kappa"]}).summary().notes
    left_out = [note for note in notes if "4 of 30 splits" in note]
    assert [measure in note for measure, note in zip(("accuracy", "kappa"), left_out, strict=True)] == [True, True]
    assert real_results().summary().notes == list(render_all(real_results().verdict().caveats))


# --- Split spread ---
# Intervals over splits that overlap.


VALUES = np.random.default_rng(5).normal(0.02, 0.05, 10)


def test_the_interval_excludes_zero_exactly_where_the_corrected_t_test_rejects():
    p = corrected_resampled_t(VALUES, np.zeros(10), test_fraction=0.1).p_value
    assert compute_half_width(VALUES, 0.1, p) == pytest.approx(abs(VALUES.mean()))


def test_over_data_sets_it_is_students_interval():
    low, high = stats.ttest_1samp(VALUES, 0).confidence_interval(0.9)
    half = compute_mean_half_width(VALUES, 0.1)
    np.testing.assert_allclose([VALUES.mean() - half, VALUES.mean() + half], [low, high])


def test_one_split_has_no_interval():
    assert np.isnan(compute_half_width(VALUES[:1], 0.1, 0.05))


def test_the_share_of_rows_tested_on():
    archive = real_archive()
    assert compute_test_fraction(archive, "iris", [(0, fold) for fold in range(5)]) == pytest.approx(0.2)
    archive.splits["iris"][9, 0] = (np.array([0, 0, 1, 1, 2, 2]), np.array([3]))
    try:
        assert compute_test_fraction(archive, "iris", [(9, 0)]) == 0.25
    finally:
        del archive.splits["iris"][9, 0]


def test_data_sets_with_the_name_of_a_summary_are_compared():
    names = ["average", "median", "max", "total", "a", "b", "c", "d"]
    results = skilled_results({"tree": 0.9, "bayes": 0.6}, names=names)
    assert results.verdict("accuracy").table.datasets == tuple(names)
