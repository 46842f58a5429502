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


def test_no_section_without_a_condition_of_the_test_set():
    assert build_section(describe_source(cases()["several"])) is None


def test_means_and_sentences_agree_with_the_error_rates():
    results = drifting()
    found = build_section(describe_source(results))
    assert check_numbers([found]) == 5
    errors = {name: 1 - results.wide("accuracy", name).mean() for name in ("clean", "worn", "worn-all")}
    frame = found.tables[0].frame.set_index("learner")
    assert (frame["error after"] - frame["error before"]).to_dict() == pytest.approx(
        (errors["worn"] - errors["clean"]).to_dict()
    )
    assert frame["loss"].to_dict() == pytest.approx((errors["worn"] - errors["clean"]).to_dict())
    assert frame["error, trained on changed data"].to_dict() == pytest.approx(errors["worn-all"].to_dict())
    assert found.sentences[0].names == ("worn", "steady", "shaken")
    assert [number.value for number in found.sentences[0].numbers] == [0.3, *frame.loc[["steady", "shaken"], "loss"]]
    losses = (1 - results.wide("accuracy", "worn")) - (1 - results.wide("accuracy", "clean"))
    half = stats.t.ppf(0.975, 2) * losses.std(ddof=1) / np.sqrt(3)
    sure = [name for name in losses if losses[name].mean() - half[name] > 0]
    assert sure == ["shaken"]
    assert found.sentences[1].names == ("shaken",)
    assert frame["loss high"].to_dict() == pytest.approx((losses.mean() + half).to_dict())
    assert found.sentences[2].names == ("shaken", "steady")


def test_zero_losses_have_no_sign():
    skills = dict.fromkeys(("one", "two"), 1.0)
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "test"})
    both = ConditionFacts("ps-all", 1.0, "", {"condition": "prior-shift", "priors": [0.5, 0.5], "part": "all"})
    found = build_section(describe_source(skilled_results(skills, sets=2, conditions=(CLEAN, moved, both))))
    check_numbers([found])
    assert [number.text for number in found.sentences[0].numbers] == ["0.000"]
    assert "level" not in found.tables[0].frame
    means = pd.DataFrame({"learner": ["tree", "bayes"], "pD": [-0.03, -0.001]})
    sentence = drift._describe_pd(means, means)
    assert (sentence.names, sentence.numbers[0].text) == (("bayes",), "0.00")


def test_without_a_clean_condition_there_is_no_loss():
    found = build_section(describe_source(skilled_results(SKILLS, sets=3, conditions=(WORN, WORN_ALL))))
    check_numbers([found])
    assert found.tables[0].frame["loss"].isna().all()
    assert found.sentences[0].text == drift._NO_CLEAN


def test_alternative_text_names_the_extremes():
    results = drifting()
    figure = build_section(describe_source(results)).figures[0]
    frame = results.deterioration()
    worst = frame.loc[frame["pd"].idxmax()]
    assert f"{worst['pd']:.2f} ({worst['learner']} on {worst['dataset']})" in figure.alt


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_loss_is_drawn_if_no_condition_changes_both_sets():
    found = build_section(describe_source(drifting(ideal=False)))
    assert check_numbers([found]) == 3
    assert len(found.notes) == 1
    assert found.tables[0].frame["pD"].isna().all()
