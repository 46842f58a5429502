"""Repeat the examples and tables of the tutorial of Japkowicz."""

import math
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import ttest_rel
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial import Study
from fairtrial.data import load
from fairtrial.learners import C45, make_learner
from fairtrial.measures import projection, roc_curve
from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.claim import (
    CONTRADICTED,
    DIRECTION,
    INCONCLUSIVE,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    IntervalEstimate,
    estimate_mean,
)
from fairtrial.reproduce.experiment import Request, experiments, read_published
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.tutorial import curves, measures, significance, simulations, weka_tables
from fairtrial.reproduce.tutorial.cherry_picking import (
    GAPS,
    build_cherry_picking,
    choose_domains,
    choose_favourable,
    is_best,
    is_significantly_best,
    judge_mediocre,
    simulate_choices,
)
from fairtrial.reproduce.tutorial.curves import (
    ADABOOST,
    NAIVE_BAYES,
    build_cost_curves,
    build_projection,
    build_three_domains,
    do_curves_cross,
    estimate_isolation,
    judge_accuracies,
    judge_anneal_matrices,
    judge_cost_winners,
    judge_farthest,
    merge_crowded_points,
)
from fairtrial.reproduce.tutorial.experiment import run
from fairtrial.reproduce.tutorial.inputs import (
    DOMAINS,
    PooledPredictions,
    TutorialInputs,
    count_folds,
    declare_study,
    pool_predictions,
    require_printed_folds,
)
from fairtrial.reproduce.tutorial.printed import DisplayedNumber, PrintedResult, judge_printed, tabulate_results
from fairtrial.reproduce.tutorial.resampling import (
    build_permutation,
    build_resampling,
    compute_majority_probability,
    compute_p_limits,
    compute_switched_accuracies,
    judge_permutation,
    judge_stratification,
    measure_proportion_ranges,
)
from fairtrial.reproduce.tutorial.significance import (
    C45_RATES,
    NB_RATES,
    compare_paired_variances,
    cross_validate_labour,
    judge_assumptions,
    judge_labour_difference,
    simulate_unequal_variances,
)
from fairtrial.reproduce.tutorial.simulations import (
    ALL_FOLDS_T,
    BOUCKAERT,
    CALIBRATED,
    FIVE_F,
    FIVE_T,
    FOLD_T,
    PROBLEMS,
    SCHEMES,
    build_known_error,
    build_repeated_tests,
    classify_naive_bayes,
    classify_nearest,
    draw_twonorm,
    estimate_bias,
    estimate_by_jackknife,
    estimate_gaps,
    judge_known_error,
    judge_more_rejections,
    judge_repeated_tests,
    judge_smaller,
    score_threshold,
    simulate_accuracies,
    simulate_estimation_errors,
)
from fairtrial.reproduce.tutorial.weka_tables import (
    build_breast_cancer,
    build_ten_domains,
    build_weka_summary,
    judge_disagreement,
    judge_forest,
    judge_rows,
    judge_ten_domains,
)
from fairtrial.resampling import WekaFolds
from fairtrial.significance import corrected_resampled_t, paired_t
from tests.reproduce import read_numbers


def run_study(shared_data, path, n_folds, learners):
    declared = declare_study("eight_learners", n_folds)
    declared["learners"] = {name: declared["learners"][name] for name in learners}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        datasets = {"Breast Cancer": load("uci/breast-cancer"), "Labour": load("uci/labor")}
    return Study(data=datasets, **declared).run(path, jobs=1, progress=False)


@pytest.fixture(scope="module")
def small_study(shared_data, tmp_path_factory):
    return run_study(shared_data, tmp_path_factory.mktemp("tutorial") / "small.fairtrial", 10, ("NB", "C4.5", "Boost"))


@pytest.fixture(scope="module")
def two_folds(shared_data, tmp_path_factory):
    """Two folds, as at smoke scale; the tutorial has ten."""
    return run_study(shared_data, tmp_path_factory.mktemp("tutorial") / "two.fairtrial", 2, ("NB", "C4.5", "Bagg"))


