import pandas as pd
import pytest

from fairtrial.measures import get_measure
from fairtrial.predictions.narrative import format_distinct, summarize_judgement


def scores(**estimates):
    lines = [("data", name, "auc", value, value - 0.05, value + 0.05) for name, value in estimates.items()]
    return pd.DataFrame(lines, columns=["dataset", "model", "measure", "estimate", "low", "high"])


def pairs(*lines):
    columns = ["dataset", "first", "second", "difference", "p_adjusted", "test", "primary"]
    table = pd.DataFrame([("data", *line, "delong", True) for line in lines], columns=columns)
    return table.assign(low=table["difference"] - 0.01, high=table["difference"] + 0.01)


def words(table, compared, measure="auc"):
    return summarize_judgement(table.assign(measure=measure), compared, get_measure(measure), 0.95, 0.05, None)[0]


def test_who_is_ahead_and_who_cannot_be_told_apart():
    said = words(scores(x=0.7, y=0.9, z=0.89), pairs(("x", "y", -0.2, 0.001), ("x", "z", -0.19, 0.002), ("y", "z", 0.01, 0.6)))
    assert said.startswith("y has the best auc, 0.9 (95 % interval 0.85 to 0.95).")
    assert "It is ahead of x (difference 0.2, interval 0.19 to 0.21, p = 0.001 adjusted)." in said
    assert "It cannot be told apart from z (difference 0.01, interval 0 to 0.02, p = 0.6 adjusted)." in said
    assert said.endswith(
        "By DeLong's test at level 0.05, p adjusted by Holm's procedure over 3 pairs; intervals are of each pair alone."
    )


def test_smaller_is_better_where_the_measure_says_so():
    assert words(scores(x=0.2, y=0.1), pairs(("x", "y", 0.1, 0.01)), "brier").startswith("y has the best brier")
    assert "It is ahead of x (difference -0.1" in words(scores(x=0.2, y=0.1), pairs(("x", "y", 0.1, 0.01)), "brier")


def test_the_common_rows_may_speak_against_the_best():
    said = words(scores(x=0.7, y=0.9), pairs(("x", "y", 0.1, 0.01)))
    assert "On the rows that both predict it is behind x" in said
    assert "ahead" not in said


def test_a_lone_model_against_chance():
    assert "better than guessing (0.5)" in words(scores(x=0.9), pairs())
    assert "not surely better than guessing (0.5)" in words(scores(x=0.52), pairs())
    assert "nothing to say" in words(scores(x=float("nan")), pairs())


def test_an_undefined_p_is_not_told_apart():
    said = words(scores(x=0.7, y=0.9), pairs(("x", "y", -0.2, float("nan"))))
    assert "cannot be told apart from x" in said
    assert "p is undefined" in said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.04998, "It is ahead of x (difference 0.2, interval 0.19 to 0.21, p = 0.04998)."),
        (0.050016, "It cannot be told apart from x (difference 0.2, interval 0.19 to 0.21, p = 0.05002)."),
        (0.000099, "p = 9.9e-05)."),
    ],
)
def test_p_values_are_printed_on_their_side_of_the_level(p, said):
    assert said in words(scores(x=0.7, y=0.9), pairs(("x", "y", -0.2, p)))


def test_equal_models_share_the_lead_and_are_not_compared_with_each_other():
    compared = pairs(("x", "y", 0.0, 1.0), ("x", "z", 0.2, 0.01), ("y", "z", 0.2, 0.01))
    said = words(scores(x=0.9, y=0.9, z=0.7), compared)
    assert said.startswith("x and y have the best auc, 0.9. x is ahead of z (difference 0.2")
    assert "It " not in said


def test_an_interval_without_zero_is_explained_where_the_adjusted_p_does_not_reject():
    compared = pairs(("x", "y", 0.1, 0.09), ("x", "z", 0.2, 0.01), ("y", "z", 0.1, 0.09)).assign(p_value=0.03)
    said = words(scores(x=0.9, y=0.8, z=0.7), compared)
    assert "from y excludes zero, but p, once adjusted for the number of pairs, does not reject." in said
    assert "from z" not in said


def test_a_lone_model_may_be_worse_than_guessing():
    assert "That is worse than guessing (0.5)." in words(scores(x=0.2), pairs())


@pytest.mark.parametrize(
    ("value", "others", "told"),
    [(0.91234, [0.5], "0.9123"), (0.91234, [0.91231], "0.91234"), (0.999977, [0.999936], "0.99998"), (1.0, [0.99999], "1")],
)
def test_different_values_are_written_differently_and_less_than_one_is_not_one(value, others, told):
    assert format_distinct(value, others) == told
