"""Fairness measures: values of fairlearn, limits, bad input."""

import numpy as np
import pandas as pd
import pytest

from fairtrial import compare, gate, judge
from fairtrial.errors import InputError
from fairtrial.measures import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
    fpr,
    interval,
    rank_table,
    recall,
    selection_rate,
)

ROW = np.arange(60)
Y_TRUE = ((ROW * 7) % 11 < 5).astype(int)
GROUPS = np.array(list("aabbbc"))[ROW % 6]
Y_PRED = np.where((GROUPS == "c") & (ROW % 4 == 0), 1, ((ROW * 5) % 13 < 6).astype(int))
WEIGHTS = 1 + ROW % 3
# fairlearn 0.15.0 with its defaults: without weights, and with sample_weight=WEIGHTS
FAIRLEARN = {
    demographic_parity_difference: (0.09999999999999998, 0.09999999999999998),
    demographic_parity_ratio: (0.8, 0.8),
    equalized_odds_difference: (0.3055555555555556, 0.3214285714285714),
    equalized_odds_ratio: (0.44999999999999996, 0.4375),
}


@pytest.mark.parametrize("measure", FAIRLEARN)
def test_values_are_those_of_fairlearn(measure):
    plain, weighted = FAIRLEARN[measure]
    assert measure(Y_TRUE, Y_PRED, GROUPS).estimate == pytest.approx(plain)
    assert measure(Y_TRUE, Y_PRED, GROUPS, sample_weight=WEIGHTS).estimate == pytest.approx(weighted)


@pytest.mark.parametrize("measure", FAIRLEARN)
def test_limits_contain_the_estimate_and_stay_in_range(measure):
    result = measure(Y_TRUE, Y_PRED, GROUPS)
    assert 0 <= result.low <= result.estimate <= result.high <= 1
    wider = measure(Y_TRUE, Y_PRED, GROUPS, level=0.99)
    assert wider.low <= result.low
    assert wider.high >= result.high


def test_two_groups_have_newcombe_limits():
    # Newcombe 1998, Statistics in Medicine 17:873, Table II: 56/70 - 48/80, method 10
    selected = np.repeat([1, 0, 1, 0], [56, 14, 48, 32])
    result = demographic_parity_difference(np.arange(150) % 2, selected, np.repeat(["a", "b"], [70, 80]))
    assert (round(result.low, 4), round(result.high, 4)) == (0.0524, 0.3339)


def test_ratio_limits_are_those_of_the_closed_form_with_equal_groups():
    # Donner & Zou 2012, equation 9, from Wilson limits of 30/40 and 15/40: roots of a quadratic equation
    selected = np.repeat([1, 0, 1, 0], [15, 25, 30, 10])
    result = demographic_parity_ratio(np.arange(80) % 2, selected, np.repeat(["a", "b"], 40))
    limits = [
        interval(selection_rate, selected[part] * 0, selected[part], labels=[0, 1]) for part in (slice(40), slice(40, 80))
    ]
    (a, l1, u1), (b, l2, u2) = ((found.estimate, found.low, found.high) for found in limits)
    low = np.roots([u2 * (2 * b - u2), -2 * a * b, l1 * (2 * a - l1)]).min()
    high = np.roots([l2 * (2 * b - l2), -2 * a * b, u1 * (2 * a - u1)]).max()
    assert (result.low, result.high) == pytest.approx((low, high))


def test_no_selected_row_has_no_ratio():
    result = demographic_parity_ratio(Y_TRUE, Y_PRED * 0, GROUPS)  # fairlearn: nan
    assert np.isnan(result.estimate)
    assert "the selection rate is 0 in every group" in result.note
    assert demographic_parity_difference(Y_TRUE, Y_PRED * 0, GROUPS).estimate == 0


def test_a_group_without_positives_is_left_out_with_a_note():
    y_true = np.where(GROUPS == "c", 0, Y_TRUE)
    result = equalized_odds_difference(y_true, Y_PRED, GROUPS)
    rates = [[m(y_true[g == GROUPS], Y_PRED[g == GROUPS]) for g in names] for m, names in ((recall, "ab"), (fpr, "abc"))]
    assert result.estimate == pytest.approx(max(max(values) - min(values) for values in rates))
    assert "without c" in result.note


def test_selection_rate_is_the_proportion_of_selected_rows():
    assert selection_rate(Y_TRUE, Y_PRED) == pytest.approx(Y_PRED.mean())
    assert selection_rate(["a", "b", "c", "c"], ["a", "a", "c", "b"], average=None).tolist() == [0.5, 0.25, 0.25]
    found = interval(selection_rate, Y_TRUE, Y_PRED)
    assert found.method == "wilson"


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at least 2 groups, got only 'a'"):
        demographic_parity_difference(Y_TRUE, Y_PRED, ["a"] * 60)
    with pytest.raises(InputError, match="groups"):
        demographic_parity_difference(Y_TRUE, Y_PRED, GROUPS[:50])
    with pytest.raises(InputError, match="more than two classes"):
        equalized_odds_ratio(ROW % 3, ROW % 3, GROUPS)
    with pytest.raises(InputError, match="level"):
        equalized_odds_ratio(Y_TRUE, Y_PRED, GROUPS, level=1.5)


def test_models_are_not_ranked_by_a_measure_without_direction():
    frame = pd.DataFrame({"y_true": Y_TRUE, "one": Y_PRED, "two": 1 - Y_PRED})
    result = judge(frame, measures=["selection_rate"], resamples=50)
    assert result.main == "accuracy"
    assert any("neither a higher nor a lower selection rate is better" in text for text in result.messages)
    assert not selection_rate.is_better(0.2, 0.1)
    assert not selection_rate.is_better(0.1, 0.2)
    refused = {
        "scorer": selection_rate.scorer,
        "rank table": lambda: rank_table(pd.DataFrame({"selection_rate": [0.1, 0.2]}, index=["a", "b"])),
        "compare": lambda: compare(
            pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.4, 0.1]}), measure="selection_rate", rows="datasets"
        ),
        "gate": lambda: gate(frame, candidate="one", baseline="two", measure="selection_rate", margin=0.1),
    }
    for refuse in refused.values():
        with pytest.raises(InputError, match=r"direction|neither higher nor lower"):
            refuse()
