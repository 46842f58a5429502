import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, norm

from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions.pairs import build_pair_table
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings
from fairtrial.predictions.validate import Notes
from fairtrial.significance import bootstrap_difference, permutation_test

PLAN = JudgeSettings(resamples=200, seed=2)


def example(n=60):
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, n)
    scores = {
        f"m{i}_p": np.clip(0.5 + 0.3 * (truth - 0.5) + spread * rng.normal(size=n), 0, 1)
        for i, spread in enumerate((0.1, 0.2, 0.6))
    }
    return pd.DataFrame({"row": np.arange(n), "truth": truth, **scores})


def models_of(table):
    one = read_predictions(table).datasets[0]
    return [InMemoryModel.from_dataset(one, name, one.get_positive_index(None)) for name in one.models]


def pairs(table, main="auc", notes=None):
    return build_pair_table(models_of(table), get_measure(main), PLAN, Notes() if notes is None else notes)


def slow_delong(truth, a, b):
    """DeLong's z by all pairs of a positive and a negative."""
    kernels = []
    for s in (a, b):
        up, down = s[truth == 1][:, None], s[truth == 0][None, :]
        kernels.append((up > down) + 0.5 * (up == down))
    d = kernels[0] - kernels[1]
    return d.mean() / np.sqrt(d.mean(axis=1).var(ddof=1) / d.shape[0] + d.mean(axis=0).var(ddof=1) / d.shape[1])


def test_mcnemar_is_the_mid_p_of_the_binomial():
    table = example()
    found = pairs(table).query("test == 'mcnemar' and first == 'm0' and second == 'm2'").iloc[0]
    right = [(table[f"m{i}_p"] > 0.5).astype(int) == table["truth"] for i in (0, 2)]
    b, c = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    exact = binomtest(b, b + c).pvalue
    assert found["p_value"] == pytest.approx(exact - binom.pmf(b, b + c, 0.5), rel=1e-9)
    assert found["difference"] == pytest.approx(right[0].mean() - right[1].mean())


def test_delong_is_that_of_all_pairs_and_decides_about_auc():
    table = example()
    found = pairs(table).query("test == 'delong'")
    assert found["primary"].all()
    assert len(found) == 3
    for line in found.to_dict("records"):
        z = slow_delong(table["truth"].to_numpy(), *(table[f"{line[key]}_p"].to_numpy() for key in ("first", "second")))
        assert line["statistic"] == pytest.approx(z, rel=1e-9)
        assert line["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)


def test_bootstrap_and_permutation_are_those_of_significance():
    table = example()
    truth, labels = table["truth"].to_numpy(), {i: (table[f"m{i}_p"] > 0.5).astype(int).to_numpy() for i in range(3)}
    found = pairs(table, "kappa").query("first == 'm0' and second == 'm2'").set_index("test")
    direct = bootstrap_difference("kappa", truth, labels[0], labels[2], resamples=200, seed=2)
    assert found.loc["bootstrap_difference", ["p_value", "low", "high"]].tolist() == [
        direct.p_value,
        direct.effect.low,
        direct.effect.high,
    ]
    assert found.loc["bootstrap_difference", "primary"]
    assert not found.loc["mcnemar", "primary"]
    assert found.loc["permutation_test", "p_value"] == permutation_test(truth, labels[0], labels[2], "kappa", 200, 2).p_value


def test_p_values_are_adjusted_by_holm_over_the_pairs_of_a_test():
    found = pairs(example())
    for _, part in found.groupby("test"):
        p = np.sort(part["p_value"].to_numpy())
        by_hand = np.maximum.accumulate(np.minimum(1, p * np.arange(len(p), 0, -1)))
        assert np.allclose(np.sort(part["p_adjusted"].to_numpy()), by_hand)


def test_models_on_different_rows_meet_on_the_common_ones():
    table = example()
    long = pd.concat(
        [table.assign(model=f"m{i}", score=table[f"m{i}_p"])[["row", "truth", "model", "score"]] for i in (0, 1)],
        ignore_index=True,
    )
    notes = Notes()
    part = long[~((long["model"] == "m1") & (long["row"] < 20))]
    found = pairs(part, notes=notes)
    assert found["rows"].eq(40).all()
    assert "the 40 that both predict" in notes.sentences[0]
    whole = pairs(long[long["row"] >= 20])
    assert np.array_equal(found["p_value"], whole["p_value"])
    apart = long[((long["model"] == "m0") & (long["row"] < 20)) | ((long["model"] == "m1") & (long["row"] >= 20))]
    with pytest.raises(InputError, match="got none in common for 'm0' and 'm1'"):
        pairs(apart)


def test_whole_weights_are_rows_counted_again():
    table = example()[["row", "truth", "m0_p", "m2_p"]].assign(weight=lambda t: 1 + t["row"] % 2)
    found = pairs(table).set_index("test")
    again = table.loc[table.index.repeat(table["weight"])]
    rows = [again[f"m{i}_p"].to_numpy() for i in (0, 2)]
    auc = get_measure("auc")
    expected = auc(again["truth"].to_numpy(), rows[0]) - auc(again["truth"].to_numpy(), rows[1])
    line = found.loc["bootstrap_difference"]
    assert line["difference"] == pytest.approx(expected)
    assert line["primary"]
    assert line["low"] < expected < line["high"]
    assert 0 < line["p_value"] <= 1
    assert "takes no weights" in found.loc["delong", "note"]


def test_one_model_has_no_pairs():
    assert len(pairs(example()[["truth", "m0_p"]])) == 0
