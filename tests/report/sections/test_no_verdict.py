"""Why there is no verdict."""

from fairtrial.report.cache import compute_verdict
from tests.report.result_cases import few_learners
from tests.study.archives import real_results


def explain(results, *args):
    verdict, reason = compute_verdict(results, *args)
    assert verdict is None
    return reason


def test_each_cause_has_its_own_reason():
    only_tree = real_results(lambda _, __, learner, *___: None if learner == "tree" else "error")
    failing_tree = real_results(lambda _, __, learner, ___, fold: "error" if (learner, fold) == ("tree", 0) else None)
    reasons = [
        explain(few_learners(["tree"])),
        explain(real_results(lambda *_: "crash")),
        explain(real_results(lambda *_: "missing")),
        explain(only_tree),
        explain(failing_tree),
    ]
    assert len(set(reasons)) == 5
    assert "tree" in reasons[3]
    assert "(tree)" in reasons[4]
    assert "failures" in reasons[4]


def test_infinite_values_are_a_reason():
    results = real_results()
    assert "infinite" in explain(results, "log_loss")
