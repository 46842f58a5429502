import numpy as np
import pytest

from fairtrial.data.simulate import flu_environments
from fairtrial.reproduce.drift.printed import contradictions, filled, printed, printed_averages, recomputed


def test_names_are_those_of_the_simulated_domain():
    lines = printed()
    for table, own in lines.groupby("table"):
        known = set(flu_environments(table))
        assert set(own["trained_on"]) | set(own["tested_on"]) <= known
    assert not lines.duplicated(["table", "learner", "trained_on", "tested_on"]).any()


def test_one_line_contradicts_its_own_errors():
    """pD by its formula, written out; the tutorial's Simple NN from FC to MC prints 25.9 % beside 0.73, which takes 27.7 %."""
    lines = printed()
    inner = (lines["error"] - lines["ideal"]) / (lines["trivial"] - lines["ideal"])
    by_hand = np.where(lines["error"] <= lines["trivial"], inner, 1.0)
    assert recomputed(lines).to_numpy() == pytest.approx(by_hand)
    assert contradictions(lines) == ["Simple NN from FC to MC (printed 0.73, from its errors 0.00)"]
    lines.loc[(lines["learner"] == "Simple NN") & (lines["trained_on"] == "FC") & (lines["tested_on"] == "MC"), "error"] = 27.7
    assert contradictions(lines) == []


def test_averages_follow_in_tables_one_and_three_only():
    averages = printed_averages()
    off = (averages["value"] - averages["from_lines"]).abs()
    assert off[averages["table"] != "missing"].max() < 0.005
    assert off[averages["table"] == "missing"].min() > 0.08
    assert len(averages) == 12


def test_what_cannot_be_read_follows_from_the_errors():
    """(25.0 - 23.7) / (36.0 - 23.7) in Table II; in Table III 29.5 % is beyond the trivial 28.4 %: all is lost.

    With the latter the mean of the six lines is the printed 0.36; the five that can be read give 0.23.
    """
    assert filled() == ["1R from no Teenager or OldAdult to NGP (0.11)", "1R from FC to MC (1.00)"]
    assert filled("populations") == []
    own = printed_averages().query("table == 'definitions' and learner == '1R'").iloc[0]
    assert own["from_lines"] == pytest.approx((0.20 + 0.17 + 0.33 + 1 + 0.10 + 0.36) / 6)
    assert own["value"] == 0.36
