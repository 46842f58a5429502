"""Rows that are predicted several times, and weights: all predictions count, and rows weigh the same or as declared."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from fairtrial import judge
from fairtrial.errors import InputError


@pytest.fixture(params=[False, True], ids=["memory", "streamed"])
def judge_file(request, tmp_path):
    """Judge a table that is written to a file."""

    def judge_table(table, **options):
        table.to_csv(tmp_path / "p.csv", index=False)
        return judge(tmp_path / "p.csv", stream=request.param, **options)

    return judge_table


def make_answers(counts, rows=40, seed=0):
    """Simulate answers of models a and b; `counts` maps each model to its number of answers for each row."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, rows)
    lines = [
        {
            "question": row,
            "model": model,
            "repeat": answer,
            "y_true": y_true[row],
            "y_pred": y_true[row] if rng.random() < chance else 1 - y_true[row],
        }
        for model, chance in (("a", 0.85), ("b", 0.6))
        for row in range(rows)
        for answer in range(counts[model](row))
    ]
    return pd.DataFrame(lines)


def compute_row_differences(table):
    """Compute the difference in accuracy of each row, from the mean of each model's answers."""
    is_correct = (table["y_true"] == table["y_pred"]).astype(float)
    means = is_correct.groupby([table["question"], table["model"]]).mean().unstack()
    return (means["a"] - means["b"]).dropna().to_numpy()


# --- Repeated predictions ---


def test_the_answer_states_the_number_of_predictions_per_row(judge_file):
    table = make_answers({"a": lambda _: 3, "b": lambda _: 3})
    options = {"row": "question", "measures": "accuracy"}
    assert "40 rows with 3 predictions each" in " ".join(str(judge_file(table, **options)).split())
    unequal = make_answers({"a": lambda _: 3, "b": lambda row: 3 if row else 1})
    assert "40 rows with 1 to 3 predictions each" in " ".join(str(judge(unequal, **options)).split())
    once = table[table["repeat"] == 0].drop(columns="repeat")
    assert "predictions each" not in str(judge_file(once, row="question", measures="accuracy"))


def test_all_answers_count_if_models_have_different_numbers_of_them(judge_file):
    table = make_answers({"a": lambda _: 3, "b": lambda _: 1})
    judgement = judge_file(table, row="question", measures="accuracy")
    (row,) = judgement.pairs.to_dict("records")
    d = compute_row_differences(table)
    estimates = judgement.scores.set_index("model")["estimate"]
    assert row["difference"] == pytest.approx(d.mean())
    assert estimates["a"] - estimates["b"] == pytest.approx(d.mean())
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    assert (row["rows"], set(judgement.scores["rows"])) == (40, {40})
    assert not {"partial_overlap", "unequal_rows"} & {note.kind for note in judgement.notes}


def test_rows_weigh_the_same_in_a_pair_however_many_answers_they_have():
    table = make_answers({"a": lambda _: 1, "b": lambda row: 1 + row % 3}, rows=9)
    judgement = judge(table, row="question", measures="accuracy")
    (row,) = judgement.pairs.to_dict("records")
    d = compute_row_differences(table)
    sums = np.array(list(itertools.product([-1, 1], repeat=9))) @ d
    estimates = judgement.scores.set_index("model")["estimate"]
    assert row["difference"] == pytest.approx(d.mean()) == pytest.approx(estimates["a"] - estimates["b"])
    assert row["p_value"] == pytest.approx(np.mean(np.abs(sums) >= abs(d.sum()) - 1e-9))


def test_aucs_of_repeated_answers_agree_with_their_difference(judge_file):
    rng = np.random.default_rng(1)
    table = make_answers({"a": lambda _: 2, "b": lambda _: 3})
    table["score"] = table.pop("y_pred") + rng.normal(size=len(table))
    judgement = judge_file(table, row="question", measures="auc")
    (row,) = judgement.pairs.to_dict("records")
    aucs = {name: roc_auc_score(part["y_true"], part["score"]) for name, part in table.groupby("model")}
    assert row["difference"] == pytest.approx(aucs["a"] - aucs["b"])
    assert judgement.scores.set_index("model")["estimate"].to_dict() == pytest.approx(aucs)