@pytest.fixture(scope="module")
def labour(shared_data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        return load("uci/labor")


@pytest.fixture(scope="module")
def frame():
    """Return a table of a section by its name, indexed by its first column on request."""

    def find(section, name, index=None):
        table = next(table.frame for table in section.tables if table.name == name)
        return table if index is None else table.set_index(index)

    return find


# Worked examples


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    inputs = TutorialInputs(Request("smoke", tmp_path_factory.mktemp("examples")), None, None, None, {})
    return {section.name: section for topic in (measures, significance) for section in topic.build_sections(inputs)}


@pytest.fixture(scope="module")
def lines(sections):
    """Tables of the sections by name, indexed by the quantity."""
    frames = {name: section.tables[0].frame for name, section in sections.items()}
    return {name: table.set_index("quantity") for name, table in frames.items() if "quantity" in table}


# Printed numbers


def test_pages_show_the_format_and_files_keep_the_number():
    table = pd.DataFrame({"t": [DisplayedNumber(7.8645361107291, ".4f"), float("nan")]}, dtype=object)
    for digits in (None, 2):
        assert to_markdown(table, better=None, digits=digits).splitlines()[2:] == ["| 7.8645 |", "| \N{EN DASH} |"]
    assert table.to_csv(index=False).splitlines()[1] == "7.864536111"


@pytest.mark.parametrize(("value", "spec", "text"), [(-1e-9, ".3f", "0.000"), (-0.0, ".1f", "0.0"), (-0.004, ".3f", "-0.004")])
def test_zero_has_no_sign(value, spec, text):
    assert f"{DisplayedNumber(value, spec)}" == text


@pytest.mark.parametrize(
    ("ours", "printed", "digits", "agrees"),
    [(0.4349, 0.43, 2, True), (0.4351, 0.43, 2, False), (15.05, 15.05, 2, True), (15.0, 15.05, 2, False), (2.0, None, 2, None)],
)
def test_agreement_is_to_the_printed_digits(ours, printed, digits, agrees):
    assert PrintedResult("x", ours, printed, digits).agrees is agrees


def test_table_compares_ours_with_the_printed_number():
    table = tabulate_results([PrintedResult("one", 3.0, 2.5, 1, "why"), PrintedResult("two", 1.0)])
    assert table["difference"].iloc[0] == 0.5
    assert math.isnan(table["tutorial"].iloc[1])
    assert table["agreement"].tolist() == ["differs", "not printed"]


def test_page_shows_one_more_digit_than_is_printed():
    """7.86454 and a printed 7.8645, not 7.865 and 7.864; nothing more if our number is exact."""
    results = [
        PrintedResult("t", 7.86453611, 7.8645, 4),
        PrintedResult("r", 0.4534, 0.4534, 4),
        PrintedResult("d", 3.30812),
        PrintedResult("p", 73.68421, 73.6842, 4),
        PrintedResult("n", 42.0, 42, 0),
    ]
    rows = to_markdown(tabulate_results(results), better=None).splitlines()[2:]
    assert [row.split(" | ")[1:4] for row in rows] == [
        ["7.86454", "7.8645", "0.00004"],
        ["0.4534", "0.4534", "0.0000"],
        ["3.308", "\N{EN DASH}", "\N{EN DASH}"],
        ["73.68421", "73.6842", "0.00001"],
        ["42", "42", "0"],
    ]


def test_claim_is_reproduced_only_if_all_printed_numbers_agree():
    right, wrong, unprinted = PrintedResult("a", 1, 1), PrintedResult("b", 1, 2), PrintedResult("c", 1)
    assert judge_printed("x", [right, unprinted]).verdict == REPRODUCED
    assert judge_printed("x", [right, wrong]).verdict == CONTRADICTED
    assert judge_printed("x", [unprinted]).verdict == NOT_TESTABLE
    assert judge_printed("x", [right]).kind == "printed"


def test_details_are_the_numbers_of_the_claim():
    results = [
        PrintedResult("t", 7.86449, 8.0845, 4),
        PrintedResult("p", 2.5361e-05, 2.536e-05, 8),
        PrintedResult("d", 3.4),
    ]
    details = judge_printed("x", results, "why").details
    assert read_numbers(details) == [7.86449, 8.0845, 2.5361e-05, 2.536e-05]  # ours and the printed numbers
    assert details.endswith("why")


# Measures


def test_kappa_by_hand(lines):
    chance = (100 * 120 + 160 * 150 + 140 * 130) / 400**2
    assert lines["kappa"].loc["kappa (%)", "ours"] == pytest.approx(100 * (0.625 - chance) / (1 - chance))
    assert lines["kappa"].loc["chance agreement", "ours"] == pytest.approx(0.33875)


def test_two_classifiers_of_equal_accuracy(lines):
    ours = lines["accuracy_example"]["ours"]
    assert ours["accuracy, left (%)"] == ours["accuracy, right (%)"] == 60
    assert (ours["recall, left (%)"], ours["recall, right (%)"]) == (40, 80)


def test_equal_precision_and_recall(lines):
    ours = lines["precision_recall_example"]["ours"]
    assert ours["precision, right (%)"] == pytest.approx(200 / 3)
    assert ours["true negative rate, right (%)"] == 0
    assert ours["accuracy, right (%)"] == pytest.approx(100 / 3)


def test_a_misleading_probability_lowers_the_information_score(lines):
    """As Kononenko and Bratko define it; the slide adds the fourth score (ERRATA)."""
    table = lines["information_score"]
    assert table.loc["case 4: probability 0.75, true class 0", "ours"] == pytest.approx(-0.321928, abs=1e-6)
    assert table.loc["mean", "ours"] == pytest.approx(0.2682, abs=5e-5)
    assert table.loc["mean without signs", "agreement"] == "agrees"


def test_claims_that_the_printed_input_contradicts(sections):
    contradicted = {
        name: [claim.text for claim in section.claims if claim.verdict == CONTRADICTED and claim.kind == "printed"]
        for name, section in sections.items()
    }
    assert {name: len(texts) for name, texts in contradicted.items() if texts} == {
        "information_score": 1,
        "t_test": 1,
        "sign_test": 1,
        "wilcoxon": 1,
        "friedman": 2,
        "nemenyi": 1,
    }
    assert "8.0845" in contradicted["t_test"][0]


# Tests of two learners


def test_t_is_that_of_scipy_and_not_of_the_slide(lines):
    expected = stats.ttest_rel(C45_RATES, NB_RATES)
    table = lines["t_test"]
    assert table.loc["t, by R", "ours"] == pytest.approx(expected.statistic)
    assert table.loc["p, by R", "ours"] == pytest.approx(expected.pvalue)
    assert table.loc["t, by hand", "agreement"] == "differs"
    assert (table.loc["t, by R":"upper 95 % limit, by R", "agreement"] == "agrees").all()


def test_d_is_the_difference_over_the_pooled_deviation(lines):
    pooled = np.sqrt((np.var(C45_RATES, ddof=1) + np.var(NB_RATES, ddof=1)) / 2)
    expected = (np.mean(C45_RATES) - np.mean(NB_RATES)) / pooled
    assert lines["cohens_d"].loc["Cohen's d", "ours"] == pytest.approx(expected)


def test_interval_of_the_effect_size(lines):
    """A noncentral t with the limits as its effect has 2.5 % beyond the observed t; the true effect is not corrected."""
    gaps = np.subtract(C45_RATES, NB_RATES)
    error = gaps.std(ddof=1) / np.sqrt(10)
    unit = error / np.sqrt((np.var(C45_RATES, ddof=1) + np.var(NB_RATES, ddof=1)) / 2)
    low, high = lines["cohens_d"]["ours"].tolist()[2:]
    assert stats.nct.sf(gaps.mean() / error, 9, low / unit) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.cdf(gaps.mean() / error, 9, high / unit) == pytest.approx(0.025, abs=1e-6)


def test_sign_test(lines):
    ours = lines["sign_test"]["ours"]
    assert ours["AdaBoost against random forest: wins of AdaBoost"] == 1.5  # ERRATA: printed 1
    assert ours["AdaBoost against random forest, without the tie: p"] == pytest.approx(stats.binomtest(1, 9).pvalue)
    assert ours["wins needed in 10, one-sided 0.05"] == 9


def test_wilcoxon_sums_and_critical_values(lines):
    """Tables of the signed-rank test: n = 9, one-sided 0.05 gives 8, one-sided 0.005 gives 1."""
    ours = lines["wilcoxon"]["ours"]
    assert ours.tolist()[:2] == [17, 28]
    assert ours["largest sum rejected at 0.05, one-sided"] == 8
    assert ours["largest sum rejected at 0.005, one-sided"] == 1


def test_wilcoxon_on_folds_is_that_of_r(lines):
    table = lines["wilcoxon_folds"]
    assert table.loc["p, normal approximation as in R", "agreement"] == "agrees"
    # 10 of 256 ways to sign 8 ranks are at least as uneven
    assert table.loc["p, exact", "ours"] == pytest.approx(10 / 256)


# New runs on Labour


def test_error_rates_are_those_of_weka(labour):
    """weka.classifiers.trees.J48 and bayes.NaiveBayes -t labor.arff -s 1 and -s 2 (WEKA 3.6.14)."""
    wrong = cross_validate_labour(labour, 2, 10)
    rates = {name: [round(100 * np.concatenate(run).mean(), 4) for run in runs] for name, runs in wrong.items()}
    assert rates == {"C4.5": [26.3158, 17.5439], "NB": [10.5263, 5.2632]}


def test_labour_sections(labour, tmp_path):
    inputs = TutorialInputs(Request("smoke", tmp_path), None, None, labour, {})
    found = {section.name: section for section in significance.build_sections(inputs)}
    for name in ("labour_runs", "mcnemar"):
        (claim,) = found[name].claims
        assert claim.verdict == INCONCLUSIVE
    assert read_numbers(found["mcnemar"].claims[0].details)[-4:] == [2, 2, 10, 10]  # runs and folds, ours and the tutorial's
    ours = found["mcnemar"].tables[0].frame.set_index("quantity")["ours"]
    b, c = ours["only C4.5 wrong"], ours["only naive Bayes wrong"]
    assert ours["chi-squared with correction"] == max(abs(b - c) - 1, 0) ** 2 / (b + c)
    assert found["mcnemar"].values["n_discordant"] == b + c


@pytest.mark.parametrize(
    ("shift", "noise", "verdict"), [(0.15, 0.02, REPRODUCED), (0.02, 0.2, DIRECTION), (-0.15, 0.02, CONTRADICTED)]
)
def test_difference_on_labour_is_judged_by_the_corrected_interval(shift, noise, verdict):
    rng = np.random.default_rng(1)
    nb = rng.normal(0.1, 0.01, 100)
    c45 = nb + shift + noise * np.resize([-1.0, 1.0], 100)
    corrected = corrected_resampled_t(c45, nb, test_fraction=0.1)
    claim = judge_labour_difference(corrected, corrected)
    assert claim.verdict == verdict
    assert claim.sensitivity == "all variants agree"
    assert f"{corrected.effect.low:+.3f} to {corrected.effect.high:+.3f}" in claim.details


def test_a_difference_that_only_the_test_of_the_slide_finds_is_not_reproduced():
    folds = np.random.default_rng(2).normal(0.05, 0.2, 100)
    corrected, plain = corrected_resampled_t(folds, np.zeros(100), test_fraction=0.1), paired_t(folds, np.zeros(100))
    claim = judge_labour_difference(plain, corrected)
    assert plain.p_value < 0.05 < corrected.p_value
    assert (claim.verdict, list(claim.variants.values())) == (DIRECTION, [REPRODUCED])


# Assumptions of the t test


def test_variances_of_pairs_are_compared_by_pitman_and_morgan():
    """The interval of the log ratio contains 0 exactly if p is above 0.05."""
    ratio, p = compare_paired_variances(C45_RATES, NB_RATES)
    assert np.exp(ratio.value) == pytest.approx(np.var(C45_RATES) / np.var(NB_RATES))
    r = np.corrcoef(np.add(C45_RATES, NB_RATES), np.subtract(C45_RATES, NB_RATES))[0, 1]
    t = r * np.sqrt(8 / (1 - r**2))
    assert p == pytest.approx(2 * stats.t.sf(abs(t), 8))
    assert (p > 0.05) is (ratio.low < 0 < ratio.high)
    rng = np.random.default_rng(0)
    for scale in np.linspace(0.2, 5, 40):
        first, second = rng.normal(0, scale, 12), rng.normal(size=12)
        ratio, p = compare_paired_variances(first, second)
        assert (p < 0.05) is (ratio.sign != 0)


@pytest.mark.parametrize(
    ("low", "value", "high", "verdict"),
    [(0.07, 0.08, 0.09, REPRODUCED), (0.048, 0.05, 0.052, CONTRADICTED), (0.03, 0.05, 0.07, INCONCLUSIVE)],
)
def test_unequal_variances_invalidate_a_test_if_its_type_1_error_is_above_6_percent(low, value, high, verdict):
    equal, invalid = judge_assumptions(IntervalEstimate(0.7, -0.8, 2.1), 0.36, IntervalEstimate(value, low, high))
    assert (equal.verdict, invalid.verdict) == (INCONCLUSIVE, verdict)
    assert judge_assumptions(IntervalEstimate(0.7, 0.1, 1.3), 0.02, IntervalEstimate(value, low, high))[0].verdict == REPRODUCED


def test_the_paired_t_test_is_exact_for_unequal_variances():
    """Differences of normal scores are normal."""
    rate = simulate_unequal_variances(20_000, 5)
    assert rate.low < 0.05 < rate.high


def test_anova_by_sums_of_squares(sections):
    """One-way repeated measures: the sums of squares of classifiers and of residuals, written out."""
    scores = read_published("tutorial_friedman_domains")[["fA", "fB", "fC"]].to_numpy()
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    f = (10 * ((scores.mean(axis=0) - scores.mean()) ** 2).sum() / 2) / ((residuals**2).sum() / 18)
    line = sections["anova"].tables[0].frame.iloc[0]
    assert line["F"] == pytest.approx(f)
    assert line["p"] == pytest.approx(stats.f.sf(f, 2, 18))
    assert line["degrees of freedom"] == "2 and 18"


# Tests of several learners


def test_friedman_is_that_of_scipy(lines):
    table = lines["friedman"]
    expected = stats.friedmanchisquare(*read_published("tutorial_friedman_domains")[["fA", "fB", "fC"]].to_numpy().T)
    assert table.loc["chi-squared, by R", "ours"] == pytest.approx(expected.statistic) == pytest.approx(15)
    assert table.loc["p, by R", "ours"] == pytest.approx(expected.pvalue)
    assert table.loc["critical value at 0.05", "ours"] == pytest.approx(-2 * np.log(0.05))  # two degrees of freedom
    assert table.loc["chi-squared with that tie, uncorrected", "ours"] == pytest.approx(15.05)


def test_nemenyi_uses_mean_ranks(lines):
    """ERRATA: with the tutorial's tie -3.242, 0.224 and 3.466; the critical value is 2.344."""
    ours = lines["nemenyi"]["ours"].tolist()
    assert ours[:3] == pytest.approx([-3.242, 0.224, 3.466], abs=1e-3)
    assert ours[-1] == pytest.approx(stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2), abs=1e-3)


