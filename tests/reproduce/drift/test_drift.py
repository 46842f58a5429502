import re

import pytest

from fairtrial.reproduce.drift import drift
from fairtrial.reproduce.drift.drift import run
from fairtrial.reproduce.reproduction import Request
from tests.reproduce.drift.conftest import findings


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    return run(Request("smoke", tmp_path_factory.mktemp("drift")))


def test_the_whole_runs(smoke):
    assert not smoke.left_out
    assert len(smoke.claims) == 9
    assert len(smoke.table("missing")) == 80
    assert smoke.table("populations")["ours"].notna().sum() >= 28
    assert all(chart.to_dict() for chart in smoke.figures.values())


def test_nothing_is_judged_by_two_replicates(smoke):
    """The last two are about the tutorial's own numbers."""
    assert [claim.holds for claim in smoke.claims[:-2]] == [None] * 7
    assert not any(sign in smoke.claims[-3].evidence for sign in ("in 1,", "in 2,"))


def test_nothing_is_told_as_nan(smoke):
    told = [
        *smoke.words,
        *(claim.evidence for claim in smoke.claims),
        *smoke.table("hypotheses").astype(str).to_numpy().ravel(),
    ]
    assert not any(re.search(r"\bnan\b", each) for each in told)
    assert "undefined" in " ".join(smoke.words)  # so few patients that some network does not beat the trivial one


def test_words_follow_the_numbers(monkeypatch, tmp_path):
    less = {"1R": 0.01, "Decision Tree": 0.06, "Simple NN": 0.05, "Complex NN": 0.02}
    monkeypatch.setattr(drift, "run_parts", lambda plan, *_: findings(less, plan).matrices)
    told = " ".join(run(Request("smoke", tmp_path)).words)
    assert "1R loses less than Decision Tree; Simple NN loses more than Complex NN" in told
    assert "Of 6 such verdicts under the variants 0 differ" in told
    assert "ours 40.0 %" in told
    assert "chosen after results under several codings had been looked at" in told
    assert "inferred from how the domain and the learners are made, not tested" in told
