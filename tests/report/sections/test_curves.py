"""The section of curves."""

import json
from functools import cache

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fairtrial.report.page import render
from fairtrial.report.sections import curves
from fairtrial.report.sections.curves import AREA, WON, build_section
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from tests.report.report_numbers import check_numbers, list_figures
from tests.report.result_cases import cases, few_learners
from tests.study.archives import CLEAN, archive_of, data_facts, folds, random_predictions


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
    frame = written("two classes").subsections[0].tables[0].frame
    trials = results.trials()
    for learner in frame.index:
        own = trials[(trials["learner"] == learner) & (trials["condition"] == "clean")]
        rows = list(results.archive.predictions(own["trial"].tolist()))
        truth, scores = (
            np.concatenate([each(one) for one in rows]) for each in (lambda one: one.y_true == 0, lambda one: one.scores[:, 0])
        )
        assert frame.loc[learner, AREA] == pytest.approx(roc_auc_score(truth, scores))
    assert frame[AREA].is_monotonic_decreasing
    assert frame[WON].sum() <= 1 + 1e-9


def test_learners_without_a_curve_are_named():
    parts = written("failures").subsections
    assert "tree" in parts[0].notes[0]
    assert [part.title for part in parts] == ["iris", "cancer"]


def test_bands_of_few_learners_or_of_the_best():
    few = list_figures([build_section(describe_source(few_learners(["bayes", "tree"], ["cancer"])))])[0].chart.to_dict()
    assert "95 %" in few["title"]["subtitle"][-1]
    part = written("two classes").subsections[0]
    assert part.figures[0].chart.to_dict()["title"]["subtitle"][-1].endswith(f"of {part.tables[0].frame.index[0]}")


def test_ks_in_the_figure_is_that_of_the_table():
    part = written("two classes").subsections[0]
    ks = next(figure for figure in part.figures if "-ks-" in figure.key)
    text = json.dumps(ks.chart.to_dict())
    for learner in part.tables[0].frame.index[:3]:
        assert f"KS = {part.tables[0].frame.loc[learner, 'KS']:.3f}" in text


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


def test_only_the_largest_data_sets_have_all_curves():
    found = build_section(describe_source(many(3, 2, 40)))
    kinds = [
        [figure.key.rsplit("-set-", 1)[0].removeprefix("curves-") for figure in part.figures] for part in found.subsections
    ]
    assert [("ks" in own, "roc" in own and "cost" in own) for own in kinds] == [(False, True), (True, True), (True, True)]
    assert any("draw(results, 'ks'" in note for note in found.notes)
