"""Claims: the paper's statements, held against its own numbers and against others."""

from fairtrial.reproduce.ela.cells import CLEAN, LOGISTIC, their_cells
from fairtrial.reproduce.ela.claims import all_claims


def test_the_papers_own_numbers_bear_out_all_but_its_two_slips(printed):
    claims = all_claims(printed, printed, their_cells())
    failed = [claim for claim in claims if not claim.holds]
    assert [claim.text.split(":")[0] for claim in failed] == [
        "SVM is better without and with noise",
        "One or both gain by noise; ELA prefers SVM, RLA C4.5",
    ]
    assert "not autos" in failed[0].evidence
    assert "not flare" in failed[1].evidence


def test_targets_are_missed_by_numbers_two_points_off(printed, shifted):
    claims = all_claims(shifted, printed, their_cells())
    assert [claim.holds for claim in claims[:2]] == [False, True]
    assert claims[0].evidence.startswith("0 of 32; farther off: autos +2.00")
    assert claims[1].evidence == "difference +0.0190; with noise to any class +0.0000"


def test_a_weak_machine_loses_the_claim_that_it_is_ahead_without_noise(printed):
    weak = printed["value"].where(~((printed["learner"] == LOGISTIC) & (printed["quantity"] == CLEAN)), printed["value"] - 10)
    claims = {claim.text: claim for claim in all_claims(printed.assign(value=weak), printed, their_cells())}
    lost = claims["Mean accuracy without noise: SVM is ahead of C4.5"]
    assert lost.holds is False
    assert "ours 81.28 and 72.24" in lost.evidence
    assert "paper 81.28 and 82.24" in lost.evidence


def test_statements_on_sets_that_were_not_run_are_open(printed):
    few = printed[printed["dataset"].isin(["iris", "wine"])]
    claims = {claim.text.split(":")[0]: claim.holds for claim in all_claims(few, few, their_cells())}
    assert claims["SVM stays below 50 % without noise"] is None
    assert claims["C4.5 is better without and with noise, and loses less"] is True


def test_there_are_no_claims_without_any_numbers(printed):
    assert all_claims(printed[printed["learner"] == "c45"], printed, their_cells()) == ()
