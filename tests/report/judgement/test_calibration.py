import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
from fairtrial.measures import calibration_curve, calibration_error
from fairtrial.report.sections.calibration import BIAS, DISTANCE, build_calibration_frame, build_judgement_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, many_classes, sections, two_classes


def build_sentences(table):
    return build_judgement_section(describe_source(judge(table, resamples=20))).sentences


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
        _, bias = build_sentences(table)
        assert bias.names[:2] == ("model", side)
        assert [number.value for number in bias.numbers] == pytest.approx([probability, 0.5])
    assert len(build_sentences(pd.DataFrame({"truth": truth, "p": np.where(truth == 1, 0.6, 0.4)}))) == 1


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


def test_best_calibrated_model_of_each_data_set_is_named():
    frame = build_calibration_frame(judged("many sets"))
    rows = frame[frame["data set"] == "set 1"]
    sentence = next(sentence for sentence in sections("many sets")["calibration"].sentences if "set 1" in sentence.names)
    assert set(sentence.names) == {"set 1", *rows["model"]}
    assert [number.value for number in sentence.numbers] == rows[DISTANCE].iloc[[0, -1]].tolist()
    assert sections("many sets")["calibration"].figures[1].key == "calibration-set-1"


def test_models_without_probabilities():
    assert build_judgement_section(describe_source(judged("labels only"))) is None
    table = two_classes(60)[["row", "truth", "forest_proba"]].assign(tree=two_classes(60)["truth"])
    found = build_judgement_section(describe_source(judge(table, resamples=20)))
    assert len(found.notes) == 1
    assert "tree" in found.notes[0]
    assert found.sentences[0].names == ("forest",)


def test_limits_of_weighted_rows_are_explained():
    assert "effective number" in sections("weighted")["calibration"].tables[1].note
    assert "effective number" not in sections("many sets")["calibration"].tables[1].note


def test_only_significant_bias_is_described():
    """With 50 of 100 positives, the Wilson interval is 0.404 to 0.596: a mean of 0.51 is not biased, 0.7 is."""
    truth = np.array([0, 1] * 50)
    table = pd.DataFrame({"truth": truth, "near_proba": np.where(truth == 1, 0.91, 0.11), "off_proba": 0.7 + 0.01 * truth})
    _, bias = build_sentences(table)
    assert bias.names[:2] == ("off", "too high")
    assert [number.value for number in bias.numbers] == pytest.approx([0.705, 0.5])
    frame = build_calibration_frame(judge(table, resamples=20)).set_index("model")
    assert frame.loc["near", ["low", "high"]].tolist() == pytest.approx([0.51 - 0.5962, 0.51 - 0.4038], abs=1e-3)
    assert len(build_sentences(table.drop(columns="off_proba"))) == 1
