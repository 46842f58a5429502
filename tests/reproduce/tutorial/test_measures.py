import pytest

from fairtrial.reproduce.tutorial.measures import measures


@pytest.fixture(scope="module")
def found():
    return measures()


def ours(found, name):
    return found.table(name).set_index("what")["ours"]


def test_kappa_by_hand(found):
    chance = (100 * 120 + 160 * 150 + 140 * 130) / 400**2
    assert ours(found, "kappa")["kappa (%)"] == pytest.approx(100 * (0.625 - chance) / (1 - chance))
    assert ours(found, "kappa")["agreement by chance"] == pytest.approx(0.33875)


def test_two_classifiers_of_equal_accuracy(found):
    lines = ours(found, "accuracy_example")
    assert lines["accuracy, left (%)"] == lines["accuracy, right (%)"] == 60
    assert (lines["positives found, left (%)"], lines["positives found, right (%)"]) == (40, 80)


def test_equal_precision_and_recall(found):
    lines = ours(found, "precision_recall_example")
    assert lines["precision, right (%)"] == pytest.approx(200 / 3)
    assert lines["negatives found, right (%)"] == 0
    assert lines["accuracy, right (%)"] == pytest.approx(100 / 3)


def test_information_score_subtracts_what_misleads(found):
    """Kononenko and Bratko; the slide adds the fourth (ERRATA)."""
    lines = found.table("information_score").set_index("what")
    assert lines.loc["case 4: forecast 0.75, truth 0", "ours"] == pytest.approx(-0.321928, abs=1e-6)
    assert lines.loc["mean", "ours"] == pytest.approx(0.2682, abs=5e-5)
    assert lines.loc["mean without signs", "to the printed digits"] == "agrees"


def test_claims_are_shown_by_their_own_numbers(found):
    told = {claim.text: claim.evidence for claim in found.claims}
    both = "accuracy, left (%): 60 (printed 60); accuracy, right (%): 60 (printed 60)"
    assert told["Both classifiers of the accuracy example obtain 60 %"] == both
    assert told["Kappa of the example is 43.29 %"] == "kappa (%): 43.289 (printed 43.29)"
    assert told["Accuracy has no problem catching the difference (more than 5 points)"].startswith("accuracy 60.0 % and 33.3 %")


def test_only_the_information_score_slips(found):
    assert [claim.text for claim in found.claims if claim.holds is False] == [
        "The mean information score of the five cases is 0.40"
    ]
