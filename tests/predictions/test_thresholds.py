"""Tests of `fairtrial.predictions.choose_threshold` and the command `fairtrial threshold`."""

import json
import math
from importlib.resources import files
from itertools import pairwise

import jsonschema
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import confusion_matrix, f1_score, make_scorer, matthews_corrcoef
from sklearn.model_selection import TunedThresholdClassifierCV
from statsmodels.stats.proportion import proportion_confint
from typer.testing import CliRunner

import fairtrial
from fairtrial.cli import app
from fairtrial.errors import InputError
from fairtrial.measures import ScoreTally
from fairtrial.predictions import ThresholdResult, choose_threshold
from tests.reference import thresholds as reference


def make_frame(rows=800, prevalence=0.2, seed=0, separations=(1.6,), names=("tree",)):
    """Calibrated probabilities of models that separate the classes to different degrees."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random(rows) < prevalence).astype(int)
    frame = pd.DataFrame({"id": np.arange(rows), "y_true": y_true})
    for name, separation in zip(names, separations, strict=True):
        score = separation * (separation * y_true + rng.normal(size=rows)) - separation**2 / 2
        frame[f"{name}_proba"] = 1 / (1 + np.exp(-score) * (1 - prevalence) / prevalence)
    return frame


def run(*arguments):
    return CliRunner().invoke(app, ["threshold", *map(str, arguments)])


# --- The threshold ---


def test_an_example_computed_by_hand():
    # Scores 0.9 to 0.1; positives at 0.9, 0.8, 0.6 and 0.3.
    # Costs 1:10. At 0.3: 3 false positives (0.7, 0.5, 0.4), no false negative: 3. At 0.6: 1 + 10 = 11. At 0.1: 5.
    # Costs 5:1. At 0.8: 2 false negatives: 2. At 0.6: 5 + 1 = 6. Above all: 4.
    frame = {"y_true": [1, 1, 0, 1, 0, 0, 1, 0, 0], "probability": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]}
    result = choose_threshold(frame, costs=(1, 10), thresholds=[0.3, 0.6, 0.1])
    costs = result.table[result.table["measure"] == "cost"].set_index("threshold")["estimate"]
    assert result.threshold == 0.3
    assert costs.to_dict() == pytest.approx({0.6: 11_000 / 9, 0.3: 3000 / 9, 0.1: 5000 / 9})
    assert choose_threshold(frame, costs=(5, 1)).threshold == 0.8
    assert choose_threshold(frame, recall=0.75).threshold == 0.6
    assert choose_threshold(frame, precision=0.75).threshold == 0.6
    assert choose_threshold(frame, alerts=400).threshold == 0.7  # 3 of 9 alerts; 4 of 9 would be 444


def test_cross_fitted_costs_of_separated_folds_by_hand():
    # 2 positives at 0.8 and 0.6, 2 negatives at 0.4 and 0.2: two folds of one case of each class. The positive of the other
    # fold is the threshold. The positive at 0.6 is missed because its threshold is 0.8. The one at 0.8 is not missed, and no
    # negative is alerted. So exactly 1 of 4 cases is a false negative in every repeat.
    frame = {"y_true": [1, 1, 0, 0], "probability": [0.8, 0.6, 0.4, 0.2]}
    choice = choose_threshold(frame, costs=(1, 10), current=0.3).choices[0]
    assert choice.threshold == 0.6
    assert choice.estimates["cost"].estimate == pytest.approx(1000 * 10 / 4)
    assert choice.estimates["recall"].estimate == 0.5
    assert choice.current_estimates["cost"].estimate == pytest.approx(1000 / 4)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_thresholds_are_those_of_brute_force(data):
    rows = data.draw(st.integers(4, 25))
    scores = data.draw(st.lists(st.integers(0, 8).map(lambda x: x / 8), min_size=rows, max_size=rows))
    y_true = data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows).filter(lambda y: 0 < sum(y) < len(y)))
    goal = data.draw(st.sampled_from(["costs", "recall", "precision", "alerts"]))
    value = {
        "costs": st.tuples(st.sampled_from([1, 2, 0.3]), st.sampled_from([1, 5, 0.1])),
        "recall": st.floats(0.05, 1),
        "precision": st.floats(0.05, 1),
        "alerts": st.floats(1, 1000),
    }
    value = data.draw(value[goal])
    expected = reference.best_threshold(y_true, scores, goal, value)
    frame = pd.DataFrame({"y_true": np.asarray(y_true, int), "probability": scores})
    if goal == "precision" and expected is None:
        with pytest.raises(InputError, match="precision must be reachable"):
            choose_threshold(frame, precision=value, positive=1)
        return
    result = choose_threshold(frame, **{goal: value}, positive=1, measures="recall", thresholds=[0.5])
    assert result.threshold == (math.inf if expected is None else expected)
    assert result.interval[0] <= result.threshold <= result.interval[1] or math.isnan(result.interval[0])


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier whose only attribute is the probability of the positive class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.mark.parametrize("costs", [(1, 10), (1, 1), (7, 1)])
def test_scikit_learn_tunes_the_same_threshold(costs):
    frame = make_frame(120)
    X, y = frame[["tree_proba"]].to_numpy(), frame["y_true"].to_numpy()

    def compute_cost(y_true, y_pred):
        _, fp, fn, _ = confusion_matrix(y_true, y_pred).ravel()
        return costs[0] * fp + costs[1] * fn

    scorer = make_scorer(compute_cost, greater_is_better=False)
    candidates = np.unique(X[:, 0])
    tuned = TunedThresholdClassifierCV(
        GivenProbabilities().fit(X, y), scoring=scorer, thresholds=candidates, cv="prefit", refit=False
    ).fit(X, y)
    result = choose_threshold(frame, costs=costs, positive=1)
    assert compute_cost(y, X[:, 0] >= result.threshold) == pytest.approx(-tuned.best_score_)
    ties = [t for t in candidates if compute_cost(y, X[:, 0] >= t) == -tuned.best_score_]
    assert result.threshold == max(ties)
    assert tuned.best_threshold_ in ties


def test_constant_scores_and_ties():
    constant = {"y_true": [0, 0, 0, 1] * 10, "probability": [0.4] * 40}
    assert choose_threshold(constant, costs=(1, 1)).threshold == math.inf  # predicting 1 costs 30, predicting 0 costs 10
    assert "above all scores" in str(choose_threshold(constant, costs=(1, 1)))
    assert choose_threshold(constant, costs=(1, 10)).threshold == 0.4
    assert choose_threshold(constant, recall=0.5).threshold == 0.4


# --- Honest estimates ---


def test_the_cross_fitted_cost_is_not_optimistic():
    # Scores without information: at costs 1:1 and equal classes, every threshold costs 500 per 1,000 cases.
    estimates, optimistic = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"y_true": np.arange(60) % 2, "probability": rng.random(60)})
        result = choose_threshold(frame, costs=(1, 1), positive=1, measures="recall", thresholds=[0.5])
        estimates.append(result.choices[0].estimates["cost"].estimate)
        cells = reference.count_cells(frame["y_true"], frame["probability"], result.threshold)
        optimistic.append(1000 * reference.cost_of(cells, (1, 1)) / 60)
    assert np.mean(estimates) > 480
    assert np.mean(optimistic) < 450


def test_clusters_stay_together_and_widen_intervals():
    frame = make_frame(100)
    copies = pd.concat([frame.assign(patient=frame["id"])] * 8, ignore_index=True).drop(columns="id")
    single = choose_threshold(frame, costs=(1, 5), positive=1).choices[0]
    clustered = choose_threshold(copies, costs=(1, 5), positive=1, cluster="patient").choices[0]
    ignored = choose_threshold(copies.drop(columns="patient"), costs=(1, 5), positive=1).choices[0]
    assert clustered.threshold == single.threshold
    # Eight copies of each case carry no information: without clusters, a copy in another fold makes the estimate optimistic.
    width = {
        name: choice.current_estimates["cost"].high - choice.current_estimates["cost"].low
        for name, choice in (("single", single), ("clustered", clustered), ("ignored", ignored))
    }
    assert width["clustered"] == pytest.approx(width["single"], rel=0.1)
    assert width["ignored"] < 0.5 * width["single"]
    assert clustered.estimates["cost"].estimate > ignored.estimates["cost"].estimate


def test_integer_weights_give_the_threshold_and_costs_of_repeated_rows():
    frame = make_frame(150)
    weight = np.random.default_rng(3).integers(1, 5, 150)
    weighted = choose_threshold(frame.assign(weight=weight), costs=(1, 4), positive=1, weight="weight", thresholds=[0.2])
    repeated = frame.loc[np.repeat(np.arange(150), weight)].drop(columns="id").reset_index(drop=True)
    plain = choose_threshold(repeated, costs=(1, 4), positive=1, thresholds=[0.2])
    assert weighted.threshold == plain.threshold
    columns = ["tp", "fp", "fn", "tn", "estimate"]
    assert weighted.table[columns].to_numpy() == pytest.approx(plain.table[columns].to_numpy())
    widths = [(result.table["high"] - result.table["low"]).to_numpy() for result in (weighted, plain)]
    assert (widths[0] > widths[1]).all()


def test_saving_and_intervals_are_ordered():
    choice = choose_threshold(make_frame(), costs=(1, 10), positive=1).choices[0]
    cost, current = choice.estimates["cost"], choice.current_estimates["cost"]
    assert choice.saving.estimate == pytest.approx(1 - cost.estimate / current.estimate)
    assert choice.saving.low < choice.saving.estimate < choice.saving.high
    assert cost.low < cost.estimate < cost.high
    assert choice.low < choice.threshold < choice.high
    assert choice.low <= 1 / 11 <= choice.high  # the best threshold of calibrated probabilities


def test_the_interval_of_a_recall_threshold_inverts_wilson():
    frame = make_frame(400)
    choice = choose_threshold(frame, recall=0.8, positive=1).choices[0]
    scores = np.sort(frame["tree_proba"][frame["y_true"] == 1])[::-1]
    inside = []
    for number, score in enumerate(scores, start=1):
        upper = proportion_confint(number, len(scores), method="wilson")[1]
        lower = proportion_confint(number - 1, len(scores), method="wilson")[0]
        if upper >= 0.8 and lower < 0.8:
            inside.append(score)
    assert choice.high == max(inside)
    below = frame["tree_proba"][frame["tree_proba"] < min(inside)].max()
    # The lowest accepted threshold is at least as low as the last such positive: negatives lie between positives.
    assert choice.low <= below


# --- The threshold table ---


def test_the_table_has_measures_with_closed_form_intervals():
    frame = make_frame(600)
    result = choose_threshold(
        frame, costs=(1, 3), positive=1, thresholds=[0.1, 0.4], measures=["recall", "precision", "mcc", "f_score"]
    )
    y_true = frame["y_true"]
    for threshold in (0.1, 0.4):
        lines = result.table[result.table["threshold"] == threshold].set_index("measure")
        alert = (frame["tree_proba"] >= threshold).astype(int)
        tn, fp, fn, tp = confusion_matrix(y_true, alert).ravel()
        assert lines[["tp", "fp", "fn", "tn"]].iloc[0].tolist() == [tp, fp, fn, tn]
        for name, successes, trials in (
            ("recall", tp, tp + fn),
            ("precision", tp, tp + fp),
            ("alert_rate", tp + fp, len(frame)),
        ):
            assert lines.loc[name, "estimate"] == pytest.approx(successes / trials)
            expected = proportion_confint(successes, trials, method="wilson")
            assert lines.loc[name, ["low", "high"]].tolist() == pytest.approx(list(expected))
        assert lines.loc["f_score", "estimate"] == pytest.approx(f1_score(y_true, alert))
        assert lines.loc["mcc", "estimate"] == pytest.approx(matthews_corrcoef(y_true, alert))
        assert lines.loc["mcc", "low"] < lines.loc["mcc", "estimate"] < lines.loc["mcc", "high"]
        assert lines.loc["cost", "estimate"] == pytest.approx(1000 * (fp + 3 * fn) / len(frame))
        assert lines.loc["cost", "low"] < lines.loc["cost", "estimate"] < lines.loc["cost", "high"]


def test_cells_of_a_tally_are_counted_at_any_threshold():
    rng = np.random.default_rng(0)
    y_true, scores = rng.random(300) < 0.3, rng.integers(0, 20, 300) / 20
    tally = ScoreTally.from_scores(y_true, scores)
    marks = [0.0, 0.5, 0.51, 0.95, 2.0]
    cells = tally.count_cells(marks)
    for number, mark in enumerate(marks):
        expected = reference.count_cells(y_true, scores, mark)
        assert [column[number] for column in cells] == list(expected.values())


def test_an_undefined_cell_is_nan_with_a_reason():
    frame = make_frame(100)
    frame["tree_proba"] = frame["tree_proba"].clip(upper=0.6)
    result = choose_threshold(frame, costs=(1, 1), positive=1, thresholds=[0.9], measures=["precision", "f_score"])
    line = result.table.set_index("measure").loc["precision"]
    assert math.isnan(line["estimate"])
    assert line["note"] == "undefined because the class is never predicted"
    assert result.table.set_index("measure").loc["f_score", "note"] or not math.isnan(
        result.table.set_index("measure").loc["f_score", "estimate"]
    )


def test_several_classes_need_a_positive_class():
    frame = pd.DataFrame({"y_true": list("abc") * 20, **{f"proba_{c}": np.linspace(0.1, 0.6, 60) for c in "ab"}})
    frame["proba_c"] = 1 - frame["proba_a"] - frame["proba_b"]
    frame = frame.assign(proba_a=0.2, proba_b=0.3, proba_c=0.5)
    with pytest.raises(InputError, match="needs a positive class, got 3 classes"):
        choose_threshold(frame, costs=(1, 1))
    assert choose_threshold(frame, costs=(1, 10), positive="b").threshold == 0.3


# --- Two models ---


def test_costs_of_two_models_are_compared():
    frame = make_frame(1500, separations=(2.2, 0.8), names=("good", "poor"))
    result = choose_threshold(frame, costs=(1, 5), positive=1)
    line = result.pairs.iloc[0]
    assert (line["first"], line["second"], line["significant"]) == ("good", "poor", True)
    assert line["difference"] == pytest.approx(line["first_cost"] - line["second_cost"])
    assert line["low"] < line["difference"] < line["high"] < 0
    assert [choice.model for choice in result.choices] == ["good", "poor"]
    assert line["first_cost"] == pytest.approx(result.choices[0].estimates["cost"].estimate)
    assert "good costs" in str(result)
    same = choose_threshold(frame.assign(poor_proba=frame["good_proba"] ** 1.0001), costs=(1, 5), positive=1).pairs.iloc[0]
    assert (same["difference"], same["p_value"], same["significant"]) == (0, 1, False)


def test_holm_covers_all_pairs():
    frame = make_frame(400, separations=(2.0, 1.4, 1.0), names=("a", "b", "c"))
    pairs = choose_threshold(frame, costs=(1, 5), positive=1).pairs
    p_values = np.sort(pairs["p_value"])
    expected = np.minimum(1, np.maximum.accumulate(p_values * [3, 2, 1]))
    assert np.sort(pairs["p_adjusted"]) == pytest.approx(expected)


# --- Bad input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one goal must be given, got none"),
        ({"costs": (1, 2), "recall": 0.9}, "exactly one goal must be given, got costs and recall"),
        ({"costs": (0, 1)}, "the cost of a false positive must be a number above 0, got 0"),
        ({"costs": (1, -2)}, "the cost of a false negative must be a number above 0, got -2"),
        ({"costs": (1, math.inf)}, "the cost of a false negative must be a number above 0, got inf"),
        ({"costs": 3}, "costs must be two numbers"),
        ({"recall": 0}, "recall must be greater than 0 and at most 1, got 0: pass e.g. 0.9"),
        ({"recall": 90}, "recall must be greater than 0 and at most 1, got 90: pass 0.9 for 90 %"),
        ({"precision": 1.2}, "precision must be greater than 0 and at most 1, got 1.2"),
        ({"alerts": 0}, "alerts must be greater than 0 and at most 1,000 per 1,000 cases, got 0: pass e.g. 50"),
        ({"alerts": 2000}, "alerts must be greater than 0 and at most 1,000 per 1,000 cases, got 2000"),
        ({"recall": 0.9, "current": 50}, "current must lie within the range .* got 50: pass 0.5 for 50 %"),
        ({"recall": 0.9, "subgroup": "region"}, "subgroup is not an option of choose_threshold"),
        ({"recall": 0.9, "current": 1.5}, "current must lie within the range of the scores of 'tree', 0 to 1, got 1.5"),
        ({"recall": 0.9, "thresholds": [0.5, -1]}, "thresholds must lie within the range of the scores of 'tree', 0 to 1"),
        ({"recall": 0.9, "thresholds": []}, "thresholds must contain at least one number"),
        ({"recall": 0.9, "measures": "auc"}, "measures of a threshold table must be measures of predicted labels, got auc"),
        ({"precision": 0.99999}, "precision must be reachable, got 0.99999, but the highest precision of 'tree' is"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(options, message):
    frame = make_frame(300, separations=(0.5,))
    best = frame["tree_proba"].idxmax()
    frame.loc[best, "y_true"] = 0
    with pytest.raises(InputError, match=message):
        choose_threshold(frame, positive=1, **options)


def test_models_without_scores_and_scores_outside_the_range_are_refused():
    with pytest.raises(InputError, match="a threshold needs scores, got none from 'tree'"):
        choose_threshold({"y_true": [0, 1] * 10, "tree": [0, 1] * 10}, costs=(1, 1))
    frame = make_frame(100).rename(columns={"tree_proba": "tree_score"})
    frame["tree_score"] = np.log(frame["tree_score"])
    assert choose_threshold(frame, costs=(1, 5), positive=1).choices[0].current is None
    with pytest.raises(InputError, match=r"current must lie within the range of the scores of 'tree', -.* to -.*, got 0.5"):
        choose_threshold(frame, costs=(1, 5), positive=1, current=0.5)


def test_inverted_scores_are_refused():
    frame = make_frame(300)
    frame["tree_proba"] = 1 - frame["tree_proba"]
    with pytest.raises(InputError, match="which is the positive class here"):
        choose_threshold(frame, costs=(1, 5))


def test_too_few_cases_have_no_honest_estimate():
    frame = pd.DataFrame({"y_true": [1] + [0] * 30, "probability": np.linspace(0.9, 0.1, 31)})
    result = choose_threshold(frame, costs=(1, 5), positive=1)
    assert math.isnan(result.choices[0].estimates["cost"].estimate)
    assert math.isnan(result.choices[0].saving.estimate)
    assert "cross-fitting needs at least two cases" in " ".join(str(result).split())


# --- Output ---


def test_the_answer_comes_first_and_fits():
    result = choose_threshold(make_frame(), costs=(1, 10), positive=1)
    lines = str(result).splitlines()
    assert lines[0].startswith(f"Use a threshold of {result.choices[0].label} for tree: it costs ")
    assert " ".join(lines[:2]).find("% less than at 0.5") > 0
    assert any(line.startswith("95 % CIs: threshold ") for line in lines[1:3])
    assert len(lines) <= 16
    assert max(map(len, lines)) <= 80
    assert isinstance(result, ThresholdResult)
    assert "<pre " in result._repr_html_()


def test_the_command_prints_writes_and_refuses(tmp_path):
    path, document, page = tmp_path / "p.csv", tmp_path / "r.json", tmp_path / "r.html"
    make_frame(200, separations=(1.6, 0.8), names=("tree", "rule")).to_csv(path, index=False)
    shown = run(path, "--cost-fp", 1, "--cost-fn", 10, "--at", 0.2, "--measure", "recall", "--json", document, "--report", page)
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("Use a threshold of ")
    assert max(map(len, shown.output.splitlines()[:-2])) <= 80
    result = json.loads(document.read_text())
    jsonschema.validate(result, json.loads((files("fairtrial") / "result.schema.json").read_text()))
    assert result["goal"] == {"kind": "costs", "false_positive": 1, "false_negative": 10}
    assert result["comparisons"][0]["candidate"] == "tree"
    assert "Cost by threshold" in page.read_text()
    table = pd.read_csv(pd.io.common.StringIO(run(path, "--recall", 0.9, "--at", 0.2, "--csv").output))
    assert set(table["threshold"]) == {0.2}
    for arguments, message in (
        ((), "exactly one goal"),
        (("--cost-fp", 1), "--cost-fp and --cost-fn must be given together"),
        (("--cost-fp", 0, "--cost-fn", 1), "must be a number above 0"),
        (("--recall", 0.9, "--alerts", 5), "got recall and alerts"),
        (("--recall", 0.9, "--at", 50), "pass 0.5 for 50 %"),
        (("--recall", 0.9, "--model", "tree_proba"), "pass --score tree_proba"),
    ):
        refused = run(path, *arguments)
        assert refused.exit_code == 2
        assert message in refused.output
        assert len(refused.output.strip().splitlines()) == 1


def test_the_report_of_a_judgement_has_a_section_on_thresholds():
    from fairtrial.report.report import build_sections

    sections = {section.key: section for section in build_sections(fairtrial.judge(make_frame(300), positive=1))}
    built = sections["thresholds"]
    assert built.sentences[0].text.startswith("At equal costs, ")
    assert built.notes[0].startswith("A false positive and a false negative are assumed to cost the same.")
    assert {"alert nobody", "alert everybody"} <= set(built.tables[0].frame.columns)
    assert [table.key for table in built.tables] == ["thresholds-choices", "thresholds-table"]
    assert built.figures[0].chart.to_dict()
    labels = fairtrial.judge({"y_true": [0, 1] * 10, "tree": [0, 1] * 10})
    assert "thresholds" not in {section.key for section in build_sections(labels)}


@pytest.mark.parametrize("goal", [{"recall": 0.9}, {"alerts": 80}, {"costs": (1, 10)}, {"precision": 0.5}])
def test_the_printed_threshold_predicts_the_same_labels(goal):
    for seed in range(8):
        frame = make_frame(2000, seed=seed)
        choice = choose_threshold(frame, **goal, positive=1, thresholds=[0.5], measures="recall").choices[0]
        score = frame["tree_proba"]
        assert ((score >= float(choice.label)) == (score >= choice.threshold)).all()
        assert len(choice.label) < 12
    large = frame.assign(tree_score=1e6 * frame["tree_proba"]).drop(columns="tree_proba")
    assert choose_threshold(large, **goal, positive=1).choices[0].label.isdigit()  # no thousands separator, no exponent


def test_each_model_is_described_when_the_goal_does_not_rank_models():
    frame = make_frame(800, separations=(2.2, 0.8), names=("good", "poor"))
    swapped = frame[["id", "y_true", "poor_proba", "good_proba"]]
    texts, other = (choose_threshold(data, recall=0.9, positive=1).list_texts() for data in (frame, swapped))
    assert set(texts) == set(other)
    assert sum(" for good. " in text or " for poor. " in text for text in texts) == 2
    assert texts[-1] == "The models are in the order of the file; this goal does not rank them"


def test_intervals_of_every_model_are_printed():
    result = choose_threshold(make_frame(800, separations=(2.2, 0.8), names=("good", "poor")), costs=(1, 10), positive=1)
    lines = str(result).splitlines()
    assert sum(line.strip().startswith("95 % CI ") and line.count(" to ") == 5 for line in lines) == 2
    assert max(map(len, lines)) <= 80


def test_unused_columns_and_few_clusters_are_noted(tmp_path):
    frame = make_frame(400, separations=(2.2, 0.8), names=("good", "poor"))
    frame = frame.rename(columns={"good_proba": "good", "poor_proba": "poor"}).drop(columns="id")
    frame["good"] = frame["good"].astype(object)
    frame.loc[3, "good"] = "high"
    frame.assign(site=np.arange(400) % 6).to_csv(tmp_path / "p.csv", index=False)
    shown = run(tmp_path / "p.csv", "--recall", 0.8, "--cluster", "site", "--positive", 1).output
    assert shown.startswith("For a recall of at least 0.8, use a threshold of ")
    assert "! Column 'good' contains numbers but is not used" in shown
    assert "read as: true labels y_true, scores poor, clusters site" in shown
    assert "! There are only 6 clusters: intervals were checked with 20 or more" in shown


def test_a_difference_in_cost_has_the_same_sign_everywhere():
    frame = make_frame(600, separations=(1.6, 1.5), names=("first", "second"))
    result = choose_threshold(frame, costs=(1, 5), positive=1)
    line = result.pairs.iloc[0]
    assert not line["significant"]
    expected = f"difference {line['difference']:.3g} per 1,000 cases, 95 % CI {line['low']:.3g} to {line['high']:.3g}"
    assert expected in result.list_texts()[-1]


def test_the_costs_of_alerting_nobody_and_everybody_are_reported():
    frame = make_frame(1000, prevalence=0.1, separations=(2.0,))
    positives = int(frame["y_true"].sum())
    result = choose_threshold(frame, costs=(1, 10), positive=1, current=0.8)
    costs = result.frame().iloc[0]
    assert (costs["cost_nobody"], costs["cost_everybody"]) == pytest.approx((10 * positives, 1000 - positives))
    assert f"Alerting nobody costs {10 * positives:,} per 1,000 cases, and alerting everybody {1000 - positives}" in str(result)
    assert result.choices[0].is_useful(0.05)
    assert result.list_texts()[0].startswith("Use ")


def test_a_threshold_that_is_not_cheaper_than_alerting_nobody_is_not_recommended():
    frame = make_frame(1000, prevalence=0.1, separations=(0.9,))
    frame.loc[frame["tree_proba"].nlargest(3).index, "y_true"] = 1  # a threshold that is cheaper by chance
    text = choose_threshold(frame, costs=(1, 1), positive=1).list_texts()[0]
    assert text.startswith("The cross-fitted best threshold of tree is not significantly cheaper than alerting nobody (")
    constant = {"y_true": [0, 0, 0, 1] * 10, "probability": [0.4] * 40}
    assert (
        "No threshold of model is cheaper than alerting nobody, which costs 250"
        in choose_threshold(constant, costs=(1, 1)).list_texts()[0]
    )


def test_a_current_threshold_that_is_cheaper_than_alerting_nobody_is_not_called_useless():
    frame = make_frame(300, prevalence=0.4, separations=(0.9,), seed=6)
    result = choose_threshold(frame, costs=(1, 1), positive=1)
    alert, is_positive = frame["tree_proba"] >= 0.5, frame["y_true"] == 1
    gains = 1.0 * (alert != is_positive) - is_positive  # cost of each case at 0.5, minus its cost if nobody is alerted
    assert scipy.stats.ttest_1samp(gains, 0).pvalue < 0.04
    assert gains.mean() < 0
    assert result.choices[0].is_useful(0.05) is False
    assert result.choices[0].is_current_useful(0.05)
    assert "no threshold is shown to cost less than the current threshold 0.5" in result.list_texts()[0]


def test_useless_scores_are_seldom_called_useful():
    useful = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"y_true": np.arange(200) % 2, "probability": rng.random(200)})
        result = choose_threshold(frame, costs=(1, 1), positive=1, measures="recall", thresholds=[0.5])
        useful += bool(result.choices[0].is_useful(0.05))
    assert useful <= 4


def test_a_precision_that_one_model_reaches_gives_its_threshold():
    frame = make_frame(600, separations=(2.4, 0.5), names=("good", "poor"))
    frame.loc[frame["poor_proba"].idxmax(), "y_true"] = 0
    result = choose_threshold(frame, precision=0.85, positive=1)
    assert [choice.model for choice in result.choices] == ["good"]
    assert "poor: no threshold reaches a precision of 0.85; the highest is" in " ".join(str(result).split())
    assert set(result.table["model"]) == {"good", "poor"}


def test_a_budget_below_one_alert_is_noted():
    shown = " ".join(str(choose_threshold(make_frame(300), alerts=0.05, positive=1)).split())
    assert "if 0.05 is a proportion of the cases, pass 50 instead" in shown


def test_the_threshold_table_of_each_model_has_counts(tmp_path):
    frame = make_frame(300, separations=(2.0, 0.8), names=("good", "poor"))
    frame.to_csv(tmp_path / "p.csv", index=False)
    shown = run(tmp_path / "p.csv", "--cost-fp", 1, "--cost-fn", 5, "--at", 0.2).output
    for name in ("good", "poor"):
        tn, fp, fn, tp = confusion_matrix(frame["y_true"], frame[f"{name}_proba"] >= 0.2).ravel()
        assert f"{name} at 0.2: TP {tp}, FP {fp}, FN {fn}, TN {tn}" in shown
    shown = run(tmp_path / "p.csv", "--cost-fp", 1, "--cost-fn", 5, "--measure", "mcc").output
    assert shown.count("Matthews correlation coefficient") == 2


# --- The current threshold, ties, open limits and pairs ---


@pytest.mark.parametrize("seed", range(4))
def test_a_threshold_without_a_significant_saving_is_not_recommended(seed, tmp_path):
    # Calibrated probabilities: at equal costs, the current threshold 0.5 is the best one.
    frame = make_frame(400, prevalence=0.4, separations=(1.5,), seed=seed)
    result = choose_threshold(frame, costs=(1, 1), positive=1)
    choice = result.choices[0]
    assert choice.saving.low <= 0
    cost = 1000 * ((frame["tree_proba"] >= 0.5) != frame["y_true"]).mean()
    answer = result.list_texts()[0]
    assert f"no threshold is shown to cost less than the current threshold 0.5 (cost {cost:.3g} per 1,000 cases)" in answer
    assert "; the best on these rows is" in answer
    assert not any(word in answer for word in ("Use ", " % less", " % more"))
    assert json.loads(result.to_json())["answer"].startswith(answer)
    page = tmp_path / "page.html"
    fairtrial.write_report(result, page)
    assert "no threshold is shown to cost less than the current threshold 0.5" in page.read_text(encoding="utf-8")


def test_a_current_threshold_without_errors_is_not_replaced():
    rng = np.random.default_rng(0)
    frame = {"y_true": [1] * 50 + [0] * 50, "probability": [*(rng.random(50) * 0.3 + 0.7), *(rng.random(50) * 0.3)]}
    answer = choose_threshold(frame, costs=(1, 10)).list_texts()[0]
    assert "no threshold is shown to cost less than the current threshold 0.5 (cost 0 per 1,000 cases)" in answer


def test_a_significant_saving_is_reported():
    result = choose_threshold(make_frame(2000), costs=(1, 10), positive=1)
    assert result.choices[0].saving.low > 0
    assert f"{100 * result.choices[0].saving.estimate:.0f} % less than at 0.5" in result.list_texts()[0]


def test_intervals_beside_adjusted_p_values_are_labelled(tmp_path):
    frame = make_frame(300, separations=(2.0, 1.2, 0.9), names=("tree", "rule", "line"))
    three = choose_threshold(frame, costs=(1, 10), positive=1, row="id")
    texts = [text for text in three.list_texts() if "difference" in text and " than alerting " not in text]
    assert len(texts) == 2
    assert all("simultaneous 95 % CI" in text and "adjusted p " in text for text in texts)
    page = tmp_path / "page.html"
    fairtrial.write_report(three, page)
    assert "simultaneous confidence limits of all pairs (Bonferroni)" in page.read_text(encoding="utf-8")
    # The limits of each pair are those of the pair alone at the level 1 - 0.05 / 3.
    alone = choose_threshold(frame.drop(columns="line_proba"), costs=(1, 10), positive=1, row="id", level=1 - 0.05 / 3).pairs
    pair = three.pairs[three.pairs["first"].isin(["tree", "rule"]) & three.pairs["second"].isin(["tree", "rule"])]
    assert pair[["low", "high"]].to_numpy() == pytest.approx(alone[["low", "high"]].to_numpy())
    two = choose_threshold(frame.drop(columns="line_proba"), costs=(1, 10), positive=1, row="id")
    assert "adjusted" not in " ".join(two.list_texts())


def test_the_lower_limit_is_open_if_alerting_everybody_may_be_best():
    # Calibrated probabilities: the best threshold is 1 / 201, below almost all scores.
    for seed in range(10):
        result = choose_threshold(make_frame(200, separations=(1.0,), seed=seed), costs=(1, 200), positive=1)
        assert result.interval[0] <= 1 / 201 <= result.interval[1]
    assert result.interval[0] == -math.inf
    assert "threshold below all scores to " in result.list_texts()[1]
    assert "  up to " in str(result)
    json.loads(result.to_json())
    assert choose_threshold(make_frame(2000, separations=(2.2,)), costs=(1, 1), positive=1).interval[0] > 0


@pytest.mark.parametrize("goal", [{"alerts": 200}, {"recall": 0.5}, {"precision": 0.5}])
def test_ties_at_the_limit_do_not_change_the_estimates(goal):
    # At 0.8: 1 true and 1 false positive, 1 false negative and 7 true negatives per 10 rows.
    y_true, score = np.tile([1, 1] + [0] * 8, 100), np.tile([0.8, 0.2, 0.8] + [0.2] * 7, 100)
    result = choose_threshold({"y_true": y_true, "probability": score}, **goal)
    estimates = result.choices[0].estimates
    assert result.threshold == 0.8
    assert [estimates[name].estimate for name in ("recall", "precision", "alert_rate")] == [0.5, 0.5, 0.2]


@pytest.mark.parametrize(
    ("positives", "goal", "text"),
    [
        (12, {"costs": (1, 5)}, "10-fold cross-fitting on 80 rows"),
        (4, {"costs": (1, 5)}, "4-fold cross-fitting on 80 rows"),
        (1, {"costs": (1, 5)}, "No cross-fitting on 80 rows, because a class has too few cases"),
        (12, {"alerts": 100}, "Estimated on all 80 rows, because no true labels are used to choose the threshold"),
    ],
)
def test_the_folds_and_rows_that_were_used_are_reported(positives, goal, text):
    score = np.random.default_rng(1).random(80) * 0.6
    y_true = (np.arange(80) < positives).astype(int)
    result = choose_threshold({"y_true": y_true, "probability": score + 0.4 * y_true}, **goal)
    assert text in " ".join(str(result).split())


def test_pairs_on_common_rows_are_described_as_such():
    frame = make_frame(400, separations=(1.6, 0.8), names=("tree", "rule"))
    parts = [frame[["id", "y_true"]].assign(model=name, proba=frame[f"{name}_proba"]) for name in ("tree", "rule")]
    result = choose_threshold(pd.concat([parts[0], parts[1].head(300)]), costs=(1, 5), row="id", model="model")
    assert any("per 1,000 cases on 300 common rows, 95 % CI" in text for text in result.list_texts())
    assert "10-fold cross-fitting on 300 to 400 rows" in str(result)


def test_limits_of_the_threshold_narrow_with_the_confidence_level():
    frame = make_frame(800)
    limits = [choose_threshold(frame, costs=(1, 10), positive=1, level=level).interval for level in (0.4, 0.5, 0.51, 0.9)]
    for (low, high), (wider_low, wider_high) in pairwise(limits):
        assert wider_low <= low < high <= wider_high
    assert limits[0][1] < 1


@pytest.mark.parametrize("goal", ["recall", "precision"])
def test_a_goal_is_said_to_be_reached_on_these_rows(goal):
    assert f"For a {goal} of at least 0.5, use a threshold" in choose_threshold(make_frame(), **{goal: 0.5}).list_texts()[0]


def test_net_benefit_in_the_threshold_table_is_refused_with_a_remedy():
    with pytest.raises(InputError, match=r"compute it with fairtrial\.measures\.decision_curve\(y_true, y_score, thresholds\)"):
        choose_threshold(make_frame(100), costs=(1, 10), positive=1, measures="net_benefit")
