import numpy as np
import pytest

from fairtrial.data.simulate import FluPopulation, flu as domain
from fairtrial.errors import InputError

AGES = np.array([0.5, 10.0, 30.0, 45.0, 60.0, 75.0, 90.0])


def remission(age=30.0, severity=1, health=0, social=1, definition="usual"):
    return domain.compute_remission_probability(
        np.asarray(age), np.asarray(severity), np.asarray(health), np.asarray(social), definition
    )


def test_complications_are_more_frequent_as_in_the_tutorial():
    assert remission(severity=0) > remission(severity=1) > remission(severity=2)
    assert remission(health=0) > remission(health=1) > remission(health=2)
    assert remission(age=1.0) < remission(age=30.0) > remission(age=80.0)
    assert remission(social=2) < remission(social=1) == remission(social=0)


@pytest.mark.parametrize("social", [0, 1, 2])
@pytest.mark.parametrize("severity", [0, 1, 2])
def test_more_and_fewer_complications(severity, social):
    usual, more, fewer = (remission(AGES, severity, 0, social, definition) for definition in ("usual", "MC", "FC"))
    assert (more <= usual).all()
    assert (fewer >= usual).all()


def test_fewer_complications_widen_the_good_ages():
    age = np.linspace(0, 100, 1001)
    good = {definition: age[remission(age, definition=definition) > 0.8] for definition in ("usual", "FC")}
    assert good["FC"].min() < good["usual"].min()
    assert good["FC"].max() > good["usual"].max()


def test_the_delicate_are_more_frequent_with_age_and_health_follows_them_and_the_purse():
    assert (np.diff(domain.compute_delicate_probability(AGES)) >= 0).all()
    assert domain.compute_health_mean(np.array(1.0), np.array(1), 0.0) > domain.compute_health_mean(
        np.array(0.0), np.array(1), 0.0
    )
    assert domain.compute_health_mean(np.array(0.0), np.array(2), 0.0) > domain.compute_health_mean(
        np.array(0.0), np.array(0), 0.0
    )


def test_populations_differ_as_in_the_tutorial():
    people = domain.POPULATIONS
    usual = people["NGP"]
    assert sorted(np.argsort(usual.ages)[-2:]) == [2, 3], "many adults and young adults"
    assert people["DP"].ages[0] > 2 * usual.ages[0], "high birth rate"
    assert people["DP"].ages[5] < usual.ages[5], "high death rate"
    assert people["W"].severity > usual.severity > people["SW"].severity
    assert people["DW"].severity > usual.severity
    assert people["DW"].decline > 0 == usual.decline
    assert people["P"].social > usual.social
    assert people["P+DW"] == FluPopulation(usual.ages, people["P"].social, people["DW"].severity, people["DW"].decline)


def test_levels_are_rounded_and_cut_off():
    assert domain.round_to_level(np.array([-3.0, 1.4, 1.6, 2.4, 2.6, 9.0])).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("wrong", [{"ages": (0.5, 0.5)}, {"ages": (0.2,) * 6}, {"ages": (1, 0, 0, 0, 0, 0), "decline": -1}])
def test_wrong_populations_are_refused(wrong):
    with pytest.raises(InputError, match=r"ages|decline"):
        FluPopulation(**wrong)
