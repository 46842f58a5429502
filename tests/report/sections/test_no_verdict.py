"""Why there is no verdict, in plain words."""

from fairtrial.report.cache import compute_verdict
from tests.report.result_cases import few_learners
from tests.study.archives import real_results


def why(results, *args):
    found, reason = compute_verdict(results, *args)
    assert found is None
    return reason


def test_reasons_are_what_a_reader_can_see():
    assert why(few_learners(["tree"])) == "There is one learner, so nothing is compared."
    assert why(real_results(lambda *_: "crash")) == "No trial succeeded, so there is nothing to judge."
    assert why(real_results(lambda *_: "missing")) == "No trial has run, so there is nothing to judge."
    lone = real_results(lambda _, __, learner, *___: None if learner == "tree" else "error")
    assert why(lone) == "Of the learners only tree succeeded, so nothing is compared."
    everywhere = real_results(lambda _, __, learner, ___, fold: "error" if (learner, fold) == ("tree", 0) else None)
    assert why(everywhere).startswith("On every data set a learner failed (tree), so that none is left to judge on: ")


def test_infinite_values_are_called_so():
    assert why(real_results(), "log_loss").startswith("log loss is infinite in some trials of ")
