import pandas as pd
import pytest

from fairtrial.errors import InputError


def test_scores_on_both_sides_of_zero_give_labels(judge_table):
    table = pd.DataFrame({"y_true": [0, 1] * 20, "m_score": [-2.0, 3.0] * 19 + [1.0, -1.0]})
    judgement = judge_table(table)
    assert judgement.scores.set_index("measure")["estimate"]["accuracy"] == 38 / 40
    assert "labels_from_signs" in {note.kind for note in judgement.notes}


def test_scores_of_which_only_most_sum_to_one_are_refused(judge_table):
    table = pd.DataFrame({"y_true": list("abc"), **{f"score_{label}": [1 / 3, 1 / 3, 0.9] for label in "abc"}})
    with pytest.raises(InputError, match="probabilities"):
        judge_table(table, "parquet")
