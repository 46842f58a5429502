import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.judgement import judge


def test_scores_on_both_sides_of_zero_are_cut_there_as_in_memory(tmp_path):
    path = tmp_path / "p.csv"
    pd.DataFrame({"truth": [0, 1] * 20, "m_score": [-2.0, 3.0] * 19 + [1.0, -1.0]}).to_csv(path, index=False)
    found = [judge(path, stream=stream, resamples=20).scores.set_index("measure")["estimate"] for stream in (False, True)]
    assert found[0]["accuracy"] == found[1]["accuracy"] == 38 / 40


def test_most_sums_near_one_and_some_not_are_refused(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"truth": list("abc"), **{f"score_{each}": [1 / 3, 1 / 3, 0.9] for each in "abc"}}).to_parquet(path)
    for stream in (False, True):
        with pytest.raises(InputError, match="must sum to 1 in each row"):
            judge(path, stream=stream)
