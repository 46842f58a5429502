import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions import judgement
from fairtrial.predictions.judgement import judge


def example(n=1500):
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, n)
    columns = {
        f"{name}_proba": 1 / (1 + np.exp(-(2 * truth - 1 + spread * rng.normal(size=n))))
        for name, spread in (("x", 1), ("y", 2))
    }
    old = np.where(rng.random(n) < 0.7, truth, 1 - truth)
    return pd.DataFrame(
        {
            "truth": np.where(truth, "yes", "no"),
            "sex": rng.choice(["f", "m", None], n),
            **columns,
            "old": np.where(old, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "p.csv"
    example().to_csv(path, index=False)
    return judge(path, resamples=50), judge(path, stream=True)


def meeting(held, counted, keys, columns):
    joined = held.merge(counted, on=keys, suffixes=("", "_counted"))
    assert len(joined) == len(counted)
    for column in columns:
        assert np.allclose(joined[column].astype(float), joined[f"{column}_counted"].astype(float), atol=1e-9, equal_nan=True)


def test_streamed_estimates_are_those_in_memory(both):
    held, counted = both
    assert held.main == counted.main == "accuracy"
    meeting(held.scores, counted.scores, ["dataset", "model", "measure"], ["estimate", "rows", "chance"])
    closed = counted.scores[counted.scores["method"].isin(["wilson", "delong"])]
    meeting(held.scores, closed, ["dataset", "model", "measure"], ["low", "high"])
    assert set(closed["measure"]) == {"accuracy", "auc"}


def test_streamed_tables_are_those_in_memory(both):
    held, counted = both
    meeting(
        held.classes, counted.classes, ["dataset", "model", "class"], ["support", "precision", "recall_low", "f_score", "auc"]
    )
    meeting(
        held.subgroups,
        counted.subgroups,
        ["column", "subgroup", "model", "measure"],
        ["rows", "estimate", "low", "high", "proportion"],
    )
    assert "(missing)" in set(counted.subgroups["subgroup"])
    columns = ["mean_predicted", "observed_frequency", "weight", "low", "high"]
    assert np.allclose(held.calibration[columns], counted.calibration[columns])
    assert set(counted.curves) == set(held.curves)
    assert counted.findings[0].names == held.findings[0].names
    assert counted.findings[0].worse == held.findings[0].worse


def test_the_unit_of_weights_does_not_change_calibration_limits(judge_table):
    table, limits = example(300)[["truth", "x_proba"]], []
    for weight in (None, 1.0, 1000.0):
        weighted = table if weight is None else table.assign(weight=weight)
        limits.append(judge_table(weighted, measures=["auc"]).calibration[["low", "high"]])
    assert np.allclose(limits[0], limits[1])
    assert np.allclose(limits[0], limits[2])


def test_a_streamed_judgement_has_no_predictions(both):
    _, counted = both
    assert counted.predictions is None
    with pytest.raises(InputError, match="archive"):
        _ = counted.archive
    assert "streamed_file" in {note.kind for note in counted.notes}


def test_three_classes_with_weights(tmp_path):
    rng = np.random.default_rng(4)
    scores = rng.dirichlet([1, 1, 1], 300)
    table = pd.DataFrame(
        {"truth": rng.choice([1, 2, 3], 300), "weight": rng.random(300), **{f"p_{i + 1}": scores[:, i] for i in range(3)}}
    )
    table.to_parquet(tmp_path / "p.parquet")
    held, counted = judge(table, resamples=20), judge(tmp_path / "p.parquet", stream=True)
    meeting(held.scores, counted.scores, ["model", "measure"], ["estimate"])
    assert {"accuracy", "kappa", "brier", "log_loss"} <= set(counted.scores["measure"])
    assert counted.scores["low"].isna().all()
    assert "streamed_weights" in {note.kind for note in counted.notes}


def test_long_files_are_streamed_by_default(tmp_path, monkeypatch):
    example(50).to_csv(tmp_path / "p.csv", index=False)
    monkeypatch.setattr(judgement, "is_too_long", lambda _: True)
    assert judge(tmp_path / "p.csv").predictions is None
    assert judge(tmp_path / "p.csv", stream=False, resamples=20).predictions is not None


def test_a_true_class_of_probability_zero_has_an_infinite_log_loss(tmp_path):
    pd.DataFrame({"truth": [0, 1, 1], "tree_p": [0.5, 0.0, 1.0]}).to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True, measures=["log_loss"]).scores
    assert found["estimate"].tolist() == [np.inf]
    assert found["low"].isna().all()


@pytest.mark.parametrize(("measure", "match"), [("calibration_error", "calibration_error.*memory"), ("acuracy", "'accuracy'")])
def test_measures_that_a_streamed_file_does_not_have(tmp_path, measure, match):
    example(50).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=match):
        judge(tmp_path / "p.parquet", stream=True, measures=[measure])


def test_small_files_have_the_intervals_that_they_have_in_memory(tmp_path):
    """The bootstrap of the H measure is biased: BCa corrects it, also for streamed files."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 300)
    table = pd.DataFrame({"truth": truth, "m_score": truth + 1.4 * rng.normal(size=300)})
    path = tmp_path / "p.csv"
    table.to_csv(path, index=False)
    lines = [judge(str(path), measures="h_measure", stream=stream).scores.iloc[0] for stream in (False, True)]
    assert [line["method"] for line in lines] == ["bca", "bca"]
    width = lines[0]["high"] - lines[0]["low"]
    assert abs(lines[0]["low"] - lines[1]["low"]) < 0.1 * width
    assert abs(lines[0]["high"] - lines[1]["high"]) < 0.1 * width


def test_scores_of_one_sign_give_no_labels(judge_table):
    judgement = judge_table(pd.DataFrame({"truth": [0, 1] * 20, "forest_score": [2.0, 3.0] * 20}))
    assert [note["models"] for note in judgement.notes if note.kind == "no_labels"] == [("forest",)]
    assert "accuracy" not in set(judgement.scores["measure"])


def test_a_streamed_judgement_lacks_two_tests_a_measure_and_an_interval(tmp_path):
    """Compare with the same files in memory."""
    table = example(200)[["truth", "x_proba", "y_proba"]]
    shares = np.random.default_rng(1).dirichlet([1, 1, 1], 200)
    three = pd.DataFrame({"truth": np.arange(200) % 3, **{f"p_{i}": shares[:, i] for i in range(3)}})
    for each, name in ((table, "two"), (three, "three")):
        each.to_parquet(tmp_path / f"{name}.parquet")
    held, counted = (judge(tmp_path / "two.parquet", positive="yes", resamples=20, stream=stream) for stream in (False, True))
    assert held.main == counted.main == "auc"
    assert set(held.pairs["test"]) - set(counted.pairs["test"]) == {"permutation_test", "bootstrap_difference"}
    assert set(held.scores["measure"]) - set(counted.scores["measure"]) == {"calibration_error"}
    ranges = [
        judge(tmp_path / "three.parquet", resamples=20, stream=stream).scores.set_index("measure")["low"]
        for stream in (False, True)
    ]
    assert (ranges[0].notna() & ranges[1].isna()).loc[lambda lost: lost].index.tolist() == ["auc"]
