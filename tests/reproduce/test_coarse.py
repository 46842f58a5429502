"""At smoke scale all claims are open, with their numbers."""

from fairtrial.reproduce.coarse import undecided
from fairtrial.reproduce.reproduction import Claim


def test_verdicts_are_taken_back_and_numbers_stay():
    found = undecided([Claim("a", True, "1"), Claim("b", False, "2"), Claim("c", None, "3")])
    assert [claim.holds for claim in found] == [None] * 3
    assert [claim.text for claim in found] == ["a", "b", "c"]
    assert found[0].evidence.startswith("1; left open")
    assert found[1].evidence.startswith("2; left open")
    assert found[2].evidence == "3"
