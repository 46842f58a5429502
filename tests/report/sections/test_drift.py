"""The section of drift."""

import pytest

from fairtrial.report.sections.drift import section
from tests.report.drifting import drifting
from tests.report.prose import check_prose
from tests.report.result_cases import cases


def test_there_is_none_without_such_a_condition():
    assert section(cases()["several"]) is None


def test_means_and_words_are_those_of_the_errors():
    results = drifting()
    found = section(results)
    assert check_prose([found]) == 5
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
    assert "most for shaken" in found.sentences[1].text


def test_the_figure_names_its_extremes():
    results = drifting()
    figure = section(results).figures[0]
    frame = results.deterioration()
    worst = frame.loc[frame["pd"].idxmax()]
    assert f"The highest pD is {worst['pd']:.2f}, of {worst['learner']} on {worst['dataset']}" in figure.alt


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
def test_without_training_on_the_change_the_loss_is_drawn_and_a_note_says_what_to_declare():
    found = section(drifting(ideal=False))
    assert check_prose([found]) == 3
    assert "with part = 'all' as well" in found.notes[0]
    assert "loss in error rate" in found.figures[0].alt
