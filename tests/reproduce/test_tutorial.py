"""Repeat the examples and tables of the tutorial of Japkowicz."""

import math

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
from fairtrial.reproduce.claim import Claim, estimate_mean
from fairtrial.reproduce.experiment import Request, experiments, read_published
from fairtrial.reproduce.page import write_page
from fairtrial.reproduce.tutorial import curves, measures, significance, simulations, weka_tables
from fairtrial.reproduce.tutorial.curves import (
    ADABOOST,
    NAIVE_BAYES,
    build_cost_curves,
    build_projection,
    build_three_domains,
    do_curves_cross,
    judge_anneal,
    judge_cost_winners,
    merge_crowded_points,
)
from fairtrial.reproduce.tutorial.experiment import run
from fairtrial.reproduce.tutorial.inputs import (
    DOMAINS,
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
)
from fairtrial.reproduce.tutorial.significance import C45_RATES, NB_RATES, cross_validate_labour, judge_labour_difference
from fairtrial.reproduce.tutorial.simulations import (
    ALL_FOLDS_T,
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
    DIGITS,
    build_breast_cancer,
    build_ten_domains,
    build_weka_summary,
    judge_ten_domains,
)
from fairtrial.resampling import WekaFolds
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
        assert claim.reproduced is None
    assert read_numbers(found["mcnemar"].claims[0].details)[-4:] == [2, 2, 10, 10]  # runs and folds, ours and the tutorial's
    ours = found["mcnemar"].tables[0].frame.set_index("quantity")["ours"]
    b, c = ours["only C4.5 wrong"], ours["only naive Bayes wrong"]
    assert ours["chi-squared with correction"] == max(abs(b - c) - 1, 0) ** 2 / (b + c)
    assert found["mcnemar"].values["n_discordant"] == b + c


def test_difference_is_judged_by_the_test_of_the_slide_and_both_are_reported():
    claim = judge_labour_difference(2.7e-07, 0.015)
    assert claim.reproduced is True
    assert read_numbers(claim.details) == [0.001, 0.015]  # p < 0.001 by the test of the slide
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
    assert ranks.loc["NB", "tpr"] == "1"
    assert ranks.loc["C4.5", "acc"] == "1"
    best = {tuple(ranks.index[[str(rank).split()[0] == "1" for rank in ranks[name]]]) for name in ranks}
    values = breast_cancer["ranks"].values
    assert {tuple(learners.split("/")) for learners in values["winners"]} == best
    assert sorted(name for names in values["winners"].values() for name in names) == sorted(DIGITS)


def test_errors_of_the_printed_ranks_are_listed(breast_cancer):
    errors = breast_cancer["ranks"].values["errors"]
    assert len(errors) == 4
    assert "Boost precision 7 instead of 5" in errors


def test_efficiency_of_the_printed_table(breast_cancer, frame):
    printed = frame(breast_cancer["efficiency"], "efficiency", "learner")["efficiency of the printed table"]
    # linear programs over all eight printed rows: only the three run here are shown
    assert printed.to_dict() == pytest.approx({"Boost": 1.0, "C4.5": 1.0, "NB": 0.9676}, abs=5e-5)


def test_claims_about_breast_cancer(breast_cancer, with_bagging):
    names = breast_cancer["measures"].values["same"]
    outcomes = dict(zip(names, [claim.reproduced for claim in breast_cancer["measures"].claims], strict=True))
    assert outcomes["NB"] is True
    assert outcomes["C4.5"] is None
    assert [claim.reproduced for claim in breast_cancer["ranks"].claims] == [True]  # the measures have different winners
    assert {claim.reproduced for section in with_bagging.values() for claim in section.claims} == {None}


def test_learners_that_are_not_those_of_weka_are_counted_separately(with_bagging, frame):
    values = with_bagging["measures"].values
    lines = frame(with_bagging["measures"], "measures_by_line")
    assert (values["same"], values["other"]) == (["NB", "C4.5"], ["Bagg"])
    assert values["n_other"] == lines.loc[lines["learner"] == "Bagg", "agrees"].sum()


