"""Tests of `fairtrial.report.sections.curves`."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from fairtrial import judge
from fairtrial.measures import auc, calibration_curve, calibration_error, cost_curve
from fairtrial.report import judgement as names
from fairtrial.report.figures.study_curves import find_cost_winners
from fairtrial.report.page import render
from fairtrial.report.sections import curves
from fairtrial.report.sections.calibration import (
    BIAS,
    DISTANCE,
    build_calibration_frame,
    build_judgement_section as build_judgement_section_calibration,
)
from fairtrial.report.sections.curves import (
    AREA,
    WON,
    build_calibration_section,
    build_judgement_section,
    build_section,
    compute_winning_fractions,
)
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from tests.report.judgement.cases import judged, many_classes, sections, two_classes
from tests.report.report_numbers import check_numbers, list_figures
from tests.report.result_cases import cases, few_learners
from tests.study.archives import CLEAN, archive_of, data_facts, folds, random_predictions

# --- Curves ---
# The section of curves.


@cache
def written(name):
    return build_section(describe_source(cases()[name]))


@pytest.mark.parametrize("name", ["two classes", "one learner, one data set", "failures"])
def test_section_is_built_for_any_results(name):
    found = written(name)
    assert check_numbers([found]) > 0
    assert len({figure.key for figure in list_figures([found])}) == len(list(list_figures([found])))


@pytest.mark.parametrize("name", ["all failed", "apart", "noise alone", "one split"])
def test_no_section_without_scores(name):
    assert written(name) is None


def test_areas_agree_with_scikit_learn_on_pooled_rows():
    results = cases()["two classes"]
    frame = get_areas(written("two classes"))[0].frame
    trials = results.trials()
    for learner in frame.index:
        own = trials[(trials["learner"] == learner) & (trials["condition"] == "clean")]
        rows = list(results.archive.predictions(own["trial"].tolist()))
        truth, scores = (
            np.concatenate([each(one) for one in rows]) for each in (lambda one: one.y_true == 0, lambda one: one.scores[:, 0])
        )
        assert frame.loc[learner, AREA] == pytest.approx(roc_auc_score(truth, scores))
        assert frame.loc[learner, "KS"] == pytest.approx(ks_2samp(scores[truth], scores[~truth]).statistic)
    assert frame[AREA].is_monotonic_decreasing
    assert frame[WON].sum() <= 1 + 1e-9


def get_areas(found):
    """Get the tables of areas of a study, without the table of the best learners."""
    return [table for table in found.tables if table.key.startswith("curves-areas")]


def test_learners_without_a_curve_are_named():
    found = written("failures")
    assert any("No curve for tree on iris" in note for note in found.notes)
    assert [table.when["dataset"] for table in get_areas(found)] == ["iris", "cancer"]


def test_findings_name_the_class_and_the_lowest_cost_of_the_selected_data_set():
    found = written("failures")
    tables = {table.when["dataset"]: table for table in get_areas(found)}
    assert [sentence.when for sentence in found.sentences] == [{"dataset": name} for name in tables]
    for (name, table), sentence in zip(tables.items(), found.sentences, strict=True):
        assert sentence.text.startswith(f"{name}, class ")
        assert "pooled test rows" in sentence.text
        assert all(number.value == table.frame[curves.WON].max() for number in sentence.numbers)


def test_bands_of_few_learners_or_of_the_best():
    few = list_figures([build_section(describe_source(few_learners(["bayes", "tree"], ["cancer"])))])[0].chart.to_dict()
    assert "95 %" in few["title"]["subtitle"][-1]
    found = written("two classes")
    best = get_areas(found)[0].frame.index[0]
    assert found.figures[0].chart.to_dict()["title"]["subtitle"][-1].endswith(f"of {best}")


def test_calibration_errors_of_a_study_are_mean_distances():
    results = cases()["failures"]
    found = build_calibration_section(describe_source(results))
    frame = found.tables[0].frame.set_index(["data set", "learner"])["calibration error"]
    curve = results.curves("calibration", dataset="cancer", learner="bayes")
    distance = (curve["mean_predicted"] - curve["observed_frequency"]).abs()
    assert frame["cancer", "bayes"] == pytest.approx(np.average(distance, weights=curve["weight"]))
    assert {figure.when["dataset"] for figure in found.figures} == set(frame.index.get_level_values(0))
    assert check_numbers([found]) > 0
    assert [sentence.when["dataset"] for sentence in found.sentences] == list(dict.fromkeys(frame.index.get_level_values(0)))
    errors = frame["cancer"]
    sentence = next(sentence for sentence in found.sentences if sentence.when["dataset"] == "cancer")
    assert {number.value for number in sentence.numbers} <= {errors.min(), errors.max()}


def many(sets, learners, rows):
    rng = np.random.default_rng(0)
    datasets = [data_facts(f"set {i} <b>", rng.integers(0, 2, rows + i), ("no", "yes")) for i in range(sets)]
    splits = {each.name: folds(each.codes, 1, 2) for each in datasets}

    def evidence(facts, _condition, _learner, repeat, fold):
        return random_predictions(rng, facts.codes, splits[facts.name][repeat, fold][1], 2)

    return Results(archive_of(datasets, [CLEAN], [f"learner {i}" for i in range(learners)], splits, evidence))


def test_the_six_largest_data_sets_are_shown():
    results = many(8, 1, 40)
    assert [each.name for each in curves._select_largest(results, 6)] == [f"set {i} <b>" for i in range(2, 8)]


def test_page_is_small_with_many_rows_and_names_other_data_sets(monkeypatch):
    monkeypatch.setattr(curves, "_MOST_DATA_SETS", 1)
    found = build_section(describe_source(many(2, 2, 3000)))
    assert "'set 0 <b>'" in found.notes[1]
    size = sum(len(json.dumps(figure.chart.to_dict(), separators=(",", ":"))) for figure in list_figures([found]))
    assert size < 2e5
    assert "set 1 <b>" not in render([found], "x").split('<script type="application/json"')[0]


def test_the_page_selects_the_data_set_of_all_curves():
    found = build_section(describe_source(many(3, 2, 40)))
    kinds = {
        name: [
            (figure.key.rsplit("-set-", 1)[0].removeprefix("curves-"), figure.lead)
            for figure in found.figures
            if figure.when == {"dataset": name}
        ]
        for name in ("set 0 <b>", "set 1 <b>", "set 2 <b>")
    }
    assert set(map(tuple, kinds.values())) == {(("roc", True), ("precision-recall", True), ("cost", False))}
    assert len(found.figures) == 9


def test_only_the_best_of_many_learners_have_curves(monkeypatch):
    monkeypatch.setattr(curves, "_MOST_LEARNERS", 2)
    results = cases()["two classes"]
    found = build_section(describe_source(results))
    ranks = results.wide().rank(axis=1, ascending=False).mean().sort_values()
    assert set(get_areas(found)[0].frame.index) == set(ranks.index[:2])
    assert any("Only the 2 learners" in note for note in found.notes)


# --- Curves ---


def test_areas_are_those_of_all_rows():
    part, table = sections("two classes")["curves"].subsections[0], two_classes()
    frame = part.tables[0].frame
    for model in ("forest", "tree", "rule"):
        assert frame.loc[model, curves.AREA] == pytest.approx(auc(table["truth"] == "yes", table[f"{model}_proba"]))
    won = compute_winning_fractions(
        find_cost_winners({name: cost_curve(table["truth"] == "yes", table[f"{name}_proba"]) for name in frame.index})
    )
    assert frame[curves.WON].to_dict() == pytest.approx({"tree": 0.0, "rule": 0.0} | won.to_dict())
    assert [figure.key for figure in part.figures] == [
        f"curves-{kind}-yes" for kind in ("roc", "precision-recall", "cost", "ks")
    ]
    assert part.title == "Class yes"


def test_each_class_against_the_other_classes():
    found, table = sections("many classes")["curves"], many_classes()
    assert [part.title for part in found.subsections] == ["Class a", "Class b", "Class c"]
    own = table[table["model"] == "poor"]
    expected = auc(own["truth"] == "b", own["p_b"])
    assert found.subsections[1].tables[0].frame.loc["poor", curves.AREA] == pytest.approx(expected)
    assert [part.when for part in found.subsections] == [{"class": label} for label in "abc"]
    assert found.sentences[0].text.startswith("The highest AUC ranges from ")
    assert found.subsections[1].sentences[0].names == ("good", "poor")
    assert found.subsections[1].sentences[0].numbers[1].value == pytest.approx(expected)


def test_omitted_classes_are_counted(monkeypatch):
    monkeypatch.setattr(names, "MAX_PARTS", 1)
    monkeypatch.setattr(curves, "MAX_PARTS", 1)
    found = build_judgement_section(describe_source(judged("many classes")))
    rows = many_classes().query("model == 'good'")["truth"].value_counts()
    assert [part.title for part in found.subsections] == [f"Class {rows.idxmax()}"]
    assert len(found.notes) == 1
    assert "2 left out" in found.notes[0]


def test_models_without_scores_are_named():
    assert build_judgement_section(describe_source(judged("labels only"))) is None
    assert len(sections("decisions")["curves"].notes) == 1
    assert "tree" in sections("decisions")["curves"].notes[0]


def test_equal_curves_have_no_lowest_cost():
    table = two_classes(60)[["row", "truth", "forest_proba"]]
    found = build_judgement_section(describe_source(judge(table.assign(twin_proba=table["forest_proba"]), resamples=20)))
    assert [sentence.names for sentence in found.sentences] == [(), ()]
    assert (found.subsections[0].tables[0].frame[curves.WON] == 0).all()


def test_bands_have_the_given_level():
    found = build_judgement_section(describe_source(judge(two_classes(60), level=0.8, resamples=20))).subsections[0].figures[0]
    assert any("80 %" in line for line in found.chart.to_dict()["title"]["subtitle"])


def test_bands_count_clusters_instead_of_rows():
    once = two_classes(60)
    copies = pd.concat([once.rename(columns={"row": "patient"})] * 3, ignore_index=True)
    charts = [
        build_judgement_section(describe_source(judge(table, resamples=20, **options))).subsections[0].figures[0].chart
        for table, options in ((once, {}), (copies, {"cluster": "patient"}), (copies, {}))
    ]
    bands = [[rows for rows in chart.to_dict()["datasets"].values() if "low" in rows[0]] for chart in charts]
    assert bands[0]
    assert bands[0] == bands[1]  # copies of a patient's row add nothing
    assert bands[0] != bands[2]


# --- Calibration ---


def build_sentences(table):
    """Build the sentences about bins, which follow those of the tests of calibration."""
    judgement = judge(table, resamples=20)
    n_tests = len(judgement.calibration_summary)
    # With several models, a summary comes before the sentences of the tests.
    return build_judgement_section_calibration(describe_source(judgement)).sentences[n_tests + (n_tests > 1) :]


def get_calibration_table(name, key):
    return next(table for table in sections(name)["calibration"].tables if table.key == key)


def test_mean_distance_is_the_calibration_error():
    frame, table = build_calibration_frame(judged("two classes")).set_index("model"), two_classes()
    for model in ("forest", "tree", "rule"):
        assert frame.loc[model, DISTANCE] == pytest.approx(calibration_error(table["truth"] == "yes", table[f"{model}_proba"]))
        assert frame.loc[model, BIAS] == pytest.approx(table[f"{model}_proba"].mean() - (table["truth"] == "yes").mean())
    assert frame[DISTANCE].is_monotonic_increasing


def test_biased_probabilities_are_described():
    truth = np.array([0, 1] * 50)
    for probability, side in ((0.7, "too high"), (0.3, "too low")):
        table = pd.DataFrame({"truth": truth, "p": np.where(truth == 1, probability + 0.05, probability - 0.05)})
        assert len(build_sentences(table)) == 1
        (text,) = judge(table, resamples=20).calibration_summary
        assert text.startswith(f"The probabilities of model are {side} (O:E ratio {0.5 / probability:.3g}")


def test_bins_are_those_of_the_curve():
    table = many_classes()
    own = table[table["model"] == "poor"]
    shares = own[["p_a", "p_b", "p_c"]].to_numpy()
    came = np.array(list("abc"))[shares.argmax(axis=1)] == own["truth"]
    expected = calibration_curve(came, shares.max(axis=1))
    bins = get_calibration_table("many classes", "calibration-bins").frame
    bins = bins[bins["model"] == "poor"]
    assert bins["observed frequency"].tolist() == pytest.approx(expected["observed_frequency"].tolist())
    assert set(bins["class"]) == {"most probable"}


def test_best_calibrated_model_of_each_data_set_is_named():
    frame = build_calibration_frame(judged("many sets"))
    rows = frame[frame["data set"] == "set 1"]
    calibration = sections("many sets")["calibration"]
    sentence = next(sentence for sentence in calibration.sentences if "set 1" in sentence.names)
    assert set(sentence.names) == {"set 1", *rows["model"]}
    assert [number.value for number in sentence.numbers] == rows[DISTANCE].iloc[[0, -1]].tolist()
    keys = {"calibration-bins-set-1", "calibration-corp-set-1-forest", "calibration-corp-set-1-tree"}
    assert keys <= {figure.key for figure in calibration.figures}


def test_models_without_probabilities():
    assert build_judgement_section_calibration(describe_source(judged("labels only"))) is None
    table = two_classes(60)[["row", "truth", "forest_proba"]].assign(tree=two_classes(60)["truth"])
    found = build_judgement_section_calibration(describe_source(judge(table, resamples=20)))
    assert "tree" in found.notes[0]
    assert not any("tree" in note for note in found.notes[1:])
    assert build_sentences(table)[0].names == ("forest",)


def test_limits_of_weighted_rows_are_explained():
    assert "effective number" in get_calibration_table("weighted", "calibration-bins").note
    assert "effective number" not in get_calibration_table("many sets", "calibration-bins").note


def test_limits_of_the_bias_are_those_of_wilson():
    """With 50 of 100 positives, the Wilson interval is 0.404 to 0.596: a mean of 0.51 is not biased, 0.7 is."""
    truth = np.array([0, 1] * 50)
    table = pd.DataFrame({"truth": truth, "near_proba": np.where(truth == 1, 0.91, 0.11), "off_proba": 0.7 + 0.01 * truth})
    frame = build_calibration_frame(judge(table, resamples=20)).set_index("model")
    assert frame.loc["near", ["low", "high"]].tolist() == pytest.approx([0.51 - 0.5962, 0.51 - 0.4038], abs=1e-3)
