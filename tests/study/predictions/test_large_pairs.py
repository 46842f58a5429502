import numpy as np
import pandas as pd
import pytest

from fairtrial.significance import delong, mcnemar
from fairtrial.study.predictions import large_pairs
from fairtrial.study.predictions.judgement import judge


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
    for test, direct in (("mcnemar", counts), ("delong", ranks)):  # fewer than 1,024 scores: each has a bin of its own
        line = found.loc[test]
        assert (line["statistic"], line["p_value"]) == pytest.approx((direct.statistic, direct.p_value), rel=1e-9)
        assert (line["low"], line["high"]) == pytest.approx((direct.effect.low, direct.effect.high), rel=1e-9)
    assert found.loc["delong", "decides"]


def test_bins_change_delong_but_little(tmp_path, monkeypatch):
    monkeypatch.setattr(large_pairs, "PAIR_BINS", 64)
    table = example(3000)
    table.to_parquet(tmp_path / "p.parquet")
    line = judge(tmp_path / "p.parquet", stream=True).pairs.set_index("test").loc["delong"]
    direct = delong(*(table[each].to_numpy() for each in ("truth", "x_p", "y_p")))
    assert "bins" in line["note"]
    assert line["difference"] == pytest.approx(direct.effect.estimate, abs=0.1 * (direct.effect.high - direct.effect.low))
    assert line["high"] - line["low"] == pytest.approx(direct.effect.high - direct.effect.low, rel=0.05)


def test_a_measure_of_labels_is_bootstrapped_from_joint_counts(tmp_path):
    table = example()
    table.to_parquet(tmp_path / "p.parquet")
    counted = judge(tmp_path / "p.parquet", stream=True, measures=["kappa"]).pairs.set_index("test").loc["bootstrap_difference"]
    rows = judge(table, measures=["kappa"]).pairs.set_index("test").loc["bootstrap_difference"]
    assert counted["difference"] == pytest.approx(rows["difference"])
    assert counted["decides"]
    assert counted["high"] - counted["low"] == pytest.approx(rows["high"] - rows["low"], rel=0.2)


def test_without_row_ids_a_long_file_has_no_pairs(tmp_path):
    long(example()).drop(columns="row").to_parquet(tmp_path / "p.parquet")
    found = judge(tmp_path / "p.parquet", stream=True)
    assert len(found.pairs) == 0
    assert any("not paired" in note for note in found.notes)
