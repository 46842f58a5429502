"""The advice: direction, missing scores, designs, and speed."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from fairtrial.significance.compare import compare
from fairtrial.significance.reading import read_scores


def table(n=8, k=3, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, k))
    return pd.DataFrame(values, columns=list("abcdefghij"[:k]), index=[f"set {i}" for i in range(n)])


def test_everything_that_can_be_read_is_advised(tmp_path):
    frame = table()
    frame.rename_axis("dataset").to_csv(tmp_path / "s.csv")
    p = compare(frame).p_value
    for source in (frame.to_numpy(), read_scores(frame), tmp_path / "s.csv", str(tmp_path / "s.csv")):
        assert compare(source).p_value == pytest.approx(p)


def test_direction():
    frame = table()
    assert compare(frame).better == "max"
    assert "nothing else being said" in compare(frame).summary
    assert compare(frame, better="min").better == "min"
    assert compare(frame, measure="brier").better == "min"
    assert "as the measure brier says" in compare(frame, measure="brier").summary
    assert compare(frame, measure="my own", better="min").measure == "my own"


def test_direction_from_a_column():
    tidy = read_scores(table()).tidy.drop(columns=["repeat", "fold"])
    assert compare(tidy.assign(measure="brier")).better == "min"
    assert compare(tidy.assign(measure="my own")).better == "max"
    assert compare(tidy.assign(measure="my own"), measure="my own").better == "max"


def test_direction_that_contradicts_or_is_unknown():
    with pytest.raises(InputError, match="better must be 'min', as the measure brier says, got 'max'"):
        compare(table(), measure="brier", better="max")
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        compare(table(), measure="acuracy")
    with pytest.raises(InputError, match="better must be one of"):
        compare(table(), better="larger")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"alpha": 1.5}, "alpha must lie between 0 and 1"),
        ({"control": "z"}, "control must be one of"),
        ({"posthoc": "holmm"}, "posthoc must be one of .*did you mean 'holm'"),
        ({"rope": -1}, "rope must be a finite number"),
    ],
)
def test_bad_arguments(options, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(table(), **options)


def test_a_data_set_with_a_hole_is_dropped_and_named():
    frame = table()
    frame.loc["set 3", "b"] = np.nan
    verdict = compare(frame)
    assert "1 data set with holes left out (set 3)" in verdict.summary
    assert verdict.p_value == compare(frame.drop(index="set 3")).p_value
    assert (verdict.excluded.datasets, verdict.excluded.learners, verdict.excluded.splits) == (("set 3",), (), 0)
    assert "favours that learner" in verdict.summary


def test_a_learner_with_many_holes_is_dropped_instead():
    frame = table(n=8, k=4)
    frame.loc[["set 1", "set 2", "set 3", "set 4", "set 5"], "b"] = np.nan
    verdict = compare(frame)
    assert "1 learner with holes left out (b), which loses fewer scores" in verdict.summary
    assert verdict.p_value == compare(frame.drop(columns="b")).p_value
    assert (verdict.excluded.datasets, verdict.excluded.learners) == ((), ("b",))


def test_a_control_is_never_dropped():
    frame = table(n=8, k=4)
    frame.loc[["set 1", "set 2", "set 3", "set 4", "set 5"], "b"] = np.nan
    verdict = compare(frame, control="b")
    assert verdict.table.shape == (3, 4)


def test_too_many_holes():
    frame = table(n=3, k=2)
    frame.iloc[0, 0] = frame.iloc[1, 1] = np.nan
    with pytest.raises(InputError, match="too many holes"):
        compare(frame)


def test_folds_are_averaged_not_counted():
    tidy = pd.concat([read_scores(table(seed=s)).tidy.assign(fold=s) for s in range(5)])
    verdict = compare(tidy)
    means = sum(table(seed=s) for s in range(5)) / 5
    assert verdict.p_value == pytest.approx(compare(means).p_value)
    assert "the number of cases is 8, that of the data sets, and not 40" in verdict.summary


def test_steps_are_questions_with_reasons():
    verdict = compare(table(), control="a")
    questions = [question for question, _, _ in verdict.steps]
    assert all(question.endswith("?") for question in questions)
    assert len(set(questions)) == len(questions)
    assert all(reason in verdict.summary for _, _, reason in verdict.steps)


def test_the_order_of_learners_and_data_sets_does_not_matter():
    frame = table(n=12, k=4)
    turned = frame.iloc[::-1, ::-1]
    first, second = compare(frame), compare(turned)
    assert first.p_value == pytest.approx(second.p_value)
    assert {frozenset(group) for group in first.groups} == {frozenset(group) for group in second.groups}


def test_float_noise_decides_nothing():
    a = np.array([0.3, 0.4, 0.8, 0.6, 0.9, 0.1])
    frame = pd.DataFrame({"a": a, "b": a - 0.1, "c": (a * 3 - 0.3) / 3})
    with pytest.warns(UndefinedMeasureWarning, match="all data sets agree"):
        verdict = compare(frame)
    assert verdict.pairs().set_index(["first", "second"]).loc[("b", "c"), "ties"] == 6
