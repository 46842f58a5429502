"""More learners and levels."""

import pytest

from fairtrial import Study
from fairtrial.data import load
from fairtrial.reproduce.ela.curves import mean_ranks, noise_curves, ranked, table, words
from fairtrial.reproduce.ela.sets import CURVES, Sets, declared


@pytest.fixture(scope="module")
def noisy(request_here):
    return noise_curves(request_here, Sets({"iris": load("iris"), "wine": load("wine")}, {}, {}))


def test_all_learners_can_be_made():
    study = Study(data=["iris"], learners=declared("curves")["learners"], conditions=declared("curves")["conditions"])
    found = study.resolve()
    assert len(found.learners) == 15
    assert [each.level for each in found.conditions] == [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_sets_of_the_curves_are_the_papers_and_undamaged():
    assert set(CURVES) <= set(declared("study")["data"])
    assert not {"ecoli", "heart", "ring"} & set(CURVES)


def test_learners_are_ranked_by_mean_ela(noisy):
    found = ranked(noisy)
    assert set(found["learner"]) == {"c45", "naive-bayes"}
    assert found["mean ELA"].is_monotonic_increasing
    wide = noisy.wide("accuracy", "class-noise", 0.3)
    assert found.set_index("learner")["30 %"].to_dict() == pytest.approx((100 * wide.mean()).to_dict())
    ela = ((1 - wide) / noisy.wide("accuracy")).mean()
    assert found.set_index("learner")["mean ELA"].to_dict() == pytest.approx(ela.to_dict())


def test_ranks_are_those_of_each_data_set(noisy):
    loss = (1 - noisy.wide("accuracy", "class-noise", 0.3)) / noisy.wide("accuracy")
    expected = {
        name: (1 + (loss[name] > other).astype(float) + (loss[name] == other) / 2).mean()
        for name, other in (("c45", loss["naive-bayes"]), ("naive-bayes", loss["c45"]))
    }
    assert mean_ranks(noisy) == pytest.approx(expected)


def test_words_name_the_first_and_the_last(noisy):
    frame = table(noisy).frame
    text = words(frame, 2, 2)
    assert f"{frame['learner'][0]} behaves best" in text
    assert f"{frame['learner'][1]} worst" in text
    assert f"c45 {frame['learner'].tolist().index('c45') + 1}." in text
