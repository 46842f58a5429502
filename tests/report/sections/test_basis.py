"""What a verdict rests on."""

import pytest

from fairtrial.report.sections.verdict import compute_basis
from tests.study.archives import CLEAN, real_results


@pytest.mark.parametrize("policy", ["exclude", "worst-rank"])
def test_a_failure_costs_its_data_set_only_where_it_is_excluded(policy):
    declared = {"verdict": {"failures": policy}}
    results = real_results(
        lambda dataset, _, learner, __, fold: "error" if (dataset, learner, fold) == ("iris", "tree", 1) else None,
        declaration=declared,
    )
    found = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    if policy == "exclude":
        assert found.left_out == {"because tree failed there": ["iris"]}
        assert set(found.datasets) == {"cancer", "wine"}
    else:
        assert found.is_complete


def test_nothing_is_left_out_of_a_whole_study():
    results = real_results()
    found = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    assert found.is_complete
    assert (len(found.datasets), found.splits, found.facts()) == (3, 15, {})
