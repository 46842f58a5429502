"""What an experiment gives."""

from pathlib import Path

import pandas as pd
import pytest

from fairtrial.reproduce.reproduction import Claim, Reproduction, Request, Table


@pytest.mark.parametrize(("holds", "word"), [(True, "holds"), (False, "does not hold"), (None, "open")])
def test_a_claim_has_one_of_three_words(holds, word):
    assert Claim("SVM is ahead", holds, "82.2 against 81.3").word == word


@pytest.mark.parametrize(("scale", "repeats"), [("smoke", 1), ("quick", 5), ("full", 100)])
def test_a_request_picks_what_belongs_to_its_scale(scale, repeats):
    assert Request(scale, Path()).pick(smoke=1, quick=5, full=100) == repeats


def test_tables_are_found_by_name():
    frame = pd.DataFrame({"a": [1]})
    assert Reproduction(("words",), (Table("other", "O", frame * 2), Table("mine", "M", frame))).table("mine") is frame
