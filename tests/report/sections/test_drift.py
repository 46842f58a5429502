"""The section of drift."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairtrial.report.sections import drift
from fairtrial.report.sections.drift import build_section
from fairtrial.report.source import describe_source
from fairtrial.study.archive import ConditionFacts
from tests.report.drifting import SKILLS, WORN, WORN_ALL, drifting
from tests.report.report_numbers import check_numbers
from tests.report.result_cases import cases, skilled_results
from tests.study.archives import CLEAN


def test_there_is_none_without_such_a_condition():
    assert build_section(describe_source(cases()["several"])) is None


def test_means_and_words_are_those_of_the_errors():
    results = drifting()
    found = build_section(describe_source(results))
    assert check_numbers([found]) == 5
    errors = {name: 1 - results.wide("accuracy", name).mean() for name in ("clean", "worn", "worn-all")}
    frame = found.tables[0].frame.set_index("learner")
    assert (frame["error after"] - frame["error before"]).to_dict() == pytest.approx(
        (errors["worn"] - errors["clean"]).to_dict()
    )
    assert frame["loss"].to_dict() == pytest.approx((errors["worn"] - errors["clean"]).to_dict())
    assert frame["error, trained on the change"].to_dict() == pytest.approx(errors["worn-all"].to_dict())
    text = found.sentences[0].text
    assert text.startswith("Under worn at level 0.3 the error rate of steady rises least")
    assert "shaken most" in text
    losses = (1 - results.wide("accuracy", "worn")) - (1 - results.wide("accuracy", "clean"))
    half = stats.t.ppf(0.975, 2) * losses.std(ddof=1) / np.sqrt(3)
    sure = [name for name in losses if losses[name].mean() - half[name] > 0]
    assert sure == ["shaken"]
    assert found.sentences[1].text == "The interval of the loss excludes zero for shaken alone."
    assert frame["loss high"].to_dict() == pytest.approx((losses.mean() + half).to_dict())
    assert "most for shaken" in found.sentences[2].text


def test_where_nothing_is_lost_that_is_said_without_a_minus_before_zero():
    skills = dict.fromkeys(("one", "two"), 1.0)
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "test"})
    both = ConditionFacts("ps-all", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "all"})
    found = build_section(describe_source(skilled_results(skills, sets=2, conditions=(CLEAN, moved, both))))
    check_numbers([found])
    texts = [each.text for each in found.sentences]
    assert texts[0] == "Under ps the error rate of all learners changes by 0.000."
    assert "level" not in found.tables[0].frame
    means = pd.DataFrame({"learner": ["tree", "bayes"], "pD": [-0.03, -0.001]})
    told = drift._describe_pd(means, means).text
    assert told == "Nothing of what could be learnt is destroyed: pD is at most 0.00, of bayes."


def test_without_a_clean_condition_the_remedy_is_said():
    found = build_section(describe_source(skilled_results(SKILLS, sets=3, conditions=(WORN, WORN_ALL))))
    check_numbers([found])
    assert "has no clean condition" in found.sentences[0].text
    assert "put the level zero into the list" in found.sentences[0].text


def test_the_figure_names_its_extremes():
    results = drifting()
    figure = build_section(describe_source(results)).figures[0]
    frame = results.deterioration()
    worst = frame.loc[frame["pd"].idxmax()]
    assert f"The highest pD is {worst['pd']:.2f}, of {worst['learner']} on {worst['dataset']}" in figure.alt


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_without_training_on_the_change_the_loss_is_drawn_and_a_note_says_what_to_declare():
    found = build_section(describe_source(drifting(ideal=False)))
    assert check_numbers([found]) == 3
    assert "with part = 'all' as well" in found.notes[0]
    assert "loss in error rate" in found.figures[0].alt
