"""Claims on cells of which the answer is known."""

from fairtrial.reproduce.dobscv.claims import claims_of
from fairtrial.reproduce.dobscv.table5 import ranked_runs
from tests.reproduce.dobscv.conftest import made_cells


def verdicts(cells):
    return {claim.text.split(",")[0]: claim for claim in claims_of(cells, ranked_runs(cells))}


def test_a_difference_that_rises_with_imbalance(rising):
    found = verdicts(rising)
    assert found["With all five learners DOB-SCV estimates higher than SCV on most sets"].holds
    assert found["The average estimate of every learner is higher under DOB-SCV"].holds
    assert found["The higher the imbalance"].holds
    assert found["On Abalone19 and Glass2 DOB-SCV is higher than SCV with all learners"].holds
    assert found["On Ecoli2 and Yeast2vs8 DOB-SCV is lower than SCV with all learners"].holds is False
    assert found["Sets where DOB-SCV is higher with all learners outnumber those where it is lower"].holds
    assert found["The differences are significant for all five learners"].holds
    assert found["The rank sums of DOB-SCV are the higher ones"].holds
    # The same deviation everywhere, and the same sets are on top for all learners.
    assert found["The standard deviation over folds is much higher where the imbalance is high"].holds is False
    assert found["DOB-SCV has lower standard deviations over folds than SCV"].holds is False
    assert found["The 5 sets with the largest differences are completely different from learner to learner"].holds is False


def test_noise_is_not_significant(noise):
    found = verdicts(noise)
    assert found["The differences are significant for all five learners"].holds is False
    assert found["The higher the imbalance"].holds is False
    assert "SMO 0.0639, PDFC 0.0955" in found["The differences are significant for all five learners"].evidence


def test_a_handful_of_sets_leaves_all_open():
    cells = made_cells(lambda scheme, *_: 0.8 if "DOB" in scheme else 0.7, names=["Glass1", "Ecoli4"])
    assert {claim.holds for claim in claims_of(cells, ranked_runs(cells))} == {None}


def test_deviations_are_compared():
    cells = made_cells(lambda *_: 0.8)
    cells["sd"] = 0.05 * (1 + (cells["group"] == "IR>9")) * (1 - 0.2 * cells["scheme"].str.contains("DOB"))
    found = verdicts(cells)
    assert found["The standard deviation over folds is much higher where the imbalance is high"].holds
    assert found["DOB-SCV has lower standard deviations over folds than SCV"].holds


def test_an_average_that_is_higher_than_one_draw_of_folds_only_does_not_hold():
    cells = made_cells(lambda scheme, *_: {"SCV (KEEL's folds)": 0.7, "SCV": 0.9}.get(scheme, 0.8))
    claim = verdicts(cells)["The average estimate of every learner is higher under DOB-SCV"]
    assert claim.holds is False
    assert "of our own: C4.5 -0.1000" in claim.evidence
