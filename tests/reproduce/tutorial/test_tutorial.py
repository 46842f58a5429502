import pytest

from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.studies import EIGHT, TEN
from fairtrial.reproduce.tutorial.tutorial import run


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
    assert "mean nothing" in found.words[-1]
