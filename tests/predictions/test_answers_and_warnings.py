"""What the short answer says: reversed scores, data sets that can be decided, raised checks, labels in another coding."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from fairtrial import judge
from fairtrial.errors import InputError


@pytest.fixture(params=[False, True], ids=["memory", "streamed"])
def judge_file(request, tmp_path):
    """Judge a table that is written to a file."""

    def judge_table(table, **options):
        table.to_csv(tmp_path / "p.csv", index=False)
        return judge(tmp_path / "p.csv", stream=request.param, **{"resamples": 200, **options})

    return judge_table


# --- Scores that rank the other class first ---


def make_scores(y_true, shift, seed=0):
    rng = np.random.default_rng(seed)
    scores = {f"{name}_score": shift * y_true + rng.normal(size=len(y_true)) for name in ("a", "b")}
    return pd.DataFrame({"id": range(len(y_true)), "y_true": y_true, **scores})


@pytest.mark.parametrize("column", ["weight", "cluster"])
def test_reversed_scores_are_refused_with_weights_and_clusters(judge_file, column):
    table = make_scores(np.arange(200) % 2, -1.5).assign(**{column: 1 + np.arange(200) // 4 % 20})
    with pytest.raises(InputError, match="every model ranks '0' above '1'"):
        judge_file(table, **{column: column})
    forward = make_scores(np.arange(200) % 2, 1.5).assign(**{column: 1 + np.arange(200) // 4 % 20})
    assert judge_file(forward, **{column: column}).main == "auc"


def test_weighted_models_near_chance_are_judged(judge_file):
    """Models whose AUC is slightly below one half are not reversed: 0.5 lies within the error of the rank-sum test."""
    for seed in range(20):
        table = make_scores(np.arange(100) % 2, 0.0, seed).assign(weight=1 + np.arange(100) % 3)
        judgement = judge_file(table, weight="weight", measures="auc")
        if (judgement.scores["estimate"] < 0.5).all():
            return
    raise AssertionError("no such models were drawn")


def test_three_reversed_positive_rows_are_refused(judge_file):
    """Under chance, all 3 of 33 rows rank last with probability 1 / C(33, 3) = 1 / 5456."""
    y_true = np.repeat([1, 0], [3, 30])
    table = make_scores(y_true, -20.0).drop(columns="b_score")
    with pytest.raises(InputError, match="the model ranks '0' above '1'"):
        judge_file(table)


def test_one_reversed_positive_row_is_judged(judge_file):
    """Under chance, 1 of 31 rows ranks last with probability 1 / 31, which is not significant in a two-sided test."""
    table = make_scores(np.repeat([1, 0], [1, 30]), -20.0).drop(columns="b_score")
    assert judge_file(table).scores["estimate"].iloc[0] == 0


# --- The answer ---


def make_datasets(n=100):
    parts = []
    for k in range(2):
        rng = np.random.default_rng(k)
        y_true = rng.integers(0, 2, n)
        scores = {f"m{i}_p": np.clip(0.2 + 0.6 * y_true + s * rng.normal(size=n), 0, 1) for i, s in enumerate((0.1, 0.9))}
        parts.append(pd.DataFrame({"dataset": f"d{k}", "id": range(n), "y_true": y_true, **scores}))
    return pd.concat(parts)


def test_data_sets_are_answered_if_they_cannot_be_compared_with_each_other():
    judgement = judge(make_datasets(), measures="brier", resamples=200)
    assert judgement.pairs["significant"].all()
    assert judgement.verdict.undecidable is not None
    text = str(judgement)
    assert "On d0, m0 has the lowest Brier score" in text
    assert "On d1, m0 has the lowest Brier score" in text
    assert "2 data sets" in text


def test_raised_checks_appear_beside_other_warnings():
    rng = np.random.default_rng(0)
    y_true = (np.arange(600) % 30 == 0).astype(int)
    table = pd.DataFrame({"id": range(600), "patient": [f"p{i // 5}" for i in range(600)], "y_true": y_true})
    for name, chance in (("a", 0.9), ("b", 0.8)):
        table[name] = np.where(rng.random(600) < chance, y_true, 1 - y_true)
    text = str(judge(table, measures="accuracy"))
    assert "column 'patient'" in text.lower()
    assert "Imbalanced classes" in text
    assert "--explain" not in text


def test_labels_in_another_coding_are_not_reported_as_missing(judge_file):
    y_true = np.array(["cat", "dog"] * 20)
    table = pd.DataFrame({"id": range(40), "y_true": y_true, "a": (y_true == "dog").astype(int)})
    with pytest.raises(InputError, match="must be labels of 'y_true' \\(cat and dog\\), got 0 and 1 in column 'a'"):
        judge_file(table)


def test_the_p_value_of_one_pair_of_several_data_sets_is_called_adjusted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 180)
    table = pd.DataFrame({"dataset": np.repeat(["a", "b", "c"], 60), "y_true": y})
    table = table.assign(**{f"{name}_proba": expit(y + rng.normal(size=180)) for name in ("tree", "rule")})
    summary = judge(table, dataset="dataset", resamples=20).summary
    assert all("adjusted p " in text for text in summary[:3])