def test_error_of_the_slide_in_nemenyi_is_explained(sections):
    """Rank sums 15.5 and 30: -14.5 over the root of 0.2 is -32.42, over 0.45 it is the printed -32.22."""
    section = sections["nemenyi"]
    assert section.values["different"] == ["fA and fB", "fB and fC"]
    assert section.values["q_of_sums"] == pytest.approx(-14.5 / np.sqrt(0.2))
    assert section.values["q_rounded"] == pytest.approx(-14.5 / 0.45)
    assert "-32.42" in section.claims[0].details
    assert "-32.22" in section.claims[0].details
    assert all(chart.to_dict()["layer"] for chart in section.figures.values())


# WEKA's tables


@pytest.fixture(scope="module")
def breast_cancer(small_study):
    return {section.name: section for section in build_breast_cancer(small_study)}


@pytest.fixture(scope="module")
def with_bagging(two_folds):
    return {section.name: section for section in build_breast_cancer(two_folds)}


def test_rows_agree_to_the_printed_digits(breast_cancer, frame):
    lines = frame(breast_cancer["measures"], "measures_by_line")
    assert lines[lines["learner"].isin(["NB", "Boost"])]["agrees"].all()
    # printed .59; WEKA itself prints 0.584
    assert lines[~lines["agrees"]][["learner", "measure"]].to_numpy().tolist() == [["C4.5", "auc"]]
    assert (lines["low"].dropna() <= lines["difference"][lines["low"].notna()]).all()
    assert breast_cancer["measures"].values["n_same"] == 26


def test_ranks(breast_cancer, frame):
    ranks = frame(breast_cancer["ranks"], "ranks", "learner")
    assert ranks.loc["NB", "TPR"] == "1"
    assert ranks.loc["C4.5", "accuracy"] == "1"
    measured = ranks.drop(columns="among the best three")
    best = {tuple(ranks.index[[str(rank).split()[0] == "1" for rank in measured[name]]]) for name in measured}
    values = breast_cancer["ranks"].values
    assert {tuple(learners.split("/")) for learners in values["winners"]} == best
    assert sorted(name for names in values["winners"].values() for name in names) == sorted(measured)
    assert values["top_three"] == {"NB": 9, "C4.5": 9, "Boost": 9}  # only three learners were run
    (chart,) = breast_cancer["ranks"].figures.values()
    assert len(next(iter(chart.to_dict()["datasets"].values()))) == 27


def test_errors_of_the_printed_ranks_are_listed(tmp_path):
    """ERRATA: 4 of 72; this needs no data."""
    (section,) = weka_tables.build_sections(TutorialInputs(Request("smoke", tmp_path), None, None, None, {}))
    assert len(section.values["errors"]) == 4
    assert "Boost precision 7 instead of 5" in section.values["errors"]
    assert [(claim.verdict, claim.kind) for claim in section.claims] == [(CONTRADICTED, "printed")]


def test_weka_itself_is_beside_the_printed_rows(breast_cancer, frame):
    """WEKA 3.6.14: J48 has an AUC of 0.584, printed .59; NaiveBayes agrees in all numbers."""
    lines = frame(breast_cancer["measures"], "measures_by_line", ["learner", "measure"])
    assert lines.loc[("C4.5", "auc"), "WEKA 3.6.14"] == 0.584
    assert lines.loc["NB", "WEKA agrees"].all()
    table = frame(breast_cancer["measures"], "measures")
    assert table["source"].tolist() == ["ours", "WEKA 3.6.14", "tutorial"] * 3
    assert breast_cancer["measures"].tables[0].is_main


@pytest.mark.parametrize(
    ("with_one", "with_three", "verdict"), [(9, 0, CONTRADICTED), (8, 0, INCONCLUSIVE), (0, 9, REPRODUCED)]
)
def test_row_3nn_is_compared_with_one_and_three_neighbours(with_one, with_three, verdict):
    claims = judge_rows({"1NN": with_one, "3NN": with_three}, {})
    assert claims[0].verdict == (REPRODUCED if with_one == 9 else INCONCLUSIVE)
    assert claims[1].verdict == verdict
    assert read_numbers(claims[1].details)[:4] == [with_three, 9, with_one, 9]


def test_rows_of_other_implementations_are_not_testable():
    bagging, forest, svm = judge_rows({"Bagg": 0, "RanF": 9, "SVM": 5}, {"Bagg": 1, "RanF": 1})
    assert [claim.verdict for claim in (bagging, forest, svm)] == [NOT_TESTABLE, NOT_TESTABLE, INCONCLUSIVE]
    assert read_numbers(bagging.details)[-2:] == [1, 9]
    assert {claim.kind for claim in (bagging, forest, svm)} == {"printed"}


def test_one_and_three_neighbours_are_those_of_weka(shared_data, tmp_path, frame):
    """WEKA's IBk on Breast Cancer: 72.3776 % with one neighbour, 73.7762 % with three; the slide has 72.4 %."""
    results = run_study(shared_data, tmp_path / "neighbours.fairtrial", 10, ("1NN", "3NN"))
    section = next(iter(build_breast_cancer(results)))
    lines = frame(section, "measures_by_line", ["learner", "measure"])
    for name in ("1NN", "3NN"):
        ours, weka = (lines.loc[name, column].to_numpy(dtype=float) for column in ("ours", "WEKA 3.6.14"))
        np.testing.assert_allclose(ours, weka, atol=6e-4)
    assert [claim.verdict for claim in section.claims] == [REPRODUCED, CONTRADICTED]


@pytest.mark.parametrize(
    ("c45_wrong", "nb_wrong", "verdict"),
    [(20, 80, REPRODUCED), (20, 24, DIRECTION), (360, 20, CONTRADICTED), (24, 20, INCONCLUSIVE)],
)
def test_measures_disagree_if_each_prefers_another_learner(c45_wrong, nb_wrong, verdict):
    """Of 400 rows, each learner misclassifies some; naive Bayes ranks nearly perfectly, C4.5 at random."""
    rng = np.random.default_rng(3)
    classes = ["no-recurrence-events", "recurrence-events"]
    y_true = np.array(classes)[np.arange(400) % 2]

    def make(is_wrong, scores):
        probabilities = np.column_stack([1 - scores, scores])
        y_pred = np.where(is_wrong, np.roll(y_true, 1), y_true)
        return PooledPredictions(classes, y_true, y_pred, probabilities, probabilities, np.zeros(400, dtype=int))

    c45 = make(np.arange(400) < c45_wrong, rng.random(400))
    nb = make(np.arange(400) >= 400 - nb_wrong, np.where(np.arange(400) % 2 == 1, 0.9, 0.1) + rng.normal(0, 0.01, 400))
    assert judge_disagreement(nb, c45).verdict == verdict


def test_efficiency_of_the_printed_table(breast_cancer, frame):
    printed = frame(breast_cancer["efficiency"], "efficiency", "learner")["efficiency of the printed table"]
    # linear programs over all eight printed rows: only the three run here are shown
    assert printed.to_dict() == pytest.approx({"Boost": 1.0, "C4.5": 1.0, "NB": 0.9676}, abs=5e-5)


def test_claims_about_breast_cancer(breast_cancer, with_bagging):
    names = breast_cancer["measures"].values["same"]
    verdicts = dict(zip(names, [claim.verdict for claim in breast_cancer["measures"].claims], strict=True))
    assert verdicts["NB"] == REPRODUCED
    assert verdicts["C4.5"] == INCONCLUSIVE
    assert [claim.verdict for claim in breast_cancer["ranks"].claims] == [DIRECTION]  # accuracy +0.038 (-0.003 to +0.084)
    undecided = {claim.verdict for section in with_bagging.values() for claim in section.claims}
    assert undecided == {INCONCLUSIVE, NOT_TESTABLE}


