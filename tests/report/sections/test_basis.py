"""Data sets and splits that a verdict is computed from."""

import pytest

from fairtrial.report.sections.verdict import compute_basis
from tests.study.archives import CLEAN, real_results


@pytest.mark.parametrize("policy", ["exclude", "worst-rank"])
def test_failures_exclude_a_data_set_only_if_declared(policy):
    results = real_results(
        lambda dataset, _, learner, __, fold: "error" if (dataset, learner, fold) == ("iris", "tree", 1) else None,
        declaration={"verdict": {"failures": policy}},
    )
    basis = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    if policy == "exclude":
        assert basis.left_out == ("iris",)
        assert set(basis.datasets) == {"cancer", "wine"}
    else:
        assert basis.facts() == {}


def test_complete_study_leaves_nothing_out():
    results = real_results()
    basis = compute_basis(results, results.verdict(), "accuracy", CLEAN)
    assert (len(basis.datasets), basis.splits, basis.left_out, basis.facts()) == (3, 15, (), {})
