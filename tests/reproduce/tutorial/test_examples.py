import math

import pytest

from fairtrial.report.tables import to_markdown
from fairtrial.reproduce.reproduction import Claim, Reproduction, Table
from fairtrial.reproduce.tutorial.examples import Result, example, frame_of, joined, judged_with, printed_claim


@pytest.mark.parametrize(("number", "left"), [(19, [None, None, None]), (20, [True, False, None])])
def test_few_runs_judge_nothing(number, left):
    claims = [Claim("x", holds, "seen") for holds in (True, False, None)]
    found = judged_with(claims, number, 20, "samples")
    assert [claim.holds for claim in found] == left
    assert found[0].evidence == ("seen; 19 samples are too few to judge by (20 are asked for)" if number < 20 else "seen")


@pytest.mark.parametrize(
    ("ours", "printed", "digits", "agrees"),
    [(0.4349, 0.43, 2, True), (0.4351, 0.43, 2, False), (15.05, 15.05, 2, True), (15.0, 15.05, 2, False), (2.0, None, 2, None)],
)
def test_agreement_is_to_the_printed_digits(ours, printed, digits, agrees):
    assert Result("x", ours, printed, digits).agrees is agrees


def test_frame_has_ours_beside_the_printed():
    frame = frame_of([Result("one", 3.0, 2.5, 1, "why"), Result("two", 1.0)])
    assert frame["difference"].iloc[0] == 0.5
    assert math.isnan(frame["tutorial"].iloc[1])
    assert frame["to the printed digits"].tolist() == ["differs", "not printed"]


def test_claim_holds_only_if_all_that_is_printed_agrees():
    right, wrong, unprinted = Result("a", 1, 1), Result("b", 1, 2), Result("c", 1)
    assert printed_claim("x", [right, unprinted]).holds is True
    assert printed_claim("x", [right, wrong]).holds is False
    assert printed_claim("x", [unprinted]).holds is None


def test_evidence_is_the_numbers_of_the_claim():
    found = printed_claim(
        "x", [Result("t", 7.86449, 8.0845, 4), Result("p", 2.5361e-05, 2.536e-05, 8), Result("d", 3.4)], "why"
    )
    assert found.evidence == "t: 7.86449 (printed 8.0845); p: 2.5361e-05 (printed 2.536e-05); why"


def test_example_tells_what_is_asked_and_answered():
    found = example("name", "Title", [Result("a", 1, 1)], "yes.", asked="really?")
    assert found.tables[0].note == "*Asked:* really? *Answer:* yes."
    assert found.tables[0].title == "Title"


def test_parts_are_joined_in_order():
    one = Reproduction(("a",), (Table("t", "T", frame_of([Result("x", 1)])),), (Claim("c", True, ""),), {"f": 1}, {"s": "gone"})
    both = joined([one, Reproduction(("b",), ())])
    assert both.words == ("a", "b")
    assert [each.name for each in both.tables] == ["t"]
    assert both.claims[0].text == "c"
    assert both.figures == {"f": 1}
    assert both.left_out == {"s": "gone"}


def test_page_shows_as_many_digits_as_are_printed():
    """7.86454 beside a printed 7.8645, not 7.865 beside 7.864."""
    results = [Result("t", 7.86453611, 7.8645, 4), Result("r", 0.4534, 0.4534, 4), Result("d", 3.30812)]
    lines = to_markdown(example("n", "T", results, "yes.", asked="?").tables[0].frame, better=None).splitlines()[2:]
    assert [line.split(" | ")[1:4] for line in lines] == [
        ["7.86454", "7.8645", "0.00004"],
        ["0.4534", "0.4534", "0.0000"],
        ["3.308", "\N{EN DASH}", "\N{EN DASH}"],
    ]
