"""The whole experiment, small."""

import pytest

from fairtrial.reproduce.ela.ela import run
from fairtrial.reproduce.reproduction import Request


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FAIRTRIAL_DATA", raising=False)
        return run(Request("smoke", tmp_path_factory.mktemp("whole"), jobs=1, progress=False))


def test_tables_stand_beside_the_paper(found):
    both = found.table("differences")
    assert set(both["dataset"]) == {"iris", "wine"}
    own = both[(both["dataset"] == "iris") & (both["learner"] == "c45") & (both["quantity"] == "accuracy at 0 %")]
    assert own["published"].tolist() == [95.07, 95.07]
    assert own["ours"].between(80, 100).all()


def test_each_part_has_its_words_table_and_figure(found):
    whole = " ".join(found.words)
    for part in (
        "What the paper's support vector machine was",
        "What the paper's noise was",
        "Beyond the paper",
        "What remains open",
    ):
        assert part in whole
    assert {"averages", "puzzle", "noise", "curves"} <= {table.name for table in found.tables}
    assert len(found.figures) == 6
    assert not found.left_out


def test_claims_are_judged_or_open(found):
    words = [claim.word for claim in found.claims]
    assert len(words) == 23
    assert "open" in words
