"""Comparisons: direction, missing scores, and designs."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from fairtrial.significance.compare import compare
from fairtrial.significance.reading import read_scores


def kinds(verdict):
    return [reason.kind for reason in verdict.reasons]


def table(n=8, k=3, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, k))
    return pd.DataFrame(values, columns=list("abcdefghij"[:k]), index=[f"set {i}" for i in range(n)])


def test_every_readable_source_is_compared(tmp_path):
    frame = table()
    frame.rename_axis("dataset").to_csv(tmp_path / "s.csv")
    p = compare(frame).p_value
    assert compare(frame.to_numpy(), rows="datasets").p_value == pytest.approx(p)
    for source in (read_scores(frame), tmp_path / "s.csv", str(tmp_path / "s.csv")):
        assert compare(source).p_value == pytest.approx(p)


def test_direction():
    frame = table()
    assert compare(frame).better == "max"
    assert "direction_default" in [caveat.kind for caveat in compare(frame).caveats]
    assert compare(frame, better="min").better == "min"
    assert compare(frame, measure="brier").better == "min"
    assert "direction_of_measure" in kinds(compare(frame, measure="brier"))
    assert compare(frame, measure="my own", better="min").measure == "my own"


def test_direction_from_a_column():
    tidy = read_scores(table()).tidy.drop(columns=["repeat", "fold"])
    assert compare(tidy.assign(measure="brier")).better == "min"
    assert compare(tidy.assign(measure="my own")).better == "max"
    assert compare(tidy.assign(measure="my own"), measure="my own").better == "max"


def test_direction_that_contradicts_or_is_unknown():
    with pytest.raises(InputError, match="better"):
        compare(table(), measure="brier", better="max")
    with pytest.raises(UnknownNameError, match="'accuracy'"):
        compare(table(), measure="acuracy")
    with pytest.raises(InputError, match="better"):
        compare(table(), better="larger")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.5}, "alpha"),
        ({"control": "z"}, "control"),
        ({"posthoc": "holmm"}, "posthoc.*'holm'"),
        ({"rope": -1}, "rope"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        compare(table(), **options)


def test_a_data_set_with_a_missing_score_is_dropped():
    frame = table()
    frame.loc["set 3", "b"] = np.nan
    verdict = compare(frame)
    dropped = next(reason for reason in verdict.caveats if reason.kind == "missing_datasets_fewer")
    assert dropped["datasets"] == ("set 3",)
    assert verdict.p_value == compare(frame.drop(index="set 3")).p_value
    assert (verdict.excluded.datasets, verdict.excluded.learners, verdict.excluded.splits) == (("set 3",), (), 0)
    assert "missing_scores_bias" in [caveat.kind for caveat in verdict.caveats]


def test_a_learner_with_many_missing_scores_is_dropped_instead():
    frame = table(n=8, k=4)
    frame.loc[["set 1", "set 2", "set 3", "set 4", "set 5"], "b"] = np.nan
    verdict = compare(frame)
    dropped = next(reason for reason in verdict.caveats if reason.kind == "missing_learners_fewer")
    assert dropped["learners"] == ("b",)
    assert verdict.p_value == compare(frame.drop(columns="b")).p_value
    assert (verdict.excluded.datasets, verdict.excluded.learners) == ((), ("b",))


def test_a_control_is_never_dropped():
    frame = table(n=8, k=4)
    frame.loc[["set 1", "set 2", "set 3", "set 4", "set 5"], "b"] = np.nan
    verdict = compare(frame, control="b")
    assert verdict.table.shape == (3, 4)


def test_too_many_missing_scores():
    frame = table(n=3, k=2)
    frame.iloc[0, 0] = frame.iloc[1, 1] = np.nan
    with pytest.raises(InputError, match="scores"):
        compare(frame)


def test_folds_are_averaged_not_counted():
    tidy = pd.concat([read_scores(table(seed=s)).tidy.assign(fold=s) for s in range(5)])
    verdict = compare(tidy)
    means = sum(table(seed=s) for s in range(5)) / 5
    assert verdict.p_value == pytest.approx(compare(means).p_value)
    averaged = next(reason for reason in verdict.reasons if reason.kind == "averaged_splits")
    assert (averaged["datasets"], averaged["splits"]) == (8, 40)


def test_reasons_are_listed_in_a_table():
    verdict = compare(table(), control="a")
    assert kinds(verdict) == [
        "design",
        "wide_table_index",
        "rank_test_default",
        "test_friedman",
        "posthoc_test",
        "posthoc_holm",
        "posthoc_no_gate",
    ]
    choices = verdict.explain_choice()
    assert choices.columns.tolist() == ["decision", "reason"]
    assert len(choices) == len(verdict.reasons)
    assert all(reason in verdict.explain() for reason in choices["reason"])


def test_the_order_of_learners_and_data_sets_does_not_matter():
    frame = table(n=12, k=4)
    turned = frame.iloc[::-1, ::-1]
    first, second = compare(frame), compare(turned)
    assert first.p_value == pytest.approx(second.p_value)
    assert {frozenset(group) for group in first.groups} == {frozenset(group) for group in second.groups}


def test_rounding_errors_do_not_affect_ties():
    a = np.array([0.3, 0.4, 0.8, 0.6, 0.9, 0.1])
    frame = pd.DataFrame({"a": a, "b": a - 0.1, "c": (a * 3 - 0.3) / 3})
    with pytest.warns(UndefinedMeasureWarning, match="Kendall's W"):
        verdict = compare(frame, rows="datasets")
    assert verdict.pairs().set_index(["first", "second"]).loc[("b", "c"), "ties"] == 6
