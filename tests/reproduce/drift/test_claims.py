import pytest

from fairtrial.reproduce.drift.claims import (
    averages_follow,
    best_choice,
    claims,
    drop,
    lines_follow,
    not_more,
    simpler,
    told_apart,
)
from fairtrial.reproduce.interval import Interval
from tests.reproduce.drift.conftest import LOST, findings


def test_all_lose_and_the_simpler_more(found):
    for table in ("populations", "missing", "definitions"):
        assert drop(found, table).holds is True
    assert [simpler(found, table).holds for table in ("populations", "missing")] == [True, True]
    assert simpler(found, "definitions").holds is False  # the simple network must not lose more there
    assert best_choice(found).holds is True
    assert "less in 20, more in 0" in best_choice(found).evidence


def test_a_learner_that_gains_refutes_and_one_that_wobbles_leaves_open():
    gains, still = findings(LOST | {"1R": -0.02}), findings(LOST | {"1R": 0.0})
    assert drop(gains, "missing").holds is False
    assert drop(still, "missing").holds is None
    assert simpler(gains, "missing").holds is False


def test_table_three_as_the_tutorial_has_it():
    as_printed = findings({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.02, "Complex NN": 0.05})
    assert simpler(as_printed, "definitions").holds is True
    assert simpler(as_printed, "populations").holds is False


def test_not_more_is_shown_by_an_interval_and_not_by_a_lack_of_evidence():
    alike = findings({"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.0200, "Complex NN": 0.0241})
    assert simpler(alike, "definitions").holds is True
    wide = Interval(0.0, -0.4, 0.4)
    assert not_more(wide) is None
    assert [not_more(Interval(value, value - 0.01, value + 0.01)) for value in (-0.3, 0.0, 0.05, 0.2)] == [
        True,
        True,
        None,
        False,
    ]
    assert "by less than 0.05 of averaged pD" in simpler(alike, "definitions").text


def test_the_tutorials_own_numbers():
    assert averages_follow().holds is False
    assert averages_follow().evidence.count("Table II,") == 4
    assert lines_follow().evidence.startswith("89 of 90")


def test_each_claim_has_its_numbers(found):
    judged = claims(found)
    assert len(judged) == 9
    assert all(any(sign.isdigit() for sign in each.evidence) for each in judged)


@pytest.mark.parametrize(("low", "word"), [(0.1, "a loses more"), (-0.5, "a and b are not"), (-2, "a loses less")])
def test_words(low, word):
    assert told_apart(("a", "b"), Interval(low + 0.5, low, low + 1)).startswith(word)
