"""Who leads, by mean and by mean rank."""

import numpy as np
import pandas as pd

from fairtrial.report.compared import judged_scores
from fairtrial.report.sections.leading import best_names, best_of, by_what
from fairtrial.significance import advise


def test_float_noise_does_not_part_the_best():
    assert best_names(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.2}), "max") == ["a", "b"]
    assert best_names(pd.Series({"a": 0.3, "c": 0.2}), "min") == ["c"]


def test_the_best_mean_and_the_best_rank_are_told_of_whom_they_are():
    steady = np.array([0.81, 0.82, 0.83, 0.84, 0.85, 0.86])
    table = pd.DataFrame({"steady": steady, "lucky": steady - 0.01, "last": steady - 0.02})
    table.loc[0, "lucky"] = 0.99
    judged = judged_scores(advise(table))
    assert best_of(judged, "score").text == "lucky has the best mean score, 0.857, but steady the best mean rank, 1.17."
    assert by_what(judged, "score")[0] == ", with the best mean rank, {rank}"
