import pandas as pd
import pytest

from fairtrial import judge


@pytest.mark.parametrize(
    ("counts", "measure", "kinds"),
    [
        ({"a": 50, "b": 50}, "accuracy", []),
        ({"a": 75, "b": 25}, "accuracy", ["FT002"]),
        ({"a": 74, "b": 26}, "accuracy", []),
        ({"a": 75, "b": 25}, "kappa", []),
        ({"a": 20, "b": 9}, "kappa", ["FT003", "few_rows"]),
        ({"a": 20, "b": 20, "c": 0}, "kappa", []),
    ],
)
def test_raised_checks(judge_table, counts, measure, kinds):
    labels = [label for label, rows in counts.items() for _ in range(rows)]
    scores = {f"score[{label}]": [float(label == own) for own in labels] for label in counts}
    judgement = judge_table(pd.DataFrame({"y_true": labels, "prediction": labels, **scores}), measures=measure)
    assert judgement.class_counts == {"data": counts}
    assert [finding.kind for finding in judgement.methodology] == kinds


def test_checks_name_the_data_set_if_there_are_several():
    labels = ["a"] * 90 + ["b"] * 30
    table = pd.DataFrame({"dataset": ["old"] * 120 + ["new"] * 120, "row": [*range(120)] * 2, "y_true": labels * 2})
    judgement = judge(table.assign(prediction=table["y_true"]), measures="accuracy", resamples=20)
    assert [finding["dataset"] for finding in judgement.methodology if finding.kind == "FT002"] == ["old", "new"]
    assert [message.split(":")[0] for message in judgement.messages[:2]] == ["old", "new"]