def test_page_shows_as_many_digits_as_are_printed(breast_cancer, frame):
    table = frame(breast_cancer["measures"], "measures")
    row = table[(table["learner"] == "NB") & (table["source"] == "tutorial")].iloc[0]
    # the slide: 71.7 .4534 .44 .16 .53 .44 .48 .7 48.11
    shown = [f"{row[name]}" for name in ("acc", "rmse", "tpr", "auc", "info_score")]
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
    outcomes = dict(zip(weka_tables.LEARNERS, [claim.reproduced for claim in ten_domains.claims], strict=True))
    assert outcomes["AdaBoost"] is True


def test_intervals_are_those_of_nadeau_and_bengio(domain_results, ten_domains, frame):
    """Means of ten folds, each testing a tenth: variance (1/10 + 1/9) times that of the folds, t with 9 degrees."""
    scores = domain_results.scores("accuracy")
    values = 100 * scores[(scores["dataset"] == "Hepatitis") & (scores["learner"] == "NB")]["value"].to_numpy()
    line = frame(ten_domains, "ten_domains_by_line", ["dataset", "learner"]).loc[("Hepatitis", "NB")]
    expected = 2 * 2.262157 * np.sqrt((1 / 10 + 1 / 9) * values.var(ddof=1))
    assert line["high"] - line["low"] == pytest.approx(expected, rel=1e-3)


def test_one_domain_on_other_folds_is_inconclusive(shared_data, tmp_path_factory):
    section = build_ten_domains(run_domains(shared_data, tmp_path_factory, 2, ["Contact Lenses"]))
    assert {claim.reproduced for claim in section.claims} == {None}
    assert section.values["n_folds"] == 2
    assert [table.name for table in section.tables] == ["ten_domains", "ten_domains_by_line"]


def test_a_column_that_differs_on_some_domains_is_inconclusive():
    claims = judge_ten_domains({"NB": 10, "SVM": 8, "AdaBoost": 10, "RandomForest": 0}, 10)
    assert [claim.reproduced for claim in claims] == [True, None, True, None]
    assert read_numbers(claims[1].details)[:2] == [8, 10]


def test_every_number_of_the_summary_is_the_one_that_weka_prints(small_study, frame):
    (section,) = build_weka_summary(small_study)
    table = frame(section, "weka_summary")
    printed = table[table["tutorial"].notna()]
    assert len(printed) == 33
    assert (printed["agreement"] == "agrees").all()
    assert section.claims[0].reproduced is True
    assert section.values["n_agreeing"] == section.values["n_printed"] == 33


def test_summary_on_other_folds_is_inconclusive(two_folds):
    (section,) = build_weka_summary(two_folds)
    assert section.claims[0].reproduced is None
    assert section.values["n_agreeing"] < 33


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


@pytest.mark.parametrize(("names", "reproduced"), [(["", "NB", ""], False), (["", "", ""], False), (["", "NB", "C4.5"], True)])
def test_two_learners_must_win_somewhere(names, reproduced):
    limits = np.linspace(0, 1, len(names) + 1)
    winner = ["learner" if name else "no better than a trivial classifier" for name in names]
    winners = pd.DataFrame({"start": limits[:-1], "end": limits[1:], "winner": winner, "learner": names})
    assert judge_cost_winners(winners).reproduced is reproduced


def test_curves_on_other_folds_are_inconclusive(two_folds):
    (section,) = build_cost_curves(two_folds)
    assert section.claims[0].reproduced is None
    assert section.values["n_folds"] == 2