def test_answers_without_a_repeat_column_are_numbered(judge_file):
    table = make_answers({"a": lambda _: 3, "b": lambda _: 3})
    with_repeats, without = (
        judge_file(answers, row="question", measures="accuracy") for answers in (table, table.drop(columns="repeat"))
    )
    for name in ("difference", "low", "high", "p_value"):
        assert without.pairs[name].tolist() == pytest.approx(with_repeats.pairs[name].tolist())
    d = compute_row_differences(table)
    assert without.pairs["p_value"].tolist() == [pytest.approx(stats.ttest_1samp(d, 0).pvalue)]
    (note,) = [note for note in without.notes if note.kind == "numbered_predictions"]
    assert (note["models"], note["column"], note["lines"]) == (("a", "b"), "question", 80)
    assert "several times" in str(without)


def test_exact_copies_of_lines_are_removed_and_reported(judge_file):
    table = make_answers({"a": lambda _: 1, "b": lambda _: 1}).drop(columns="repeat")
    judgement = judge_file(pd.concat([table, table.iloc[:5]]), row="question", measures="accuracy")
    assert [note["lines"] for note in judgement.notes if note.kind == "duplicated_rows"] == [5]
    assert judgement.pairs["difference"].tolist() == [pytest.approx(compute_row_differences(table).mean())]


def test_a_row_may_not_be_predicted_twice_in_a_repeat(judge_file):
    table = make_answers({"a": lambda _: 2, "b": lambda _: 2})
    again = table.iloc[:1].assign(y_pred=lambda line: 1 - line["y_pred"])
    with pytest.raises(InputError, match="once per repeat and fold"):
        judge_file(pd.concat([table, again]), row="question")


# --- Weights ---


def make_weighted(weights, n=60, seed=5):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    table = pd.DataFrame({"id": range(n), "y_true": y_true, "w": weights})
    for name, spread in (("a", 0.4), ("b", 0.8)):
        table[f"{name}_p"] = np.clip(0.3 + 0.4 * y_true + spread * rng.normal(size=n), 0, 1)
    return table


@pytest.mark.parametrize("measure", ["accuracy", "auc", "f_score"])
def test_constant_weights_are_no_weights(judge_file, measure):
    table = make_weighted(2.0)
    plain = judge_file(table.drop(columns="w"), measures=measure, resamples=200)
    weighted = judge_file(table, weight="w", measures=measure, resamples=200)
    for name in ("test", "difference", "low", "high", "p_value", "outcome"):
        assert weighted.pairs[name].tolist() == plain.pairs[name].tolist()
    for name in ("estimate", "low", "high", "method"):
        assert weighted.scores[name].tolist() == plain.scores[name].tolist()


def test_rows_of_weight_zero_do_not_count(judge_file):
    table = make_weighted(np.where(np.arange(60) < 20, 0.0, 1.0 + np.arange(60) % 2))
    judgements = [judge_file(part, weight="w", measures="f_score", resamples=200) for part in (table, table[table["w"] > 0])]
    for frame in ("pairs", "scores"):
        pd.testing.assert_frame_equal(getattr(judgements[0], frame), getattr(judgements[1], frame))
    assert set(judgements[0].scores["rows"]) == {40}
    assert judgements[0].class_counts == judgements[1].class_counts
    assert sum(judgements[0].class_counts["data"].values()) == 40


@pytest.mark.parametrize("size", [1e150, 1e160, 1e300, 1e-170, 1e-300])
@pytest.mark.parametrize("measure", ["auc", "accuracy"])
def test_extreme_weights_are_refused(judge_file, size, measure):
    with pytest.raises(InputError, match="sample_weight must be 0 or between 1e-140 and 1e\\+140 in absolute value"):
        judge_file(make_weighted(size * (1 - 0.5 * (np.arange(60) % 2))), weight="w", measures=measure, resamples=200)
    plain, weighted = (judge_file(make_weighted(weight), weight="w", measures=measure, resamples=200) for weight in (1.0, size))
    assert weighted.scores["estimate"].tolist() == plain.scores["estimate"].tolist()
