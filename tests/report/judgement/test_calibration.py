import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.measures import calibration_curve, calibration_error
from fairtrial.report.sections.calibration import BIAS, DISTANCE, build_calibration_frame, build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, many_classes, sections, text_of, two_classes


def test_the_mean_distance_is_the_calibration_error():
    frame, table = build_calibration_frame(judged("two classes")).set_index("model"), two_classes()
    for model in ("forest", "tree", "rule"):
        assert frame.loc[model, DISTANCE] == pytest.approx(calibration_error(table["truth"] == "yes", table[f"{model}_proba"]))
        assert frame.loc[model, BIAS] == pytest.approx(table[f"{model}_proba"].mean() - (table["truth"] == "yes").mean())
    assert frame[DISTANCE].is_monotonic_increasing


def test_forecasts_that_are_too_high_or_too_low_are_said_to_be_so():
    truth = np.array([0, 1] * 50)
    for forecast, side in ((0.7, "too high"), (0.3, "too low")):
        table = pd.DataFrame({"truth": truth, "p": np.where(truth == 1, forecast + 0.05, forecast - 0.05)})
        assert f"On the whole model forecasts {side}: {forecast:.3f} on average, where 0.500 came true." in text_of(
            build_judgement_section(describe_source(judge(table, resamples=20)))
        )
    fair = pd.DataFrame({"truth": truth, "p": np.where(truth == 1, 0.6, 0.4)})
    assert "On the whole" not in text_of(build_judgement_section(describe_source(judge(fair, resamples=20))))


def test_bins_are_those_of_the_curve():
    table = many_classes()
    own = table[table["model"] == "poor"]
    shares = own[["p_a", "p_b", "p_c"]].to_numpy()
    came = np.array(list("abc"))[shares.argmax(axis=1)] == own["truth"]
    expected = calibration_curve(came, shares.max(axis=1))
    bins = sections("many classes")["calibration"].tables[1].frame
    bins = bins[bins["model"] == "poor"]
    assert bins["observed frequency"].tolist() == pytest.approx(expected["observed_frequency"].tolist())
    assert set(bins["class"]) == {"most probable"}


def test_who_lies_nearest_is_said_by_data_set():
    told = text_of(sections("many sets")["calibration"])
    frame = build_calibration_frame(judged("many sets"))
    own = frame[frame["data set"] == "set 1"]
    assert (
        f"On set 1, the forecasts of {own['model'].iloc[0]} lie nearest to what came true, {own[DISTANCE].iloc[0]:.3f}" in told
    )
    assert sections("many sets")["calibration"].figures[1].key == "calibration-set-1"


def test_models_without_probabilities():
    assert build_judgement_section(describe_source(judged("labels only"))) is None
    table = two_classes(60)[["row", "truth", "forest_proba"]].assign(tree=two_classes(60)["truth"])
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert found.notes == ("No calibration for tree: no probabilities.",)
    assert text_of(found).startswith("The forecasts of forest lie ")


def test_what_limits_of_weighted_rows_rest_on_is_said():
    assert "effective number" in sections("weighted")["calibration"].tables[1].note
    assert "effective number" not in sections("many sets")["calibration"].tables[1].note


def test_noise_is_not_a_side_and_the_model_that_is_off_most_is_named():
    """Of 100 rows 50 came true: Wilson's interval reaches from 0.404 to 0.596, so that 0.51 says nothing and 0.7 does."""
    truth = np.array([0, 1] * 50)
    table = pd.DataFrame({"truth": truth, "near_proba": np.where(truth == 1, 0.91, 0.11), "off_proba": 0.7 + 0.01 * truth})
    told = text_of(build_judgement_section(describe_source(judge(table, resamples=20))))
    assert "On the whole off forecasts too high: 0.705 on average, where 0.500 came true." in told
    assert "near forecasts too" not in told
    frame = build_calibration_frame(judge(table, resamples=20)).set_index("model")
    assert frame.loc["near", ["low", "high"]].tolist() == pytest.approx([0.51 - 0.5962, 0.51 - 0.4038], abs=1e-3)
    assert "On the whole" not in text_of(build_judgement_section(describe_source(judge(table.drop(columns="off_proba"), resamples=20))))
