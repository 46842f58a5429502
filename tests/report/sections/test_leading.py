"""Who leads, by mean and by mean rank."""

import numpy as np
import pandas as pd

from fairtrial import compare
from fairtrial.report.names import find_best_names
from fairtrial.report.sections.answer import describe_best_learners, describe_lead
from fairtrial.report.sections.verdict import VerdictContext


def test_float_noise_does_not_part_the_best():
    assert find_best_names(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.2}), "max") == ["a", "b"]
    assert find_best_names(pd.Series({"a": 0.3, "c": 0.2}), "min") == ["c"]


def test_the_best_mean_and_the_best_rank_are_told_of_whom_they_are():
    steady = np.array([0.81, 0.82, 0.83, 0.84, 0.85, 0.86])
    table = pd.DataFrame({"steady": steady, "lucky": steady - 0.01, "last": steady - 0.02})
    table.loc[0, "lucky"] = 0.99
    judged = VerdictContext.from_scores(compare(table))
    assert (
        describe_best_learners(judged, "score").text
        == "lucky has the best mean score, 0.857, but steady the best mean rank, 1.17."
    )
    assert describe_lead(judged, "score")[0] == ", with the best mean rank, {rank}"
