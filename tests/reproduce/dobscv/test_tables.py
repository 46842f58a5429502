"""Averages over folds, differences with intervals, and Tables 3 to 5 compared with the published ones."""

from itertools import takewhile

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, SCV
from fairtrial.reproduce.dobscv.tables import (
    PUBLISHED_COLUMNS,
    FoldAverages,
    build_effects_table,
    build_table3,
    build_table4,
    build_table5,
    compare_our_rows,
    estimate_effects,
    estimate_family_mean,
    predict_single_run,
    rank_differences,
)
from fairtrial.reproduce.experiment import read_published, read_study_file
from tests.reproduce.dobscv.conftest import LEARNERS, make_averages


def average(imbalance, *folds):
    """Averages of C4.5 from tuples (scheme, run, data set, values of the folds)."""
    rows = [
        (scheme, run, dataset, "C4.5", fold, value)
        for scheme, run, dataset, values in folds
        for fold, value in enumerate(values)
    ]
    scores = pd.DataFrame(rows, columns=["scheme", "run", "dataset", "learner", "fold", "value"])
    return FoldAverages.from_scores(scores, imbalance)


def test_mean_and_deviation_are_those_of_the_paper():
    # Table 4, SMO on Shuttle0vs4: .9960 +- .0089 is one fold of .98 among perfect ones.
    averages = average({"s": 13.87}, (SCV, 0, "s", [1, 1, 0.98, 1, 1])).frame
    assert averages.loc[0, "auc"] == pytest.approx(0.9960)
    assert averages.loc[0, "sd"] == pytest.approx(0.0089, abs=5e-5)
    assert averages.loc[0, "group"] == "IR>9"


def test_a_dataset_with_a_failure_is_dropped():
    folds = ((SCV, 0, "a", [1, 1]), (LITERAL, 0, "a", [1, np.nan]), (SCV, 0, "b", [0.5, 0.7]))
    averages = average({"a": 2.0, "b": 9.0}, *folds).frame
    assert averages["dataset"].tolist() == ["b"]
    assert averages["group"].tolist() == ["IR>9"]


def test_runs_are_paired_by_their_number():
    folds = [(scheme, run, "a", [start + step * run]) for run in range(2) for scheme, start, step in
             ((SCV, 0.5, 0.1), (LITERAL, 0.6, 0.2))]  # fmt: skip
    averages = average({"a": 2.0}, *folds)
    assert averages.bases == [SCV]
    differences = averages.compare_runs()
    assert differences["value"].tolist() == pytest.approx([0.1, 0.2])
    assert differences["percent"].tolist() == pytest.approx([20.0, 100 * 0.2 / 0.6])


def test_keels_folds_are_the_first_base():
    assert FoldAverages(pd.DataFrame({"scheme": [SCV, GIVEN]})).bases == [GIVEN, SCV]


def test_95_of_100_single_runs_lie_in_the_interval():
    rng = np.random.default_rng(1)
    runs = pd.DataFrame({"key": np.repeat(np.arange(4000), 5), "value": rng.normal(size=20_000)})
    predicted = predict_single_run(runs, ["key"])
    another = rng.normal(size=4000)
    n_inside = ((predicted["low"] <= another) & (another <= predicted["high"])).sum()
    assert stats.binomtest(int(n_inside), 4000, 0.95).pvalue > 0.001


def test_one_run_has_no_interval():
    predicted = predict_single_run(pd.DataFrame({"key": [1], "value": [0.5]}), ["key"])
    assert predicted["value"].tolist() == [0.5]
    assert predicted[["low", "high"]].isna().all(axis=None)


