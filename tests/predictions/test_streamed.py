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


def test_estimates_are_those_of_rows_that_are_held(both):
    held, counted = both
    assert held.main == counted.main == "accuracy"
    meeting(held.scores, counted.scores, ["dataset", "model", "measure"], ["estimate", "rows", "chance"])
    closed = counted.scores[counted.scores["method"].isin(["wilson", "delong"])]
    meeting(held.scores, closed, ["dataset", "model", "measure"], ["low", "high"])
    assert set(closed["measure"]) == {"accuracy", "auc"}


def test_tables_are_those_of_rows_that_are_held(both):
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
    assert counted.summary[0].split(" (")[0] == held.summary[0].split(" (")[0]


@pytest.mark.parametrize("stream", [False, True])
def test_weights_in_other_units_leave_calibration_limits_alone(tmp_path, stream):
    table, limits = example(300)[["truth", "x_proba"]], []
    for number, weight in enumerate((None, 1.0, 1000.0)):
        path = tmp_path / f"{number}.csv"
        (table if weight is None else table.assign(weight=weight)).to_csv(path, index=False)
        limits.append(judge(path, measures=["auc"], resamples=20, stream=stream).calibration[["low", "high"]])
    assert np.allclose(limits[0], limits[1])
    assert np.allclose(limits[0], limits[2])


def test_nothing_is_held(both):
    _, counted = both
    assert counted.predictions is None
    with pytest.raises(InputError, match="judge a part of it"):
        _ = counted.archive
    assert "counted and not held" in str(counted)


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
    assert any("no intervals" in note for note in counted.notes)


def test_long_files_are_counted_unasked(tmp_path, monkeypatch):
    example(50).to_csv(tmp_path / "p.csv", index=False)
    monkeypatch.setattr(judgement, "is_too_long", lambda _: True)
    assert judge(tmp_path / "p.csv").predictions is None
    assert judge(tmp_path / "p.csv", stream=False, resamples=20).predictions is not None


def test_an_impossible_truth_has_an_infinite_log_loss(tmp_path):
    pd.DataFrame({"truth": [0, 1, 1], "tree_p": [0.5, 0.0, 1.0]}).to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True, measures=["log_loss"]).scores
    assert found["estimate"].tolist() == [np.inf]
    assert found["low"].isna().all()


@pytest.mark.parametrize(
    ("measure", "told"), [("calibration_error", "must be one that counts give"), ("acuracy", "did you mean")]
)
def test_measures_that_counts_do_not_give(tmp_path, measure, told):
    example(50).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=told):
        judge(tmp_path / "p.parquet", stream=True, measures=[measure])


def test_small_files_have_the_intervals_that_they_have_in_memory(tmp_path):
    """The H measure's bootstrap is biased: BCa mends it in memory, and must where rows are counted."""
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


def test_decision_scores_of_a_counted_file_are_told_in_a_whole_sentence(tmp_path):
    path = tmp_path / "p.csv"
    pd.DataFrame({"truth": [0, 1] * 20, "forest_score": [2.0, 3.0] * 20}).to_csv(path, index=False)
    told = "The file has no labels of model 'forest', and its scores have no zero to cut at: measures of labels are left out."
    assert told in judge(str(path), stream=True).notes


def test_the_note_names_all_that_counting_leaves_out(tmp_path):
    """What the same files have in memory and lack here: tests, a measure, an interval."""
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
    for left in ("the permutation test", "the bootstrap of differences", "calibration_error", "intervals of AUC over several"):
        assert left in counted.notes[0]
