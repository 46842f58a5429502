"""DEA against the figures known for the tutorial's table, a brute-force solution, its dual program and its properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from fairtrial.errors import InputError
from fairtrial.measures import Efficiency, efficiency

GAINS, COSTS = ["gain 0", "gain 1"], ["cost 0", "cost 1"]
positive = st.floats(0.01, 100)


def table(rows: list[list[float]], columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns, index=[f"learner {i}" for i in range(len(rows))])


def random_tables(columns: int = 4) -> st.SearchStrategy[list[list[float]]]:
    return st.lists(st.lists(positive, min_size=columns, max_size=columns), min_size=2, max_size=6)


def envelope(gain: np.ndarray, cost: np.ndarray, own: int, *, without_own: bool) -> float:
    """The dual program, written apart: the least share of own inputs with which a mix of learners gives own outputs."""
    mix = [each for each in range(len(gain)) if each != own or not without_own]
    rules = np.vstack(
        [
            np.column_stack([-cost[own], cost[mix].T]),
            np.column_stack([np.zeros(gain.shape[1]), -gain[mix].T]),
        ]
    )
    limits = np.concatenate([np.zeros(cost.shape[1]), -gain[own]])
    answer = linprog(np.eye(1, len(mix) + 1)[0], A_ub=rules, b_ub=limits, method="highs")
    return answer.fun if answer.status == 0 else np.inf


@pytest.fixture
def tutorial(find_published) -> pd.DataFrame:
    return pd.read_csv(find_published("tutorial_breast_cancer_measures"), index_col="learner")


@pytest.fixture
def small() -> pd.DataFrame:
    return pd.DataFrame({"auc": [0.7, 0.6, 0.6], "rmse": [0.5, 0.4, 0.6]}, index=["NB", "C4.5", "SVM"])


def test_figures_of_the_tutorial_table(tutorial: pd.DataFrame) -> None:
    result = efficiency(tutorial, outputs=["acc", "auc"], inputs=["rmse"])
    expected = {
        "NB": 0.9676,
        "C4.5": 1,
        "3NN": 0.8382,
        "Ripp": 0.9250,
        "SVM": 0.7396,
        "Bagg": 0.9040,
        "Boost": 1,
        "RanF": 0.8817,
    }
    assert result.efficiency.round(4).to_dict() == expected
    assert result.super_efficiency.round(4).to_dict() == {**expected, "C4.5": 1.0752, "Boost": 1.0474}
    assert result.frame().index.tolist() == ["C4.5", "Boost", "NB", "Ripp", "Bagg", "RanF", "3NN", "SVM"]
    assert result.frame()["rank"].tolist() == list(range(1, 9))


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_one_input_one_output_is_ratio_over_best_ratio(pairs: list[tuple[float, float]]) -> None:
    scores = table([list(pair) for pair in pairs], ["auc", "rmse"])
    ratios = (scores.auc / scores.rmse).to_numpy()
    others = [max(np.delete(ratios, i), default=0) for i in range(len(ratios))]
    result = efficiency(scores)
    np.testing.assert_allclose(result.efficiency, ratios / ratios.max(), rtol=1e-6)
    beyond = [own / other if other else np.inf for own, other in zip(ratios, others, strict=True)]
    np.testing.assert_allclose(result.super_efficiency, beyond, rtol=1e-6)


@given(random_tables())
@settings(max_examples=40, deadline=None)
def test_equals_the_dual_program(rows: list[list[float]]) -> None:
    scores = table(rows, GAINS + COSTS)
    result = efficiency(scores, outputs=GAINS, inputs=COSTS)
    # The reference does not scale its columns, so it gets columns of one size.
    gain, cost = (scores[names].to_numpy() / scores[names].to_numpy().max(axis=0) for names in (GAINS, COSTS))
    each = range(len(scores))
    np.testing.assert_allclose(result.efficiency, [envelope(gain, cost, i, without_own=False) for i in each], atol=1e-6)
    np.testing.assert_allclose(
        result.super_efficiency, [envelope(gain, cost, i, without_own=True) for i in each], rtol=1e-5, atol=1e-6
    )


@given(random_tables(), st.sampled_from(GAINS + COSTS), st.floats(1e-3, 1e3))
@settings(max_examples=40, deadline=None)
def test_scaling_a_column_changes_nothing(rows: list[list[float]], column: str, factor: float) -> None:
    scores = table(rows, GAINS + COSTS)
    scaled = scores.assign(**{column: scores[column] * factor})
    one, other = (efficiency(each, outputs=GAINS, inputs=COSTS) for each in (scores, scaled))
    np.testing.assert_allclose(one.efficiency, other.efficiency, atol=1e-6)
    np.testing.assert_allclose(one.super_efficiency, other.super_efficiency, rtol=1e-5)


@given(random_tables())
@settings(max_examples=40, deadline=None)
def test_properties_of_every_table(rows: list[list[float]]) -> None:
    result = efficiency(table(rows, GAINS + COSTS), outputs=GAINS, inputs=COSTS)
    assert ((result.efficiency >= 0) & (result.efficiency <= 1)).all()
    assert np.isclose(result.efficiency.max(), 1)
    inefficient = result.efficiency < 1 - 1e-6
    np.testing.assert_allclose(result.super_efficiency[inefficient], result.efficiency[inefficient], atol=1e-6)
    assert (result.super_efficiency[~inefficient] >= 1 - 1e-6).all()


@given(random_tables())
@settings(max_examples=40, deadline=None)
def test_a_dominated_learner_is_not_efficient(rows: list[list[float]]) -> None:
    worse = [rows[0][0] * 0.9, rows[0][1] * 0.9, rows[0][2] * 1.1, rows[0][3] * 1.1]
    result = efficiency(table([*rows, worse], GAINS + COSTS), outputs=GAINS, inputs=COSTS)
    assert result.efficiency.iloc[-1] < 0.9


@given(random_tables())
@settings(max_examples=40, deadline=None)
def test_weights_give_the_efficiency_and_break_no_rule(rows: list[list[float]]) -> None:
    scores = table(rows, GAINS + COSTS)
    result = efficiency(scores, outputs=GAINS, inputs=COSTS)
    gained = result.weights[GAINS].to_numpy() @ scores[GAINS].to_numpy().T
    paid = result.weights[COSTS].to_numpy() @ scores[COSTS].to_numpy().T
    np.testing.assert_allclose(np.diag(paid), 1, rtol=1e-6)
    np.testing.assert_allclose(np.diag(gained), result.efficiency, atol=1e-6)
    assert (result.weights.to_numpy() >= 0).all()
    assert (gained <= paid + 1e-5 * paid.max()).all()


def test_directions_come_from_the_registry(small: pd.DataFrame) -> None:
    result = efficiency(small)
    assert (result.outputs, result.inputs) == (("auc",), ("rmse",))
    expected = efficiency(small, outputs=["auc"], inputs=["rmse"])
    pd.testing.assert_frame_equal(result.frame(), expected.frame())


def test_a_side_that_is_named_leaves_the_other_to_the_registry(small: pd.DataFrame) -> None:
    result = efficiency(small.assign(stars=[1, 2, 3]), outputs=["stars"])
    assert (result.outputs, result.inputs) == (("stars",), ("rmse",))


def test_without_inputs_the_best_output_is_the_yardstick(small: pd.DataFrame) -> None:
    result = efficiency(small, outputs=["auc"], inputs=[])
    np.testing.assert_allclose(result.efficiency, [1, 6 / 7, 6 / 7])
    np.testing.assert_allclose(result.super_efficiency, [7 / 6, 6 / 7, 6 / 7])
    assert result.frame()["rank"].tolist() == [1, 2, 2]
    assert result.inputs == ("(constant)",)


def test_without_outputs_the_least_input_is_the_yardstick(small: pd.DataFrame) -> None:
    result = efficiency(small, outputs=[], inputs=["rmse"])
    np.testing.assert_allclose(result.efficiency, [4 / 5, 1, 4 / 6])
    np.testing.assert_allclose(result.super_efficiency, [4 / 5, 5 / 4, 4 / 6])


def test_super_efficiency_is_infinite_where_no_other_learner_reaches() -> None:
    alone = pd.DataFrame({"auc": [0.7]}, index=["NB"])
    assert efficiency(alone).super_efficiency.tolist() == [np.inf]
    only_output = pd.DataFrame({"recall": [0.5, 0.9], "auc": [0.2, 0.0], "rmse": [0.5, 0.5]}, index=["A", "B"])
    assert efficiency(only_output).super_efficiency.tolist() == pytest.approx([np.inf, 1.8])
    only_free = pd.DataFrame({"auc": [0.5, 0.6], "rmse": [0.0, 0.3], "fpr": [0.4, 0.2]}, index=["A", "B"])
    assert efficiency(only_free).super_efficiency.tolist() == pytest.approx([np.inf, 2.4])
    assert efficiency(only_free).frame().index.tolist() == ["A", "B"]


def test_a_learner_without_outputs_has_efficiency_zero() -> None:
    scores = pd.DataFrame({"auc": [0.5, 0.0], "rmse": [0.5, 0.1]}, index=["A", "B"])
    assert efficiency(scores).efficiency.tolist() == [1, 0]


def test_epsilon_sees_through_weak_efficiency() -> None:
    scores = pd.DataFrame({"auc": [0.7, 0.7], "recall": [0.9, 0.8], "rmse": [0.5, 0.5]}, index=["A", "B"])
    assert efficiency(scores).efficiency.tolist() == pytest.approx([1, 1])
    assert efficiency(scores).frame().index.tolist() == ["A", "B"]
    result = efficiency(scores, epsilon=0.1)
    # B loses the least weight of recall times what it lacks there: 0.1 x 0.1.
    assert result.efficiency.tolist() == pytest.approx([1, 0.99])
    assert (result.weights.to_numpy() >= 0.1 - 1e-9).all()


def test_units_far_apart_do_not_spoil_the_figures(tutorial: pd.DataFrame) -> None:
    far = tutorial.assign(acc=tutorial.acc * 1e9, rmse=tutorial.rmse * 1e-9)
    one, other = (efficiency(each, outputs=["acc", "auc"], inputs=["rmse"]) for each in (tutorial, far))
    np.testing.assert_allclose(one.super_efficiency, other.super_efficiency, rtol=1e-7)


def test_shown(small: pd.DataFrame) -> None:
    result = efficiency(small.rename(index={"NB": "<NB>"}))
    assert isinstance(result, Efficiency)
    assert str(result).splitlines()[0].index("auc") < str(result).splitlines()[0].index("rmse")
    assert "1.0714" in str(result)
    assert "&lt;NB&gt;" in result._repr_html_()
    assert "0.01" in str(efficiency(small, epsilon=0.01))
    with pytest.raises(AttributeError):
        result.epsilon = 1


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"time": 1.0}, {}, "'time'.*outputs=.*inputs="),
        ({"acc": 1.0, "time": 1.0}, {}, "'acc'.*'time'"),
        ({"acuracy": 1.0}, {}, "'accuracy'"),
        ({}, {"outputs": ["acu"]}, "outputs.*'acu'.*'auc'"),
        ({}, {"outputs": "auc"}, r"outputs.*\['auc'\]"),
        ({}, {"outputs": ["auc"], "inputs": ["auc"]}, "'auc'.*outputs.*inputs"),
        ({}, {"outputs": ["auc", "auc"]}, "'auc'.*outputs"),
        ({}, {"outputs": [], "inputs": []}, "outputs.*inputs"),
        ({"auc": -0.1}, {}, "'auc'.*-0.1"),
        ({"auc": np.inf}, {}, "'auc'"),
        ({"auc": np.nan}, {}, "'NB'.*'auc'"),
        ({"auc": "good"}, {}, "'auc'.*'good'"),
        ({"rmse": 0.0}, {}, "rmse.*'NB'"),
        ({}, {"epsilon": -1}, "epsilon"),
        ({}, {"epsilon": np.nan}, "epsilon"),
        ({}, {"epsilon": 10}, "epsilon"),
    ],
)
def test_bad_input(small: pd.DataFrame, change: dict, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        efficiency(small.assign(**change), **options)


def test_bad_tables(small: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"scores.*list"):
        efficiency([[1, 2]])
    with pytest.raises(InputError, match=r"scores.*0 x 2"):
        efficiency(small.iloc[:0])
    with pytest.raises(InputError, match="'NB'"):
        efficiency(small.loc[["NB", "NB"]])


def test_columns_that_span_many_powers_of_ten():
    scores = pd.DataFrame({"acc": [0.9, 0.8, 0.7], "t": [3e-5, 3e4, 0.3]}, index=["a", "b", "c"])
    found = efficiency(scores, outputs=["acc"], inputs=["t"]).efficiency
    # One output and one input: the ratio over the largest ratio
    ratio = scores["acc"] / scores["t"]
    assert found.tolist() == pytest.approx((ratio / ratio.max()).tolist(), rel=1e-6, abs=1e-8)
