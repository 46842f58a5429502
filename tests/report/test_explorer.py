"""The threshold explorer: numbers in the page are those of the predictions, with and without JavaScript."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.report.explorer import COSTS, THRESHOLDS
from fairtrial.report.report import write_page
from fairtrial.report.sections.thresholds import build_judgement_section, build_study_section
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from tests.report.judgement.cases import judged
from tests.report.result_cases import skilled_results
from tests.study.archives import CLEAN, archive_of, data_facts, folds, random_predictions

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "<b>net</b>" + 90 * "x"


def make_frame(rows=500, seed=3):
    """Make scores of two models for a rare class. Scores are rounded, so some are equal to a threshold."""
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.2
    scores = {
        f"{name}_proba": (1 / (1 + np.exp(1.4 - spread * rng.normal(size=rows) - 2 * ill))).round(2)
        for name, spread in (("tree", 1.0), (HOSTILE, 2.0))
    }
    return pd.DataFrame({"y_true": np.where(ill, "ill", "well"), **scores})


def count(frame, model, threshold):
    """Count true negatives, false positives, false negatives and true positives."""
    ill, alert = frame["y_true"] == "ill", frame[f"{model}_proba"] >= threshold
    return [int(np.sum(cell)) for cell in (~ill & ~alert, ~ill & alert, ill & ~alert, ill & alert)]


def compute_cost(cells, fn=1.0, fp=1.0):
    return 1000 * (fn * cells[2] + fp * cells[1]) / sum(cells)


@pytest.fixture(scope="module")
def section():
    return build_judgement_section(describe_source(judge(make_frame(), positive="ill", resamples=20)))


@pytest.fixture(scope="module")
def page(section, tmp_path_factory):
    return write_page([section], tmp_path_factory.mktemp("explorer") / "page.html", "Explorer")


def test_counts_are_those_of_the_rows(section):
    (dataset,) = section.explorer.datasets.values()
    assert (dataset.positive, dataset.negative) == ("ill", "well")
    for model in ("tree", HOSTILE):
        counts = dataset.models[model]
        for index in (0, THRESHOLDS.index(0.005), THRESHOLDS.index(0.18), THRESHOLDS.index(0.5), len(THRESHOLDS) - 1):
            tn, fp, fn, tp = count(make_frame(), model, THRESHOLDS[index])
            assert (counts.tp[index], counts.fp[index], counts.positives, counts.negatives) == (tp, fp, tp + fn, tn + fp)


def test_thresholds_and_costs_are_symmetric_around_the_default():
    assert len(THRESHOLDS) <= 200
    assert THRESHOLDS[len(THRESHOLDS) // 2] == 0.5
    assert list(THRESHOLDS) == sorted(set(THRESHOLDS))
    assert COSTS[len(COSTS) // 2] == "1"


def test_weights_are_summed():
    frame = make_frame().assign(weight=np.random.default_rng(0).uniform(0.5, 2, 500))
    built = build_judgement_section(describe_source(judge(frame, positive="ill", weight="weight", resamples=20)))
    (dataset,) = built.explorer.datasets.values()
    hits = (frame["y_true"] == "ill") & (frame["tree_proba"] >= 0.3)
    assert dataset.models["tree"].tp[THRESHOLDS.index(0.3)] == pytest.approx(frame.loc[hits, "weight"].sum(), abs=1e-5)


def test_scores_beyond_one_and_more_than_two_classes_have_no_explorer():
    logits = make_frame()[["y_true", "tree_proba"]]
    logits = logits.assign(tree_score=10 * logits.pop("tree_proba") - 5)
    assert build_judgement_section(describe_source(judge(logits, positive="ill", resamples=20))).explorer is None
    assert build_judgement_section(describe_source(judged("many classes"))) is None


def test_each_data_set_has_its_own_curves():
    built = build_judgement_section(describe_source(judged("many sets")))
    leads = [figure for figure in built.figures if figure.lead]
    assert {figure.when["dataset"] for figure in leads} == set(built.explorer.datasets) == {"set 0", "set 1", "set 2"}
    assert [figure.key.split("-")[1] for figure in leads[:4]] == ["roc", "precision", "cost", "benefit"]


def test_the_finding_claims_no_saving_that_is_not_shown(section):
    first = section.sentences[0].text
    cost = compute_cost(count(make_frame(), "tree", 0.5))
    assert first == f"At equal costs, tree costs {cost:.3g} per 1,000 cases at 0.5; no other threshold is shown to be cheaper."


def read_matrix(shown):
    return [int(text.replace(",", "")) for text in shown.locator("#explorer-matrix tbody td b").all_inner_texts()]


def read_circles(shown, kind):
    """Read the coordinates of the open circle of each model."""
    return shown.evaluate(_READ_CIRCLES, f"explorer-{kind}-data")


_READ_CIRCLES = """async (key) => {
  await fairtrialReady();
  const view = fairtrialPage.views.get(key), found = {};
  await view.runAsync();
  const read = (item) => {
    for (const child of item.items ?? []) read(child);
    if (item.marktype === "symbol" && item.role === "mark") for (const { datum, x, y, fill } of item.items) {
      if (fill === "var(--paper)") found[datum.learner] = [view.scale("x").invert(x), view.scale("y").invert(y)];
    }
  };
  read(view.scenegraph().root);
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def test_without_a_script_the_default_view_is_complete(browser, page):
    shown = browser.new_context(java_script_enabled=False).new_page()
    shown.goto(page.as_uri())
    cells = count(make_frame(), "tree", 0.5)
    assert read_matrix(shown) == cells
    sentence = shown.locator("#explorer-sentence").inner_text()
    assert f"tree costs {compute_cost(cells):.3g} per 1,000 cases" in sentence
    assert f"recall {cells[3] / (cells[3] + cells[2]):.3g}" in sentence
    assert shown.locator("figure.chart .canvas svg").count() == 4
    assert not shown.locator("#explorer .controls").is_visible()


SELECTIONS = (("tree", 0.18, "10", (10, 1)), (HOSTILE, 0.005, "1/5", (1, 5)), ("tree", 0.7, "1", (1, 1)))


def test_sliders_update_the_matrix_the_sentence_and_the_circles(browser, page):
    shown, frame, trouble = browser.new_page(), make_frame(), []
    shown.on("pageerror", lambda error: trouble.append(str(error)))
    shown.goto(page.as_uri())
    for model, threshold, cost, costs in SELECTIONS:
        shown.select_option("#explorer-model", model)
        shown.locator("#explorer-threshold").fill(str(THRESHOLDS.index(threshold)))
        shown.locator("#explorer-cost").fill(str(COSTS.index(cost)))
        cells, half = count(frame, model, threshold), count(frame, model, 0.5)
        assert read_matrix(shown) == cells
        value = compute_cost(cells, *costs)
        change = round(100 * (value / compute_cost(half, *costs) - 1))
        sentence = shown.locator("#explorer-sentence").inner_text()
        shown_cost = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
        assert sentence.startswith(
            f"At a threshold of {threshold:g} and a cost ratio of {costs[0]} : {costs[1]}, {model} costs {shown_cost}"
        )
        assert f"({abs(change)} % {'less' if change < 0 else 'more'} than at 0.5)" in sentence
        assert f"precision {cells[3] / (cells[3] + cells[1]):.3g}." in sentence
        assert shown.locator("#explorer-cost").get_attribute("aria-valuetext") == f"{costs[0]} : {costs[1]}"
        for name in ("tree", HOSTILE):
            tn, fp, fn, tp = count(frame, name, threshold)
            assert read_circles(shown, "roc")[name] == pytest.approx([fp / (fp + tn), tp / (tp + fn)], abs=1e-3)
            assert read_circles(shown, "precision")[name] == pytest.approx([tp / (tp + fn), tp / (tp + fp)], abs=1e-3)
            cost_circles, expected = read_circles(shown, "cost"), compute_cost((tn, fp, fn, tp), *costs)
            assert cost_circles[name] == pytest.approx([threshold, expected], abs=1e-3, rel=1e-3)
            benefit = (tp - fp * threshold / (1 - threshold)) / 500
            assert read_circles(shown, "benefit")[name] == pytest.approx([threshold, benefit], abs=1e-3)
    assert trouble == []
    shown.close()


def test_a_phone_shows_one_column_without_overflow(browser, page):
    shown = browser.new_page(viewport={"width": 390, "height": 800})
    shown.goto(page.as_uri())
    shown.select_option("#explorer-model", HOSTILE)
    shown.evaluate("fairtrialReady()")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    lefts = shown.evaluate("[...document.querySelectorAll('.question > .figures > figure')].map((part) => part.offsetLeft)")
    assert len(lefts) == 5
    assert len(set(lefts)) == 1
    shown.close()


def test_the_url_keeps_the_state_and_impossible_values_become_the_nearest(browser, page):
    shown = browser.new_page()
    shown.goto(page.as_uri())
    shown.locator("#explorer-threshold").focus()
    shown.keyboard.press("ArrowRight")
    shown.evaluate("fairtrialPage.select({cost: '20'})")
    assert "threshold=0.51" in shown.url
    before = shown.locator("#explorer-sentence").inner_text()
    shown.reload()
    assert shown.locator("#explorer-sentence").inner_text() == before
    assert "0.51 and a cost ratio of 20 : 1" in before
    for link, texts in (
        ("#threshold=0.1849&cost=9", "0.18 and a cost ratio of 10 : 1"),
        ("#threshold=x&cost=1/6", "0.5 and a cost ratio of 1 : 7"),
    ):
        shown.goto("about:blank")
        shown.goto(page.as_uri() + link)
        assert texts in shown.locator("#explorer-sentence").inner_text()
    assert json.loads(shown.locator("#explorer-threshold").get_attribute("data-values"))[-1] == "1"
    shown.close()


def test_the_data_set_and_the_unit_are_named():
    built = build_judgement_section(describe_source(judged("many sets")))
    described = built.explorer.describe({"dataset": "set 1"})
    assert (described["texts"]["where"], described["unit"]) == (" on set 1", "Rows")
    assert [sentence.when for sentence in built.sentences[:3]] == [{"dataset": f"set {number}"} for number in range(3)]
    assert all(f" on set {number}" in built.sentences[number].text for number in range(3))
    assert {figure.title for figure in built.figures if figure.when == {"dataset": "set 1"}} >= {"ROC curves on set 1"}
    frame = make_frame().assign(weight=2.0)
    weighted = build_judgement_section(describe_source(judge(frame, positive="ill", weight="weight", resamples=20)))
    assert weighted.explorer.describe({})["unit"] == "Sum of weights"


def test_the_explorer_of_a_study_counts_the_pooled_test_rows():
    rng, codes = np.random.default_rng(5), np.arange(60) % 2
    facts, splits = data_facts("pairs", codes, ("no", "yes")), {"pairs": folds(codes, 2, 3)}
    stored = {}

    def predict(facts, _condition, learner, repeat, fold):
        predictions = random_predictions(rng, codes, splits[facts.name][repeat, fold][1], 2)
        stored[learner, repeat, fold] = predictions
        return predictions

    results = Results(archive_of([facts], [CLEAN], ["tree", "rule"], splits, predict))
    section = build_study_section(describe_source(results))
    (dataset,) = section.explorer.datasets.values()
    assert (dataset.positive, dataset.negative) == ("yes", "no")
    for learner in ("tree", "rule"):
        parts = [stored[learner, 0, fold] for fold in range(3)]
        is_yes, scores = (
            np.concatenate([part.y_true for part in parts]) == 1,
            np.concatenate([part.scores[:, 1] for part in parts]),
        )
        for index in (0, THRESHOLDS.index(0.3), THRESHOLDS.index(0.5)):
            alerts = scores >= THRESHOLDS[index]
            counts = dataset.models[learner]
            assert (counts.tp[index], counts.fp[index]) == ((alerts & is_yes).sum(), (alerts & ~is_yes).sum())
            assert (counts.positives, counts.negatives) == (is_yes.sum(), (~is_yes).sum())
    costs = section.tables[0].frame.set_index("learner")["cost per 1,000 cases"]
    assert f"{costs.idxmin()} has the lowest cost" in section.sentences[0].text
    assert {figure.title.split(" on ")[0] for figure in section.figures} == {
        "ROC curves",
        "Precision-recall curves",
        "Cost by threshold",
        "Decision curves",
    }


def test_studies_without_probabilities_have_no_explorer():
    assert build_study_section(describe_source(skilled_results({"tree": 0.9, "rule": 0.7}))) is None
