"""Worked examples of measures and tests, and how printed numbers are compared."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.experiment import Request, read_published
from fairtrial.reproduce.tutorial import measures, significance
from fairtrial.reproduce.tutorial.inputs import TutorialInputs
from fairtrial.reproduce.tutorial.printed import DisplayedNumber, PrintedResult, judge_printed, tabulate_results
from fairtrial.reproduce.tutorial.significance import C45_RATES, NB_RATES, cross_validate_labour, judge_labour_difference


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    inputs = TutorialInputs(Request("smoke", tmp_path_factory.mktemp("examples")), None, None, None, {})
    return {section.name: section for topic in (measures, significance) for section in topic.build_sections(inputs)}


@pytest.fixture(scope="module")
def lines(sections):
    """Tables of the sections by name, indexed by the quantity."""
    return {name: section.tables[0].frame.set_index("quantity") for name, section in sections.items()}


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
    assert judge_printed("x", [right, unprinted]).reproduced is True
    assert judge_printed("x", [right, wrong]).reproduced is False
    assert judge_printed("x", [unprinted]).reproduced is None


def test_details_are_the_numbers_of_the_claim():
    results = [
        PrintedResult("t", 7.86449, 8.0845, 4),
        PrintedResult("p", 2.5361e-05, 2.536e-05, 8),
        PrintedResult("d", 3.4),
    ]
    expected = "t: 7.86449 (printed 8.0845); p: 2.5361e-05 (printed 2.536e-05); why"
    assert judge_printed("x", results, "why").details == expected


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


def test_information_score_subtracts_what_misleads(lines):
    """Kononenko and Bratko; the slide adds the fourth (ERRATA)."""
    table = lines["information_score"]
    assert table.loc["case 4: probability 0.75, true class 0", "ours"] == pytest.approx(-0.321928, abs=1e-6)
    assert table.loc["mean", "ours"] == pytest.approx(0.2682, abs=5e-5)
    assert table.loc["mean without signs", "agreement"] == "agrees"


def test_claims_that_the_printed_input_contradicts(sections):
    contradicted = {
        name: [claim.text for claim in section.claims if claim.reproduced is False] for name, section in sections.items()
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


# Labour run again


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
        assert claim.reproduced is None
    assert "2 runs of 2 folds" in found["mcnemar"].claims[0].details
    ours = found["mcnemar"].tables[0].frame.set_index("quantity")["ours"]
    b, c = ours["only C4.5 wrong"], ours["only naive Bayes wrong"]
    assert ours["chi-squared with correction"] == max(abs(b - c) - 1, 0) ** 2 / (b + c)
    assert found["mcnemar"].values["n_discordant"] == b + c


def test_difference_is_judged_by_the_test_of_the_slide_and_both_are_reported():
    claim = judge_labour_difference(2.7e-07, 0.015)
    assert claim.reproduced is True
    assert "p = 2.7e-07" in claim.details
    assert "p = 0.015" in claim.details
    assert judge_labour_difference(0.2, 0.4).reproduced is None


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
