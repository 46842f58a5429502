"""Tests of `fairtrial.gate` and the command `fairtrial gate`."""

import json
import math
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import fairtrial
from fairtrial.cli import app
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.significance.margins import decide_margin
from fairtrial.testing import assert_non_inferior


def make_frame(rows=3000, loss=0.0, seed=0, positives=0.3):
    """Two models with scores and labels; `loss` weakens the new one."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random(rows) < positives).astype(int)
    shared = rng.normal(size=rows)
    frame = pd.DataFrame({"id": np.arange(rows), "y_true": y_true})
    for name, strength in (("old", 1.5), ("new", 1.5 - loss)):
        frame[f"{name}_score"] = strength * y_true + shared + 0.3 * rng.normal(size=rows)
    return frame


def run(*arguments):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


# --- Decisions ---


@pytest.mark.parametrize(
    ("low", "high", "decision", "passed", "with_equivalence"),
    [
        (0.001, 0.02, "superior", True, ("superior", False)),
        (0.001, 0.009, "superior", True, ("superior", True)),
        (-0.009, 0.009, "non-inferior", True, ("equivalent", True)),
        (-0.009, 0.02, "non-inferior", True, ("non-inferior", False)),
        (-0.02, -0.011, "inferior", False, ("inferior", False)),
        (-0.02, 0.001, "inconclusive", False, ("inconclusive", False)),
        (-0.02, -0.001, "inconclusive", False, ("inconclusive", False)),
        (-0.01, 0.001, "inconclusive", False, ("inconclusive", False)),  # a limit at the margin does not exclude it
        (math.nan, math.nan, "inconclusive", False, ("inconclusive", False)),
    ],
)
def test_decisions_follow_from_the_limits(low, high, decision, passed, with_equivalence):
    difference = (low + high) / 2
    found = decide_margin(difference, low, high, 0.01)
    assert (found.decision, found.passed) == (decision, passed)
    found = decide_margin(difference, low, high, 0.01, equivalent=True)
    assert (found.decision, found.passed) == with_equivalence
    mirrored = decide_margin(-difference, -high, -low, 0.01, better="min")
    assert (mirrored.decision, mirrored.passed) == (decision, passed)


def test_p_values_of_margins_are_those_of_two_one_sided_t_tests():
    differences = np.random.default_rng(5).normal(-0.004, 0.03, 25)
    mean, error = differences.mean(), stats.sem(differences)
    half = stats.t.ppf(0.975, 24) * error
    found = decide_margin(mean, mean - half, mean + half, 0.01, df=24)
    p_values = {test.name: test.p_value for test in found.tests}
    lower = stats.ttest_1samp(differences, -0.01, alternative="greater").pvalue
    upper = stats.ttest_1samp(differences, 0.01, alternative="less").pvalue
    assert p_values["non-inferiority"] == pytest.approx(lower)
    assert p_values["equivalence"] == pytest.approx(max(lower, upper))
    assert p_values["superiority"] == pytest.approx(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)
    assert p_values["inferiority"] == pytest.approx(stats.ttest_1samp(differences, -0.01, alternative="less").pvalue)


def test_the_needed_rows_make_the_limit_reach_the_margin():
    found = decide_margin(-0.004, -0.02, 0.012, 0.01, units=500)
    half = 0.016 * math.sqrt(500 / found.needed)
    assert -0.004 - half == pytest.approx(-0.01, abs=1e-5)
    assert decide_margin(-0.01, -0.02, 0.0, 0.01, units=500).needed is None


# --- gate ---


def test_superiority_agrees_with_judge():
    for seed in range(6):
        frame = make_frame(400, loss=0.2 * (seed % 3), seed=seed)
        for measure in ("auc", "accuracy"):
            pair = fairtrial.judge(frame, measures=measure, positive=1).pairs.iloc[0]
            result = fairtrial.gate(frame, candidate="old", baseline="new", measure=measure, margin=0.01, positive=1)
            assert (result.decision == "superior") == (pair["outcome"] == "better" and pair["first"] == "old"), seed
            assert result.difference == pytest.approx(pair["difference"] * (1 if pair["first"] == "old" else -1))
            assert result.comparisons[0].p_value == pytest.approx(pair["p_value"])


def test_a_weaker_model_is_inferior_and_a_similar_one_passes():
    weaker = fairtrial.gate(make_frame(loss=0.8), candidate="new", baseline="old", margin=0.01)
    assert (weaker.decision, weaker.passed) == ("inferior", False)
    similar = fairtrial.gate(make_frame(30_000), candidate="new", baseline="old", margin=0.01)
    assert (similar.decision, similar.passed) == ("non-inferior", True)
    assert fairtrial.gate(make_frame(30_000), candidate="new", baseline="old", margin=0.01, equivalent=True).passed


def test_rates_of_a_class_use_only_its_rows():
    rng = np.random.default_rng(1)
    y_true = np.repeat([1, 0], [80, 400])
    old, new = (np.where(rng.random(480) < rate, y_true, 1 - y_true) for rate in (0.9, 0.85))
    frame = pd.DataFrame({"y_true": y_true, "old": old, "new": new})
    positives = frame[frame["y_true"] == 1]
    recall = fairtrial.gate(frame, candidate="new", baseline="old", measure="recall", margin=0.05).comparisons[0]
    accuracy = fairtrial.gate(  # among positives, recall is accuracy; two rows of the other class are right for both
        pd.concat([positives, pd.DataFrame({"y_true": [0] * 5, "old": [0] * 5, "new": [0] * 5})]),
        candidate="new",
        baseline="old",
        measure="accuracy",
        margin=0.05,
    ).comparisons[0]
    assert recall.p_value == pytest.approx(accuracy.p_value)
    assert recall.result.difference == pytest.approx(accuracy.result.difference * 85 / 80)
    missed = fairtrial.gate(frame, candidate="new", baseline="old", measure="fnr", margin=0.05).comparisons[0].result
    assert (missed.difference, missed.low, missed.high) == pytest.approx(
        (-recall.result.difference, -recall.result.high, -recall.result.low)
    )
    assert missed.decision == recall.result.decision


def test_lower_is_better_for_losses():
    frame = make_frame(20_000, loss=0.6)
    for name in ("old", "new"):
        frame[f"{name}_score"] = 1 / (1 + np.exp(-(frame[f"{name}_score"] - 1.2)))
    worse = fairtrial.gate(frame, candidate="new", baseline="old", measure="brier", margin=0.001)
    assert worse.difference > 0
    assert worse.decision == "inferior"
    assert fairtrial.gate(frame, candidate="old", baseline="new", measure="brier", margin=0.001).decision == "superior"


def test_few_cases_are_inconclusive():
    frame = make_frame(60)
    frame["y_true"] = np.arange(60) < 4
    result = fairtrial.gate(frame, candidate="new", baseline="old", measure="auc", margin=0.5, positive=True)
    assert (result.decision, result.passed) == ("inconclusive", False)
    assert result.comparisons[0].obstacle is not None
    assert math.isnan(result.comparisons[0].result.low)


def test_equal_rankings_of_few_rows_do_not_prove_equivalence():
    frame = make_frame(60)
    frame["new_score"] = frame["old_score"] * 2
    result = fairtrial.gate(frame, candidate="new", baseline="old", margin=0.01)
    assert result.decision == "inconclusive"
    many = make_frame(8000)
    many["new_score"] = many["old_score"] * 2
    assert fairtrial.gate(many, candidate="new", baseline="old", margin=0.01).decision == "non-inferior"


def test_clusters_widen_the_limits():
    frame = make_frame(600)
    copies = pd.concat([frame] * 8, ignore_index=True).assign(id=np.arange(4800), patient=np.tile(np.arange(600), 8))
    options = {"candidate": "new", "baseline": "old", "measure": "auc", "margin": 0.01, "row": "id"}
    one = fairtrial.gate(frame, **options).comparisons[0].result
    clustered = fairtrial.gate(copies, **options, cluster="patient").comparisons[0]
    assert clustered.clusters == 600
    assert clustered.result.difference == pytest.approx(one.difference)
    assert clustered.result.high - clustered.result.low == pytest.approx(one.high - one.low, rel=0.03)
    naive = fairtrial.gate(copies, **options).comparisons[0].result
    assert naive.high - naive.low < 0.5 * (one.high - one.low)


def test_constant_weights_change_nothing():
    frame = make_frame(500)
    options = {"candidate": "new", "baseline": "old", "measure": "auc", "margin": 0.01}
    plain = fairtrial.gate(frame, **options).comparisons[0]
    weighted = fairtrial.gate(frame.assign(weight=2.0), **options).comparisons[0]
    assert weighted.result == plain.result


def test_several_candidates_share_alpha_and_all_must_pass():
    frame = make_frame(5000, loss=0.05).assign(bad_score=np.random.default_rng(1).normal(size=5000))
    result = fairtrial.gate(frame, candidate=["new", "bad"], baseline="old", measure="auc", margin=0.03)
    assert [comparison.result.level for comparison in result.comparisons] == pytest.approx([0.975, 0.975])
    single = fairtrial.gate(frame, candidate="new", baseline="old", measure="auc", margin=0.03, alpha=0.025)
    assert result.comparisons[0].result == single.comparisons[0].result
    assert result.comparisons[0].p_value == pytest.approx(2 * single.comparisons[0].p_value)
    assert [comparison.result.passed for comparison in result.comparisons] == [True, False]
    assert (result.passed, result.decision) == (False, "inferior")


def test_several_measures_must_all_pass():
    frame = make_frame(20_000)
    result = fairtrial.gate(frame, candidate="new", baseline="old", margin={"auc": 0.01, "accuracy": 1e-5})
    assert [comparison.measure for comparison in result.comparisons] == ["auc", "accuracy"]
    assert [comparison.result.passed for comparison in result.comparisons] == [True, False]
    assert not result.passed
    assert result.frame()["margin"].tolist() == [0.01, 1e-5]


def test_streamed_rows_give_the_same_decision(tmp_path):
    path = tmp_path / "predictions.parquet"
    make_frame(4000).to_parquet(path)
    options = {"candidate": "new", "baseline": "old", "measure": "auc", "margin": 0.02, "row": "id"}
    found, streamed = fairtrial.gate(path, **options), fairtrial.gate(path, **options, stream=True)
    assert streamed.decision == found.decision
    assert streamed.comparisons[0].result.low == pytest.approx(found.comparisons[0].result.low, abs=1e-6)


# --- Two files ---


def split_files(frame):
    old = frame[["id", "y_true", "old_score"]].rename(columns={"old_score": "score"})
    return frame[["id", "y_true", "new_score"]].rename(columns={"new_score": "score"}), old


def test_two_files_are_joined_by_the_row_id():
    frame = make_frame(2000)
    new, old = split_files(frame)
    joined = fairtrial.gate(new, baseline_source=old.sample(frac=1, random_state=3), margin=0.02)
    single = fairtrial.gate(frame, candidate="new", baseline="old", margin=0.02)
    assert joined.comparisons[0].result == single.comparisons[0].result
    assert (joined.comparisons[0].candidate, joined.comparisons[0].baseline) == ("candidate", "baseline")


def test_long_and_wide_files_can_be_joined():
    frame = make_frame(1000)
    new, old = split_files(frame)
    long = pd.concat([old.assign(model="old"), old.assign(model="older", score=0.5)])
    result = fairtrial.gate(new, candidate="new", baseline_source=long, baseline="old", margin=0.02)
    assert (
        result.comparisons[0].result
        == fairtrial.gate(frame, candidate="new", baseline="old", margin=0.02).comparisons[0].result
    )
    with pytest.raises(InputError, match="baseline must name one of the models"):
        fairtrial.gate(new, baseline_source=long, margin=0.02)


def test_rows_that_only_one_file_has_are_left_out_and_noted():
    new, old = split_files(make_frame(1000))
    result = fairtrial.gate(new, baseline_source=old[:900], margin=0.02)
    assert result.comparisons[0].rows == 900
    assert [note["rows"] for note in result.notes if note.kind == "gate_overlap"] == [1000]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda old: old.assign(id=old["id"] + 10_000), "no common row id"),
        (lambda old: old.assign(y_true=1 - old["y_true"]), "the same true labels"),
        (lambda old: old.drop(columns="id"), "a column of row ids"),
        (lambda old: pd.concat([old, old.assign(score=0.1)]), "must be unique"),
    ],
)
def test_files_that_do_not_match_are_refused(change, message):
    new, old = split_files(make_frame(300))
    with pytest.raises(InputError, match=message):
        fairtrial.gate(new, baseline_source=change(old), margin=0.02, row="id" if "id" in change(old) else None)


# --- Input ---


@pytest.mark.parametrize("margin", [0, -0.1, math.nan, math.inf])
def test_a_margin_must_be_positive(margin):
    with pytest.raises(InputError, match="margin must be"):
        fairtrial.gate(make_frame(100), candidate="new", baseline="old", margin=margin)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidate": "nwe", "baseline": "old"}, "did you mean 'new'"),
        ({"candidate": "new", "baseline": "odl"}, "did you mean 'old'"),
        ({"candidate": "new", "baseline": "new"}, "must differ"),
        ({"candidate": ["new", "new"], "baseline": "old"}, "must differ"),
        ({}, "candidate must name a model"),
    ],
)
def test_models_must_be_named_and_known(options, message):
    with pytest.raises(InputError, match=message):
        fairtrial.gate(make_frame(100), margin=0.01, **options)


def test_a_measure_needs_its_input():
    frame = make_frame(100)[["y_true"]].assign(old=1, new=0)
    with pytest.raises(InputError, match="needs scores"):
        fairtrial.gate(frame, candidate="new", baseline="old", measure="auc", margin=0.01)
    with pytest.raises(UnknownNameError, match="auc"):
        fairtrial.gate(make_frame(100), candidate="new", baseline="old", measure="aux", margin=0.01)


def test_models_without_common_rows_are_refused():
    frame = make_frame(200)
    long = pd.concat(
        [
            frame[:100][["id", "y_true"]].assign(model="old", score=frame["old_score"][:100]),
            frame[100:][["id", "y_true"]].assign(model="new", score=frame["new_score"][100:]),
        ]
    )
    with pytest.raises(InputError, match="none in common"):
        fairtrial.gate(long, candidate="new", baseline="old", margin=0.01)


# --- Command line ---


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.csv"
    make_frame(8000).to_csv(path, index=False)
    return path


def test_exit_codes(predictions, tmp_path):
    names = ("--candidate", "new", "--baseline", "old")
    assert run(predictions, *names, "--margin", 0.02).exit_code == 0
    assert run(predictions, *names, "--margin", 0.00001).exit_code == 1
    bad = run(predictions, *names, "--margin", 0, "--json", tmp_path / "gate.json")
    assert bad.exit_code == 2
    assert len(bad.output.splitlines()) == 1
    assert not (tmp_path / "gate.json").exists()


def test_an_internal_error_has_its_own_exit_code(predictions, monkeypatch):
    monkeypatch.setattr("fairtrial.predictions.gate.compare_at_margin", lambda *_: 1 / 0)
    result = run(predictions, "--candidate", "new", "--baseline", "old", "--margin", 0.02)
    assert result.exit_code == 3
    assert "ZeroDivisionError" in result.output


def test_json_and_junit(predictions, tmp_path):
    options = ("--candidate", "new", "--baseline", "old", "--margin", "auc=0.02", "--margin", "accuracy=0.0001")
    result = run(predictions, *options, "--json", tmp_path / "gate.json", "--junit", tmp_path / "gate.xml")
    assert result.exit_code == 1
    document = json.loads((tmp_path / "gate.json").read_text())
    assert {"decision", "passed", "measure", "margin", "difference", "low", "high", "p_value", "rows", "tests"} <= set(document)
    assert (document["version"], document["passed"], document["measure"], document["rows"]) == (1, False, "auc", 8000)
    assert [line["passed"] for line in document["comparisons"]] == [True, False]
    assert [test["name"] for test in document["tests"]] == ["superiority", "non-inferiority", "equivalence", "inferiority"]
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite[1][0].get("type") == "inconclusive"


def test_undefined_numbers_are_null_in_json():
    frame = make_frame(40).assign(y_true=np.arange(40) < 3)
    document = json.loads(fairtrial.gate(frame, candidate="new", baseline="old", margin=0.1, positive=True).to_json())
    assert (document["decision"], document["low"], document["tests"][0]["p_value"]) == ("inconclusive", None, None)


def test_report(predictions, tmp_path):
    page = tmp_path / "page.html"
    result = run(predictions, "--candidate", "new", "--baseline", "old", "--margin", 0.02, "--report", page)
    assert result.exit_code == 0
    assert "May new replace old?" in page.read_text()


def test_assert_non_inferior():
    frame = make_frame(8000)
    assert assert_non_inferior(frame, candidate="new", baseline="old", margin=0.02).passed
    with pytest.raises(AssertionError, match=r"AUC .* 95 % CI"):
        assert_non_inferior(make_frame(8000, loss=0.5), candidate="new", baseline="old", margin=0.02)
