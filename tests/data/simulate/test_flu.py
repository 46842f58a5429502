"""The flu domain. Its numbers are a reconstruction: what is tested is the structure that the tutorial states, and that class
shares and best errors lie near its table of results (trivial errors, and errors of the complex network trained there)."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.data.simulate import Flu, FluPopulation, age_group, flu as domain, flu_environments
from fairtrial.data.simulate.flu import _compute_joint
from fairtrial.errors import InputError

# --- Flu ---
# The flu domain. Its numbers are a reconstruction: what is tested is the structure that the tutorial states, and that class
# shares and best errors lie near its table of results (trivial errors, and errors of the complex network trained there).


@pytest.fixture(scope="module")
def printed(find_published):
    table = pd.read_csv(find_published("drift_flu_results"))
    return table.assign(scenario=table["scenario"].str.removeprefix("NGP/")).set_index(["learner", "scenario"])


@pytest.mark.parametrize("name", list(flu_environments()))
def test_class_proportions_lie_near_the_printed_trivial_errors(name, printed):
    share = 100 * Flu(name).class_proportions()["Complications"]
    assert share == pytest.approx(printed.loc[("1R", name), "trivial_error"], abs=2.5)


@pytest.mark.parametrize("name", list(flu_environments()))
def test_best_errors_lie_near_those_of_the_best_learner_printed(name, printed):
    best = 100 * Flu(name).bayes_error
    assert best == pytest.approx(printed.loc[("Complex NN", name), "error_trained_on_same"], abs=3)


def test_hard_and_easy_populations_come_in_the_printed_order():
    """A soft winter has the fewest complications of the seasons, then none, winter, drastic winter; poverty adds to it."""
    share = {name: flu.class_proportions()["Complications"] for name, flu in flu_environments().items()}
    assert share["DP"] < share["NGP"] < share["ZGP"]
    assert share["SW"] < share["NGP"] < share["W"] < share["DW"] < share["P+DW"]
    assert share["NGP"] < share["P"] < share["P+DW"]


@pytest.mark.parametrize("flu", [Flu(), Flu("P+DW", definition="FC"), Flu("DP", missing=["Infant"], definition="MC")], ids=repr)
def test_exact_shares_equal_those_of_a_large_sample(flu):
    X, y = flu.sample(100_000, rng=2)
    shares = flu.class_proportions()
    assert sum(shares.values()) == pytest.approx(1)
    assert (y == "Complications").mean() == pytest.approx(shares["Complications"], abs=0.006)
    mass, _ = _compute_joint(flu)
    assert mass.sum() == pytest.approx(1)
    for axis, name in enumerate(["severity", "health", "social"], start=1):
        counted = X[name].value_counts(normalize=True, sort=False).to_numpy()
        np.testing.assert_allclose(mass.sum(axis=tuple({0, 1, 2, 3} - {axis})), counted, atol=0.007)


def test_ages_are_uniform_in_their_groups_and_exponential_at_the_end():
    X, _ = Flu().sample(100_000, rng=3)
    age, group = X["age"].to_numpy(), age_group(X["age"])
    shares = [float((group == name).mean()) for name in ("Infant", "Teenager", "YoungAdult", "Adult", "OldAdult", "Elderly")]
    np.testing.assert_allclose(shares, Flu()._people.ages, atol=0.006)
    adults, elderly = age[group == "Adult"], age[group == "Elderly"]
    assert adults.mean() == pytest.approx(42.5, abs=0.15)
    assert adults.std() == pytest.approx(15 / np.sqrt(12), abs=0.1)
    assert elderly.mean() - 65 == pytest.approx(elderly.std(), rel=0.05), "as an exponential distribution has it"
    assert elderly.min() >= 65


def test_social_position_and_severity_are_rounded_normals_of_variance_three_quarters():
    """P(N(2, 0.75) < 1.5) = 0.2819."""
    X, _ = Flu(coding="numbers").sample(100_000, rng=4)
    for name in ("social", "severity"):
        assert (X[name] == 1).mean() == pytest.approx(0.2819, abs=0.006)
        assert (X[name] == 3).mean() == pytest.approx(0.2819, abs=0.006)


def test_population_drift_leaves_the_rule_and_class_change_the_patients():
    X, _ = Flu().sample(200, rng=1)
    for name in flu_environments():
        np.testing.assert_array_equal(Flu(name).bayes_probabilities(X), Flu().bayes_probabilities(X))
    same, _ = Flu(definition="MC").sample(200, rng=1)
    pd.testing.assert_frame_equal(X, same)
    assert (Flu(definition="MC").bayes_probabilities(X)[:, 1] >= Flu().bayes_probabilities(X)[:, 1]).all()


def test_groups_that_are_missing_are_not_there():
    X, _ = Flu(missing=["Elderly", "Infant"]).sample(5000, rng=1)
    assert X["age"].between(6, 65, inclusive="left").all()
    assert Flu(missing=["Elderly", "Infant"]) == Flu(missing=("Infant", "Elderly", "Infant"))
    assert Flu(missing="Elderly") == Flu(missing=["Elderly"])


def test_codings_hold_the_same_patients():
    named, numbered, grouped = (Flu(coding=coding).sample(500, rng=1) for coding in ("categories", "numbers", "groups"))
    assert named[1].equals(numbered[1])
    assert named[1].equals(grouped[1])
    assert (named[0]["health"].cat.codes + 1.0 == numbered[0]["health"]).all()
    assert grouped[0]["age"].tolist() == age_group(named[0]["age"]).tolist()
    np.testing.assert_array_equal(Flu().bayes_probabilities(named[0]), Flu().bayes_probabilities(numbered[0]))


def test_who_knows_the_group_only_cannot_do_better():
    assert Flu(coding="groups").bayes_error >= Flu().bayes_error


def test_the_environments_of_the_three_experiments():
    missing = flu_environments("missing")
    assert len(missing) == 11
    assert missing["no OldAdult or Elderly"].missing == ("OldAdult", "Elderly")
    assert flu_environments("definitions")["FC"].definition == "FC"
    with pytest.raises(InputError, match="kind"):
        flu_environments("seasons")


def test_own_populations():
    everyone_old = FluPopulation((0, 0, 0, 0, 0, 1))
    assert Flu(everyone_old).class_proportions()["Complications"] > 0.6
    with pytest.raises(InputError, match="missing"):
        Flu(everyone_old, missing=["Elderly"])


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({"population": "NPG"}, "population.*'NPG'"),
        ({"missing": ["Elder"]}, "missing.*'Elder'.*'Elderly'"),
        ({"definition": "more"}, "definition.*'more'"),
        ({"coding": "text"}, "coding.*'text'"),
    ],
)
def test_wrong_parameters_are_named(wrong, value):
    with pytest.raises(InputError, match=value):
        Flu(**wrong)


def test_foreign_rows_are_refused():
    X, _ = Flu().sample(3, rng=1)
    with pytest.raises(InputError, match="'age'"):
        Flu().bayes_probabilities(X.drop(columns="age"))
    with pytest.raises(InputError, match=r"'health'.*'Excellent'"):
        Flu().bayes_probabilities(X.assign(health="Excellent"))


# --- Flu domain ---


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
