"""Rules on single lines: each against lines that the paper names, and one that it does not."""

import pytest

from fairtrial.reproduce.ela.statements import STATEMENTS
from fairtrial.reproduce.published import published

TABLE = published("ela_table3").set_index("dataset")
# What the text says and the table denies.
SLIPS = {("SVM is better without and with noise", "autos"), ("One or both gain by noise; ELA prefers SVM, RLA C4.5", "flare")}
# A set of which the statement is not made and does not hold.
OTHERS = dict(
    zip(
        [text for text, _, _ in STATEMENTS],
        ["car", "balance", "balance", "autos", "wine", "iris", "wine", "car", "autos", "car", "wine", "iris"],
        strict=True,
    )
)


@pytest.mark.parametrize(("text", "names", "rule"), STATEMENTS, ids=[text for text, _, _ in STATEMENTS])
def test_a_rule_holds_on_the_lines_that_the_text_names(text, names, rule):
    assert all(name in TABLE.index for name in names.split())
    assert {name for name in names.split() if not rule(TABLE.loc[name])} == {name for said, name in SLIPS if said == text}
    assert OTHERS[text] not in names.split()
    assert not rule(TABLE.loc[OTHERS[text]])
