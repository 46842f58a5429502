"""Studies over the sets that are there."""

from fairtrial.data import load
from fairtrial.reproduce.ela.running import failures, run_study


def test_sections_can_be_replaced_the_store_is_kept_and_failures_are_counted(request_here):
    learners = {"bad": {"learner": "linear-discriminant-analysis", "parameters": {"n_components": 50}}, "c45": {}}
    results = run_study(
        request_here, "study", {"iris": load("iris")}, name="parts", learners=learners, conditions={"class-noise": [0]}
    )
    assert (request_here.out / "parts.fairtrial").is_file()
    assert len(results.trials()) == 2 * 2
    assert results.trials()["fold"].nunique() == 2
    told = failures(results)
    assert list(told) == ["bad on iris"]
    assert told["bad on iris"].startswith("2 trials failed (error: ")
