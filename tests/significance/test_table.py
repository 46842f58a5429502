"""Tables of scores: what is refused, and ranks that float noise cannot decide."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare

from fairtrial.errors import InputError
from fairtrial.significance import friedman
from fairtrial.significance.scores import compute_differences, rank_values, read_paired_columns, read_table, round_noise


def test_demsars_mean_ranks(find_published):
    table = pd.read_csv(find_published("demsar_2006_table6_auc"), index_col=0)
    ranks = read_table(table).compute_ranks().mean(axis=0)
    # Demsar 2006, Table 6
    assert ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_float_noise_makes_no_rank():
    assert 0.3 - 0.2 != 0.4 - 0.3
    noisy = np.array([0.3 - 0.2, 0.4 - 0.3, 0.7])
    assert rank_values(round_noise(noisy, 0.7)).tolist() == [1.5, 1.5, 3]
    d = compute_differences(np.array([0.3, 0.4, 0.15]), np.array([0.2, 0.3, 0.05]))
    assert len(set(d.tolist())) == 1


def test_true_differences_survive():
    a = np.array([0.12345678901, 0.12345678902])
    assert len(set(compute_differences(a, np.zeros(2)).tolist())) == 2
    assert rank_values(np.array([1e-9, 2e-9, 3e-9])).tolist() == [1, 2, 3]
    third = np.array([1 / 3, 2 / 3, 1 / 7])
    assert rank_values(third).tolist() == [2, 3, 1]


def test_smaller_can_be_better():
    table = read_table(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}))
    assert table.compute_ranks("min").tolist() == [[1, 2], [2, 1]]
    assert table.compute_ranks("max").tolist() == [[2, 1], [1, 2]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2.0]}), "scores"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), "scores"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, None]}), "'b' .* '1'"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", 1.0]}), "'x'"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]), "'a'"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["d", "d"], columns=["a", "b"]), "'d'"),
        ([1.0, 2.0], r"\(2,\)"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(InputError, match=message):
        read_table(table)


def test_control_must_be_a_learner():
    table = read_table(pd.DataFrame({"svm": [1.0, 2.0], "tree": [2.0, 1.0]}))
    assert table.find_column("tree") == 1
    with pytest.raises(InputError, match="'tree'"):
        table.find_column("tre")


def test_columns_are_paired():
    with pytest.raises(InputError, match="second"):
        read_paired_columns([1, 2], [1])
    with pytest.raises(InputError, match="3"):
        read_paired_columns([1, 2], [1, 2], min_rows=3)


def test_data_sets_of_other_scales_keep_their_ranks():
    table = pd.DataFrame(
        {
            "a": [1e9, 2e9, 1e-6, 2e-6, 3e-6, 4e-6],
            "b": [1.1e9, 2.2e9, 2e-6, 3e-6, 5e-6, 6e-6],
            "c": [1.2e9, 2.3e9, 4e-6, 5e-6, 6e-6, 9e-6],
        }
    )
    assert read_table(table).compute_ranks("min").tolist() == [[1, 2, 3]] * 6
    assert (compute_differences(table["a"].to_numpy(), table["b"].to_numpy()) < 0).all()
    tiny = np.arange(1, 7) * 1e-15
    assert len(set(compute_differences(tiny, np.zeros(6)).tolist())) == 6


def test_friedman_on_wild_scales_equals_scipys():
    rng = np.random.default_rng(0)
    values = 10 ** rng.uniform(-6, 10, 20)[:, None] * (1 + 0.2 * rng.random((20, 4)))
    assert friedman(values, ties="uncorrected").statistic == pytest.approx(friedmanchisquare(*values.T).statistic)
