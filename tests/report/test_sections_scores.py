"""Tests of `fairtrial.report.sections.scores`."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, sem, t
from sklearn.metrics import accuracy_score, confusion_matrix, recall_score
from statsmodels.stats.multitest import multipletests

from fairtrial import judge
from fairtrial.measures import auc, efficiency, log_loss, projection
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.figures.projection import compute_confusion_tables
from fairtrial.report.means import average_by_dataset, average_over_datasets, compute_scores, format_means_key
from fairtrial.report.report import build_sections
from fairtrial.report.sections import answer, scores
from fairtrial.report.sections.classes import (
    build_judgement_section as build_judgement_section_classes,
    build_section as build_section_classes,
)
from fairtrial.report.sections.projection import build_section
from fairtrial.report.sections.scores import build_judgement_section
from fairtrial.report.sections.subgroups import build_judgement_section as build_judgement_section_groups
from fairtrial.report.selection import get_main_condition
from fairtrial.report.source import describe_source
from fairtrial.significance.resampled import corrected_resampled_t
from fairtrial.study.results.selection import mask_condition
from tests.report.judgement.cases import RESAMPLES, judged, labels_only, many_classes, sections, two_classes
from tests.report.report_numbers import check_numbers, list_figures, list_sentences, list_tables
from tests.report.result_cases import NOISE, build, cases, few_learners, skilled_results
from tests.study.archives import CLEAN

# --- Scores ---
# The section of scores.


@pytest.mark.parametrize("name", cases())
def test_numbers_of_the_text_are_in_tables(name):
    found = build(scores, name)
    check_numbers([found])
    keys = [table.key for table in list_tables([found])] + [figure.key for figure in list_figures([found])]
    assert len(keys) == len(set(keys))


def test_means_are_those_of_the_wide_table():
    results = cases()["several"]
    tables = {table.key: table for table in list_tables([build(scores, "several")])}
    means = tables["scores-means-accuracy"].frame
    clean = means[means["condition"] == "clean"].set_index("learner")["mean"]
    assert clean.to_dict() == pytest.approx(results.wide("accuracy").mean().to_dict())
    long = tables["scores-all"]
    assert long.long
    assert list(long.frame.columns) == ["data set", "condition", "level", "learner", "measure", "mean", "low", "high", "splits"]
    assert len(long.frame) == 3 * 2 * 4 * 3


def test_answer_uses_the_frame_of_the_table():
    results = cases()["failures"]
    tables = {table.key: table.frame for table in list_tables([scores.build_section(describe_source(results))])}
    key = format_means_key(results, "auc")
    assert tables[key].drop(columns="difference from the best").equals(answer._build_means_frame(results, "auc"))


def test_finding_has_the_best_mean_and_its_lead():
    wide = cases()["several"].wide("accuracy").mean().sort_values(ascending=False)
    sentence = build(scores, "several").sentences[0]
    assert sentence.numbers[0].value == pytest.approx(wide.iloc[0])
    assert sentence.names[0] == wide.index[0]
    assert [number.value for number in sentence.numbers[-2:]] == pytest.approx((wide.iloc[0] - wide.iloc[[1, -1]]).tolist())


def test_note_explains_the_interval():
    def note(name):
        return next(table.note for table in list_tables([build(scores, name)]) if "means" in table.key)

    assert note("several") == scores._STUDENT
    assert note("many classes") == scores._CORRECTED
    assert note("failures") == f"{scores._STUDENT} {scores._MISSING}"


def test_undefined_measures_are_named():
    found = build(scores, "one learner, one data set")
    assert [sentence.names for sentence in list_sentences([found])] == [("Brier score",)]
    assert found.tables[0].frame.loc[0, ["measure", "undefined", "trials"]].tolist() == ["Brier score", 10, 10]
    assert found.tables[0].frame["number and cause"][0]
    assert found.notes == ()


def test_figure_shows_only_finite_means():
    found = {figure.key: figure for figure in list_figures([build(scores, "several")])}
    shown = found["scores-intervals-log-loss-clean"].frame
    assert set(shown["learner"]) == {"bayes"}
    for condition in ("clean", "class-noise 0.2"):
        figure = found[f"scores-intervals-accuracy-{condition.replace(' ', '-').replace('.', '-')}"]
        assert np.isfinite(figure.frame["estimate"]).all()
        assert len(figure.frame) == 4
        assert figure.when == {"measure": "accuracy", "condition": condition}


def test_many_learners_are_reduced_to_the_best():
    skills = {f"learner{i:02}": 0.55 + 0.015 * i for i in range(25)}
    results = skilled_results(skills, sets=3, conditions=(CLEAN, NOISE), declaration={"measures": ["accuracy"]})
    figure = list_figures([scores.build_section(describe_source(results))])[0]
    best = results.wide("accuracy").mean().sort_values(ascending=False, kind="stable").head(20)
    assert figure.frame["estimate"].tolist() == pytest.approx(best.tolist())
    assert "the best 20 of 25 learners" in figure.chart.to_dict()["title"]["subtitle"][0]


# --- Score means ---
# Means with intervals agree with scipy's t interval, the corrected t test and scikit-learn.


def values_of(results, dataset, learner, condition="clean"):
    """Accuracies of the splits from the predictions themselves."""
    trials = results.trials()
    own = trials[(trials["dataset"] == dataset) & (trials["learner"] == learner) & (trials["condition"] == condition)]
    return np.array([accuracy_score(one.y_true, one.prediction) for one in results.archive.predictions(own["trial"].tolist())])


def line_of(frame, **wanted):
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_the_interval_of_a_data_set_is_that_of_the_corrected_t_test_against_zero():
    results = few_learners(["bayes", "tree"])
    frame = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    assert len(frame) == 3 * 2 * 2
    line = line_of(frame, dataset="wine", learner="tree", condition="clean")
    values = values_of(results, "wine", "tree")
    effect = corrected_resampled_t(values, np.zeros(5), test_fraction=0.2).effect
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((values.mean(), effect.low, min(effect.high, 1.0)))
    assert line["splits"] == 5


def test_the_interval_over_data_sets_is_student_s():
    results = skilled_results({"fair": 0.7, "poor": 0.55}, sets=4)
    means = average_over_datasets(results, average_by_dataset(results, compute_scores(results, ["accuracy"])[0]))
    each = np.array([values_of(results, f"set{i}", "fair").mean() for i in range(4)])
    low, high = t.interval(0.95, 3, loc=each.mean(), scale=sem(each))
    line = line_of(means, learner="fair")
    assert (line["mean"], line["low"], line["high"]) == pytest.approx((each.mean(), low, high))
    assert line["data sets"] == 4


def test_with_one_data_set_the_interval_is_that_over_its_splits():
    results = cases()["many classes"]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    means = average_over_datasets(results, sets)
    both = line_of(means, learner="near", condition="clean"), line_of(sets, learner="near", condition="clean")
    assert [both[0][name] for name in ("mean", "low", "high")] == [both[1][name] for name in ("mean", "low", "high")]


def test_a_failed_trial_leaves_no_mean_and_its_data_set_is_left_out_of_the_mean_of_means():
    results = cases()["failures"]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    line = line_of(sets, dataset="iris", learner="tree", condition="clean")
    assert np.isnan([line["mean"], line["low"], line["high"]]).all()
    assert line["splits"] == 0
    for learner in ("tree", "bayes"):  # a split that one learner lacks counts for none
        assert line_of(sets, dataset="wine", learner=learner, condition="clean")["splits"] == 4
    means = average_over_datasets(results, sets)
    assert line_of(means, learner="tree", condition="clean")["data sets"] == 2
    assert line_of(means, learner="bayes", condition="clean")["data sets"] == 3


@pytest.mark.parametrize("name", ["several", "failures"])
def test_means_of_data_sets_are_those_of_the_wide_table(name):
    results = cases()[name]
    sets = average_by_dataset(results, compute_scores(results, ["accuracy"])[0])
    for condition in results.archive.conditions:
        own = sets[mask_condition(sets, condition)].pivot(index="dataset", columns="learner", values="mean")
        wide = results.wide("accuracy", condition.name, condition.level)
        own = own.reindex(index=wide.index, columns=wide.columns)
        np.testing.assert_allclose(own.to_numpy(float), wide.to_numpy(float), rtol=0, atol=1e-12)


def test_measures_that_cannot_be_computed_are_named_and_the_others_are_there():
    results = few_learners(["ridge"], ["iris"])
    frame, findings = compute_scores(results, ["accuracy", "rla", "brier"])
    assert set(frame["measure"]) == {"accuracy", "brier"}
    assert [(finding.kind, finding["measure"]) for finding in findings] == [
        ("measure_unavailable", "rla"),
        ("undefined_scores", "brier"),
    ]
    assert (findings[1]["undefined"], findings[1]["trials"]) == (10, 10)
    assert frame.loc[frame["measure"] == "brier", "value"].isna().all()


def test_infinite_scores_have_an_infinite_mean_and_no_interval():
    results = few_learners(["tree"], ["iris", "wine"])
    means = average_over_datasets(results, average_by_dataset(results, compute_scores(results, ["log_loss"])[0]))
    line = line_of(means, condition="clean")
    assert np.isinf(line["mean"])
    assert np.isnan([line["low"], line["high"]]).all()


# --- Projection ---
# The section of all measures at once.


@pytest.mark.parametrize("name", sorted(cases()))
def test_section_is_built_for_any_results(name):
    found = build_section(describe_source(cases()[name]))
    if found is not None:
        assert check_numbers([found]) >= 1


@pytest.mark.parametrize("name", ["one learner", "all failed"])
def test_no_section_with_fewer_than_two_learners(name):
    assert build_section(describe_source(cases()[name])) is None


def test_points_are_those_of_the_projection():
    results = cases()["several"]
    expected = projection(compute_confusion_tables(results, get_main_condition(results)).tables, normalise=True)
    found = build_section(describe_source(results))
    frame = found.tables[0].frame
    assert np.allclose(frame.loc[expected.points.index, ["x", "y"]], expected.points)
    nearest = expected.distance_to_ideal.idxmin()
    assert found.sentences[0].names[0] == nearest
    assert found.sentences[0].numbers[0].value == pytest.approx(expected.distance_to_ideal.min())
    assert nearest in found.figures[0].alt


def test_data_sets_left_out_are_named():
    assert "iris and wine" in " ".join(build_section(describe_source(cases()["failures"])).notes)


def test_efficiency_needs_measures_of_both_directions():
    results = few_learners(["bayes", "tree", "near"], declaration={"measures": ["accuracy", "auc", "brier"]})
    found = build_section(describe_source(results))
    means = pd.DataFrame({name: results.wide(name).mean() for name in ("accuracy", "auc", "brier")})
    expected = efficiency(means).frame()
    frame = found.tables[-1].frame
    assert frame["efficiency"].to_dict() == pytest.approx(expected["efficiency"].to_dict())
    full = [name for name in frame.index if frame.loc[name, "efficiency"] > 1 - 1e-9]
    assert all(name in found.sentences[-1].text for name in full)
    assert len(build_section(describe_source(few_learners(["bayes", "tree"]))).tables) == 2


MEANS = {  # the efficient learner is the best in none of the outputs
    "accuracy": {"nb": 0.950000, "tree": 0.943333, "chi": 0.943333},
    "auc": {"nb": 0.994987, "tree": 0.957423, "chi": 0.987205},
    "brier": {"nb": 0.074004, "tree": 0.120000, "chi": 0.071685},
}


def with_values(monkeypatch, tables):
    """Make results with these scores."""
    results = skilled_results(dict.fromkeys(("nb", "tree", "chi"), 0.8), 4, declaration={"measures": list(MEANS)})
    monkeypatch.setattr(type(results), "wide", lambda _, measure, *__: tables[measure])
    return results


def test_inefficient_learner_may_be_best_in_single_measures(monkeypatch):
    tables = {name: pd.DataFrame([line] * 4, index=[f"set{i}" for i in range(4)]) for name, line in MEANS.items()}
    found = build_section(describe_source(with_values(monkeypatch, tables)))
    efficient, best_in_single_measures = found.sentences[-1].names
    assert efficient == "chi"
    assert best_in_single_measures == "nb has the best accuracy and AUC"
    check_numbers([found])
    assert [table.key for table in found.tables] == ["projection-points", "projection-fit", "projection-efficiency"]


def test_data_sets_of_the_efficiency_are_counted(monkeypatch):
    tables = {name: pd.DataFrame([line] * 4, index=[f"set{i}" for i in range(4)]) for name, line in MEANS.items()}
    tables["auc"].loc["set1", "chi"] = np.nan
    tables["brier"].loc["set2", "tree"] = np.inf
    found = build_section(describe_source(with_values(monkeypatch, tables)))
    assert found.tables[-2].frame["number"].tolist() == [2, 4]
    assert "2 of 4 data sets" in found.tables[-1].note
    check_numbers([found])


# --- Measures ---


def table_of(found, key):
    return next(table for table in found.tables if table.key == key)


def test_measures_by_model_with_the_best_marked():
    found, table = sections("two classes")["measures"], two_classes()
    wide = table_of(found, "measures-larger")
    assert wide.best == "max"
    expected = auc(table["truth"] == "yes", table["tree_proba"])
    assert wide.frame.loc["AUC", "tree"] == pytest.approx(expected)
    assert "Brier score" in table_of(found, "measures-smaller").frame.index
    every = table_of(found, "measures-all").frame
    assert len(every) == 17 * 3
    assert "data set" not in every
    lead = [figure for figure in found.figures if figure.lead]
    assert lead[0].when["measure"] == "AUC"
    assert len({figure.when["measure"] for figure in lead}) == len(lead) == every["measure"].nunique()
    small = [figure for figure in found.figures if figure.size == "small"]
    assert len(small) == 12
    assert not any(figure.when for figure in small)
    tree = lead[0].frame.set_index("label")["estimate"]["tree"]
    assert tree == pytest.approx(expected)


def test_the_best_value_and_its_distances_are_described():
    (ranking,), (sentence, *_) = judged("two classes").findings, sections("two classes")["measures"].sentences
    table = two_classes()
    best = auc(table["truth"] == "yes", table["forest_proba"])
    worst = auc(table["truth"] == "yes", table[f"{ranking.names[-1]}_proba"])
    assert sentence.text.startswith(f"The AUC of forest is {best:.3g} (95 % CI ")
    assert f"and {best - worst:.3g} higher than that of {ranking.names[-1]} (simultaneous 95 % CI " in sentence.text


@pytest.mark.parametrize("key", ["measures", "pairs", "subgroups"])
def test_each_selected_figure_has_its_own_finding(key):
    found = sections("two classes")[key]
    selected = [figure.when for figure in found.figures if figure.lead]
    findings = [sentence.when for sentence in found.sentences if sentence.when]
    assert {"measure": "accuracy"} in findings
    assert all(findings.count(when) == 1 for when in selected)
    assert found.sentences[0].when == {"measure": "AUC"}


def test_the_finding_about_accuracy_is_about_accuracy():
    table = two_classes()
    truth = table["truth"] == "yes"
    correct = {model: ((table[f"{model}_proba"] >= 0.5) == truth) for model in ("forest", "tree", "rule")}
    best = max(correct, key=lambda model: correct[model].mean())
    texts = {
        key: next(
            sentence.text for sentence in sections("two classes")[key].sentences if sentence.when == {"measure": "accuracy"}
        )
        for key in ("measures", "pairs")
    }
    assert texts["measures"].startswith(f"The accuracy of {best} is {correct[best].mean():.3g} (95 % CI ")
    p_values = []
    for first, second in (("forest", "tree"), ("forest", "rule"), ("tree", "rule")):
        only_one = [int((correct[a] & ~correct[b]).sum()) for a, b in ((first, second), (second, first))]
        p_values.append(binomtest(only_one[0], sum(only_one)).pvalue)
    n_significant = int(multipletests(p_values, method="holm")[0].sum())
    expected = f"{n_significant} of 3 pairs" if n_significant else "No pair"
    assert texts["pairs"].startswith(f"{expected} of models differ")


def test_measures_are_ordered_from_best_to_worst():
    by_measure = {figure.when["measure"]: figure for figure in sections("two classes")["measures"].figures if figure.lead}
    assert by_measure["Brier score"].frame["estimate"].is_monotonic_increasing
    assert (by_measure["calibration slope"].frame["estimate"] - 1).abs().is_monotonic_increasing
    assert "lower is better" in by_measure["Brier score"].chart.to_dict()["title"]["subtitle"][0]


def test_data_sets_by_models():
    found = sections("many sets")["measures"]
    wide = table_of(found, "measures-main").frame
    assert wide.index.tolist() == [f"set {i}" for i in range(5)]
    own = two_classes(40, 3)
    assert wide.loc["set 3", "forest"] == pytest.approx(auc(own["truth"] == "yes", own["forest_proba"]))
    assert set(found.figures[0].frame["label"]) == set(wide.index)
    assert {figure.when["measure"] for figure in found.figures} >= {"AUC", "accuracy"}
    assert "set" in found.sentences[0].text


def test_infinite_loss_is_described():
    table = two_classes(60)
    table.loc[0, "tree_proba"] = 1.0 if table.loc[0, "truth"] == "no" else 0.0
    assert np.isinf(log_loss((table["truth"] == "yes").astype(int), table["tree_proba"]))
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert any({"log loss", "tree"} <= set(sentence.names) for sentence in found.sentences)
    assert "tree" not in set(next(f for f in found.figures if f.key == "measures-intervals-log-loss").frame["learner"])


def test_missing_measures_have_a_note():
    every = table_of(sections("decisions")["measures"], "measures-all").frame
    lacking = every[(every["model"] == "tree") & (every["measure"] == "auc")]
    assert lacking["note"].item() != ""


def test_main_measure_is_described():
    found = build_judgement_section(describe_source(judge(two_classes(60), measures="brier", resamples=20)))
    assert "Brier score" in found.sentences[1].names
    assert "Smaller" in found.sentences[1].names
    assert judged("two classes").main == "auc"


def test_models_with_fewer_rows_are_noted():
    table = two_classes(60)
    long = table.melt(["row", "truth"], ["forest_proba", "tree_proba"], "model", "score")
    short = long[(long["model"] == "forest_proba") | (long["row"] < 40)].reset_index(drop=True)
    tables = build_judgement_section(describe_source(judge(short, resamples=20))).tables
    assert all("tree_proba" in each.note for each in tables)
    rows = tables[-1].frame.groupby("model")["rows"].max().to_dict()
    assert rows == {"forest_proba": 60, "tree_proba": 40}
    assert all(
        "tree_proba" not in each.note for each in build_judgement_section(describe_source(judge(long, resamples=20))).tables
    )


# --- Classes ---


def test_recall_precision_and_limits_are_counted():
    frame, table = sections("labels only")["classes"].tables[0].frame, labels_only()
    line = frame[(frame["model"] == "tree") & (frame["class"] == "yes")].iloc[0]
    hits = int(((table["tree"] == "yes") & (table["truth"] == "yes")).sum())
    true, named = int((table["truth"] == "yes").sum()), int((table["tree"] == "yes").sum())
    assert [line["rows"], line["predicted rows"]] == [true, named]
    assert [line["recall"], line["precision"]] == pytest.approx([hits / true, hits / named])
    assert (line["recall, low"], line["recall, high"]) == pytest.approx(compute_wilson_limits(hits, true, 0.95))


def test_lowest_and_highest_recall_are_named():
    table = many_classes()
    good = table[table["model"] == "good"]
    named = good[["p_a", "p_b", "p_c"]].to_numpy().argmax(axis=1)
    recalls = {label: float((named[good["truth"] == label] == "abc".index(label)).mean()) for label in "abc"}
    low, high = min(recalls, key=recalls.get), max(recalls, key=recalls.get)
    (sentence,) = sections("many classes")["classes"].sentences
    assert sentence.names == ("good", low, high)
    assert [number.value for number in sentence.numbers] == pytest.approx([recalls[low], recalls[high]])


def test_confusion_matrices_of_a_study_count_the_rows_of_the_first_repeat():
    results = cases()["several"]
    found = build_section_classes(describe_source(results))
    figure = next(figure for figure in found.figures if figure.key == "confusion-cancer-tree")
    trials = results.trials()
    own = trials.query("learner == 'tree' and dataset == 'cancer' and condition == 'clean' and repeat == 0")["trial"]
    rows = list(results.archive.predictions(own.tolist()))
    y_true, y_pred = (np.concatenate([getattr(part, name) for part in rows]) for name in ("y_true", "prediction"))
    assert figure.frame["count"].tolist() == confusion_matrix(y_true, y_pred).ravel().tolist()
    assert figure.when == {"dataset": "cancer"}
    recalls = found.tables[0].frame.set_index(["data set", "learner", "class"])["recall"]
    facts = next(facts for facts in results.archive.datasets if facts.name == "cancer")
    expected = recall_score(y_true, y_pred, average=None)
    assert [recalls["cancer", "tree", str(label)] for label in facts.classes] == pytest.approx(expected.tolist())
    assert check_numbers([found]) == 1


def test_the_first_sentence_of_a_study_names_the_lowest_recall():
    found = build_section_classes(describe_source(cases()["several"]))
    frame = found.tables[0].frame
    means = frame.groupby(["data set", "learner"])["recall"].mean()
    best = [(name, part.droplevel(0).idxmax()) for name, part in means.groupby(level=0)]
    lowest = min(frame[(frame["data set"] == name) & (frame["learner"] == learner)]["recall"].min() for name, learner in best)
    assert [number.value for number in found.sentences[0].numbers] == [lowest]


def test_the_first_confusion_matrices_are_lead_figures():
    """They are visible if no subgroup is declared, because the section is then the first of its question."""
    for case in ("many classes", "two classes"):
        assert [figure.lead for figure in sections(case)["classes"].figures[:2]] == [True, True]


def test_each_data_set_has_a_sentence():
    assert [sentence.names[0] for sentence in sections("many sets")["classes"].sentences] == [f"set {i}" for i in range(5)]


def test_perfect_labels_have_equal_recall():
    table = labels_only(60)
    found = build_judgement_section_classes(describe_source(judge(table.assign(forest=table["truth"]), resamples=20)))
    assert found.sentences[0].names == ("forest",)
    assert [number.value for number in found.sentences[0].numbers] == [1.0]


def test_weights_and_missing_labels_are_noted(tmp_path):
    assert sections("weighted")["classes"].tables[0].note != sections("two classes")["classes"].tables[0].note
    assert sections("weighted")["classes"].tables[0].frame["recall, low"].isna().all()
    path = tmp_path / "p.csv"
    two_classes(60)[["row", "truth"]].assign(score=two_classes(60)["forest_proba"] + 1).to_csv(path, index=False)
    found = build_judgement_section_classes(describe_source(judge(str(path), resamples=20)))
    assert found.tables[0].frame[["precision", "recall"]].isna().all(axis=None)
    assert [(sentence.names, sentence.numbers) for sentence in found.sentences] == [((), ())]


# --- Groups ---


def test_gaps_are_those_of_the_measure_in_the_subgroups():
    table, found = two_classes(), sections("two classes")["subgroups"]
    assert [part.key for part in found.tables] == ["subgroups-gaps", "subgroups-all"]
    gaps = found.tables[0].frame.query("measure == 'AUC'").set_index(["model", "subgroup"])
    for model in ("forest", "tree", "rule"):
        parts = {name: auc(own["truth"] == "yes", own[f"{model}_proba"]) for name, own in table.groupby("sex")}
        assert gaps.loc[(model, "f"), "difference"] == pytest.approx(parts["f"] - parts["m"])
        assert gaps.loc[(model, "m"), "difference"] == pytest.approx(parts["m"] - parts["f"])


def test_a_significant_gap_is_named():
    table = two_classes(400)
    wrong = table["sex"] == "m"
    table.loc[wrong, "forest_proba"] = 1 - table.loc[wrong, "forest_proba"]
    judgement = judge(table, resamples=RESAMPLES)
    found = build_judgement_section_groups(describe_source(judgement))
    assert "AUC differs significantly between a subgroup and the rest: sex" in found.sentences[0].text
    assert "rest: sex = m (forest, -0." in found.sentences[0].text
    assert found.sentences[0].text in [sentence.text for sentence in build_sections(judgement)[0].sentences]
    assert "No subgroup differs significantly" in sections("two classes")["subgroups"].sentences[0].text


def test_small_subgroups_have_a_note():
    table = two_classes(60).assign(sex=["f"] * 50 + ["m"] * 10)
    found = build_judgement_section_groups(describe_source(judge(table, resamples=20)))
    notes = found.tables[1].frame.set_index("subgroup")["note"]
    assert (notes["m"] != "").all()
    assert "10 rows" in notes["m"].iloc[0]


def test_one_subgroup_has_no_gaps():
    found = build_judgement_section_groups(describe_source(judge(two_classes(60).assign(sex="f"), resamples=20)))
    assert [part.key for part in found.tables] == ["subgroups-all"]
    assert "fewer than two subgroups" in found.sentences[0].text
    assert found.figures == ()


def test_no_section_without_subgroups():
    assert build_judgement_section_groups(describe_source(judged("labels only"))) is None


def test_a_figure_for_each_column():
    table = two_classes(100).assign(region=["north", "south"] * 50)
    found = build_judgement_section_groups(describe_source(judge(table, resamples=20)))
    main = [figure for figure in found.figures if figure.when["measure"] == "AUC"]
    assert [figure.key for figure in main] == ["subgroups-sex-auc", "subgroups-region-auc"]
    assert all(figure.lead and figure.size == "half" for figure in main)
    assert set(main[1].frame["label"]) == {"north", "south"}
    assert {figure.when["measure"] for figure in found.figures} >= {"AUC", "accuracy", "recall"}


def test_the_figures_show_the_measures_with_significant_gaps():
    rng = np.random.default_rng(2)
    y, is_west = rng.integers(0, 2, 600), rng.random(600) < 0.3
    # Adding the same number to all scores of a subgroup raises its false positive rate, and no AUC within it changes.
    score = 1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=600) + 2 * is_west)))
    table = pd.DataFrame({"truth": y, "tree_proba": score, "region": np.where(is_west, "west", "east")})
    found = build_judgement_section_groups(describe_source(judge(table, resamples=20)))
    by_measure = {figure.when["measure"]: figure for figure in found.figures}
    west = by_measure["false positive rate"].frame.set_index("label").loc["west"]
    rates = [float((score[part & (y == 0)] > 0.5).mean()) for part in (is_west, ~is_west)]
    assert west["estimate"] == pytest.approx(rates[0] - rates[1])
    assert west["text"].startswith("p ")
    assert (by_measure["AUC"].frame["text"] == "").all()
    assert set(found.tables[0].frame["measure"]) >= {"AUC", "selection rate", "false positive rate"}
    assert "No subgroup differs significantly from the rest in AUC" in found.sentences[0].text
    assert "false positive rate for region = west, +" in found.sentences[0].text


# --- Pairs ---


def test_significant_pairs_are_named():
    pairs = sections("two classes")["pairs"]
    assert pairs.sentences[0].text == "2 of 3 pairs of models differ significantly in AUC: forest is better than tree and rule."
    figure, accuracy = pairs.figures
    assert (figure.when, accuracy.when) == ({"measure": "AUC"}, {"measure": "accuracy"})
    assert (figure.lead, figure.size) == (True, "wide")
    assert figure.frame["label"].iloc[0].startswith("forest - ")
    assert "forest is significantly better than tree in accuracy (p " in sections("labels only")["pairs"].sentences[0].text


def test_significant_pairs_are_counted_over_data_sets():
    n = int(judged("many sets").pairs["significant"].sum())
    pairs = sections("many sets")["pairs"]
    (overall,) = [sentence.text for sentence in pairs.sentences if sentence.text[0].isdigit()]
    assert overall == (f"{n} of 5 pairs of models differ significantly in AUC: forest is better than tree on {n} data sets.")
    assert [figure.when for figure in pairs.figures] == [{"dataset": f"set {number}"} for number in range(5)]
    assert [sentence.when for sentence in pairs.sentences[:5]] == [figure.when for figure in pairs.figures]
    assert all(f" in AUC on set {number} (adjusted p" in pairs.sentences[number].text for number in range(5))


def test_pairs_without_a_significant_difference():
    found = {
        part.key: part
        for part in build_sections(judge(two_classes()[["row", "truth", "tree_proba", "rule_proba"]], resamples=20))
    }
    assert "do not differ significantly in AUC (p = " in found["pairs"].sentences[0].text


# --- Calibration ---


def test_calibration_of_all_models_is_one_sentence():
    judgement, found = judged("two classes"), sections("two classes")["calibration"]
    kinds = {finding["model"]: finding.kind for finding in judgement.calibration_findings}
    text = found.sentences[0].text
    assert ". " not in text
    for model, kind in kinds.items():
        assert model in text
        assert (kind in text) == (kind in ("overconfident", "underconfident"))
    assert "well calibrated" not in text


def test_calibration_curves_are_small_multiples():
    curves = [figure for figure in sections("two classes")["calibration"].figures if figure.lead]
    assert [figure.title for figure in curves] == list(judged("two classes").findings[0].names)
    assert {figure.size for figure in curves} == {"small"}
    by_dataset = [figure for figure in sections("many sets")["calibration"].figures if figure.lead]
    assert {figure.when["dataset"] for figure in by_dataset} == {f"set {number}" for number in range(5)}
    assert "on 5 data sets" in sections("many sets")["calibration"].sentences[0].text.replace(
        " of 5 data sets", " on 5 data sets"
    )


def test_confusion_matrices_and_gaps_state_where_the_labels_come_from():
    for key in ("classes", "subgroups"):
        assert (
            "Predicted labels of forest, tree and rule: the positive class if the score is at least 0.5."
            in sections("two classes")[key].notes
        )
    assert any(note.endswith(" come from the file.") for note in sections("labels only")["classes"].notes)
