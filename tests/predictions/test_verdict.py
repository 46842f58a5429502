import numpy as np
import pandas as pd
import pytest

from fairtrial import judge
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


def judge_accuracy(table):
    return judge(table, measures="accuracy", resamples=20)


def test_values_of_splits_by_hand():
    table = example()
    found = judge_accuracy(table).verdict.table
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    assert found.learners == ("good", "poor")
    for number, name in enumerate(found.learners):
        assert found.values[:, number].tolist() == pytest.approx(right[name].tolist())


def test_splits_of_one_data_set_are_corrected_for_their_overlap():
    table = example()
    verdict = judge_accuracy(table).verdict
    right = table.assign(right=table["truth"] == table["prediction"]).groupby(["model", "fold"])["right"].mean()
    direct = corrected_resampled_t(right["good"].to_numpy(), right["poor"].to_numpy(), test_fraction=0.2)
    assert verdict.unit == "split"
    assert verdict.p_value == pytest.approx(direct.p_value)


def test_several_data_sets_are_compared_by_data_set():
    verdict = judge_accuracy(example(datasets=6)).verdict
    assert verdict.unit == "data set"
    assert verdict.choice == "wilcoxon"
    assert verdict.p_value == pytest.approx(2 / 2**6)


def test_one_split_one_model_and_equal_models_have_no_verdict():
    assert judge_accuracy(example(folds=1)).verdict is None
    table = example()
    assert judge_accuracy(table[table["model"] == "good"]).verdict is None
    equal = judge_accuracy(table.assign(prediction=table["truth"]))
    assert equal.verdict is None
    assert [note["units"] for note in equal.notes if note.kind == "no_verdict"] == ["splits"]
