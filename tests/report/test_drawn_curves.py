"""Figures of curves by name."""

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.report.figures.registry import draw
from tests.report.result_cases import cases, few_learners


@pytest.fixture(scope="module")
def pair():
    return few_learners(["bayes", "tree"], ["cancer"])


@pytest.mark.parametrize("name", ["roc", "precision-recall", "cost-curve", "brier-curve", "ks", "gain", "calibration"])
def test_each_names_its_data_set_class_and_condition(pair, name):
    chart = draw(pair, name, condition="class-noise", level=0.2).to_dict()
    assert chart["title"]["text"].endswith("cancer, class malignant under class-noise 0.2")


def test_the_curve_is_that_of_the_results(pair):
    chart = draw(pair, "roc", positive="benign", band="none", hull=False).to_dict()
    rows = pd.DataFrame(max(chart["datasets"].values(), key=len))
    expected = pair.curves("roc", positive="benign")
    for learner, own in rows.groupby("learner"):
        mine = expected[expected["learner"] == learner]
        assert set(zip(own["fpr"], own["tpr"], strict=True)) <= set(zip(mine["fpr"], mine["tpr"], strict=True))
        assert own["fpr"].iloc[-1] == 1
    assert chart["title"]["text"] == "ROC curve: cancer, class benign"


def test_bands_come_for_few_learners_and_on_request(pair):
    kinds = lambda chart: [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]  # noqa: E731
    assert "area" in kinds(draw(pair, "roc"))
    many = cases()["two classes"]
    assert "area" not in kinds(draw(many, "roc"))
    assert "area" in kinds(draw(many, "roc", band="points", confidence=0.8))
    with pytest.raises(InputError, match="repeat"):
        draw(few_learners(["bayes"], ["cancer"]), "roc", repeat=1, band="curve")


def test_a_study_of_several_data_sets_asks_for_one():
    with pytest.raises(InputError, match="dataset must be given"):
        draw(cases()["several"], "roc")
    assert (
        draw(cases()["several"], "roc", dataset="iris", learner="bayes").to_dict()["title"]["text"]
        == "ROC curve: iris, class setosa"
    )


def test_cost_curves_show_lines_and_winners_on_request(pair):
    plain = len(draw(pair, "cost-curve", winners=False).to_dict()["layer"])
    assert len(draw(pair, "cost-curve", winners=False, lines=True).to_dict()["layer"]) == plain + 1
    assert len(draw(pair, "cost-curve").to_dict()["layer"]) > plain
