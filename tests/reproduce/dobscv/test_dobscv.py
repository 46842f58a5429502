"""The whole experiment at smoke scale, on simulated sets."""

from fairtrial.reproduce.dobscv import sets, truth
from fairtrial.reproduce.dobscv.dobscv import run
from fairtrial.reproduce.reproduction import Request


def test_smoke_without_any_set(tmp_path, monkeypatch):
    monkeypatch.setattr(sets, "found_sets", lambda names: ({}, dict.fromkeys(names, "not here")))
    monkeypatch.setattr(truth, "_TESTED", 100)
    found = run(Request("smoke", tmp_path, jobs=1, progress=False))
    assert "simulated sets" in found.words[0]
    assert found.left_out["Glass1"] == "not here"
    assert {"table-3-auc", "table-4", "table-5", "effects", "known-truth"} <= {table.name for table in found.tables}
    assert len(found.claims) == 16
    assert {claim.holds for claim in found.claims} == {None}  # two sets and two samples tell nothing
    assert len(found.figures) == 3
    means = found.table("table-3-auc")
    assert means["ours"].between(0.4, 1).all()
    assert set(found.table("known-truth")["scheme"]) == {"k-fold", "SCV", "DB-SCV", "DOB-SCV literal", "DOB-SCV shuffled"}
