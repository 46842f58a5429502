"""Claims: judged by the paper's own numbers and by others, with narrow and wide intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.ela.claims import (
    STATEMENTS,
    compute_differences,
    estimate_differences,
    find_contradictions,
    judge_claims,
    read_exact_differences,
)
from fairtrial.reproduce.ela.tables import CLEAN, OTHER_CLASS, OURS, PAPER, SVM_LOGISTIC, VERSIONS, Table3, TableCells

PUBLISHED = Table3.published()
EXACT = read_exact_differences(PUBLISHED)
# Statements that the paper's table contradicts, the last one by our limit of 2 %: the SVM loses 1.39 % on wine.
CONTRADICTIONS = {
    "The SVM is better without and with noise": ["autos"],
    "One or both gain by noise; ELA prefers the SVM, RLA prefers C4.5": ["flare"],
}
LIMIT_CONTRADICTIONS = {"Both lose remarkably (here: more than 2 %)": ["wine"]}
# For each statement, a data set about which it is not made and on which it is false.
OTHERS = dict(
    zip(
        [statement.text for statement in STATEMENTS],
        ["car", "balance", "balance", "autos", "wine", "iris", "wine", "car", "autos", "car", "wine", "iris"],
        strict=True,
    )
)


def widen(differences, half):
    return {
        dataset: {
            name: IntervalEstimate(estimate.value, estimate.value - half, estimate.value + half)
            for name, estimate in by_name.items()
        }
        for dataset, by_name in differences.items()
    }


def judge(other_class, any_class, half=0.0):
    """Judge claims by text, all versions having the same differences with intervals of this half width."""
    cells = TableCells(other_class, any_class)
    ours = widen(read_exact_differences(cells.build_versions()[OURS]), half)
    claims = judge_claims(cells, dict.fromkeys(VERSIONS, ours) | {PAPER: EXACT})
    return {claim.text.split(":")[0]: claim for claim in claims}


def test_the_papers_own_numbers_contradict_some_claims_and_decide_few_others(published_cells):
    claims = judge(published_cells, published_cells)
    assert {text for text, claim in claims.items() if claim.reproduced is False} == {
        *CONTRADICTIONS,
        "Both lose remarkably (here",
    }
    assert "1 contradicted (autos)" in claims["The SVM is better without and with noise"].details
    assert {text for text, claim in claims.items() if claim.reproduced is None} == {
        "Mean accuracy without noise",
        "Mean accuracy at 10 % noise",
        "Mean ELA",
        "Without noise, the SVM is best on more data sets (20 of 32)",
        "With noise, C4.5 is best on more data sets than without (16 instead of 12)",
        "By ELA (first number), C4.5 is less clearly ahead than by RLA (second)",
    }
    assert claims["Mean RLA"].reproduced is True


def test_wide_intervals_leave_statements_about_single_data_sets_inconclusive(published_cells):
    claims = judge(published_cells, published_cells, half=100.0)
    about_datasets = [claim for claim in claims.values() if "of these" in claim.details]
    assert len(about_datasets) == 12
    assert {claim.reproduced for claim in about_datasets} == {None}
    assert "0 reproduced, 0 contradicted, 2 inconclusive (flare, lymphography)" in claims["Both gain by noise"].details


def test_numbers_two_points_off_miss_the_first_target(published_cells, shifted_cells):
    first, second, *_ = judge(shifted_cells, published_cells).values()
    assert (first.reproduced, second.reproduced) == (False, True)
    assert first.details.startswith("our mean is within on 0 of 32 (others: autos +2.00")
    assert second.details.startswith("difference +0.0190 (+0.0190 to +0.0190); with noise to any class +0.0000")


def test_targets_are_judged_by_our_means_and_report_the_intervals(published_cells):
    wide = published_cells.assign(low=published_cells["value"] - 2, high=published_cells["value"] + 2)
    first = next(iter(judge(wide, wide).values()))
    assert first.reproduced is True
    assert "within on 32 of 32; its whole interval is within on 0, outside on 0" in first.details


@pytest.mark.parametrize(("n_shifted", "reproduced"), [(6, True), (7, False)])
def test_26_data_sets_of_32_are_enough(published_cells, n_shifted, reproduced):
    names = published_cells["dataset"].unique()[:n_shifted]
    value = published_cells["value"] + 2 * published_cells["dataset"].isin(names)
    first = next(iter(judge(published_cells.assign(value=value, low=value, high=value), published_cells).values()))
    assert first.reproduced is reproduced


@pytest.mark.parametrize(("drop", "reproduced"), [(0, None), (10, False), (-10, True)])
def test_a_mean_is_decided_by_its_interval(published_cells, drop, reproduced):
    is_svm = (published_cells["learner"] == SVM_LOGISTIC) & (published_cells["quantity"] == CLEAN)
    weak = published_cells["value"].where(~is_svm, published_cells["value"] - drop)
    claim = judge(published_cells.assign(value=weak), published_cells)["Mean accuracy without noise"]
    assert claim.reproduced is reproduced
    assert f"ours 81.28 and {82.24 - drop:.2f}, difference" in claim.details
    assert "paper 81.28 and 82.24, difference -0.96 (-3.99 to +2.06)" in claim.details


def test_statements_about_data_sets_that_were_not_run_are_inconclusive(published_cells):
    few = published_cells[published_cells["dataset"].isin(["iris", "wine"])]
    claims = judge(few, few)
    assert claims["The SVM stays below 50 % without noise"].reproduced is None
    claim = claims["C4.5 is better without and with noise, and loses less"]
    assert claim.reproduced is None
    assert claim.details.startswith("1 of these 5 data sets: ours 1 reproduced, 0 contradicted, 0 inconclusive")


def test_there_are_no_claims_without_numbers(published_cells):
    only_c45 = published_cells[published_cells["learner"] == "c45"]
    assert judge_claims(TableCells(only_c45, published_cells), dict.fromkeys([*VERSIONS, PAPER], EXACT)) == ()


@pytest.mark.parametrize("statement", STATEMENTS, ids=[statement.text for statement in STATEMENTS])
def test_a_rule_is_true_on_the_data_sets_that_the_text_names(statement):
    outcomes = statement.judge(EXACT)
    assert list(outcomes) == list(statement.datasets)
    contradicted = [name for name, outcome in outcomes.items() if not outcome]
    assert contradicted == (CONTRADICTIONS | LIMIT_CONTRADICTIONS).get(statement.text, [])
    assert OTHERS[statement.text] not in statement.datasets
    assert statement.rule(EXACT[OTHERS[statement.text]]) is False
    assert set(statement.judge(widen(EXACT, 100)).values()) == {None}


def test_contradictions_in_the_paper_are_found():
    assert find_contradictions(PUBLISHED) == CONTRADICTIONS
    assert find_contradictions(PUBLISHED, limited=True) == LIMIT_CONTRADICTIONS
    consistent = Table3(PUBLISHED.frame.drop(index=["autos", "flare", "wine"]))
    assert find_contradictions(consistent) == find_contradictions(consistent, limited=True) == {}


def test_no_loss_is_both_remarkable_and_very_low():
    remarkable, very_low = (statement.rule for statement in STATEMENTS if statement.limited)
    for loss in (0.0, 0.012, 0.02, 0.03):
        differences = {name: IntervalEstimate(loss, loss, loss) for name in ("rla_c45", "rla_svm")}
        assert not (remarkable(differences) and very_low(differences))


def test_one_learner_that_gains_is_enough_and_two_that_lose_contradict():
    rule = next(statement.rule for statement in STATEMENTS if statement.text.startswith("One or both"))
    loss, unknown = IntervalEstimate(0.1, 0.05, 0.2), IntervalEstimate(0.1, -0.1, 0.2)
    differences = {"ela": IntervalEstimate(1, 1, 1), "rla": IntervalEstimate(-1, -1, -1)}
    assert rule(differences | {"rla_c45": IntervalEstimate(-0.1, -0.2, -0.05), "rla_svm": unknown}) is True
    assert rule(differences | {"rla_c45": loss, "rla_svm": unknown}) is None
    assert rule(differences | {"rla_c45": loss, "rla_svm": loss}) is False


def simulate_splits(seed, n=10):
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 0.03, n)
    means = {"acc0_c45": 0.8, "acc0_svm": 0.85, "acc10_c45": 0.78, "acc10_svm": 0.75}
    return pd.DataFrame({name: mean + difficulty + rng.normal(0, 0.01, n) for name, mean in means.items()})


def test_a_difference_of_accuracies_has_the_corrected_interval_of_paired_splits():
    splits = simulate_splits(seed=1)
    differences = 100 * (splits["acc0_c45"] - splits["acc0_svm"])
    mean, half = differences.mean(), t.ppf(0.975, 9) * np.sqrt((1 / 10 + 0.2 / 0.8) * differences.var(ddof=1))
    estimate = compute_differences(splits, 0.2)["acc0"]
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((mean, mean - half, mean + half))


@pytest.mark.parametrize(("name", "maximum"), [("ela", 1.0), ("rla", None)])
def test_a_difference_of_losses_has_the_spread_of_its_numeric_derivatives(name, maximum):
    """The variance of f(means) by the delta method, the gradient by finite differences, the covariance as a matrix."""
    splits = simulate_splits(seed=2)

    def compute_difference(means):
        c45_clean, svm_clean, c45_noisy, svm_noisy = means
        c45, svm = (
            ((clean if maximum is None else maximum) - noisy) / clean
            for clean, noisy in ((c45_clean, c45_noisy), (svm_clean, svm_noisy))
        )
        return c45 - svm

    means = splits.mean().to_numpy()
    gradient = np.array(
        [(compute_difference(means + step) - compute_difference(means - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    )
    spread = np.sqrt((1 / 10 + 0.2 / 0.8) * gradient @ np.cov(splits.to_numpy().T) @ gradient)
    estimate = compute_differences(splits, 0.2)[name]
    assert estimate.value == pytest.approx(compute_difference(means))
    assert estimate.high - estimate.value == pytest.approx(t.ppf(0.975, 9) * spread, rel=1e-6)


def test_differences_of_a_study_agree_with_its_cells(small_results):
    cells = TableCells.from_results(small_results).other_class.set_index(["dataset", "learner", "quantity"])["value"]
    differences = estimate_differences(small_results)
    assert list(differences) == [*VERSIONS, PAPER]
    assert set(differences[OURS]) == {"iris", "wine"}
    for name, by_name in differences[OURS].items():
        for short, quantity in (("acc0", CLEAN), ("acc10", "accuracy at 10 %"), ("ela", "ELA"), ("rla", "RLA")):
            expected = cells[name, "c45", quantity] - cells[name, SVM_LOGISTIC, quantity]
            assert by_name[short].value == pytest.approx(expected, abs=1e-9)
        assert by_name["rla_svm"].value == pytest.approx(cells[name, SVM_LOGISTIC, "RLA"])
    robustness = small_results.robustness(OTHER_CLASS).set_index(["dataset", "learner"])
    low, high = robustness.loc[("wine", "c45"), ["rla_low", "rla_high"]]
    estimate = differences[OURS]["wine"]["rla_c45"]
    assert (estimate.low, min(estimate.high, 1.0)) == pytest.approx((low, high))  # the results truncate losses at 1


def test_splits_that_do_not_vary_have_no_interval():
    splits = pd.DataFrame({"acc0_c45": [0.9, 0.9], "acc0_svm": [0.8, 0.8], "acc10_c45": [0.9, 0.8], "acc10_svm": [0.8, 0.8]})
    estimate = compute_differences(splits, 0.5)["acc0"]
    assert estimate.value == pytest.approx(10)
    assert estimate.is_positive is None


def test_exact_differences_are_those_of_the_table():
    zoo = EXACT["zoo"]
    assert zoo["acc0"].value == pytest.approx(92.29 - 80.64)
    assert (zoo["acc0"].sign, zoo["rla"].sign, zoo["rla_c45"].value) == (1, -1, 0.0064)
