"""Findings of an audit: data from which a text is rendered."""

import pickle

from fairtrial._findings import Finding
from fairtrial.resampling import AuditFinding


def make_overlap(splits):
    items = tuple(Finding.of("overlapping_split", split=f"fold {s}", rows=s, test_rows=9) for s in splits)
    return AuditFinding("fault", "in train and test", (Finding.of("train_test_overlap", splits=items),))


def test_the_text_begins_with_the_level():
    finding = make_overlap([1])
    assert str(finding) == f"fault: {finding.text}"
    assert (finding.kind, finding.values["splits"][0]["rows"]) == ("train_test_overlap", 1)


def test_long_lists_are_cut():
    text = make_overlap(range(9)).text
    assert "fold 5 (5 of 9 test rows) and 3 more" in text
    assert "fold 6" not in text


def test_findings_are_values():
    assert pickle.loads(pickle.dumps(make_overlap([1, 2]))) == make_overlap([1, 2]) != make_overlap([1])