def test_distances_of_the_printed_matrices(curve_sections, frame):
    """Known numbers: AdaBoost L2 151.427, L1 294; naive Bayes L2 148.674, L1 246."""
    section = curve_sections["anneal_printed"]
    ours = frame(section, "anneal_printed")["ours"].tolist()
    assert ours[:4] == pytest.approx([151.427, 148.674, 294, 246], abs=1e-3)
    assert np.sum(ADABOOST) == np.sum(NAIVE_BAYES) == 898
    assert all(claim.reproduced for claim in section.claims)


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
    distances = {"L2": pd.Series({"NB": 3.0, "Boost": 2.0, "C4.5": 1.0})}
    moved = np.array(NAIVE_BAYES)
    moved[0, 0], moved[0, 2] = 6, 2
    outcomes = []
    for cells in (NAIVE_BAYES, moved):
        farthest, same = judge_anneal(distances, {"NB": [np.array(cells)], "Boost": [np.array(ADABOOST)]})
        assert farthest.reproduced is True
        outcomes.append(same.reproduced)
    assert outcomes == [True, None]
    assert read_numbers(same.details) == [1, 0]  # rows of NB and of Boost in other cells


def test_a_projection_on_other_folds_is_inconclusive(monkeypatch, two_folds):
    claim = judge_cost_winners(pd.DataFrame({"start": [0, 1], "end": [1, 2], "winner": "learner", "learner": ["a", "b"]}))
    assert claim.reproduced is True
    monkeypatch.setattr(curves, "_judge_binary_domains", lambda *_: [claim])
    assert build_projection(two_folds, ["Breast Cancer", "Labour"]).claims[0].reproduced is None


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


def test_two_folds_do_not_judge_stratification(resampling):
    assert resampling.claims[0].reproduced is None
    proportions = pd.DataFrame({"lowest in test": [0.1, 0.3], "highest in test": [0.6, 0.4]})
    assert judge_stratification(proportions, 10).reproduced is True
    assert judge_stratification(proportions[::-1], 10).reproduced is False
    assert judge_stratification(proportions, 2).reproduced is None


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
    assert [claim.reproduced for claim in section.claims] == [None, None]


@pytest.mark.parametrize(
    ("n_resamples", "p", "reproduced"),
    # the lowest p of n bogus data sets is 1 / (n + 1): with 19 it is 0.05 itself
    # 20 of 500 leave a p of 0.023 to 0.059 (Clopper and Pearson), which contains 0.05
    [
        (3, 0.25, [None, None]),
        (19, 0.05, [None, None]),
        (99, 0.01, [True, False]),
        (99, 0.4, [None, None]),
        (499, 0.04, [None, None]),
    ],
)
def test_claims_need_enough_bogus_data(n_resamples, p, reproduced):
    line = {"accuracy": 0.9, "p, permuted": p, "p, switched": p}
    claims = judge_permutation(line, line, n_resamples, 37, 57)
    assert [claim.reproduced for claim in claims] == reproduced
    assert read_numbers(claims[1].details)[-3:] == [37, 57, 0.033]  # rows of the majority class, all rows, probability


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
    assert {claim.reproduced for claim in claims} == {None}
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
    assert judge_smaller("x", errors, "a", "b", DEVIATION).reproduced is True
    assert judge_smaller("x", errors, "b", "a", DEVIATION).reproduced is False
    assert judge_smaller("x", errors, "a", "a", DEVIATION).reproduced is None
    assert judge_smaller("x", make_errors(n=3), "a", "b", DEVIATION).reproduced is None
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
    assert claim.reproduced is False
    assert "l, p: " in claim.details
    assert "m, p: " in claim.details
    undecided = pd.concat([one, other.assign(b=other["a"])])
    assert judge_smaller("x", undecided, "a", "b", DEVIATION).reproduced is None


def test_learners_exempted_by_the_slides_are_reported_and_not_judged():
    one, other = make_errors(), make_errors(learners=("m",)).rename(columns={"a": "b", "b": "a"})
    claim = judge_smaller("x", one, "a", "b", DEVIATION, exempt=other)
    assert claim.reproduced is True
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
    assert better.reproduced is True
    assert "1NN, small error" in better.details  # exempted by the slides, but reported
    assert poor_for_neighbours.reproduced is True


