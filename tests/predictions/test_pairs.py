import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, norm

from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions import streamed
from fairtrial.predictions.judgement import judge
from fairtrial.predictions.pairs import build_pair_table
from fairtrial.predictions.statistics import JudgeSettings
from fairtrial.predictions.validate import Notes
from fairtrial.significance import bootstrap_difference, delong, permutation_test

SETTINGS = JudgeSettings(resamples=200, seed=2)


def make_table(n=60):
    rng = np.random.default_rng(4)
    y_true = rng.integers(0, 2, n)
    scores = {
        f"m{i}_p": np.clip(0.5 + 0.3 * (y_true - 0.5) + spread * rng.normal(size=n), 0, 1)
        for i, spread in enumerate((0.1, 0.2, 0.6))
    }
    return pd.DataFrame({"row": np.arange(n), "y_true": y_true, **scores})


def make_long(table, models=(0, 1)):
    parts = [table.assign(model=f"m{i}", score=table[f"m{i}_p"])[["row", "y_true", "model", "score"]] for i in models]
    return pd.concat(parts, ignore_index=True)


def compare(models, main="auc", notes=None):
    return build_pair_table(models, get_measure(main), SETTINGS, Notes() if notes is None else notes).frame


def compute_slow_delong(y_true, a, b):
    """Compute DeLong's z from all pairs of a positive and a negative."""
    kernels = []
    for scores in (a, b):
        positives, negatives = scores[y_true == 1][:, None], scores[y_true == 0][None, :]
        kernels.append((positives > negatives) + 0.5 * (positives == negatives))
    d = kernels[0] - kernels[1]
    return d.mean() / np.sqrt(d.mean(axis=1).var(ddof=1) / d.shape[0] + d.mean(axis=0).var(ddof=1) / d.shape[1])


