import numpy as np
import pandas as pd
import pytest

from fairtrial.measures import get_measure
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings
from fairtrial.predictions.tables import compare_over_splits, compute_split_values
from fairtrial.predictions.validate import Notes
from fairtrial.significance import corrected_resampled_t


def example(datasets=1, n=100, folds=5):
    rng = np.random.default_rng(5)
    parts = []
    for i in range(datasets):
        truth = rng.integers(0, 2, n)
        columns = {"dataset": f"d{i}", "row": np.arange(n), "fold": np.arange(n) % folds, "truth": truth}
        labels = {name: np.where(rng.random(n) < right, truth, 1 - truth) for name, right in (("good", 0.9), ("poor", 0.6))}
        parts += [pd.DataFrame({**columns, "model": name, "prediction": each}) for name, each in labels.items()]
    return pd.concat(parts, ignore_index=True)


def judged(table):
    file = read_predictions(table)
    by_set = [[InMemoryModel.from_dataset(one, name, 1) for name in one.models] for one in file.datasets]
    return file, by_set


def test_values_of_splits_by_hand():
    table = example()
    file, by_set = judged(table)
    found = compute_split_values(file.datasets[0], by_set[0], get_measure("accuracy"))
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    assert len(found) == 10
    for _, name, _, fold, value in found:
        assert value == pytest.approx(right[name, fold])


def test_splits_of_one_data_set_are_corrected_for_their_overlap():
    table = example()
    verdict = compare_over_splits(*judged(table), get_measure("accuracy"), JudgeSettings(), Notes())
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    direct = corrected_resampled_t(right["good"].to_numpy(), right["poor"].to_numpy(), test_fraction=0.2)
    assert verdict.unit == "split"
    assert verdict.p_value == pytest.approx(direct.p_value)


def test_data_sets_are_the_cases_where_there_are_several():
    verdict = compare_over_splits(*judged(example(datasets=6)), get_measure("accuracy"), JudgeSettings(), Notes())
    assert verdict.unit == "data set"
    assert verdict.choice == "wilcoxon"
    assert verdict.p_value == pytest.approx(2 / 2**6)


def test_one_split_or_one_model_has_no_verdict_and_equal_models_are_told():
    assert compare_over_splits(*judged(example(folds=1)), get_measure("accuracy"), JudgeSettings(), Notes()) is None
    table = example()
    assert (
        compare_over_splits(*judged(table[table["model"] == "good"]), get_measure("accuracy"), JudgeSettings(), Notes()) is None
    )
    notes = Notes()
    assert (
        compare_over_splits(*judged(table.assign(prediction=table["truth"])), get_measure("accuracy"), JudgeSettings(), notes)
        is None
    )
    assert "No verdict over splits: scores must differ somewhere" in notes.sentences[0]
