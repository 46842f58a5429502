import pytest

from fairtrial.learners import C45, OneR
from fairtrial.reproduce.drift.declared import TABLES, plan_of


def test_the_tutorials_pairs_and_thirty_replicates():
    plan = plan_of("full")
    assert plan.pairs == (("1R", "Decision Tree"), ("Simple NN", "Complex NN"))
    assert plan.replicates == 30
    assert {part.table for part in plan.parts().values()} == set(TABLES)


@pytest.mark.parametrize("scale", ["smoke", "quick", "full"])
def test_a_variant_changes_what_it_names_and_nothing_else(scale):
    plan = plan_of(scale)
    main, years = plan.parts(), plan.parts("age in years")
    changed = {key for key in main if main[key] != years[key]}
    assert {learner for _, learner in changed} == {"1R", "Decision Tree"}
    assert all(years[key].n_train == plan.n_train for key in years)
    assert {part.n_train for part in plan.parts("300 patients").values()} == {300}


def test_learners_are_those_that_are_named():
    plan = plan_of("smoke")
    assert isinstance(plan.learner("1R").learner, OneR)
    assert isinstance(plan.learner("Decision Tree").learner, C45)
    assert plan.learner("Complex NN").learner.max_iter == plan.rounds
