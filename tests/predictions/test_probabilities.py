"""`judge` assesses probabilities: measures of calibration, tests, CORP curves and decision curves, in memory and streamed."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from fairtrial import gate, judge
from fairtrial.cli import app
from fairtrial.errors import InputError
from fairtrial.measures import brier_decomposition, corp_curve, decision_curve, decision_differences, interval
from fairtrial.report.sections import calibration, decision_curves
from fairtrial.report.source import describe_source
from fairtrial.significance import calibration_test

NAMES = ("calibration_intercept", "calibration_slope", "oe_ratio", "brier_miscalibration", "brier_discrimination")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    x = rng.normal(-1, 1.4, 600)
    y = (rng.random(600) < expit(x)).astype(int)
    noisy = expit(2 * x + 0.4 * rng.normal(size=600)).clip(1e-4, 1 - 1e-4)
    return pd.DataFrame({"row": np.arange(600), "y_true": y, "good_proba": expit(x), "sharp_proba": noisy})


@pytest.fixture(scope="module")
def judgement(frame):
    return judge(frame, resamples=50)


def test_the_default_measures_include_calibration_with_limits(judgement, frame):
    scores = judgement.scores.set_index(["model", "measure"])
    for name in NAMES:
        expected = interval(name, frame["y_true"], frame["sharp_proba"])
        line = scores.loc[("sharp", name)]
        assert (line["estimate"], line["low"], line["high"]) == pytest.approx((expected.estimate, expected.low, expected.high))
    assert scores.loc[("sharp", "calibration_slope"), "better"] == "near 1"


def test_curves_and_tests_are_those_of_the_functions(judgement, frame):
    y, models = frame["y_true"], {name: frame[f"{name}_proba"] for name in ("good", "sharp")}
    for name, p in models.items():
        corp = judgement.corp[judgement.corp["model"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(corp[["predicted", "recalibrated", "low", "high"]], corp_curve(y, p))
        curve = judgement.decisions[judgement.decisions["model"] == name].reset_index(drop=True)
        pd.testing.assert_frame_equal(curve[["threshold", "net_benefit", "low", "high"]], decision_curve(y, p).iloc[:, :4])
        line = judgement.calibration_tests.set_index("model").loc[name]
        assert line["p_value"] == calibration_test(y, p).p_value
        assert line["uncertainty"] == pytest.approx(brier_decomposition(y, p).uncertainty.estimate)
    expected = decision_differences(y, models)
    found = judgement.decision_differences
    for second in ("sharp", "treat all"):
        lines = [part[(part["first"] == "good") & (part["second"] == second)] for part in (found, expected)]
        np.testing.assert_allclose(lines[0][["difference", "low", "high"]], lines[1][["difference", "low", "high"]])


def test_findings_name_what_is_wrong(judgement):
    kinds = {finding["model"]: finding.kind for finding in judgement.calibration_findings}
    assert kinds == {"good": "calibrated_slope", "sharp": "overconfident"}
    text = judgement.explain()
    assert "sharp is overconfident (calibration slope" in text.replace("\n", " ")


def test_streamed_files_give_the_same_curves_and_measures(judgement, frame, tmp_path):
    file = tmp_path / "predictions.parquet"
    frame.to_parquet(file)
    streamed = judge(file, stream=True, resamples=50)
    first, second = (
        result.scores[result.scores["measure"].isin(NAMES)].set_index(["model", "measure"])[["estimate", "low", "high"]]
        for result in (judgement, streamed)
    )
    pd.testing.assert_frame_equal(first, second, check_exact=False, rtol=1e-9)
    pd.testing.assert_frame_equal(judgement.decisions, streamed.decisions)
    pd.testing.assert_frame_equal(judgement.corp, streamed.corp)
    assert (streamed.decision_differences["second"] == "treat all").all()


def test_clusters_widen_the_limits(frame):
    tripled = pd.concat([frame.assign(row=frame["row"] + 1000 * i, patient=frame["row"]) for i in range(3)])
    result = judge(tripled, cluster="patient", measures=["brier", "calibration_slope", "net_benefit"], resamples=50)
    single = judge(frame, measures=["brier", "calibration_slope", "net_benefit"], resamples=50)
    widths = [
        (lines["high"] - lines["low"]).to_numpy()
        for lines in (part.scores[part.scores["measure"] != "brier"] for part in (result, single))
    ]
    np.testing.assert_allclose(widths[0], widths[1], rtol=0.1)


def test_models_are_not_compared_by_a_measure_with_a_target(frame, tmp_path):
    file = tmp_path / "predictions.csv"
    frame.to_csv(file, index=False)
    printed = CliRunner().invoke(app, ["judge", str(file), "--measure", "calibration_slope", "--resamples", "50"])
    assert printed.exit_code == 0
    text = " ".join(printed.output.split())
    assert "Models are compared by Brier score, because the best calibration slope is 1" in text
    assert "calibration slope good" in text
    assert judge(frame, measures=["oe_ratio", "auc"], resamples=50).main == "auc"


def test_an_overconfident_model_with_probabilities_of_0_is_called_overconfident(frame):
    rounded = frame.assign(good_proba=frame["good_proba"].round(2), sharp_proba=frame["sharp_proba"].round(2))
    assert (rounded["sharp_proba"] == 0).any()
    result = judge(rounded, measures=["auc", "calibration_slope", "oe_ratio"], resamples=50)
    kinds = {finding["model"]: finding.kind for finding in result.calibration_findings}
    assert kinds == {"good": "calibrated_slope", "sharp": "overconfident"}
    text = " ".join(result.explain().split())
    assert "a probability of 0 counts as 0.00" in text
    assert "pass clip" not in text


def test_outcomes_that_contradict_a_probability_of_0_are_the_reason(frame):
    certain = frame.assign(good_proba=frame["good_proba"].where(frame.index != frame["y_true"].idxmax(), 0.0))
    result = judge(certain[["row", "y_true", "good_proba"]], resamples=50)
    text = " ".join(result.explain().split())
    assert "1 of 1 row with a probability of 0 or 1 has the opposite outcome, more than rounding explains" in text
    shown = calibration.build_judgement_section(describe_source(result))
    assert "more than rounding explains" in shown.tables[1].frame["note"].iloc[0]


def test_net_benefit_names_its_threshold_and_the_better_strategy(frame, tmp_path):
    poor = frame.assign(good_proba=0.6 + 0.3 * frame["good_proba"], sharp_proba=0.5 + 0.4 * frame["sharp_proba"])
    texts = []
    for table in (poor, frame):
        table.to_csv(tmp_path / "predictions.csv", index=False)
        command = ["judge", str(tmp_path / "predictions.csv"), "--measure", "net_benefit", "--resamples", "50"]
        texts.append(" ".join(CliRunner().invoke(app, command).output.split()))
    assert (
        "Net benefit is computed at threshold 0.5; treating no row has a net benefit of 0, more than every model." in texts[0]
    )
    assert "Net benefit is computed at threshold 0.5. Decision curves on the report page show other thresholds." in texts[1]


def test_percentages_are_refused_with_the_remedy(frame, tmp_path):
    percentages = frame.assign(good_proba=100 * frame["good_proba"])
    percentages.to_parquet(tmp_path / "predictions.parquet")
    for stream in (False, True):
        with pytest.raises(InputError, match=r"must lie between 0 and 1, got .*: divide percentages by 100"):
            judge(tmp_path / "predictions.parquet", stream=stream)


def test_an_undefined_slope_is_printed_with_its_reason():
    separated = {"y_true": [0, 1] * 10, "m_proba": [0.1, 0.9] * 10}
    lines = judge(separated, measures=["brier", "calibration_slope"], resamples=50).format_lines(True)
    assert any("the probabilities separate the two outcomes" in line for line in lines)


def test_scores_that_are_not_probabilities_are_refused_by_the_requested_name():
    with pytest.raises(InputError, match="measure calibration_slope needs probabilities"):
        judge({"y_true": [0, 1] * 10, "m_score": [-3.0, 4.0] * 10}, measures="calibration_slope")


def test_a_gate_refuses_a_measure_with_a_target(frame):
    with pytest.raises(InputError, match="measure must not be calibration_slope here, because its best value is 1"):
        gate(frame, candidate="good", baseline="sharp", measure="calibration_slope", margin=0.1)


def test_the_page_shows_both_sections(judgement):
    source = describe_source(judgement)
    shown = calibration.build_judgement_section(source)
    assert {figure.title for figure in shown.figures} == {"good", "sharp", "Calibration in ten bins: class 1"}
    assert str(shown.sentences[0]).startswith("sharp is overconfident (slope ")
    assert "; good is not significantly miscalibrated (slope " in str(shown.sentences[0])
    assert str(shown.sentences[2]).startswith("sharp is overconfident (calibration slope")
    table = shown.tables[0].frame
    assert len(table) == 2 * 7  # intercept, slope, O:E ratio, three parts and the Brier score, each with limits
    assert table[["estimate", "low", "high"]].notna().all(axis=None)
    decisions = decision_curves.build_judgement_section(source)
    assert [figure.title for figure in decisions.figures] == ["Decision curves: class 1"]
    assert set(decisions.tables[1].frame["second"]) == {"sharp", "treat all"}
    assert "net benefit is significantly higher than that of treating all rows or none: good from " in str(
        decisions.sentences[0]
    )


def test_a_sentence_without_significance_has_no_interval_that_excludes_1():
    # The score test of intercept and slope (2 degrees of freedom) has p > 0.05, although the interval of the slope excludes 1.
    rng, texts = np.random.default_rng(0), []
    for _ in range(60):
        z = rng.normal(-0.5, 1.2, 200)
        y, p = (rng.random(200) < expit(0.8 * z)).astype(int), expit(z)
        limits = interval("calibration_slope", y, p)
        if limits.high < 1 and calibration_test(y, p).p_value > 0.05:
            result = judge({"y_true": y, "a_proba": p}, measures=["brier", "calibration_slope"], resamples=20)
            texts += result.calibration_summary
            assert f"calibration slope {limits.estimate:.3g})." in texts[-1]
            break
    assert len(texts) == 1
    assert texts[0].startswith("a is not significantly miscalibrated (joint test of intercept and slope: p = 0.")
    assert "CI" not in texts[0]


def test_a_slope_below_0_means_a_reversed_ranking(frame):
    reversed_frame = frame.assign(good_proba=1 - frame["good_proba"])[["row", "y_true", "good_proba"]]
    result = judge(reversed_frame, positive=1, resamples=20)
    (text,) = result.calibration_summary
    assert text.startswith("The ranking of good is reversed (calibration slope -")
    assert text.endswith("): check the positive class.")
    assert "confident" not in text


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("--weight", "calibration cannot be tested, because the rows have weights."),
        ("--cluster", "calibration cannot be tested with fewer than 10 clusters, got 8."),
    ],
)
def test_explain_says_for_each_model_why_calibration_is_not_tested(frame, tmp_path, option, reason):
    file = tmp_path / "predictions.csv"
    frame.assign(extra=1 + frame["row"] % 8).to_csv(file, index=False)
    printed = CliRunner().invoke(app, ["judge", str(file), option, "extra", "--explain", "--resamples", "20"])
    assert printed.exit_code == 0
    text = " ".join(printed.output.split())
    assert f"good: {reason} sharp: {reason}" in text


def describe_calibration(table, **options):
    judgement = judge(table, resamples=20, **options)
    return judgement, calibration.build_judgement_section(describe_source(judgement)).sentences


def make_outcomes(rows, seed=0, shift=0.0, slope=1.0):
    """Outcomes with calibrated log odds, and probabilities with shifted and stretched log odds."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-1, 1.2, rows)
    return {"y_true": (rng.random(rows) < expit(logit)).astype(int), "net_proba": expit(slope * logit + shift)}