def test_learners_that_are_not_those_of_weka_are_counted_separately(with_bagging):
    values = with_bagging["measures"].values
    assert (values["same"], values["other"]) == (["NB", "C4.5"], ["Bagg"])
    assert values["n_weka"]["Bagg"] == 1  # FPR 0.095, printed .1


def test_page_shows_as_many_digits_as_are_printed(breast_cancer, frame):
    table = frame(breast_cancer["measures"], "measures")
    row = table[(table["learner"] == "row NB") & (table["source"] == "tutorial")].iloc[0]
    # the slide: 71.7 .4534 .44 .16 .53 .44 .48 .7 48.11
    shown = [f"{row[name]}" for name in ("accuracy (%)", "RMSE", "TPR", "AUC", "information (bits)")]
    assert shown == ["71.7", "0.4534", "0.44", "0.70", "48.11"]


def run_domains(shared_data, tmp_path_factory, n_folds, names=("Contact Lenses", "Hepatitis")):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(shared_data))
        datasets = {name: load(DOMAINS["ten_domains"][name]) for name in names}
    path = tmp_path_factory.mktemp("domains") / "two.fairtrial"
    return Study(data=datasets, **declare_study("ten_domains", n_folds)).run(path, jobs=1, progress=False)


@pytest.fixture(scope="module")
def domain_results(shared_data, tmp_path_factory):
    return run_domains(shared_data, tmp_path_factory, 10)


@pytest.fixture(scope="module")
def ten_domains(domain_results):
    return build_ten_domains(domain_results)


def test_three_learners_agree_to_the_second_decimal_place(ten_domains, frame):
    lines = frame(ten_domains, "ten_domains_by_line")
    from_weka = lines[lines["learner"] != "RandomForest"]
    assert len(from_weka) == 6
    assert (from_weka["difference"].abs() <= 0.00501).all()
    assert (lines["low"] <= lines["difference"]).all()


def test_defaults_of_weka_would_not_agree(ten_domains):
    # Hepatitis with WEKA's defaults (84.458 and 85.167 %), printed 83.21 and 80.63
    assert ten_domains.values["default_differences"] == pytest.approx({"NB": 1.248, "SVM": 4.537}, abs=1e-3)


def test_both_tables_are_tested(ten_domains, frame):
    assert len(frame(ten_domains, "ten_domains_tests")) == 1 + 6
    assert list(ten_domains.figures) == ["Four learners on 2 of the ten domains"]
    verdicts = dict(zip(weka_tables.LEARNERS, [claim.verdict for claim in ten_domains.claims[:4]], strict=True))
    assert (verdicts["AdaBoost"], verdicts["RandomForest"]) == (REPRODUCED, NOT_TESTABLE)


def test_intervals_are_those_of_nadeau_and_bengio(domain_results, ten_domains, frame):
    """Means of ten folds, each testing a tenth: variance (1/10 + 1/9) times that of the folds, t with 9 degrees."""
    scores = domain_results.scores("accuracy")
    values = 100 * scores[(scores["dataset"] == "Hepatitis") & (scores["learner"] == "NB")]["value"].to_numpy()
    line = frame(ten_domains, "ten_domains_by_line", ["dataset", "learner"]).loc[("Hepatitis", "NB")]
    expected = 2 * 2.262157 * np.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert line["high"] - line["low"] == pytest.approx(expected, rel=1e-3)


def test_one_domain_on_other_folds_is_inconclusive(shared_data, tmp_path_factory):
    section = build_ten_domains(run_domains(shared_data, tmp_path_factory, 2, ["Contact Lenses"]))
    assert {claim.verdict for claim in section.claims} == {INCONCLUSIVE, NOT_TESTABLE}
    assert section.values["n_folds"] == 2
    assert [table.name for table in section.tables] == ["ten_domains", "ten_domains_by_line"]


def test_a_column_that_differs_on_some_domains_is_inconclusive():
    claims = judge_ten_domains({"NB": 10, "SVM": 8, "AdaBoost": 10, "RandomForest": 0}, 10)
    assert [claim.verdict for claim in claims] == [REPRODUCED, INCONCLUSIVE, REPRODUCED, NOT_TESTABLE]
    assert read_numbers(claims[1].details)[:2] == [8, 10]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1.0] * 10, REPRODUCED),
        ([1.0] * 9 + [-9.0], REPRODUCED),  # 9 of 10 wins: p = 0.02
        ([-1.0] * 10, CONTRADICTED),
        ([1.0] * 5 + [-1.0] * 5, INCONCLUSIVE),
        ([9.0] * 7 + [-0.1] * 3, DIRECTION),  # 7 of 10 wins: p = 0.34
        ([1.0] * 8 + [0.0, -1.0], REPRODUCED),  # the tie does not count: 8 of 9 wins, p = 0.04
    ],
)
def test_forest_is_compared_over_all_domains_by_the_sign_test(values, verdict):
    differences = {str(i): IntervalEstimate(value, value - 2, value + 2) for i, value in enumerate(values)}
    assert judge_forest(differences).verdict == verdict


def test_every_number_of_the_summary_is_the_one_that_weka_prints(small_study, frame):
    (section,) = build_weka_summary(small_study)
    table = frame(section, "weka_summary")
    printed = table[table["tutorial"].notna()]
    assert len(printed) == 39
    assert (printed["agreement"] == "agrees").all()
    assert section.claims[0].verdict == REPRODUCED
    assert section.values["n_agreeing"] == section.values["n_printed"] == 39


def test_summary_on_other_folds_is_inconclusive(two_folds):
    (section,) = build_weka_summary(two_folds)
    assert section.claims[0].verdict == INCONCLUSIVE
    assert section.values["n_agreeing"] < 39


# Curves and projections


@pytest.fixture(scope="module")
def curve_sections(small_study, tmp_path_factory):
    inputs = TutorialInputs(Request("smoke", tmp_path_factory.mktemp("curves")), small_study, None, None, {})
    return {section.name: section for section in curves.build_sections(inputs)}


def compute_least_cost(rows, probability_cost):
    positive, scores = rows.y_true == "recurrence-events", rows.get_scores("recurrence-events")
    return min(
        probability_cost * np.mean(scores[positive] < cut) + (1 - probability_cost) * np.mean(scores[~positive] >= cut)
        for cut in [*np.unique(scores), np.inf]
    )


def test_winner_has_the_least_cost_over_all_thresholds(small_study, curve_sections, frame):
    winners = frame(curve_sections["cost_curves"], "cost_winners")
    rows = {name: pool_predictions(small_study, "Breast Cancer", name) for name in ("NB", "C4.5", "Boost")}
    for line in winners.to_dict("records"):
        costs = {name: compute_least_cost(rows[name], (line["start"] + line["end"]) / 2) for name in rows}
        if line["winner"] == "learner":
            assert min(costs, key=costs.get) == line["learner"]
    assert winners["end"].iloc[-1] == pytest.approx(1)
    assert len(curve_sections["cost_curves"].figures) == 2


def roc(*points):
    return pd.DataFrame(points, columns=["fpr", "tpr"])


