import numpy as np
import pytest
from scipy import stats

from fairtrial.reproduce.published import published
from fairtrial.reproduce.tutorial.many_learners import many_learners


@pytest.fixture(scope="module")
def found():
    return many_learners()


def test_friedman_is_scipys(found):
    table = found.table("friedman").set_index("what")
    expected = stats.friedmanchisquare(*published("tutorial_friedman_domains")[["fA", "fB", "fC"]].to_numpy().T)
    assert table.loc["chi-squared, by R", "ours"] == pytest.approx(expected.statistic) == pytest.approx(15)
    assert table.loc["p, by R", "ours"] == pytest.approx(expected.pvalue)
    assert table.loc["critical value at 0.05", "ours"] == pytest.approx(-2 * np.log(0.05))  # two degrees of freedom
    assert table.loc["chi-squared with that tie, no correction", "ours"] == pytest.approx(15.05)


def test_nemenyi_takes_mean_ranks(found):
    """ERRATA: with the tutorial's tie -3.242, 0.224 and 3.466; the critical value is 2.344."""
    table = found.table("nemenyi")
    assert table["ours"].tolist()[:3] == pytest.approx([-3.242, 0.224, 3.466], abs=1e-3)
    assert table["ours"].iloc[-1] == pytest.approx(stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2), abs=1e-3)


def test_claims_and_figure(found):
    verdicts = {claim.text: claim.holds for claim in found.claims}
    assert verdicts["Friedman's statistic by hand is 15.05"] is False
    assert verdicts["A and B, B and C differ, A and C do not (at 0.05)"] is True
    assert all(chart.to_dict()["layer"] for chart in found.figures.values())


def test_slip_of_nemenyi_is_told_in_full(found):
    """Rank sums 15.5 and 30: -14.5 over the root of 0.2 is -32.42, over 0.45 it is the printed -32.22."""
    exact, rounded = f"{-14.5 / np.sqrt(0.2):.2f}", f"{-14.5 / 0.45:.2f}"
    assert (exact, rounded) == ("-32.42", "-32.22")
    told = next(claim.evidence for claim in found.claims if claim.text.startswith("q is"))
    note = next(table.note for table in found.tables if table.name == "nemenyi")
    for words in (told, note):
        assert f"q of A and B is {exact} so, and {rounded} with the root of 0.2 rounded to 0.45" in words
