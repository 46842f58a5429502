"""A header that was damaged is refused with a sentence, wherever the damage is."""

import json
from pathlib import Path

import pytest

from fairtrial.errors import StoreError
from fairtrial.study.store.codec import read_header
from fairtrial.study.store.store import open_store
from tests.study.small_store import SmallStudy

STUDY = SmallStudy()
TEXT = json.dumps(STUDY.header)
HERE = Path("a.fairtrial")


def test_a_whole_header_comes_back():
    assert read_header(TEXT, HERE) == json.loads(TEXT)


@pytest.mark.parametrize("what", ["name", "declaration", "seed", "data", "conditions", "learners", "splits"])
def test_what_is_missing_is_named(what):
    lacking = {name: each for name, each in STUDY.header.items() if name != what}
    with pytest.raises(StoreError, match=rf"a\.fairtrial is corrupted .*'{what}'"):
        read_header(json.dumps(lacking), HERE)


ODD = [("splits", 3), ("seed", "x"), ("data", [["a"]]), ("data", 1), ("conditions", [["a", "b", "c"]]), ("learners", [[1]])]


@pytest.mark.parametrize(("what", "value"), ODD)
def test_what_is_of_another_kind_is_refused(what, value):
    with pytest.raises(StoreError, match=r"a\.fairtrial is corrupted"):
        read_header(json.dumps({**STUDY.header, what: value}), HERE)


def _hashes():
    data, split = STUDY.splits[0][0], STUDY.splits[0][1].hex()
    return [data, STUDY.conditions[1][0], split, STUDY.learners[0][0]]


@pytest.mark.parametrize("own", _hashes(), ids=["data", "condition", "split", "learner"])
@pytest.mark.parametrize("other", ["0", "g"])
def test_a_changed_character_of_a_hash_is_no_missing_trial(tmp_path, own, other):
    path = STUDY.filled(tmp_path / "a.fairtrial")
    with open_store(path, write=True) as store:
        with store.file.write_transaction() as connection:
            (text,) = connection.execute("SELECT header FROM study").fetchone()
            digit = other if own[5] != other else "1"
            connection.execute("UPDATE study SET header = ?", (text.replace(own, own[:5] + digit + own[6:]),))
        with pytest.raises(StoreError, match="is corrupted"):
            store.open_archive().trials()
        with pytest.raises(StoreError, match="is corrupted"):
            store.check()
