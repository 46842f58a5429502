"""Our numbers beside the published ones."""

import pandas as pd
import pytest

from fairtrial.reproduce.beside import beside

OURS = pd.DataFrame({"set": ["a", "a", "b"], "learner": ["x", "y", "x"], "value": [0.5, 0.6, 0.7], "low": 0.4, "high": 0.9})
THEIRS = pd.DataFrame({"set": ["a", "a", "c"], "learner": ["y", "x", "x"], "value": [0.65, 0.5, 0.1]})


def test_lines_are_joined_by_their_keys():
    found = beside(OURS, THEIRS, ["set", "learner"]).set_index(["set", "learner"])
    assert found.loc[("a", "y"), "difference"] == pytest.approx(-0.05)
    assert found.loc[("a", "y"), ["low", "high"]].tolist() == pytest.approx([-0.25, 0.25])
    assert found.loc[("a", "x"), "difference"] == 0


def test_lines_of_one_alone_stay_with_a_hole():
    found = beside(OURS, THEIRS, ["set", "learner"]).set_index("set")
    assert found.loc["b"].drop(["learner", "ours"]).isna().all()
    assert found.loc["c", "published"] == 0.1
    assert pd.isna(found.loc["c", "ours"])


def test_without_an_interval():
    assert list(beside(OURS.drop(columns=["low", "high"]), THEIRS, ["set", "learner"], interval=False)) == [
        "set",
        "learner",
        "ours",
        "published",
        "difference",
    ]


def test_lines_keep_our_order_and_those_of_theirs_alone_come_last():
    found = beside(OURS.iloc[::-1], THEIRS, ["set", "learner"])
    assert found[["set", "learner"]].agg("".join, axis=1).tolist() == ["bx", "ay", "ax", "cx"]