def test_the_interval_is_over_families_of_means_over_runs():
    shift = np.random.default_rng(1).normal(0.01, 0.02, size=66)
    averages = make_averages(
        lambda scheme, _, index, run: 0.7 + (shift[index] + (0.1 if run else -0.1) if "DOB" in scheme else 0.0)
    )
    effect = estimate_effects(averages.compare_datasets(LITERAL, GIVEN))["SMO"]
    assert effect.value == pytest.approx(shift.mean())
    names = list(read_study_file("dobscv")["data"])
    families = np.array(["".join(takewhile(lambda char: not char.isdigit(), name)) for name in names])
    sums = [(shift - shift.mean())[families == family].sum() for family in dict.fromkeys(families)]
    count = len(sums)
    error = np.sqrt(count / (count - 1) * np.square(sums).sum()) / 66
    assert effect.high - effect.value == pytest.approx(stats.t.ppf(0.975, count - 1) * error)
    assert effect.degrees_of_freedom == count - 1


def test_unrelated_datasets_have_the_usual_interval():
    values = pd.Series([0.1, 0.3, -0.2, 0.5], index=["Pima", "Glass1", "Yeast3", "Ecoli2"])
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    effect = estimate_family_mean(values)
    assert (effect.low, effect.high) == pytest.approx((expected.low, expected.high))
    assert np.isnan(estimate_family_mean(values.iloc[:1]).low)


def test_rounding_errors_are_not_differences():
    averages = make_averages(lambda scheme, *_: 0.1 + 0.2 if "DOB" in scheme else 0.3)
    assert (averages.compare_datasets(LITERAL, GIVEN) == 0).all().all()
    assert set(build_effects_table(averages).frame["higher"]) == {0}
    assert set(averages.rank_sums["higher"]) == {0}


def test_more_runs_do_not_narrow_the_interval(rising):
    more = make_averages(lambda scheme, _, index, __: 0.7 + (0.001 * (index + 1) if "DOB" in scheme else 0.0), runs=6)
    two, six = (estimate_effects(averages.compare_datasets(LITERAL, SCV))["C4.5"] for averages in (rising, more))
    assert two.high - two.low == pytest.approx(six.high - six.low)


def test_effects_have_all_pairs_and_the_published_differences(rising, few):
    effects = build_effects_table(rising).frame
    assert len(effects) == 5 * 2 * 2
    published = effects.drop_duplicates("learner").set_index("learner")["published"]
    assert published["C4.5"] == pytest.approx(0.8439 - 0.8288)
    assert effects["difference"].tolist() == pytest.approx([0.0335] * 20)  # the mean of 0.001 to 0.066
    assert set(effects["higher"]) == {66}
    assert build_effects_table(few).frame["published"].isna().all()


def test_datasets_and_learners_keep_their_order(rising):
    means = rising.average_runs(LITERAL)
    assert tuple(means.columns) == LEARNERS
    assert means.index[0] == rising.frame["dataset"].iloc[0]


def test_a_dataset_without_the_base_is_dropped(rising):
    frame = rising.frame
    name = frame["dataset"].iloc[0]
    fewer = FoldAverages(frame[~((frame["dataset"] == name) & (frame["scheme"] == GIVEN))])
    assert name not in fewer.compare_datasets(LITERAL, GIVEN).index
    assert len(fewer.compare_datasets(LITERAL, GIVEN)) == 65


def test_published_averages_have_no_difference():
    published = read_published("dobscv_table3").set_index(["learner", "group"])

    def value(scheme, learner, index, _run):
        return published.loc[(learner, "IR<9" if index < 22 else "IR>9"), f"auc_{PUBLISHED_COLUMNS[scheme]}"]

    table = build_table3(make_averages(value))[0].frame
    assert table["difference"].abs().max() < 1e-4  # that of all sets follows from 22 and 44 sets, to the printed digits
    assert len(table) == 5 * 3 * 4


def test_percentages_are_means_over_datasets():
    averages = make_averages(lambda scheme, _, index, __: 0.5 if "DOB" not in scheme else 0.6 if index < 33 else 0.5)
    table = build_table3(averages)[2].frame.query("group == 'all'")
    assert table["ours"].tolist() == pytest.approx([10.0] * len(table))
    published = table.drop_duplicates("learner").set_index("learner")["published"].to_dict()
    assert published == {"C4.5": 2.32, "Chi": 1.00, "1-NN": 1.81, "SMO": 0.47, "PDFC": 0.69}


