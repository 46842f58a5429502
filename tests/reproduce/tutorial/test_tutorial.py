import pytest

from fairtrial.reproduce.reproduction import Reproduction, Request, Table
from fairtrial.reproduce.tutorial.studies import EIGHT, TEN
from fairtrial.reproduce.tutorial.tutorial import _not_run, run


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Without any data set: all worked examples remain."""
    folder = tmp_path_factory.mktemp("tutorial")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAIRTRIAL_DATA", str(folder))
        return run(Request("smoke", folder, 1, False))


def test_worked_examples_need_no_data(found):
    names = {table.name for table in found.tables}
    examples = {"kappa", "rmse", "information_score", "t_test", "cohens_d", "sign_test", "wilcoxon", "wilcoxon_folds"}
    assert examples | {"friedman", "nemenyi", "anneal_printed", "known_error", "repeated_tests"} <= names
    assert len(names) == len(found.tables)


def test_missing_sets_are_named(found):
    missing = set(found.left_out)
    assert set(EIGHT) <= missing
    assert missing <= set(EIGHT) | set(TEN)


def test_first_words_count_what_the_claims_say(found):
    false = sum(claim.holds is False for claim in found.claims)
    assert f"{len(found.claims)} statements: " in found.words[1]
    assert f"{false} do not hold" in found.words[1]
    assert "stand in 6 examples" in found.words[1]


def test_words_say_how_many_parts_could_not_be_run_and_why(found):
    """Of 14 parts six are computed from printed input or simulated."""
    told = found.words[2]
    assert "8 of 14 parts could not be run" in told
    assert "Breast Cancer, Labour, Liver, Anneal" in told
    assert "the measures table, cost curves, " in told
    assert "FAIRTRIAL_DATA" in told


def test_a_part_that_finds_nothing_of_its_own_is_not_run():
    """A study without Breast Cancer gives an empty part."""
    some = Reproduction((), (Table("x", "X", None),))
    assert _not_run({"a": some, "b": None}, {}) == ()
    (told,) = _not_run({"a": some, "b": Reproduction((), ()), "c": None}, {"Liver": "damaged"})
    assert "A data set is left out (Liver)" in told
    assert "2 of 3 parts could not be run" in told
    assert ": b, c." in told
    (told,) = _not_run({"a": some}, {"Liver": "damaged"})
    assert "all 1 parts were run" in told


def test_claims_judged_by_a_limit_say_which(found):
    texts = " ".join(claim.text for claim in found.claims)
    for limit in ("less than 5 % apart", "by more than 10 %", "more than 5 points", "within 0.01", "p > 0.05"):
        assert limit in texts


def test_only_printed_input_is_judged_at_this_scale(found):
    simulated = [claim for claim in found.claims if "too few to judge by" in claim.evidence]
    assert len(simulated) == 9 + 6
    assert {claim.holds for claim in simulated} == {None}
    assert all(claim.holds is not None for claim in found.claims if claim not in simulated)