def test_a_biased_overconfident_model_is_described_by_slope_and_ratio():
    table = make_outcomes(3000, slope=1.8, shift=-0.5)
    judgement, (first, *_) = describe_calibration(table)
    ratio = table["y_true"].sum() / table["net_proba"].sum()
    assert ratio > 1.2
    assert first.text.startswith("net is overconfident (calibration slope 0.")
    assert f"; O:E ratio {ratio:.3g}, 95 % CI 1." in first.text
    # The statistic is far beyond every simulated one, so the simulated p-value is an upper bound.
    assert judgement.calibration_tests["at_minimum"].all() == ("p <=" in first.text or "p < 0.001" in first.text)
    two = {**table, "other_proba": table["net_proba"] ** 1.01}
    assert describe_calibration(two)[1][0].text.startswith(
        "net and other are overconfident, with probabilities too low on average (slopes 0."
    )


def test_few_rows_do_not_show_calibration():
    (first, *_) = describe_calibration(make_outcomes(14, seed=2), positive=1)[1]
    assert first.text.startswith("There are too few rows to judge the calibration of net")


def test_calibrated_models_on_several_data_sets_are_not_called_miscalibrated():
    parts = [pd.DataFrame(make_outcomes(200, seed)).assign(dataset=f"d{seed}") for seed in range(3)]
    table = pd.concat(parts, ignore_index=True).assign(flat_proba=lambda part: part["net_proba"])
    judgement, (first, *_) = describe_calibration(table, dataset="dataset", positive=1)
    assert (judgement.calibration_tests["p_adjusted"] > 0.05).all()
    assert first.text == "No model is significantly miscalibrated on any of the 3 data sets."
    table.loc[table["dataset"] == "d1", "net_proba"] = 0.9
    first = describe_calibration(table, dataset="dataset", positive=1)[1][0]
    assert first.text == "Significantly miscalibrated: net on 1 of 3 data sets."
