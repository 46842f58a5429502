"""Gaps between subgroups and the rest of the rows, through `judge` and the command line."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep

from fairtrial import judge
from fairtrial.errors import FairtrialError

ROW = np.arange(60)
Y_TRUE = ((ROW * 7) % 11 < 5).astype(int)
GROUPS = np.array(list("aabbbc"))[ROW % 6]
Y_PRED = np.where((GROUPS == "c") & (ROW % 4 == 0), 1, ((ROW * 5) % 13 < 6).astype(int))
# fairlearn 0.15.0, MetricFrame(metrics, y_true=Y_TRUE, y_pred=Y_PRED, sensitive_features=GROUPS).by_group
BY_GROUP = {
    "selection_rate": {"a": 0.45, "b": 0.5, "c": 0.4},
    "recall": {"a": 0.5555555555555556, "b": 0.42857142857142855, "c": 0.25},
    "fpr": {"a": 0.36363636363636365, "b": 0.5625, "c": 0.5},
    "accuracy": {"a": 0.6, "b": 0.43333333333333335, "c": 0.4},
    "precision": {"a": 0.5555555555555556, "b": 0.4, "c": 0.25},
}
RATES = list(BY_GROUP)


def make_labels(**columns):
    return pd.DataFrame({"y_true": Y_TRUE, "tree": Y_PRED, "part": GROUPS}).assign(**columns)


def make_scores(n=600, seed=0, weak="south", separation=0.2, regions=("north", "south", "east")):
    rng = np.random.default_rng(seed)
    y, region = rng.integers(0, 2, n), rng.choice(list(regions), n)
    logit = np.where(region == weak, separation, 1.5) * (2 * y - 1) + rng.normal(size=n)
    return pd.DataFrame({"row": np.arange(n), "y_true": y, "region": region, "tree_proba": 1 / (1 + np.exp(-logit))})


def get_gaps(judgement, measure, model=None):
    gaps = judgement.gaps[judgement.gaps["measure"] == measure]
    return (gaps if model is None else gaps[gaps["model"] == model]).set_index("subgroup")


def test_values_are_those_of_fairlearn():
    judgement = judge(make_labels(), subgroup="part", positive=1, resamples=20)
    for measure, expected in BY_GROUP.items():
        assert get_gaps(judgement, measure)["estimate"].to_dict() == pytest.approx(expected)


def test_the_rest_is_all_rows_outside_the_subgroup():
    judgement = judge(make_labels(), subgroup="part", positive=1, resamples=20)
    for name, line in get_gaps(judgement, "accuracy").iterrows():
        rest = (Y_TRUE == Y_PRED)[name != GROUPS].mean()
        assert line["rest"] == pytest.approx(rest)
        assert line["difference"] == pytest.approx(line["estimate"] - rest)
        assert line["rows"] == (name == GROUPS).sum()


def test_two_proportions_have_newcombe_limits():
    # Newcombe 1998, Statistics in Medicine 17:873, Table II: 56/70 - 48/80, method 10
    correct = np.repeat([1, 0, 1, 0], [56, 14, 48, 32])
    y = np.arange(150) % 2
    frame = pd.DataFrame({"y_true": y, "tree": np.where(correct, y, 1 - y), "part": np.repeat(["a", "b"], [70, 80])})
    gap = get_gaps(judge(frame, subgroup="part", resamples=20), "accuracy").loc["a"]
    assert (round(gap["low"], 4), round(gap["high"], 4)) == (0.0524, 0.3339)


@pytest.mark.parametrize("measure", ["accuracy", "recall", "precision"])
def test_p_inverts_the_limits_of_statsmodels(measure):
    frame = make_labels(part=np.where(ROW % 2, "a", "b"))
    gap = get_gaps(judge(frame, subgroup="part", positive=1, resamples=20), measure).loc["a"]
    counted = {"accuracy": ROW >= 0, "recall": Y_TRUE == 1, "precision": Y_PRED == 1}[measure]
    counts = []
    for chosen in (frame["part"] == "a", frame["part"] != "a"):
        counts += [((Y_TRUE == Y_PRED) & counted & chosen).sum(), (counted & chosen).sum()]
    n_measures = 1 if measure == "accuracy" else 4  # the four rates are adjusted together, the main measure alone
    low, high = confint_proportions_2indep(*counts, method="newcomb", compare="diff", alpha=0.05 / n_measures)
    assert (gap["low"], gap["high"]) == pytest.approx((low, high))
    limits = confint_proportions_2indep(*counts, method="newcomb", compare="diff", alpha=gap["p_value"])
    assert min(map(abs, limits)) == pytest.approx(0, abs=1e-6)
    assert gap["p_adjusted"] == pytest.approx(min(1, n_measures * gap["p_value"]))


def test_adjusted_p_is_the_probability_of_the_largest_gap():
    # Three subgroups of the same size: gaps are independent normal values minus their mean, scaled.
    rng = np.random.default_rng(3)
    correct = np.repeat([1, 0] * 3, [80, 20, 70, 30, 66, 34])
    y = np.arange(300) % 2
    frame = pd.DataFrame({"y_true": y, "tree": np.where(correct, y, 1 - y), "part": np.repeat(["a", "b", "c"], 100)})
    gaps = get_gaps(judge(frame, subgroup="part", resamples=20), "accuracy")
    draws = rng.standard_normal((200_000, 3))
    largest = np.abs((draws - draws.mean(axis=1, keepdims=True)) * np.sqrt(1.5)).max(axis=1)
    from scipy.stats import norm

    for _, line in gaps.iterrows():
        assert line["p_adjusted"] == pytest.approx((largest >= norm.isf(line["p_value"] / 2)).mean(), abs=0.015)
        assert line["p_value"] <= line["p_adjusted"] <= 3 * line["p_value"]


def test_scores_are_compared_by_any_measure():
    frame = make_scores()
    judgement = judge(frame, subgroup="region", measures=["auc", "brier", "f_score", "average_precision"], resamples=20)
    functions = {"auc": roc_auc_score, "brier": brier_score_loss, "average_precision": average_precision_score}
    functions["f_score"] = lambda y, p: f1_score(y, p > 0.5)
    for measure, compute in functions.items():
        for name, line in get_gaps(judgement, measure).iterrows():
            inside = frame["region"] == name
            values = [compute(frame["y_true"][mask], frame["tree_proba"][mask]) for mask in (inside, ~inside)]
            assert [line["estimate"], line["rest"]] == pytest.approx(values)
        south = get_gaps(judgement, measure).loc["south"]
        assert south["significant"]
        assert south["low"] < south["difference"] < south["high"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("extra", [{}, {"weight": True}, {"cluster": True}])
def test_p_values_and_limits_agree(seed, extra):
    frame = make_scores(200, seed, separation=1.0)
    frame = frame.assign(weight=np.random.default_rng(seed).uniform(0.5, 2, 200)) if "weight" in extra else frame
    options = {"cluster": "patient"} if "cluster" in extra else {}
    frame = frame.assign(patient=np.arange(200) // 3) if options else frame
    gaps = judge(frame, subgroup="region", measures=["auc", "brier", "f_score"], resamples=5, **options).gaps
    tested = gaps[gaps["p_adjusted"].notna()]
    assert len(tested) >= 18
    excludes_zero = (tested["low"] > 0) | (tested["high"] < 0)
    assert (excludes_zero == (tested["p_adjusted"] <= 0.05)).all()
    assert (tested["p_value"] <= tested["p_adjusted"] + 1e-12).all()


def test_clusters_widen_the_limits():
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(60), 8)
    easy = (rng.random(60) < 0.6)[patient]
    y = np.arange(480) % 2
    frame = pd.DataFrame(
        {"y_true": y, "tree": np.where(easy, y, 1 - y), "patient": patient, "sex": np.where(patient % 2, "f", "m")}
    )
    clustered = get_gaps(judge(frame, subgroup="sex", cluster="patient", resamples=5), "accuracy").loc["f"]
    independent = get_gaps(judge(frame.drop(columns="patient"), subgroup="sex", resamples=5), "accuracy").loc["f"]
    # All 8 rows of a patient agree: the limits are about sqrt(8) times as wide.
    ratio = (clustered["high"] - clustered["low"]) / (independent["high"] - independent["low"])
    assert ratio == pytest.approx(np.sqrt(8), rel=0.12)


def test_equal_weights_have_no_effect():
    plain, weighted = (
        judge(make_labels(**extra), subgroup="part", positive=1, resamples=5).gaps for extra in ({}, {"weight": 2.0})
    )
    pd.testing.assert_frame_equal(plain, weighted)


def test_doubled_rows_and_weights_give_the_same_values():
    weights = np.where(GROUPS == "a", 2.0, 1.0)
    frame = make_labels(weight=weights)
    repeated = make_labels().loc[np.repeat(ROW, weights.astype(int))].reset_index(drop=True)
    for measure in RATES:
        first, second = (
            get_gaps(judge(table, subgroup="part", positive=1, resamples=5), measure) for table in (frame, repeated)
        )
        assert first["difference"].tolist() == pytest.approx(second["difference"].tolist())


def test_more_models_and_columns_make_the_limits_wider():
    frame = make_labels(other=1 - Y_PRED, half=np.where(ROW < 30, "x", "y"))
    one = get_gaps(judge(frame.drop(columns="other"), subgroup="half", positive=1, resamples=5), "accuracy")
    two = get_gaps(judge(frame, subgroup="half", positive=1, resamples=5), "accuracy", "tree")
    four = get_gaps(judge(frame, subgroup=["half", "part"], positive=1, resamples=5), "accuracy", "tree").loc[["x", "y"]]
    assert two["p_adjusted"].tolist() == pytest.approx(np.minimum(1, 2 * one["p_adjusted"]).tolist())
    assert (one["high"] < two["high"]).all()
    assert (two["high"] < four["high"]).all()


def test_a_subgroup_without_positives_has_no_recall_but_the_others_do():
    frame = pd.concat([make_labels(y_true=np.where(GROUPS == "c", 0, Y_TRUE))] * 2, ignore_index=True)
    gaps = get_gaps(judge(frame, subgroup="part", positive=1, resamples=5), "recall")
    assert np.isnan(gaps.loc["c", ["difference", "low", "p_adjusted"]].astype(float)).all()
    assert gaps.loc["c", "note"] == "recall of the subgroup is undefined because the class has no true cases"
    assert gaps.loc[["a", "b"], "p_adjusted"].notna().all()


def test_two_subgroups_beside_one_without_positives_are_one_comparison():
    rng = np.random.default_rng(0)
    part = np.repeat(["a", "b", "c"], 100)
    y_true = np.where(part == "c", 0, np.arange(300) % 2)
    right = rng.random(300) < np.where(part == "a", 0.95, 0.5)
    frame = pd.DataFrame({"y_true": y_true, "tree": np.where(right, y_true, 1 - y_true), "part": part})
    judgement = judge(frame, subgroup="part", positive=1, measures="recall", resamples=5)
    gaps = get_gaps(judgement, "recall")
    assert gaps.loc["a", "difference"] == pytest.approx(-gaps.loc["b", "difference"])
    assert gaps.loc[["a", "b"], "significant"].all()
    assert "significant" not in judgement.gap_summary[0].split("rest: part")[1]  # no count of gaps beside the only one
    shown = [line.split()[1] for line in judgement.explain().splitlines() if line.startswith("  part ") and " recall " in line]
    assert shown == ["a", "c"]


def test_few_cases_have_no_limits_but_a_reason():
    frame = make_labels(part=np.where(ROW < 3, "tiny", "large"))
    gaps = get_gaps(judge(frame, subgroup="part", positive=1, resamples=5), "accuracy")
    assert gaps["low"].isna().all()
    assert gaps["difference"].notna().all()
    assert "only 3 cases (rows or clusters) in the subgroup" in gaps.loc["tiny", "note"]
    assert "only 3 cases (rows or clusters) in the rest" in gaps.loc["large", "note"]
    single = judge(make_labels(part=np.where(ROW < 1, "tiny", "large")), subgroup="part", positive=1, resamples=5)
    assert "only 1 case (" in get_gaps(single, "accuracy").loc["tiny", "note"]
    assert "cannot be tested" in judge(frame, subgroup="part", positive=1, resamples=5).gap_summary[0]


def test_one_subgroup_has_no_rest():
    judgement = judge(make_labels(part="all"), subgroup="part", resamples=5)
    assert len(judgement.gaps) == 0
    assert any("every row has the value 'all' in column 'part'" in text.lower() for text in judgement.messages)


def test_a_column_with_many_values_says_what_to_do():
    judgement = judge(make_labels(part=ROW), subgroup="part", resamples=5)
    assert len(judgement.gaps) == 0
    assert any("Merge them into at most 50 subgroups" in text for text in judgement.messages)


def test_missing_values_are_a_subgroup():
    frame = make_labels(part=np.where(GROUPS == "c", None, GROUPS))
    gaps = get_gaps(judge(frame, subgroup="part", positive=1, resamples=5), "accuracy")
    assert gaps["estimate"].to_dict() == pytest.approx({"(missing)": 0.4, "a": 0.6, "b": 0.43333333333333335})


def test_an_unknown_column_is_refused_with_a_suggestion():
    with pytest.raises(FairtrialError, match="part"):
        judge(make_labels(), subgroup="prat")


def test_streamed_gaps_are_those_in_memory(tmp_path):
    path = tmp_path / "p.csv"
    make_labels(part=np.where(GROUPS == "c", None, GROUPS)).to_csv(path, index=False)
    options = {"subgroup": "part", "positive": 1, "measures": ["accuracy", "f_score"]}
    held, streamed = judge(path, **options), judge(path, stream=True, **options)
    pd.testing.assert_frame_equal(held.gaps, streamed.gaps)


def test_streamed_scores_have_a_reason_instead_of_gaps(tmp_path):
    path = tmp_path / "p.csv"
    make_scores(80).to_csv(path, index=False)
    gaps = judge(path, stream=True, subgroup="region", measures=["auc"]).gaps
    assert set(get_gaps(type("J", (), {"gaps": gaps}), "auc")["note"]) == {"needs rows in memory"}
    assert gaps[gaps["measure"] == "accuracy"]["low"].notna().all()


def run_cli(*arguments, cwd):
    command = [sys.executable, "-m", "fairtrial", "judge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


def test_the_command_line_states_the_gaps(tmp_path):
    make_scores().rename(columns={"region": "area"}).to_csv(tmp_path / "p.csv", index=False)
    found = run_cli("p.csv", "--subgroup", "area", "--resamples", "20", "--json", "p.json", cwd=tmp_path)
    assert found.returncode == 0
    text = " ".join(found.stdout.split())
    assert "AUC differs significantly between a subgroup and the rest: area = south (-0." in text
    document = json.loads((tmp_path / "p.json").read_text())
    south = [line for line in document["gaps"] if line["subgroup"] == "south" and line["measure"] == "auc"]
    assert [line["significant"] for line in south] == [True]
    wrong = run_cli("p.csv", "--subgroup", "aera", cwd=tmp_path)
    assert wrong.returncode != 0
    assert "area" in wrong.stderr


def make_shifted_scores(shift=2.0, n=600, seed=2, **columns):
    """Make scores with the same AUC in both regions, but more positive predictions in the west."""
    rng = np.random.default_rng(seed)
    y, is_west = rng.integers(0, 2, n), rng.random(n) < 0.3
    score = 1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=n) + shift * is_west)))
    return pd.DataFrame({"y_true": y, "tree_proba": score, "area": np.where(is_west, "west", "east")}).assign(**columns)


def test_the_answer_names_significant_gaps_in_other_measures():
    frame = make_shifted_scores()
    judgement = judge(frame, subgroup="area", resamples=5)
    main, other = judgement.gap_answer
    assert main.startswith("No subgroup differs significantly from the rest in AUC")
    assert other.startswith("There are significant gaps in other measures (p adjusted over 5 measures): ")
    # East and west are mirror images: of each measure, only the subgroup with the worse value is named.
    negatives = frame[frame["y_true"] == 0].assign(is_positive=lambda part: part["tree_proba"] > 0.5)
    rates = negatives.groupby("area")["is_positive"].mean()
    assert f"false positive rate for area = west, {rates['west'] - rates['east']:+.3g} (p < 0.001)" in other
    assert other in " ".join(str(judgement).split())
    # Without a declared column, only the significant gaps are reported.
    assert judge(frame.rename(columns={"area": "region"}), resamples=5).gap_answer == (other.replace("area", "region"),)


def test_the_answer_about_other_measures_is_adjusted_for_their_number():
    named = 0
    for seed in range(12):
        judgement = judge(make_shifted_scores(0.35, 300, seed), subgroup="area", resamples=5)
        others = judgement.gaps[(judgement.gaps["measure"] != "auc") & judgement.gaps["p_adjusted"].notna()]
        is_named = any(text.startswith("There are significant gaps in other measures") for text in judgement.gap_answer)
        if judgement.gap_findings[0].kind == "gaps_none":
            assert is_named == (others["p_adjusted"].min() <= 0.05) == others["significant"].any()
            assert others["p_adjusted"].to_numpy() == pytest.approx(np.minimum(1, 5 * others["p_value"]), rel=1e-6)
            named += is_named != (others["p_value"].min() <= 0.05)
    assert named > 0  # some gaps are significant only without the adjustment


def test_explain_lists_one_of_two_mirrored_subgroups_after_the_calibration():
    lines = judge(make_shifted_scores(), subgroup="area", resamples=5).explain().splitlines()
    assert sum(line.startswith("  area east ") for line in lines) == 6
    assert not any(line.startswith("  area west ") for line in lines)
    calibration, table = (
        next(i for i, line in enumerate(lines) if text in line) for text in ("The probabilities of tree", "  subgroup   model")
    )
    assert calibration < table
    assert "  Predicted labels of tree: the positive class if the score is at least 0.5." in lines


def test_ignored_subgroup_columns_are_reported_on_the_console():
    constant = str(judge(make_labels(part="all"), subgroup="part", resamples=5))
    assert "Every row has the value 'all' in column 'part'" in " ".join(constant.split())
    many = " ".join(str(judge(make_labels(part=ROW), subgroup="part", resamples=5)).split())
    assert "Column 'part' has 60 values, too many for subgroups: it is ignored." in many
    assert "subgroups part" not in many


def test_the_reason_is_that_a_subgroup_has_no_positives():
    frame = pd.concat([make_labels(part=np.where(Y_TRUE == 1, "sick", "well"))] * 2, ignore_index=True)
    text = judge(frame, subgroup="part", positive=1, measures="recall", resamples=5).gap_answer[0]
    assert text == (
        "Gaps in recall between subgroups and the rest cannot be tested: recall is undefined for part = well, because the "
        "class has no true cases."
    )


def explain_untested(data, measure, **options):
    """Return the reason why no gap in a measure can be tested."""
    judgement = judge(data, measures=measure, **({"positive": 1, "resamples": 5} | options))
    finding = next(finding for finding in judgement.gap_findings if finding.kind == "gaps_undecided")
    text = judgement.gap_summary[judgement.gap_findings.index(finding)]
    return text.split(" cannot be tested: ")[1]


def test_the_reason_is_that_there_are_too_few_cases():
    frame = make_labels(part=np.where(ROW < 3, "tiny", "large"))
    reason = "there are too few cases (rows or clusters) in the subgroups or in the rest."
    assert explain_untested(frame, "accuracy", subgroup="part") == reason


def test_the_reason_is_that_rows_must_be_in_memory(tmp_path):
    path = tmp_path / "p.csv"
    make_scores().assign(patient=lambda frame: frame["row"] // 2).to_csv(path, index=False)
    options = {"stream": True, "row": "row", "subgroup": "region"}
    assert explain_untested(path, "auc", **options) == "AUC needs rows in memory, but the file is streamed."
    clustered = explain_untested(path, "accuracy", cluster="patient", **options)
    assert clustered == "this test of weighted or clustered rows is not possible for a streamed file."


def test_the_reason_is_that_there_are_too_many_rows(monkeypatch):
    frame = make_scores()
    judgement = judge(frame, subgroup="region", measures="average_precision", resamples=5)
    assert get_gaps(judgement, "average_precision")["p_adjusted"].notna().all()
    monkeypatch.setattr("fairtrial.predictions.statistics.MANY_ROWS", 500)
    monkeypatch.setattr("fairtrial.predictions.subgroups.MANY_ROWS", 500)
    reason = explain_untested(frame, "average_precision", subgroup="region")
    assert reason == "the jackknife of average precision takes too long with more than 500 rows."


def test_the_most_frequent_reason_is_given(monkeypatch):
    monkeypatch.setattr("fairtrial.predictions.statistics.MANY_ROWS", 500)
    frame = make_scores().assign(region=lambda frame: frame["region"].mask(frame.index == 0, "west"))
    assert explain_untested(frame, "average_precision", subgroup="region").startswith("the jackknife of average precision")


def test_two_subgroups_are_one_comparison():
    frame = make_scores(regions=("north", "south"))
    judgement = judge(frame, subgroup="region", measures="auc", resamples=5)
    assert get_gaps(judgement, "auc")["significant"].tolist() == [True, True]
    assert judgement.gap_summary[0].startswith("AUC differs significantly between a subgroup and the rest: region = south (-0.")
    assert judgement.gap_summary[0].endswith(", adjusted p < 0.001).")
    # A third subgroup that only another model predicts changes nothing.
    tree, forest = (frame.rename(columns={"tree_proba": "probability"}).assign(model=name) for name in ("tree", "forest"))
    extra = make_scores(60, regions=("east",)).rename(columns={"tree_proba": "probability"}).assign(model="forest")
    extra["row"] += 600
    table = pd.concat([tree, forest, extra])
    gaps = judge(table, subgroup="region", row="row", measures="auc", resamples=5)
    lines = gaps.gaps[(gaps.gaps["measure"] == "auc") & gaps.gaps["p_adjusted"].notna()]
    significant = int(lines["significant"].sum())
    assert len(lines) == 5
    assert f"{significant - 1} of 4 gaps are significant" in gaps.gap_summary[0]


def test_the_largest_gap_is_called_tested_if_an_untested_one_is_larger():
    is_tiny = ROW < 5
    part = np.where(is_tiny, "tiny", np.where(ROW % 2, "odd", "even"))
    right = np.where(is_tiny, 0, ROW % 3 > 0)
    frame = pd.DataFrame({"y_true": Y_TRUE, "tree": np.where(right, Y_TRUE, 1 - Y_TRUE), "part": part})
    text = judge(frame, subgroup="part", measures="accuracy", resamples=5).gap_answer[0]
    assert "in accuracy (largest tested gap: part " in text
    small = frame.assign(tree=np.where(ROW % 3 > 0, Y_TRUE, 1 - Y_TRUE), part=np.where(ROW % 2, "odd", "even"))
    text = judge(small, subgroup="part", measures="accuracy", resamples=5).gap_answer[0]
    assert "in accuracy (largest gap: part " in text


def test_wrong_subgroup_columns_are_refused_with_a_remedy(tmp_path):
    make_scores().assign(sex="f").to_csv(tmp_path / "p.csv", index=False)
    several = run_cli("p.csv", "--subgroup", "region,sex", cwd=tmp_path)
    assert "pass --subgroup region --subgroup sex" in several.stderr
    with pytest.raises(FairtrialError, match=r"pass subgroup=\['region', 'sex'\]"):
        judge(tmp_path / "p.csv", subgroup="region,sex")
    with pytest.raises(FairtrialError, match="must not name a column of scores, got 'forest_proba', which belongs to a model"):
        judge(make_scores().assign(forest_proba=lambda frame: frame["tree_proba"] ** 2), subgroup="forest_proba")


def test_explain_lists_all_gaps():
    text = judge(make_scores(), subgroup="region", resamples=20).explain()
    for name in ("region north", "region south", "region east"):
        assert sum(line.startswith(f"  {name} ") for line in text.splitlines()) == 6
