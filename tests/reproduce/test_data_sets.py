"""Data sets of experiments."""

from fairtrial.reproduce.data_sets import found_sets


def test_the_first_name_that_is_there_is_taken():
    found, missing = found_sets({"Wdbc": ["no-such-set", "breast_cancer"], "Wine": "wine"})
    assert {name: len(data) for name, data in found.items()} == {"Wdbc": 569, "Wine": 178}
    assert missing == {}


def test_what_cannot_be_found_is_named_with_the_reason():
    found, missing = found_sets({"Lost": ["no-such-set", "nor-this-one"]})
    assert found == {}
    assert "no-such-set" in missing["Lost"]


def test_folders_of_the_user_are_searched(shared_data, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(shared_data))
    found, _ = found_sets({"balance": "keel-standard/balance"})
    assert len(found["balance"]) == 625
