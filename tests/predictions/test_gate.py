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
from fairtrial.report.sections.gate import build_section
from fairtrial.report.source import describe_source
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
    frame = make_frame(4000, loss=0.6)
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
    # Without ranks in memory, the limits are at least those of the rule of three
    low = min(found.comparisons[0].result.low, found.difference + 2 * math.log(0.025) / (make_frame(4000)["y_true"].sum()))
    assert streamed.comparisons[0].result.low == pytest.approx(low, abs=1e-6)


# --- Reliable limits ---


def test_a_permutation_test_does_not_narrow_the_limits():
    # The new model gains a little on every row and loses much on 5 %: the difference in Brier scores is about zero.
    rng = np.random.default_rng(4)
    y_true = np.arange(400) % 2
    old = np.where(y_true, 0.7, 0.3) + rng.normal(0, 0.02, 400)
    new = np.where(rng.random(400) < 0.08, old - 0.25 * (2 * y_true - 1), old + 0.02 * (2 * y_true - 1))
    frame = pd.DataFrame({"y_true": y_true, "old_proba": old, "new_proba": new})
    result = fairtrial.gate(frame, candidate="new", baseline="old", measure="brier", margin=0.01)
    losses = (frame["new_proba"] - y_true) ** 2 - (frame["old_proba"] - y_true) ** 2
    half = 1.96 * losses.sem()
    found = result.comparisons[0].result
    assert found.high - found.low == pytest.approx(2 * half, rel=0.2)


def test_few_rows_that_differ_are_inconclusive_for_bootstrap_limits():
    frame = make_frame(400)
    frame["old_proba"] = 1 / (1 + np.exp(-(frame["old_score"] - 1)))
    frame["new_proba"] = frame["old_proba"]
    frame.loc[[3, 50, 120], "new_proba"] = 0.01
    frame = frame[["y_true", "old_proba", "new_proba"]]
    result = fairtrial.gate(frame, candidate="new", baseline="old", measure="brier", margin=0.01)
    assert (result.decision, result.comparisons[0].obstacle.kind) == ("inconclusive", "gate_few_contributions")