CHANCE = roc((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("other", "crosses"),
    [
        (roc((0, 0), (0, 0.5), (1, 1)), False),  # above everywhere
        (CHANCE, False),
        (roc((0, 0), (0.4, 0.4), (0.4, 0.8), (1, 1)), False),  # touches, then rises vertically
        (roc((0, 0), (0.5, 0), (0.5, 1), (1, 1)), True),
        (roc((0, 0), (0.2, 0.1), (0.8, 0.9), (1, 1)), True),  # half way through a straight piece
    ],
)
def test_curves_cross_if_each_is_above_somewhere(other, crosses):
    assert do_curves_cross(CHANCE, other) is do_curves_cross(other, CHANCE) is crosses


def test_a_dominating_curve_does_not_cross():
    y_true = [0, 0, 0, 1, 1, 1]
    assert not do_curves_cross(roc_curve(y_true, [1, 2, 3, 4, 5, 6]), roc_curve(y_true, [1, 2, 4, 3, 5, 6]))


@pytest.mark.parametrize(
    ("names", "verdict"),
    [(["", "NB", ""], CONTRADICTED), (["", "", ""], CONTRADICTED), (["", "NB", "C4.5"], REPRODUCED)],
)
def test_two_learners_must_win_somewhere(names, verdict):
    limits = np.linspace(0, 1, len(names) + 1)
    winner = ["learner" if name else "no better than a trivial classifier" for name in names]
    winners = pd.DataFrame({"start": limits[:-1], "end": limits[1:], "winner": winner, "learner": names})
    assert judge_cost_winners(winners).verdict == verdict


def test_curves_on_other_folds_are_inconclusive(two_folds):
    (section,) = build_cost_curves(two_folds)
    assert section.claims[0].verdict == INCONCLUSIVE
    assert section.values["n_folds"] == 2


def test_distances_of_the_printed_matrices(curve_sections, frame):
    """Known numbers: AdaBoost L2 151.427, L1 294; naive Bayes L2 148.674, L1 246."""
    section = curve_sections["anneal_printed"]
    ours = frame(section, "anneal_printed")["ours"].tolist()
    assert ours[:4] == pytest.approx([151.427, 148.674, 294, 246], abs=1e-3)
    assert np.sum(ADABOOST) == np.sum(NAIVE_BAYES) == 898
    assert {(claim.verdict, claim.kind) for claim in section.claims} == {(REPRODUCED, "printed")}


def test_learners_of_the_study_on_labour(curve_sections, frame):
    lines = frame(curve_sections["three_domains"], "three_domains", "quantity")
    labour = lines[[name.startswith(("NB on Labour", "Boost on Labour")) for name in lines.index]]
    assert len(labour) == 6
    # the AUC of naive Bayes is 0.9649: WEKA prints 0.965, the slide 0.97
    assert labour.index[labour["agreement"] != "agrees"].tolist() == ["NB on Labour: AUC"]
    assert labour.loc["NB on Labour: AUC", "ours"] == pytest.approx(0.965, abs=5e-4)


def test_projection_of_the_binary_domains(curve_sections, frame):
    section = curve_sections["projection_binary"]
    table = frame(section, "projection_binary")
    assert table["learner"].tolist() == ["NB", "C4.5", "Boost"]
    assert (table["to the nearest learner, L2"] > 0).all()
    chart = section.figures["Projection, Breast Cancer/Labour, L2"]
    assert chart.to_dict()["width"] == chart.to_dict()["height"]


def test_learners_that_crowd_around_ideal_are_one_point():
    plane = projection({name: [[n, 100 - n], [0, 100]] for name, n in (("a", 99), ("b", 98), ("c", 97), ("far", 10))})
    points, edges = merge_crowded_points(plane)
    assert points["learner"].tolist() == ["Ideal and 3 others", "far"]
    assert edges == [("far", "Ideal and 3 others")]


def test_matrices_are_compared_cell_by_cell():
    moved = np.array(NAIVE_BAYES)
    moved[0, 0], moved[0, 2] = 6, 2
    verdicts = []
    for cells in (NAIVE_BAYES, moved):
        (claim,) = judge_anneal_matrices({"NB": [np.array(cells)], "Boost": [np.array(ADABOOST)]})
        verdicts.append(claim.verdict)
    assert verdicts == [REPRODUCED, INCONCLUSIVE]
    assert read_numbers(claim.details) == [1, 0]  # rows of NB and of Boost in other cells


@pytest.mark.parametrize(("n_wrong", "verdict"), [(9, REPRODUCED), (26, REPRODUCED), (30, INCONCLUSIVE), (0, INCONCLUSIVE)])
def test_accuracies_of_the_others_lie_in_the_printed_range(n_wrong, verdict):
    """Of 1000 rows: 97.4 to 99.3 % allow 7 to 26 errors; Bagg and RanF are not WEKA's and do not count."""
    tables = {"C4.5": [np.array([[500 - n_wrong, n_wrong], [0, 500]])], "RanF": [np.array([[500, 0], [0, 500]])]}
    tables["NB"] = [np.array([[0, 500], [500, 0]])]
    assert judge_accuracies(tables).verdict == verdict


def make_pooled(n_wrong, n=400):
    y_true = np.array(["a", "b"])[np.arange(n) % 2]
    y_pred = np.where(np.arange(n) < n_wrong, np.roll(y_true, 1), y_true)
    nothing = np.zeros((n, 2))
    return PooledPredictions(["a", "b"], y_true, y_pred, nothing, nothing, np.zeros(n, dtype=int))


@pytest.mark.parametrize(
    ("n_wrong", "verdict"),
    [((200, 180, 20), REPRODUCED), ((40, 40, 38), DIRECTION), ((20, 200, 180), CONTRADICTED), ((36, 40, 38), INCONCLUSIVE)],
)
def test_farthest_learners_are_judged_by_bootstrap_intervals(n_wrong, verdict):
    pooled = dict(zip(("NB", "Boost", "C4.5"), map(make_pooled, n_wrong), strict=True))
    gaps = estimate_isolation(pooled, ("NB", "Boost"), 1)
    assert gaps["L1"].value == 2 * (min(n_wrong[:2]) - n_wrong[2])  # L1 counts every error twice
    assert judge_farthest(gaps).verdict == verdict


def test_distances_are_those_of_the_projection():
    pooled = {name: make_pooled(n) for name, n in (("NB", 30), ("Boost", 25), ("C4.5", 10))}
    tables = {
        name: [[[np.sum((rows.y_true == t) & (rows.y_pred == p)) for p in "ab"] for t in "ab"]] for name, rows in pooled.items()
    }
    for norm, gap in estimate_isolation(pooled, ("NB", "Boost"), 1, 10).items():
        distance = projection(tables, distance=norm).distance_to_ideal
        assert gap.value == pytest.approx(distance["Boost"] - distance["C4.5"])


def test_a_projection_on_other_folds_is_inconclusive(monkeypatch, two_folds):
    claim = judge_cost_winners(pd.DataFrame({"start": [0, 1], "end": [1, 2], "winner": "learner", "learner": ["a", "b"]}))
    assert claim.verdict == REPRODUCED
    monkeypatch.setattr(curves, "_judge_binary_domains", lambda *_: [claim])
    assert build_projection(two_folds, ["Breast Cancer", "Labour"]).claims[0].verdict == INCONCLUSIVE


def test_clouds_have_a_point_for_each_fold_and_threshold(curve_sections, small_study, frame):
    section = curve_sections["projection_clouds"]
    table = frame(section, "projection_clouds", "learner")
    by_fold, by_threshold = (next(iter(chart.to_dict()["datasets"].values())) for chart in section.figures.values())
    assert len(by_fold) == 3 * 10
    assert len(by_threshold) == 3 * 9
    assert (table["low"] < table["mean distance to Ideal"]).all()
    rows = pool_predictions(small_study, "Breast Cancer", "NB")
    positives = rows.y_true == "recurrence-events"
    missed = np.sum(positives & (rows.get_scores("recurrence-events") < 0.5))
    point = next(row for row in by_threshold if row["learner"] == "NB" and row["label"] == "0.5")
    assert point["x"] == pytest.approx(missed)
    # a fold with 8 or 9 of 85 positives is scaled to 85
    first = rows.fold_indices[0]
    expected = 85 * np.mean(rows.y_pred[first][positives[first]] != "recurrence-events")
    assert by_fold[0]["x"] == pytest.approx(expected)


def test_printed_means_are_those_of_the_slide():
    """The slide has 72.46 .44 .65 for the SVM: not 72.47, which is nearer to the mean of its own three numbers."""
    names = ("Breast Cancer", "Labour", "Liver")
    scores = {(name, learner): (float(len(name)), 0.25, 0.5) for name in names for learner in ("NB", "SVM", "Boost")}
    section = build_three_domains(scores, 10)
    table = section.tables[0].frame.set_index("quantity")
    assert len(table) == section.values["n_lines"] == 36
    means = {
        learner: [table.loc[f"{learner}: mean {measure}", "tutorial"] for measure in ("accuracy (%)", "F1 score", "AUC")]
        for learner in ("NB", "SVM")
    }
    assert means == {"NB": [72.2, 0.67, 0.77], "SVM": [72.46, 0.44, 0.65]}
    assert table.loc["SVM: mean accuracy (%)", "ours"] == pytest.approx((13 + 6 + 5) / 3)


@pytest.mark.parametrize(("numbers", "agreement"), [((58.3, 0.0141, 0.504), "agrees"), ((58.41, 0.0146, 0.54), "differs")])
def test_decimal_places_are_those_that_are_printed(numbers, agreement):
    """.014 and .5: 0.0141 agrees with the former, 0.0146 does not; 0.504 agrees with the latter, 0.54 does not."""
    section = build_three_domains({("Liver", learner): numbers for learner in ("NB", "SVM", "Boost")}, 10)
    table = section.tables[0].frame.set_index("quantity")
    found = [table.loc[f"SVM on Liver: {measure}", "agreement"] for measure in ("accuracy (%)", "F1 score", "AUC")]
    assert found == [agreement] * 3


# Resampling


@pytest.fixture(scope="module")
def resampling(labour, tmp_path_factory):
    return build_resampling(labour, Request("smoke", tmp_path_factory.mktemp("resampling")))


def test_e632_is_the_formula_of_the_tutorial(resampling, frame):
    errors = frame(resampling, "resampling_errors", "scheme")[["C4.5", "NB", "1NN"]]
    expected = 0.632 * errors.loc["bootstrap E0"] + 0.368 * errors.loc["resubstitution"]
    np.testing.assert_allclose(errors.loc["e632 (as in the tutorial)"], expected)
    assert errors.loc["resubstitution", "1NN"] == 0


def test_proportions_are_about_those_of_the_data(resampling, frame):
    proportions = frame(resampling, "resampling_shares", "scheme")
    stratified = proportions.loc["2-fold, stratified", ["lowest in test", "highest in test"]].tolist()
    assert stratified == pytest.approx([20 / 57] * 2, abs=0.02)
    assert proportions["splits"].tolist() == [2, 2, 10]


def test_figure_shows_every_variant(resampling):
    (chart,) = resampling.figures.values()
    assert len(chart.to_dict()["vconcat"]) == 5


@pytest.mark.parametrize(
    ("plain", "stratified", "verdict"),
    [
        ([0.4, 0.5, 0.6], [0.1, 0.1, 0.1], REPRODUCED),
        ([0.1] * 3, [0.4, 0.5, 0.6], CONTRADICTED),
        ([0, 1, 0.2], [0.1] * 3, DIRECTION),
    ],
)
def test_stratification_is_judged_over_seeds(plain, stratified, verdict):
    assert judge_stratification(pd.DataFrame({"plain": plain, "stratified": stratified}), 10).verdict == verdict


def test_two_folds_do_not_judge_stratification(resampling, labour):
    assert resampling.claims[0].verdict == INCONCLUSIVE
    ranges = measure_proportion_ranges(labour, 10, 3)
    assert (ranges["stratified"] <= 0.2).all()  # folds of 5 or 6 rows, 20 of 57 rows in the rarer class


def test_switched_labels_lose_the_class_proportions(labour):
    """The majority class by a coin has about half of the rows; in the data it has 37 of 57."""
    accuracies = compute_switched_accuracies(DummyClassifier(), labour, 40, 2, 1)
    assert len(accuracies) == 40
    assert 0.5 < np.mean(accuracies) < 0.6


def test_permutation_section(labour, tmp_path, frame):
    section = build_permutation(labour, Request("smoke", tmp_path))
    table = frame(section, "permutation", "learner")
    assert table.loc["majority class", "p, permuted"] == 1
    assert np.isclose(table.loc["majority class", "accuracy"], 37 / 57, atol=0.01)
    assert table.loc["NB", "p, permuted"] == section.values["least_p"] == 1 / 4
    assert [claim.verdict for claim in section.claims] == [INCONCLUSIVE]


@pytest.mark.parametrize(
    ("n_resamples", "p", "verdict"),
    # the lowest p of n bogus data sets is 1 / (n + 1): with 19 it is 0.05 itself
    # 20 of 500 leave a p of 0.023 to 0.059 (Clopper and Pearson), which contains 0.05
    [
        (3, 0.25, INCONCLUSIVE),
        (19, 0.05, INCONCLUSIVE),
        (99, 0.01, CONTRADICTED),
        (99, 0.4, REPRODUCED),
        (499, 0.04, INCONCLUSIVE),
        (499, 0.06, DIRECTION),
    ],
)
def test_claims_need_enough_bogus_data(n_resamples, p, verdict):
    (claim,) = judge_permutation({"accuracy": 0.9, "p, permuted": p, "p, switched": p}, n_resamples, 37, 57)
    assert claim.verdict == verdict
    assert [number for number in read_numbers(claim.details) if number in (37, 57, 0.033)] == [37, 57, 0.033]


def test_interval_of_p_is_that_of_a_proportion():
    expected = stats.binomtest(19, 499).proportion_ci(0.95, method="exact")
    assert compute_p_limits(0.04, 499) == pytest.approx((expected.low, expected.high))


def test_equal_labels_are_counted_on_both_sides():
    """Of four coins three or more are equal in 2 x (4 + 1) of 16 ways."""
    assert compute_majority_probability(4, 3) == pytest.approx(10 / 16)
    # two-sided exact binomial test of 37 of 57
    assert compute_majority_probability(57, 37) == pytest.approx(stats.binomtest(37, 57).pvalue)


# Simulations


DEVIATION = "standard deviation"


@pytest.mark.parametrize(
    ("classify", "learner"), [(classify_naive_bayes, GaussianNB()), (classify_nearest, KNeighborsClassifier(1))]
)
def test_classifiers_are_those_of_scikit_learn(classify, learner):
    (X, y), (X_new, _) = draw_twonorm(40, 0.3, [1, 2]), draw_twonorm(300, 0.3, [1, 3])
    assert np.mean(classify(X, y, X_new) == learner.fit(X, y).predict(X_new)) > 0.995


def test_flipped_labels():
    clean, noisy = (draw_twonorm(4000, flipped, [7, 1]) for flipped in (0.0, 0.3))
    assert np.mean(clean[1] != noisy[1]) == pytest.approx(0.3, abs=0.03)


def test_known_error_section(tmp_path, frame):
    section = build_known_error(Request("smoke", tmp_path))
    table = frame(section, "known_error")
    assert len(table) == 2 * 2 * 5
    assert (table["root mean squared error"] >= table["bias"].abs() - 1e-12).all()
    assert len(section.claims) == 9


def test_a_smoke_run_is_inconclusive(tmp_path, monkeypatch):
    """Even a clear bias of three samples does not decide."""
    monkeypatch.setattr(simulations, "_estimate_error", lambda *_: dict.fromkeys(SCHEMES, 0.9))
    claims = build_known_error(Request("smoke", tmp_path)).claims
    assert {claim.verdict for claim in claims} == {INCONCLUSIVE}
    assert read_numbers(claims[0].details)[-2:] == [3, 20]  # samples, and the minimum


def test_problems_have_different_samples():
    """Two problems with the same distribution must not have the same sample."""
    errors = simulate_estimation_errors(4, 40, 1, {"one": 0.0, "other": 0.0}).drop(columns="problem")
    one, other = errors.iloc[:8], errors.iloc[8:].reset_index(drop=True)
    assert (one[["learner", "replicate"]] == other[["learner", "replicate"]]).all().all()
    assert (one["true error"] != other["true error"]).any()
    assert (one["10-fold"] != other["10-fold"]).any()


def make_errors(n=200, learners=("l",)):
    """Errors of two schemes, `b` twice as variable; every learner has the same ones."""
    rng = np.random.default_rng(1)
    columns = {"replicate": range(n), "true error": 0.0, "a": rng.normal(0, 1, n), "b": rng.normal(0, 2, n)}
    return pd.concat([pd.DataFrame({"problem": "p", "learner": name, **columns}) for name in learners])


def test_a_clearly_smaller_statistic_is_found():
    errors = make_errors()
    assert judge_smaller("x", errors, "a", "b", DEVIATION).verdict == REPRODUCED
    assert judge_smaller("x", errors, "b", "a", DEVIATION).verdict == CONTRADICTED
    assert judge_smaller("x", errors, "a", "a", DEVIATION).verdict == INCONCLUSIVE
    assert judge_smaller("x", make_errors(n=3), "b", "a", DEVIATION).verdict == INCONCLUSIVE
    first, second = (float(errors[name].std()) for name in ("a", "b"))
    numbers = read_numbers(judge_smaller("x", errors, "a", "b", DEVIATION).details)
    assert numbers[:3] == pytest.approx([first, second, second - first], abs=5e-5)


def test_learners_on_the_same_sample_do_not_shrink_intervals():
    one, four = make_errors(), make_errors(learners=("k", "l", "m", "n"))
    assert estimate_bias(four, "a").format("{:.12f}") == estimate_mean(one["a"]).format("{:.12f}")
    (alone,) = estimate_gaps(one, "a", "b", DEVIATION).values()
    assert list(estimate_gaps(four, "a", "b", DEVIATION).values()) == [alone] * 4


def test_every_learner_must_agree():
    """The mean over both learners has `a` far below `b`; one of the two learners has it above."""
    one, other = make_errors(), make_errors(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = judge_smaller("x", pd.concat([one.assign(b=10 * one["b"]), other]), "a", "b", DEVIATION)
    assert claim.verdict == CONTRADICTED
    assert "l, p: " in claim.details
    assert "m, p: " in claim.details
    undecided = pd.concat([one, other.assign(b=other["a"])])
    assert judge_smaller("x", undecided, "a", "b", DEVIATION).verdict == INCONCLUSIVE


def test_learners_exempted_by_the_slides_are_reported_and_not_judged():
    one, other = make_errors(), make_errors(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = judge_smaller("x", one, "a", "b", DEVIATION, exempt=other)
    assert claim.verdict == REPRODUCED
    assert "m, p: " in claim.details


def test_e632_is_compared_with_10_fold_for_naive_bayes():
    """e632 is better for naive Bayes on both problems, far worse for the nearest neighbour."""
    rng = np.random.default_rng(4)
    widths = {"NB": (2, 1), "1NN": (1, 9)}
    errors = [
        pd.DataFrame({"problem": problem, "learner": learner, "replicate": range(100), "true error": 0.3})
        .assign(**dict.fromkeys(SCHEMES, 0.1))
        .assign(**{"10-fold": folds * rng.normal(size=100), "e632": bootstrap * rng.normal(size=100)})
        for problem in PROBLEMS
        for learner, (folds, bootstrap) in widths.items()
    ]
    *_, better, _, _, poor_for_neighbours = judge_known_error(pd.concat(errors))
    assert better.verdict == REPRODUCED
    assert "1NN, small error" in better.details  # exempted by the slides, but reported
    assert poor_for_neighbours.verdict == INCONCLUSIVE  # by e632, but not by E0, whose error is 0.1
    assert poor_for_neighbours.variants == {"main run": REPRODUCED, "E0": CONTRADICTED}


@pytest.mark.parametrize(
    ("centre", "spread", "verdict"),
    [(0.0, 0.01, REPRODUCED), (0.0, 0.5, DIRECTION), (0.1, 0.01, CONTRADICTED), (0.011, 0.05, INCONCLUSIVE)],
)
def test_unbiased_is_a_test_of_equivalence(centre, spread, verdict):
    bias = centre + spread * np.array([-1.0, 1.0] * 50)
    errors = [
        pd.DataFrame({"problem": problem, "learner": learner, "replicate": range(100), "true error": 0.3}).assign(
            **dict.fromkeys(SCHEMES, bias)
        )
        for problem in PROBLEMS
        for learner in ("NB", "1NN")
    ]
    assert judge_known_error(pd.concat(errors))[2].verdict == verdict


@pytest.mark.parametrize(
    ("centre", "verdict"), [(0.1, REPRODUCED), (0.001, DIRECTION), (-0.001, INCONCLUSIVE), (-0.1, CONTRADICTED)]
)
def test_e0_is_pessimistic_if_its_bias_is_positive(centre, verdict):
    bias = centre + 0.1 * np.array([-1.0, 1.0] * 50)
    errors = [
        pd.DataFrame({"problem": problem, "learner": learner, "replicate": range(100), "true error": 0.3}).assign(
            **dict.fromkeys(SCHEMES, bias)
        )
        for problem in PROBLEMS
        for learner in ("NB", "1NN")
    ]
    assert judge_known_error(pd.concat(errors))[0].verdict == verdict


def test_jackknife_of_a_mean_is_the_t_interval():
    """Pseudo-values of a mean are the values themselves."""
    values = np.random.default_rng(2).normal(1, 3, 30)
    estimate, expected = estimate_by_jackknife(np.mean, values), estimate_mean(values)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((expected.value, expected.low, expected.high))


def test_jackknife_covers_a_known_standard_deviation():
    """The interval of a standard deviation, which is 1 here, misses it in about 5 % of samples."""
    samples = np.random.default_rng(3).normal(0, 1, (300, 60))
    estimates = [estimate_by_jackknife(lambda rows: rows.std(ddof=1), sample).subtract(1) for sample in samples]
    assert sum(estimate.sign != 0 for estimate in estimates) / 300 == pytest.approx(0.05, abs=0.04)


@pytest.mark.parametrize("attribute", [[0.0, 2.0, 4.0, 6.0, 3.5, 2.9], [6.0, 4.0, 2.0, 0.0, 3.5, 2.9]])
def test_threshold_is_halfway_between_the_class_means(attribute):
    """Means 1 and 5 or 5 and 1, threshold 3: one of two test rows is right either way."""
    y = np.array([0, 0, 1, 1, 1, 1])
    assert score_threshold(np.array([attribute]), y, np.arange(4), np.array([4, 5])).tolist() == [0.5]


def test_learners_are_equal_by_symmetry():
    """The best rule errs with probability Phi(-1/2); both come close to it."""
    first, second = simulate_accuracies("10x10", 300, 1.0, 3)
    assert first.shape == (300, 10, 10)
    assert first.mean() == pytest.approx(second.mean(), abs=0.01)
    assert first.mean() == pytest.approx(0.6915, abs=0.015)


def test_comparison_of_rejections_is_paired():
    data = pd.DataFrame({"a": [True] * 60 + [False] * 40, "b": [True] * 30 + [False] * 70, "c": [False] * 40 + [True] * 60})
    assert judge_more_rejections("x", data, "a", "b").verdict == REPRODUCED
    assert judge_more_rejections("x", data, "b", "a").verdict == CONTRADICTED
    assert judge_more_rejections("x", data, "a", "c").verdict == INCONCLUSIVE
    assert judge_more_rejections("x", data.assign(c=data["c"] & (data.index < 98)), "a", "c").verdict == DIRECTION


def test_interval_is_that_of_the_paired_t_test():
    """Four of 20 pairs differ: the normal quantile would find a difference more readily than Student's."""
    data = pd.DataFrame({"a": [True] * 4 + [False] * 16, "b": [False] * 20})
    expected = ttest_rel(data["a"].astype(float), data["b"].astype(float)).confidence_interval()
    assert f"+0.200 ({expected.low:+.3f} to {expected.high:+.3f})" in judge_more_rejections("x", data, "a", "b").details


def test_repeated_tests_section(tmp_path, frame):
    section = build_repeated_tests(Request("smoke", tmp_path))
    table = frame(section, "repeated_tests")
    assert len(table) == 8
    assert {ALL_FOLDS_T, *BOUCKAERT} < set(table["test"])
    assert ((table["power, low"] <= table["power"]) & (table["power"] <= table["power, high"])).all()
    assert [claim.verdict for claim in section.claims] == [INCONCLUSIVE] * 6


@pytest.mark.parametrize(
    ("calibrated", "plain", "verdict"),
    [(True, True, REPRODUCED), (False, False, CONTRADICTED), (False, True, INCONCLUSIVE), (True, False, INCONCLUSIVE)],
)
def test_claims_about_10x10_are_judged_by_the_tests_of_bouckaert(calibrated, plain, verdict):
    """All three tests must reject more often. The plain t test is a variant: if it disagrees, the claim is inconclusive."""
    data = pd.DataFrame({name: [False, True] * 50 for name in (FOLD_T, FIVE_T, FIVE_F)})
    data = data.assign(**dict.fromkeys(BOUCKAERT, True))
    data[CALIBRATED], data[ALL_FOLDS_T] = calibrated, plain
    for claim in judge_repeated_tests({"equal": data, "different": data})[-2:]:
        assert claim.verdict == verdict
        assert all(name in claim.details for name in (ALL_FOLDS_T, *BOUCKAERT, FOLD_T))


# Choosing data sets


@pytest.mark.parametrize(("name", "gap"), GAPS.items())
@pytest.mark.parametrize("m", [20, 10, 6])
def test_two_learners_in_closed_form(choices, name, gap, m):
    """The chosen data sets contain as many wins as there are, so the learner leads if it wins more than m/2 of 20."""
    row = choices.set_index(["learners", "available", "chosen", "learner is"]).loc[(2, 20, m, name)]
    wins = stats.binom(20, stats.norm.cdf(-gap / np.sqrt(2)))
    assert row["best"] == pytest.approx(wins.sf(m // 2), abs=0.03)
    assert row["best, low"] <= row["best"] <= row["best, high"]
    if m == 6:  # only six wins of six have p < 0.05: 2/64
        assert row["significantly best"] == pytest.approx(wins.sf(5), abs=0.03)


def test_equal_learners_are_best_with_equal_probability(choices):
    rows = choices[(choices["learner is"] == "equal to the others") & (choices["chosen"] == choices["available"])]
    # no single learner is best if mean ranks are tied
    assert (rows["best"] <= 1 / rows["learners"] + 0.03).all()
    assert (rows["best"] >= 0.7 / rows["learners"]).all()


@pytest.fixture(scope="module")
def choices():
    return simulate_choices(3000, 1)


def test_significance_is_that_of_wilcoxon_and_holm():
    scores = np.random.default_rng(5).normal(size=(40, 12, 3)) + np.array([1.2, 0, 0])
    for study, found in zip(scores, is_significantly_best(scores), strict=True):
        tests = [stats.wilcoxon(study[:, 0] - study[:, rival]) for rival in (1, 2)]
        p = holm_adjust(np.array([test.pvalue for test in tests]))
        better = all(
            np.sum(stats.rankdata(abs(d)) * np.sign(d)) > 0 for d in (study[:, 0] - study[:, rival] for rival in (1, 2))
        )
        assert found == (better and bool((p <= 0.05).all()))


def holm_adjust(p):
    low, high = sorted(p)
    return np.array([2 * low, max(2 * low, high)])


def test_favourable_data_sets_are_those_with_the_best_ranks():
    scores = np.array([[[0.9, 0.1, 0.2], [0.5, 0.6, 0.1], [0.5, 0.1, 0.2], [0.1, 0.2, 0.3]]])
    assert choose_favourable(scores, 3)[0, :, 0].tolist() == [0.9, 0.5, 0.5]
    assert is_best(choose_favourable(scores, 2)).tolist() == [True]
    assert is_best(scores[:, 3:]).tolist() == [False]


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [
        ((0.8, 0.6, 0.4), REPRODUCED),
        ((0.51, 0.6, 0.4), DIRECTION),
        ((0.8, 0.6, 0.12), INCONCLUSIVE),
        ((0.8, 0.1, 0.4), CONTRADICTED),
    ],
)
def test_a_mediocre_learner_is_compared_with_chance(rates, verdict):
    """1/2, 1/4 and 1/8 for two, four and eight learners."""
    rows = [
        {
            "learners": k,
            "available": 20,
            "chosen": 10,
            "learner is": list(GAPS)[1],
            "best": rate,
            "best, low": rate - 0.02,
            "best, high": rate + 0.02,
        }
        for k, rate in zip((2, 4, 8), rates, strict=True)
    ]
    assert judge_mediocre(pd.DataFrame(rows)).verdict == verdict


def test_largest_set_of_domains_on_which_a_learner_wins():
    """b wins on two of four domains and is last of two on the others: it leads on three at most."""
    table = pd.DataFrame({"a": [9, 9, 1, 1], "b": [1, 1, 9, 9]}, index=list("wxyz"))
    found = choose_domains(table).set_index("learner")
    assert found["best on at most"].tolist() == [3, 3]
    assert set(found.loc["b", "for example"].split(", ")) >= {"y", "z"}
    printed = choose_domains(read_published("tutorial_ten_domains_accuracy").set_index("dataset")).set_index("learner")
    assert printed.loc["RandomForest", "best on at most"] == 10
    assert (printed["best on at most"] > 0).sum() >= 3


def test_cherry_picking_section(tmp_path, frame):
    section = build_cherry_picking(Request("smoke", tmp_path))
    assert [claim.verdict for claim in section.claims] == [INCONCLUSIVE]
    assert frame(section, "cherry_picking").shape == (6, 2 + 4)
    assert len(section.figures) == 1


# The experiment


@pytest.fixture(scope="module")
def without_data(tmp_path_factory):
    """The request and its reproduction if no data set is found: all worked examples remain."""
    folder = tmp_path_factory.mktemp("tutorial")
    request = Request("smoke", folder, 1, False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(folder))
        return request, run(request)


def test_worked_examples_need_no_data(without_data):
    _, reproduction = without_data
    names = {table.name for table in reproduction.tables}
    examples = {"kappa", "rmse", "information_score", "t_test", "cohens_d", "sign_test", "wilcoxon", "wilcoxon_folds"}
    assert examples | {"friedman", "nemenyi", "anneal_printed", "known_error", "repeated_tests"} <= names
    assert len(names) == len(reproduction.tables)
    assert len(reproduction.values["printed_errors"]) == 7
    assert examples | {"anova", "t_test_assumptions", "cherry_picking", "cherry_picking_domains"} <= names


def test_missing_data_sets_are_named(without_data):
    _, reproduction = without_data
    assert set(DOMAINS["eight_learners"]) <= set(reproduction.skipped)
    assert set(reproduction.skipped) <= set(DOMAINS["eight_learners"]) | set(DOMAINS["ten_domains"])


def test_only_claims_about_printed_input_are_judged_at_smoke_scale(without_data):
    _, reproduction = without_data
    inconclusive = [claim for claim in reproduction.claims if claim.verdict == INCONCLUSIVE]
    assert len(inconclusive) == 9 + 6 + 2 + 1  # estimates, tests, unequal variances, choice of data sets
    assert {claim.kind for claim in inconclusive} == {"claim"}


def test_arithmetic_is_not_a_claim(without_data):
    """Without data, only the simulations and the variances of Labour are claims; all else is recomputed."""
    counts = Counter(claim.kind for claim in without_data[1].claims)
    assert counts == {"claim": 9 + 6 + 1 + 2, "printed": 28}


def test_corrected_tests_lead_to_the_same_conclusions(without_data):
    """The answer says so: all printed conclusions of tests are reproduced."""
    conclusions = [
        claim
        for claim in without_data[1].claims
        if re.search(r"sign test|Wilcoxon test finds|classifiers differ|A and B differ", claim.text)
    ]
    assert len(conclusions) == 5
    assert {claim.verdict for claim in conclusions} == {REPRODUCED}
    assert "7 worked examples" in without_data[1].answer


def test_claims_judged_by_a_limit_state_it(without_data):
    limits = [
        read_numbers(claim.text)[-1]
        for claim in without_data[1].claims
        if "(judged as: " in claim.text and read_numbers(claim.text.partition("(judged as: ")[2])
    ]
    assert {5, 10, 0.01, 40} <= set(limits)


def test_page_renders_without_data(without_data):
    request, reproduction = without_data
    page = write_page(experiments["tutorial"], request, reproduction, [1.0]).read_text(encoding="utf-8")
    assert "# tutorial: " in page
    assert all(name in page for name in reproduction.values["printed_errors"])
    assert page.count("\n*Not run") == 9  # each study or Labour section
    assert page.index(reproduction.answer) < page.index("## Claims of the paper") < page.index("## Printed numbers")
    assert "43.29 %" in page  # kappa


def test_page_renders_with_data(shared_data, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    request = Request("smoke", tmp_path, 1, False)
    reproduction = run(request)
    page = write_page(experiments["tutorial"], request, reproduction, [1.0]).read_text(encoding="utf-8")
    assert "Not run" not in page
    assert Counter(claim.kind for claim in reproduction.claims) == {"claim": 26, "printed": 47}
    assert page.index("## Claims of the paper") < page.index("## Nine measures of eight learners") < page.index("## Details")
    for table in reproduction.tables:
        assert f"]({table.name}.csv)" in page
    for figure in tmp_path.glob("*.png"):
        assert f"]({figure.name})" in page


@pytest.mark.parametrize(("name", "n_learners"), [("eight_learners", 9), ("ten_domains", 6)])
def test_study_files_declare_learners_that_exist(name, n_learners):
    declared = declare_study(name, 10)
    assert len(declared["learners"]) == n_learners
    for entry in declared["learners"].values():
        plain = {key: value for key, value in entry.get("parameters", {}).items() if not isinstance(value, dict)}
        make_learner(entry["learner"], **plain)
    assert declared["resampling"] == {"scheme": "weka", "folds": 10, "random_state": 1}


def test_missing_data_sets_are_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    inputs = TutorialInputs.load(Request("quick", tmp_path, 1, False))
    assert (inputs.eight_learners, inputs.ten_domains, inputs.labour) == (None, None, None)
    assert set(inputs.missing) == set(DOMAINS["eight_learners"]) | set(DOMAINS["ten_domains"])
    assert all("FAIRTRIAL_DATA" in reason and "?" not in reason for reason in inputs.missing.values())


@pytest.mark.parametrize("seed", [1, 23])
def test_study_has_the_seed_of_the_request(seed, tmp_path, monkeypatch):
    """WEKA's folds stay those of the slides."""

    class RecordedStudy:
        name = "recorded"

        def __init__(self, data, seed, resampling, **others):
            self.seeds = seed, resampling["random_state"]

        def run(self, *args, **options):
            return self.seeds

    monkeypatch.setattr("fairtrial.reproduce.tutorial.inputs.load_datasets", lambda names: (dict.fromkeys(names), {}))
    monkeypatch.setattr("fairtrial.study.study.Study", RecordedStudy)
    inputs = TutorialInputs.load(Request("quick", tmp_path, 1, False, seed=seed))
    assert inputs.eight_learners == inputs.ten_domains == (seed, 1)


def test_pooled_rows_are_those_of_a_plain_loop(small_study, labour):
    pooled = pool_predictions(small_study, "Labour", "C4.5")
    y_true, probabilities, priors = [], [], []
    for train, test in WekaFolds(10, random_state=1).freeze(labour.X, labour.y):
        learner = C45().fit(labour.X.iloc[train], labour.y.iloc[train])
        probabilities.append(learner.predict_proba(labour.X.iloc[test]))
        y_true += labour.y.iloc[test].astype(str).tolist()
        count = (labour.y.iloc[train].astype(str) == "bad").sum() + 1
        priors += [count / (len(train) + 2)] * len(test)
    assert pooled.y_true.tolist() == y_true
    np.testing.assert_allclose(pooled.probabilities, np.vstack(probabilities))
    np.testing.assert_allclose(pooled.priors[:, pooled.classes.index("bad")], priors)
    np.testing.assert_allclose(pooled.get_scores("good"), np.vstack(probabilities)[:, 1])
    assert (~pooled.correct).sum() == 15  # WEKA: 15 of 57 wrong


def test_rows_that_the_study_lacks_are_none(small_study):
    assert pool_predictions(small_study, "Labour", "RanF") is None
    assert pool_predictions(small_study, "Nowhere", "NB") is None


def test_claims_on_other_folds_are_inconclusive(small_study, two_folds):
    claims = [Claim("x", REPRODUCED, "seen"), Claim("y", INCONCLUSIVE, "seen")]
    assert (count_folds(small_study), count_folds(two_folds)) == (10, 2)
    assert list(require_printed_folds(claims, small_study)) == claims
    assert [claim.verdict for claim in require_printed_folds(claims, two_folds)] == [INCONCLUSIVE, INCONCLUSIVE]
    assert read_numbers(require_printed_folds(claims, two_folds)[0].details) == [2, 10]
