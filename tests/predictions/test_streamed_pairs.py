import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairtrial.predictions import pairs
from fairtrial.predictions.judgement import judge
from fairtrial.significance import delong, mcnemar


def example(n=600):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, n)
    scores = {
        name: np.clip(0.5 + 0.2 * (truth - 0.5) + spread * rng.normal(size=n), 0, 1)
        for name, spread in (("x", 0.15), ("y", 0.25))
    }
    return pd.DataFrame({"row": np.arange(n), "truth": truth, **{f"{name}_p": each for name, each in scores.items()}})


def long(table):
    parts = [table.assign(model=name, p=table[f"{name}_p"])[["row", "truth", "model", "p"]] for name in "xy"]
    return pd.concat(parts).sample(frac=1, random_state=0)


@pytest.mark.parametrize("form", [lambda table: table, long], ids=["wide", "long"])
def test_tests_are_those_of_the_rows(tmp_path, form):
    table = example()
    form(table).to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True).pairs.set_index("test")
    truth, x, y = (table[each].to_numpy() for each in ("truth", "x_p", "y_p"))
    counts, ranks = mcnemar(truth, (x > 0.5).astype(int), (y > 0.5).astype(int)), delong(truth, x, y)
    for test, direct in (("mcnemar", counts), ("delong", ranks)):
        line = found.loc[test]
        assert (line["statistic"], line["p_value"]) == pytest.approx((direct.statistic, direct.p_value), rel=1e-9)
        assert (line["low"], line["high"]) == pytest.approx((direct.effect.low, direct.effect.high), rel=1e-9)
    assert found.loc["delong", "primary"]


def test_rare_positives_of_good_models_have_the_test_of_the_rows(tmp_path):
    """200 positives among 200,000 rows: p and difference of the definition, and no winner where there is none."""
    rng = np.random.default_rng(102)
    truth = (np.arange(200_000) < 200).astype(int)
    first = rng.normal(size=len(truth)) + 5.6 * truth
    second = first + 0.35 * rng.normal(size=len(truth))
    table = pd.DataFrame({"id": np.arange(len(truth)), "truth": np.where(truth, "t", "f"), "a_score": first, "b_score": second})
    table.to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True, positive="t", measures=["auc"])
    line = found.pairs.set_index("test").loc["delong"]
    estimate, p = by_definition(truth, first, second)
    assert (line["difference"], line["p_value"]) == pytest.approx((estimate, p), rel=1e-9)
    assert p == pytest.approx(0.134, abs=5e-4)
    areas = found.scores.set_index("model")["estimate"]
    assert line["difference"] == pytest.approx(areas["a"] - areas["b"], rel=1e-9)
    assert line["note"] == ""


def by_definition(truth, *scores):
    """DeLong's difference and p from the placements of each row."""
    over = {0: [], 1: []}
    for each in scores:
        for own in (0, 1):
            others = np.sort(each[truth != own])
            ends = [np.searchsorted(others, each[truth == own], side) for side in ("left", "right")]
            over[own].append(sum(ends) / 2 / len(others))
    contrasts = [first - second for first, second in over.values()]
    error = np.sqrt(sum(each.var(ddof=1) / len(each) for each in contrasts))
    return contrasts[1].mean(), 2 * norm.sf(abs(contrasts[1].mean()) / error)


def test_marks_of_a_large_class_change_delong_but_little_and_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(pairs, "MAX_MARKS", 200)
    table = example(3000)
    table.to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True, measures=["auc"])
    line, areas = found.pairs.set_index("test").loc["delong"], found.scores.set_index("model")["estimate"]
    direct = delong(*(table[each].to_numpy() for each in ("truth", "x_p", "y_p")))
    assert line["note"] == "approximate: scores placed between 200 of the rarer class"
    assert any("DeLong's test is approximate on 'data'" in note for note in found.notes)
    assert line["difference"] == pytest.approx(direct.effect.estimate, rel=1e-9)
    assert line["difference"] == pytest.approx(areas["x"] - areas["y"], rel=1e-9)
    assert line["high"] - line["low"] == pytest.approx(direct.effect.high - direct.effect.low, rel=0.01)


def test_a_measure_of_labels_is_bootstrapped_from_joint_counts(tmp_path):
    table = example()
    table.to_parquet(tmp_path / "p.parquet")
    counted = judge(tmp_path / "p.parquet", stream=True, measures=["kappa"]).pairs.set_index("test").loc["bootstrap_difference"]
    rows = judge(table, measures=["kappa"]).pairs.set_index("test").loc["bootstrap_difference"]
    assert counted["difference"] == pytest.approx(rows["difference"])
    assert counted["primary"]
    assert counted["high"] - counted["low"] == pytest.approx(rows["high"] - rows["low"], rel=0.2)


def test_without_row_ids_a_long_file_has_no_pairs(tmp_path):
    long(example()).drop(columns="row").to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True)
    assert len(found.pairs) == 0
    assert any("not paired" in note for note in found.notes)
