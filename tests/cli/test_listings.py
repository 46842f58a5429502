"""The command line: listings."""

import io

import pandas as pd

from fairtrial.measures import registry


def test_measures_are_listed(run):
    result = run("measures")
    assert result.exit_code == 0
    assert all(name in result.output for name in registry)


def test_measures_as_csv(run):
    frame = pd.read_csv(io.StringIO(run("measures", "--needs", "scores", "--csv").output))
    assert set(frame["measure"]) == {each.name for each in registry.values() if each.facts.needs == "scores"}


def test_one_measure_in_full(run):
    result = run("measures", "h_measure")
    assert "severity_ratio" in result.output
    assert "Hand 2009" in result.output


def test_a_wrong_name_gets_one_sentence_and_code_2(run):
    result = run("measures", "h_mesure")
    assert result.exit_code == 2
    assert result.stderr == "fairtrial: no measure is called 'h_mesure': did you mean 'h_measure'?\n"


def test_learners_are_listed(run):
    told = run("learners")
    assert told.exit_code == 0
    for name in ("c45", "ripper", "random-forest", "logistic-regression"):
        assert f"\n{name} " in told.stdout
    assert "name,class,from,prepared,parameters" in run("learners", "--csv").stdout


def test_one_learner_with_its_parameters(run):
    told = run("learners", "c45")
    assert "confidence = 0.25" in told.stdout
    assert run("learners", "c54").exit_code == 2