def test_some_datasets_are_not_compared_with_published_averages(few):
    table = build_table3(few)[0]
    assert table.frame["published"].isna().all()
    assert "2 of the 66 data sets" in table.note


def test_rows_keep_our_order_and_other_rows_are_dropped():
    table = build_table3(make_averages(lambda *_: 0.8))[0].frame
    assert table["learner"].drop_duplicates().tolist() == list(LEARNERS)
    keys = ["learner", "group", "scheme"]
    published = table[keys].assign(value=0.5)
    assert len(compare_our_rows(table.iloc[[3]].rename(columns={"ours": "value"}), published, keys)) == 1


def test_agreement_counts_published_values_within_the_interval():
    published = read_published("dobscv_table4_part").set_index(["dataset", "learner"])
    names = list(published.index.get_level_values(0).unique()[:4])

    def value(scheme, learner, index, run):
        auc = published.loc[(names[index], learner), f"auc_{PUBLISHED_COLUMNS[scheme]}"]
        return auc + (0.01 if run else -0.01) + (0.5 if scheme == LITERAL else 0)

    agreement, available, table = (table.frame for table in build_table4(make_averages(value, names=names)))
    exact = agreement[agreement["scheme"] == GIVEN]
    assert exact["mean absolute difference"].max() < 1e-12
    assert set(exact["published within interval"]) == {"4 of 4"}
    assert set(agreement.loc[agreement["scheme"] == LITERAL, "published within interval"]) == {"0 of 4"}
    assert len(available) == len(table) == 4 * 5 * 4


def test_only_some_rows_of_table4_are_available(few):
    agreement = build_table4(few)[0].frame.set_index(["learner", "scheme"])
    assert agreement.loc[("C4.5", GIVEN), "mean absolute difference"] == pytest.approx(0.0044)  # .8044 is printed
    assert not len(build_table4(make_averages(lambda *_: 0.8, names=["Glass1"]))[0].frame)


def test_the_misprint_of_yeast1458vs7_is_as_the_note_says():
    published = read_published("dobscv_table4_part").set_index(["dataset", "learner"])
    misprint, glass = published.loc[("Yeast1458vs7", "C4.5")], published.loc[("Glass5", "C4.5")]
    assert misprint["auc_scv"] == glass["auc_scv"] == 0.8829
    assert misprint["auc_dobscv"] / (1 + misprint["pct_diff"] / 100) == pytest.approx(0.5230, abs=5e-5)


def test_rank_sums_are_demsars(find_published):
    table = pd.read_csv(find_published("demsar_2006_table6_auc")).select_dtypes("number")
    plus, minus, p, _, _ = rank_differences((table["C4.5+m"] - table["C4.5"]).round(6).to_numpy())
    assert (plus, minus) == (93.0, 12.0)
    assert p == pytest.approx(2 * stats.norm.cdf(-2.5424), abs=2e-5)


def test_published_sums_show_65_or_66_ranked_datasets():
    published = read_published("dobscv_table5_wilcoxon")
    assert set(published["r_plus"] + published["r_minus"]) == {65 * 66 / 2, 66 * 67 / 2}


@pytest.mark.parametrize(("zeros", "total"), [(0, 2211), (1, 2145), (2, 2211)])
def test_zeros_are_split_and_an_odd_one_is_dropped(zeros, total):
    values = np.arange(1.0, 67.0)
    values[:zeros] = 0
    plus, minus, *_ = rank_differences(values)
    assert plus + minus == total


def test_all_higher_is_the_largest_sum(rising):
    assert set(rising.rank_sums["R+"]) == {2211.0}
    assert set(rising.rank_sums["higher"]) == {66}
    table = build_table5(rising).frame
    is_chosen = (table["comparison"] == f"{LITERAL} against {GIVEN}") & (table["learner"] == "SMO")
    rows = table[is_chosen].set_index("quantity")
    assert rows.loc["R+", "difference"] == 2211 - 1395
    assert rows.loc["R-", "difference"] == -816
    assert rows.loc["p", "published"] == 0.0639