def test_clusters_never_narrow_the_limits_of_accuracies():
    y_true = np.arange(300) % 2
    new = y_true.copy()
    new[0] = 1 - new[0]
    frame = pd.DataFrame({"y_true": y_true, "old": y_true, "new": new, "patient": np.arange(300) // 2})
    options = {"candidate": "new", "baseline": "old", "measure": "accuracy", "margin": 0.01}
    rows, clusters = (fairtrial.gate(frame, **options, cluster=cluster) for cluster in (None, "patient"))
    assert clusters.comparisons[0].result.low <= rows.comparisons[0].result.low
    assert clusters.decision == "inconclusive"


def test_limits_hardly_change_if_two_of_many_rows_swap_ranks():
    frame = make_frame(400)
    frame["new_score"] = frame["old_score"]
    alike = fairtrial.gate(frame, candidate="new", baseline="old", measure="auc", margin=0.01).comparisons[0].result
    order = frame["old_score"].argsort().to_numpy()
    frame.loc[order[[200, 201]], "new_score"] = frame.loc[order[[201, 200]], "old_score"].to_numpy()
    swapped = fairtrial.gate(frame, candidate="new", baseline="old", measure="auc", margin=0.01).comparisons[0].result
    assert swapped.high - swapped.low == pytest.approx(alike.high - alike.low, rel=0.02)
    # If no case differs, the limits are those of the rule of three; they shrink with the number of rows
    fewest = frame["y_true"].sum()
    assert alike.high == pytest.approx(2 * -math.log(0.025) / fewest)
    assert alike.needed == pytest.approx(400 * alike.high / 0.01, abs=1)
    gini = fairtrial.gate(frame, candidate="new", baseline="old", measure="gini", margin=0.02).comparisons[0].result
    assert gini.high - gini.low == pytest.approx(2 * (swapped.high - swapped.low))


def test_inverted_scores_prevent_only_decisions_by_scores():
    frame = make_frame(800)
    inverted = frame.assign(old=(frame["old_score"] > 1).astype(int), new=(frame["new_score"] > 1).astype(int))
    inverted["old_score"] *= -1
    options = {"candidate": "new", "baseline": "old", "positive": 1, "prediction": {"old": "old", "new": "new"}}
    options["scores"] = {"old": "old_score", "new": "new_score"}
    result = fairtrial.gate(inverted, **options, margin={"accuracy": 0.1, "auc": 0.05})
    assert [comparison.obstacle is None for comparison in result.comparisons] == [True, False]
    assert not result.passed
    judgement = fairtrial.judge(
        inverted, measures="auc", margin=0.05, positive=1, prediction=options["prediction"], scores=options["scores"]
    )
    assert judgement.margins[0].result.decision == "inconclusive"


def test_weighted_streamed_rows_without_a_test_are_inconclusive(tmp_path):
    frame = make_frame(800).assign(weight=np.random.default_rng(0).random(800))
    frame.to_parquet(tmp_path / "weighted.parquet")
    options = {"candidate": "new", "baseline": "old", "measure": "auc", "margin": 0.05, "row": "id", "weight": "weight"}
    result = fairtrial.gate(tmp_path / "weighted.parquet", **options, stream=True)
    assert result.decision == "inconclusive"


# --- Two files ---


@pytest.mark.parametrize("owner", [0, 1])
def test_clusters_and_weights_may_be_in_either_file(owner):
    frame = make_frame(600).assign(patient=np.arange(600) // 3, weight=np.random.default_rng(0).integers(1, 4, 600))
    parts = [frame[["id", "y_true", "new_score"]], frame[["id", "y_true", "old_score"]]]
    parts[owner] = parts[owner].assign(patient=frame["patient"], weight=frame["weight"])
    options = {"margin": 0.02, "cluster": "patient", "weight": "weight", "row": "id"}
    joined = fairtrial.gate(parts[0], baseline_source=parts[1], **options).comparisons[0]
    single = fairtrial.gate(frame, candidate="new", baseline="old", **options).comparisons[0]
    assert (joined.result, joined.clusters) == (single.result, single.clusters)
    parts[1 - owner] = parts[1 - owner].assign(patient=frame["patient"] // 2)
    with pytest.raises(InputError, match="agree on the cluster"):
        fairtrial.gate(parts[0], baseline_source=parts[1], **options)


def test_two_files_are_not_streamed():
    new, old = split_files(make_frame(100))
    with pytest.raises(InputError, match="two files cannot be streamed"):
        fairtrial.gate(new, baseline_source=old, margin=0.02, stream=True)


def test_ids_may_be_text_in_one_file_and_numbers_in_the_other():
    frame = make_frame(300)
    new, old = split_files(frame)
    result = fairtrial.gate(new, baseline_source=old.assign(id=old["id"].astype(str)), margin=0.02, row="id")
    assert result.comparisons[0].rows == 300


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": "pateint"}, "cluster must be a column, got 'pateint'.*did you mean 'patient'"),
        ({"row": "idd"}, "row must be a column"),
        ({"weight": "w"}, "weight must be a column"),
        ({"scores": "foo"}, "scores must be a column"),
        ({"candidate": "old"}, "candidate must be a model of predictions, got 'old'"),
        ({"baseline": "prod"}, "baseline must be a model"),
    ],
)
def test_unknown_names_in_two_files_are_refused(options, message):
    frame = make_frame(300).assign(patient=np.arange(300) // 2)
    new, old = frame.drop(columns="old_score"), frame.drop(columns=["new_score", "patient"])
    assert fairtrial.gate(new, baseline_source=old, margin=0.02, cluster="patient").comparisons[0].clusters == 150
    with pytest.raises(InputError, match=message):
        fairtrial.gate(new, baseline_source=old, margin=0.02, **options)


def test_undeclared_clusters_and_the_guessed_row_id_of_two_files_are_noted():
    frame = make_frame(300).assign(patient_id=np.arange(300) // 3)
    result = fairtrial.gate(frame.drop(columns="old_score"), baseline_source=frame.drop(columns="new_score"), margin=0.02)
    assert {"undeclared_clusters", "gate_joined"} <= {note.kind for note in result.notes}


# --- Input ---


def test_a_margin_as_wide_as_the_range_is_refused():
    with pytest.raises(InputError, match=r"smaller than 1, the range of AUC, got 5: for 5 percentage points pass 0\.05"):
        fairtrial.gate(make_frame(100), candidate="new", baseline="old", margin=5)


def test_alpha_is_checked_by_its_name():
    with pytest.raises(InputError, match="alpha must"):
        fairtrial.gate(make_frame(100), candidate="new", baseline="old", margin=0.1, alpha=5)


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


def test_two_outputs_need_two_files(predictions, tmp_path):
    target = tmp_path / "out.json"
    options = ("--candidate", "new", "--baseline", "old", "--margin", 0.02)
    result = run(predictions, *options, "--json", target, "--junit", target)
    assert result.exit_code == 2
    assert not target.exists()


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


def test_the_page_names_the_worst_decision_about_several_candidates():
    frame = make_frame()
    frame["weak_score"] = make_frame(loss=1.0)["new_score"]
    result = fairtrial.gate(frame, candidate=["new", "weak"], baseline="old", margin=0.05)
    decisions = {comparison.candidate: comparison.result.decision for comparison in result.comparisons}
    assert decisions["weak"] == "inferior"
    first, *_ = build_section(describe_source(result)).sentences
    assert first.text.startswith("The gate does not pass. 1 of 2 comparisons passed; weak is inferior in AUC.")
