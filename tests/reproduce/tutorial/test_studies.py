import tomllib
from importlib import resources

import pytest

from fairtrial.learners import make_learner
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.tutorial.studies import EIGHT, TEN, declared, eight_learners, labour, ten_domains


@pytest.mark.parametrize(("name", "learners"), [("eight_learners", 8), ("ten_domains", 6)])
def test_files_declare_learners_that_exist(name, learners):
    found = declared(name, 10)
    assert len(found["learners"]) == learners
    for each in found["learners"].values():
        plain = {key: value for key, value in each.get("parameters", {}).items() if not isinstance(value, dict)}
        make_learner(each["learner"], **plain)
    assert found["resampling"] == {"scheme": "weka", "folds": 10, "random_state": 1}


def test_folds_are_those_asked_for():
    assert declared("ten_domains", 2)["resampling"]["folds"] == 2
    text = (resources.files("fairtrial.reproduce.tutorial") / "ten_domains.toml").read_text()
    assert tomllib.loads(text)["resampling"]["folds"] == 10


def test_sets_that_are_not_there_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRTRIAL_DATA", str(tmp_path))
    request = Request("quick", tmp_path, 1, False)
    for run, names in ((eight_learners, EIGHT), (ten_domains, TEN)):
        results, missing = run(request)
        assert results is None
        assert list(missing) == list(names)
        for name, why in missing.items():
            assert why.startswith(f"{names[name]} is not found")
            assert "FAIRTRIAL_DATA" in why
            assert "did you mean" not in why
    assert labour()[0] is None


def test_other_reasons_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(
        "fairtrial.reproduce.tutorial.studies.found_sets", lambda names: ({}, dict.fromkeys(names, "line 3 is cut"))
    )
    assert labour() == (None, {"Labour": "line 3 is cut"})


@pytest.mark.parametrize("run", [eight_learners, ten_domains])
def test_seed_of_the_study_is_the_requests(run, tmp_path, monkeypatch):
    class Recorded:
        name = "recorded"

        def __init__(self, data, seed, resampling, **others):
            self.found = seed, resampling["random_state"]

        def run(self, *where, **how):
            return self.found

    monkeypatch.setattr("fairtrial.reproduce.tutorial.studies.found_sets", lambda names: (dict.fromkeys(names), {}))
    monkeypatch.setattr("fairtrial.study.Study", Recorded)
    for seed in (1, 23):
        assert run(Request("quick", tmp_path, 1, False, seed=seed))[0] == (seed, 1)  # WEKA's folds stay those of the slides
