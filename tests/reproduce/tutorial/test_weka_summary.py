from fairtrial.reproduce.tutorial.examples import Result
from fairtrial.reproduce.tutorial.weka_summary import weka_summary


def test_every_figure_is_the_one_weka_prints(small_study):
    found = weka_summary(small_study)
    table = found.table("weka_summary")
    printed = table[table["tutorial"].notna()]
    assert len(printed) == 33
    assert (printed["to the printed digits"] == "agrees").all()
    assert found.claims[0].holds is True
    assert "Over the 10 folds that WEKA makes with seed 1, 33 of its 33 figures" in found.words[0]


def test_other_folds_are_told_and_not_judged(two_folds):
    found = weka_summary(two_folds)
    assert found.claims[0].holds is None
    assert "the printed figures are over 10" in found.claims[0].evidence
    assert "Over the 2 folds" in found.words[0]
    assert "Run were the 2 folds" in found.tables[0].note


def test_a_figure_that_differs_leaves_it_open(monkeypatch, small_study):
    monkeypatch.setattr("fairtrial.reproduce.tutorial.weka_summary._counts", lambda _: [Result("right", 41, 42, 0)])
    (claim,) = weka_summary(small_study).claims
    assert claim.holds is None
    assert claim.evidence.startswith("25 of 26 figures agree")