@pytest.mark.parametrize(("centre", "spread", "reproduced"), [(0.0, 0.01, True), (0.0, 0.5, None), (0.1, 0.01, False)])
def test_unbiased_needs_the_whole_interval(centre, spread, reproduced):
    errors = pd.DataFrame({"replicate": range(100), "a": centre + spread * np.array([-1.0, 1.0] * 50)})
    assert estimate_bias(errors, "a").is_within(0.01) is reproduced


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
    assert judge_more_rejections("x", data, "a", "b").reproduced is True
    assert judge_more_rejections("x", data, "b", "a").reproduced is False
    assert judge_more_rejections("x", data, "a", "c").reproduced is None


def test_interval_is_that_of_the_paired_t_test():
    """Four of 20 pairs differ: the normal quantile would find a difference more readily than Student's."""
    data = pd.DataFrame({"a": [True] * 4 + [False] * 16, "b": [False] * 20})
    expected = ttest_rel(data["a"].astype(float), data["b"].astype(float)).confidence_interval()
    assert f"+0.200 ({expected.low:+.3f} to {expected.high:+.3f})" in judge_more_rejections("x", data, "a", "b").details


def test_repeated_tests_section(tmp_path, frame):
    section = build_repeated_tests(Request("smoke", tmp_path))
    table = frame(section, "repeated_tests")
    assert len(table) == 7
    assert ((table["power, low"] <= table["power"]) & (table["power"] <= table["power, high"])).all()
    assert [claim.reproduced for claim in section.claims] == [None] * 6


def test_claims_about_10x10_also_report_the_calibrated_test():
    """The plain test always rejects, the calibrated one never does: only the former decides."""
    data = pd.DataFrame({name: [False, True] * 50 for name in (FOLD_T, FIVE_T, FIVE_F)})
    data[ALL_FOLDS_T], data[CALIBRATED] = True, False
    for claim in judge_repeated_tests({"equal": data, "different": data})[-2:]:
        assert claim.reproduced is True
        assert all(name in claim.details for name in (ALL_FOLDS_T, CALIBRATED, FOLD_T))
        assert "-0.500" in claim.details  # the calibrated test minus the t test over 10 folds


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
    assert len(reproduction.values["printed_errors"]) == 6


def test_missing_data_sets_are_named(without_data):
    _, reproduction = without_data
    assert set(DOMAINS["eight_learners"]) <= set(reproduction.skipped)
    assert set(reproduction.skipped) <= set(DOMAINS["eight_learners"]) | set(DOMAINS["ten_domains"])


def test_only_claims_about_printed_input_are_judged_at_smoke_scale(without_data):
    _, reproduction = without_data
    inconclusive = [claim for claim in reproduction.claims if claim.reproduced is None]
    assert len(inconclusive) == 9 + 6  # both simulations


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
    assert "43.29 %" in page  # kappa


def test_page_renders_with_data(shared_data, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    request = Request("smoke", tmp_path, 1, False)
    reproduction = run(request)
    page = write_page(experiments["tutorial"], request, reproduction, [1.0]).read_text(encoding="utf-8")
    assert "Not run" not in page
    assert len(reproduction.claims) == 63
    for table in reproduction.tables:
        assert f"]({table.name}.csv)" in page
    for figure in tmp_path.glob("*.png"):
        assert f"]({figure.name})" in page


@pytest.mark.parametrize(("name", "n_learners"), [("eight_learners", 8), ("ten_domains", 6)])
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
    claims = [Claim("x", True, "seen"), Claim("y", None, "seen")]
    assert (count_folds(small_study), count_folds(two_folds)) == (10, 2)
    assert list(require_printed_folds(claims, small_study)) == claims
    assert [claim.reproduced for claim in require_printed_folds(claims, two_folds)] == [None, None]
    assert read_numbers(require_printed_folds(claims, two_folds)[0].details) == [2, 10]