def test_mcnemar_is_the_mid_p_of_the_binomial(read_models):
    table = make_table()
    row = compare(read_models(table)).query("test == 'mcnemar' and first == 'm0' and second == 'm2'").iloc[0]
    is_correct = [(table[f"m{i}_p"] > 0.5).astype(int) == table["y_true"] for i in (0, 2)]
    b, c = int((is_correct[0] & ~is_correct[1]).sum()), int((is_correct[1] & ~is_correct[0]).sum())
    exact = binomtest(b, b + c).pvalue
    assert row["p_value"] == pytest.approx(exact - binom.pmf(b, b + c, 0.5), rel=1e-9)
    assert row["difference"] == pytest.approx(is_correct[0].mean() - is_correct[1].mean())


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_delong_matches_all_pairs_of_rows_and_decides_about_auc(read_models, layout):
    table = make_table()
    pairs = compare(read_models(table if layout == "wide" else make_long(table, (0, 1, 2)).sample(frac=1, random_state=0)))
    pairs = pairs.query("test == 'delong'")
    assert pairs["primary"].all()
    assert len(pairs) == 3
    for row in pairs.to_dict("records"):
        scores = [table[f"{row[key]}_p"].to_numpy() for key in ("first", "second")]
        z = compute_slow_delong(table["y_true"].to_numpy(), *scores)
        assert row["statistic"] == pytest.approx(z, rel=1e-9)
        assert row["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
        effect = delong(table["y_true"].to_numpy(), *scores).effect
        assert (row["low"], row["high"]) == pytest.approx((effect.low, effect.high), rel=1e-9)


@pytest.mark.parametrize("read_models", ["memory"], indirect=True)
def test_bootstrap_and_permutation_in_memory_are_those_of_significance(read_models):
    table = make_table()
    y_true, labels = table["y_true"].to_numpy(), {i: (table[f"m{i}_p"] > 0.5).astype(int).to_numpy() for i in range(3)}
    pairs = compare(read_models(table), "kappa").query("first == 'm0' and second == 'm2'").set_index("test")
    direct = bootstrap_difference("kappa", y_true, labels[0], labels[2], resamples=200, seed=2)
    expected = [direct.p_value, direct.effect.low, direct.effect.high]
    assert pairs.loc["bootstrap_difference", ["p_value", "low", "high"]].tolist() == expected
    assert pairs["primary"].to_dict() == {
        "mcnemar": False,
        "delong": False,
        "bootstrap_difference": True,
        "permutation_test": False,
    }
    assert pairs.loc["permutation_test", "p_value"] == permutation_test(y_true, labels[0], labels[2], "kappa", 200, 2).p_value


def test_a_streamed_measure_of_labels_is_bootstrapped_from_counts(tmp_path):
    table = make_table(600)
    table.to_parquet(tmp_path / "p.parquet")
    rows = [
        judge(tmp_path / "p.parquet", stream=stream, measures=["kappa"]).pairs.set_index(["first", "second", "test"])
        for stream in (False, True)
    ]
    in_memory, from_counts = (pairs.loc[("m0", "m1", "bootstrap_difference")] for pairs in rows)
    assert from_counts["difference"] == pytest.approx(in_memory["difference"])
    assert from_counts["primary"]
    width = in_memory["high"] - in_memory["low"]
    assert from_counts["high"] - from_counts["low"] == pytest.approx(width, rel=0.2)


def test_p_values_are_adjusted_by_holm_over_the_pairs_of_a_test(read_models):
    for _, part in compare(read_models(make_table())).groupby("test"):
        p = np.sort(part["p_value"].to_numpy())
        by_hand = np.maximum.accumulate(np.minimum(1, p * np.arange(len(p), 0, -1)))
        assert np.allclose(np.sort(part["p_adjusted"].to_numpy()), by_hand)


def test_models_on_different_rows_are_compared_on_the_common_rows(read_models):
    table, notes = make_long(make_table()), Notes()
    pairs = compare(read_models(table[~((table["model"] == "m1") & (table["row"] < 20))]), notes=notes)
    assert pairs["rows"].eq(40).all()
    assert [(note.kind, note["common"]) for note in notes.findings] == [("partial_overlap", 40)]
    common = compare(read_models(table[table["row"] >= 20]))
    assert np.array_equal(pairs["p_value"], common["p_value"])


def test_models_without_common_rows_are_refused(read_models):
    table = make_long(make_table())
    models = read_models(table[(table["model"] == "m0") == (table["row"] < 20)])
    with pytest.raises(InputError, match="'m0' and 'm1'"):
        compare(models)


def test_integer_weights_act_like_repeated_rows(judge_table):
    table = make_table()[["row", "y_true", "m0_p", "m2_p"]].assign(weight=lambda t: 1 + t["row"] % 2)
    pairs = judge_table(table, measures="accuracy").pairs.set_index("test")
    repeated = table.loc[table.index.repeat(table["weight"])]
    accuracies = [((repeated[f"m{i}_p"] > 0.5) == repeated["y_true"]).mean() for i in (0, 2)]
    row = pairs.loc["bootstrap_difference"]
    assert row["difference"] == pytest.approx(accuracies[0] - accuracies[1])
    assert row["low"] <= row["difference"] <= row["high"]
    assert 0 < row["p_value"] <= 1
    assert pairs["primary"].to_dict().items() >= {"mcnemar": False, "bootstrap_difference": True}.items()


@pytest.mark.parametrize("read_models", ["memory"], indirect=True)
def test_weighted_auc_in_memory_is_bootstrapped(read_models):
    table = make_table()[["row", "y_true", "m0_p", "m2_p"]].assign(weight=lambda t: 1 + t["row"] % 2)
    row = compare(read_models(table)).set_index("test").loc["bootstrap_difference"]
    repeated, auc = table.loc[table.index.repeat(table["weight"])], get_measure("auc")
    aucs = [auc(repeated["y_true"].to_numpy(), repeated[f"m{i}_p"].to_numpy()) for i in (0, 2)]
    assert row["difference"] == pytest.approx(aucs[0] - aucs[1])
    assert row["primary"]
    assert row["low"] < row["difference"] < row["high"]
    assert "weights" in compare(read_models(table)).set_index("test").loc["delong", "note"]


def test_one_model_has_no_pairs(read_models):
    assert len(compare(read_models(make_table()[["y_true", "m0_p"]]))) == 0


def test_streamed_rare_positives_match_the_definition(tmp_path):
    """Compare 200 positives among 200,000 rows with the definition of DeLong's test."""
    rng = np.random.default_rng(102)
    y_true = (np.arange(200_000) < 200).astype(int)
    first = rng.normal(size=len(y_true)) + 5.6 * y_true
    second = first + 0.35 * rng.normal(size=len(y_true))
    columns = {"id": np.arange(len(y_true)), "y_true": np.where(y_true, "t", "f"), "a_score": first, "b_score": second}
    pd.DataFrame(columns).to_parquet(tmp_path / "p.parquet")
    judgement = judge(tmp_path / "p.parquet", stream=True, positive="t", measures=["auc"])
    row = judgement.pairs.set_index("test").loc["delong"]
    estimate, p = compute_by_definition(y_true, first, second)
    assert (row["difference"], row["p_value"]) == pytest.approx((estimate, p), rel=1e-9)
    assert p == pytest.approx(0.134, abs=5e-4)
    aucs = judgement.scores.set_index("model")["estimate"]
    assert row["difference"] == pytest.approx(aucs["a"] - aucs["b"], rel=1e-9)
    assert "delong_approximate" not in {note.kind for note in judgement.notes}


def compute_by_definition(y_true, *scores):
    """Compute DeLong's difference and p from the placements of each row."""
    placements = {0: [], 1: []}
    for model_scores in scores:
        for code in (0, 1):
            others = np.sort(model_scores[y_true != code])
            ends = [np.searchsorted(others, model_scores[y_true == code], side) for side in ("left", "right")]
            placements[code].append(sum(ends) / 2 / len(others))
    contrasts = [first - second for first, second in placements.values()]
    error = np.sqrt(sum(contrast.var(ddof=1) / len(contrast) for contrast in contrasts))
    return contrasts[1].mean(), 2 * norm.sf(abs(contrasts[1].mean()) / error)


def test_approximate_ranks_are_noted_and_change_delong_little(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "MAX_MARKS", 200)
    table = make_table(3000).drop(columns="m2_p")
    table.to_parquet(tmp_path / "p.parquet")
    judgement = judge(tmp_path / "p.parquet", stream=True, measures=["auc"])
    row, aucs = judgement.pairs.set_index("test").loc["delong"], judgement.scores.set_index("model")["estimate"]
    direct = delong(*(table[column].to_numpy() for column in ("y_true", "m0_p", "m1_p")))
    assert [note["marks"] for note in judgement.notes if note.kind == "delong_approximate"] == [200]
    assert row["difference"] == pytest.approx(direct.effect.estimate, rel=1e-9)
    assert row["difference"] == pytest.approx(aucs["m0"] - aucs["m1"], rel=1e-9)
    assert row["high"] - row["low"] == pytest.approx(direct.effect.high - direct.effect.low, rel=0.01)


def test_a_streamed_long_file_without_row_ids_has_no_pairs(tmp_path):
    make_long(make_table()).drop(columns="row").to_parquet(tmp_path / "p.parquet")
    judgement = judge(tmp_path / "p.parquet", stream=True)
    assert len(judgement.pairs) == 0
    assert "rows_unidentified" in {note.kind for note in judgement.notes}
