"""ELA, RLA, BRM and pD against the papers' tables, their closed forms and bad input."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from fairtrial.errors import InputError, SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.measures import brm, ela, performance_deterioration, registry, rla

LEARNERS = ("c45", "svm")
# Table 1 of the ELA paper: A_0, A_x, RLA, ELA as printed, for C_1 and then C_2 in each scenario.
TABLE_1 = [
    (100, 100, 0, 0),
    (50, 50, 0, 1),
    (100, 96, 0.04, 0.04),
    (50, 46, 0.08, 1.08),
    (100, 92, 0.08, 0.08),
    (50, 42, 0.16, 1.16),
    (50, 48, 0.04, 1.04),
    (80, 80, 0, 0.25),
    (30, 30, 0, 2.33),
    (80, 84, -0.05, 0.2),
    (30, 34, -0.13, 2.2),
    (80, 88, -0.1, 0.15),
    (30, 38, -0.27, 2.07),
    (100, 99.996, 0.00004, 0.00004),
    (50, 50.004, -0.00008, 0.99992),
    (100, 99.992, 0.00008, 0.00008),
    (50, 50.008, -0.00016, 0.99984),
]
# Results II of the tutorial: trivial error 36.0; learner, error trained on the same population, (error, pD) of each row. Of
# 1R's last rows two errors are unreadable in our copy, so they are left out.
TABLE_2 = {
    "1R": (23.7, "23.7 .00, 24.0 .02, 25.0 .11, 26.5 .23, 24.6 .07, 24.0 .03, 33.3 .78, 24.4 .06, 24.2 .04"),
    "Decision Tree": (
        18.9,
        "19.0 .01, 19.4 .03, 18.9 .00, 22.2 .19, 19.6 .04, 19.5 .03, 24.5 .33, 20.7 .11, 20.0 .06, 20.2 .08",
    ),
    "Simple NN": (
        21.2,
        "22.2 .07, 21.3 .00, 23.3 .14, 23.5 .16, 23.8 .17, 22.9 .11, 32.7 .77, 21.4 .01, 21.4 .01, 21.8 .04",
    ),
    "Complex NN": (
        18.6,
        "19.2 .04, 18.6 .00, 19.8 .07, 20.2 .09, 19.8 .07, 19.3 .04, 27.4 .50, 20.0 .08, 19.2 .04, 19.2 .04",
    ),
}
# Results III: learner, trivial error and error trained on the same concept, then (error, pD) of the two other training sets.
# Simple NN trained on FC and tested on MC is not here: see test_the_slip_of_results_3.
TABLE_3 = [
    ("1R", 36.0, 23.7, "26.1 .20, 25.8 .17"),
    ("1R", 28.4, 26.5, "27.1 .33, 29.5 1"),
    ("1R", 34.4, 21.5, "22.8 .10, 26.1 .36"),
    ("Decision Tree", 36.0, 18.6, "20.6 .11, 20.4 .11"),
    ("Decision Tree", 28.4, 21.0, "21.6 .08, 25.9 .67"),
    ("Decision Tree", 34.4, 17.7, "19.0 .08, 24.1 .38"),
    ("Simple NN", 36.0, 21.2, "23.1 .13, 22.0 .05"),
    ("Simple NN", 28.4, 25.9, "26.3 .17"),
    ("Simple NN", 34.4, 18.1, "19.4 .08, 23.0 .30"),
    ("Complex NN", 36.0, 18.6, "20.8 .13, 20.5 .11"),
    ("Complex NN", 28.4, 20.7, "21.6 .12, 25.0 .56"),
    ("Complex NN", 34.4, 17.3, "19.0 .10, 23.4 .36"),
]


@pytest.fixture
def ela_table(find_published) -> pd.DataFrame:
    return pd.read_csv(find_published("ela_table3"))


@pytest.fixture
def flu(find_published) -> pd.DataFrame:
    return pd.read_csv(find_published("drift_flu_results")).dropna(subset=["pd"])


def pairs(text: str) -> list[tuple[float, float]]:
    return [(float(error), float(value)) for error, value in (pair.split() for pair in text.split(","))]


def within_rounding(test: float, ideal: float, trivial: float, printed: float) -> bool:
    """Whether errors exist that round to those printed and whose pD rounds to the one printed."""
    moved = [
        performance_deterioration(test + a, ideal + b, trivial + c)
        for a, b, c in itertools.product((-0.05, 0.05), repeat=3)
        if trivial + c > ideal + b
    ]
    return min(moved) - 0.005 <= printed <= max(moved) + 0.005


@pytest.mark.parametrize("measure", [ela, rla])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_value_of_the_ela_paper(ela_table: pd.DataFrame, measure: object, learner: str) -> None:
    values = measure(ela_table[f"acc0_{learner}"], ela_table[f"acc10_{learner}"])
    assert len(values) == 32
    # 1e-9 for values that lie on the edge of rounding in binary.
    np.testing.assert_allclose(values, ela_table[f"{measure.name}_{learner}"], rtol=0, atol=0.5e-4 + 1e-9)


@pytest.mark.parametrize(("measure", "averages", "best"), [(ela, (0.2777, 0.3117), (16, 16)), (rla, (0.0115, 0.0457), (23, 9))])
def test_averages_and_best_counts_of_the_ela_paper(
    ela_table: pd.DataFrame, measure: object, averages: tuple[float, float], best: tuple[int, int]
) -> None:
    c45, svm = (measure(ela_table[f"acc0_{learner}"], ela_table[f"acc10_{learner}"]) for learner in LEARNERS)
    assert (round(c45.mean(), 4), round(svm.mean(), 4)) == averages
    assert ((c45 < svm).sum(), (svm < c45).sum()) == best


@pytest.mark.parametrize(("clean", "noisy", "relative", "equalized"), TABLE_1)
def test_toy_examples_of_the_ela_paper(clean: float, noisy: float, relative: float, equalized: float) -> None:
    rounding = 0.005 if clean == 30 else 1e-9
    assert rla(clean, noisy) == pytest.approx(relative, abs=rounding)
    assert ela(clean, noisy) == pytest.approx(equalized, abs=rounding)


@given(st.floats(2, 100), st.floats(0, 100))
def test_ela_is_rla_plus_ela_without_noise(clean: float, noisy: float) -> None:
    assert ela(clean, noisy) == pytest.approx(rla(clean, noisy) + ela(clean, clean), abs=1e-9)


@given(st.floats(2, 100), st.floats(0, 100))
def test_shares_give_the_same_as_percent(clean: float, noisy: float) -> None:
    assert rla(clean / 100, noisy / 100, scale=1) == pytest.approx(rla(clean, noisy), abs=1e-9)
    assert ela(clean / 100, noisy / 100, scale=1) == pytest.approx(ela(clean, noisy), abs=1e-9)


def test_every_pd_of_the_drift_study(flu: pd.DataFrame) -> None:
    values = performance_deterioration(flu.error_trained_on_source, flu.error_trained_on_same, flu.trivial_error)
    assert len(values) == 28
    np.testing.assert_allclose(values, flu["pd"], rtol=0, atol=0.012)


def test_averaged_pd_of_the_drift_study(flu: pd.DataFrame) -> None:
    values = performance_deterioration(flu.error_trained_on_source, flu.error_trained_on_same, flu.trivial_error)
    means = pd.Series(values).groupby(flu.learner.to_numpy()).mean().round(2).to_dict()
    assert means == {"1R": 0.28, "Decision Tree": 0.05, "Simple NN": 0.2, "Complex NN": 0.04}


@pytest.mark.parametrize("learner", TABLE_2)
def test_drift_with_cases_not_represented(learner: str) -> None:
    ideal, rows = TABLE_2[learner]
    for error, printed in pairs(rows):
        assert performance_deterioration(error, ideal, 36.0) == pytest.approx(printed, abs=0.012)
        assert within_rounding(error, ideal, 36.0, printed)


@pytest.mark.parametrize(("learner", "trivial", "ideal", "rows"), TABLE_3)
def test_drift_of_the_concept(learner: str, trivial: float, ideal: float, rows: str) -> None:
    for error, printed in pairs(rows):
        # 1R from NGP to MC: .316 from the printed errors against .33, the only one beyond 0.012; their rounding explains it.
        known = (learner, error) == ("1R", 27.1)
        assert performance_deterioration(error, ideal, trivial) == pytest.approx(printed, abs=0.015 if known else 0.012)
        assert within_rounding(error, ideal, trivial, printed)


def test_the_slip_of_results_3() -> None:
    """Simple NN, FC to MC: printed error 25.9, pD .73. The error gives 0; the printed average .24 needs .73: error 27.7."""
    assert performance_deterioration(25.9, 25.9, 28.4) == 0
    assert performance_deterioration(27.7, 25.9, 28.4) == pytest.approx(0.73, abs=0.012)
    average = [value for name, _, _, rows in TABLE_3 if name == "Simple NN" for _, value in pairs(rows)]
    assert np.mean([*average, 0.73]) == pytest.approx(0.24, abs=0.005)


@pytest.mark.parametrize(("test", "expected"), [(20, 0), (30, 0.5), (40, 1), (41, 1), (15, -0.25)])
def test_pd_in_closed_form(test: float, expected: float) -> None:
    assert performance_deterioration(test, 20, 40) == expected


def test_brm_in_closed_form() -> None:
    assert brm(0.15, 0.1) == pytest.approx(0.5)
    assert brm(0.1, 0.1) == 0
    np.testing.assert_allclose(brm([10, 20, 30], 20), [-0.5, 0, 0.5])


@pytest.mark.parametrize("measure", [ela, rla])
def test_scalars_give_float_and_arrays_give_arrays(measure: object) -> None:
    assert type(measure(80, 76)) is float
    assert measure([[80, 70], [60, 50]], 40).shape == (2, 2)
    assert type(brm(2, 1)) is float
    assert type(performance_deterioration(1, 1, 2)) is float
    assert isinstance(performance_deterioration(pd.Series([1.0, 2.0]), 1, 2), np.ndarray)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: rla(0, 50), "rla"),
        (lambda: ela(0, 50), "ela"),
        (lambda: rla(0, 0), "rla"),
        (lambda: brm(0.1, 0), "brm"),
        (lambda: performance_deterioration(10, 30, 30), "performance_deterioration"),
        (lambda: performance_deterioration(50, 30, 20), "performance_deterioration"),
    ],
)
def test_undefined_is_nan_with_a_warning(call: object, name: str) -> None:
    with pytest.warns(UndefinedMeasureWarning, match=name):
        assert np.isnan(call())


def test_undefined_values_leave_the_others_alone() -> None:
    with pytest.warns(UndefinedMeasureWarning, match="1 of 2"):
        np.testing.assert_array_equal(ela([0, 50], [50, 50]), [np.nan, 1])
    with pytest.warns(UndefinedMeasureWarning, match="1 of 3"):
        np.testing.assert_array_equal(performance_deterioration([2, 3, 9], [2, 4, 1], [4, 4, 5]), [0, np.nan, 1])


@pytest.mark.parametrize("measure", [ela, rla])
def test_shares_read_as_percent_are_suspect(measure: object) -> None:
    with pytest.warns(SuspectInputWarning, match="scale=1"):
        measure([0.9, 0.8], [0.7, 1.0])
    measure(0.9, 0.8, scale=1)
    measure([0.9, 80], [0.5, 70])


@pytest.mark.parametrize("measure", [ela, rla])
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((101, 50), {}, "clean.*101"),
        ((50, -1), {}, "noisy.*-1"),
        ((80, 70), {"scale": 1}, "clean.*80"),
        ((80, 70), {"scale": 0}, "scale"),
        ((80, 70), {"scale": np.inf}, "scale"),
        ((80, 70), {"scale": [100, 1]}, "scale"),
        ((80, 70), {"scale": "percent"}, "scale"),
        ((np.nan, 70), {}, "clean"),
        ((80, [70, np.inf]), {}, "noisy"),
        (("high", 70), {}, "clean.*'high'"),
        (([80, 70], [1, 2, 3]), {}, r"clean.*\(2,\).*noisy.*\(3,\)"),
        (([], []), {}, "clean.*noisy"),
    ],
)
def test_bad_accuracies(measure: object, arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brm(-0.1, 0.1), "error_noisy.*-0.1"),
        (lambda: brm(0.1, np.nan), "error_bayes"),
        (lambda: brm([0.1, 0.2], [0.1, 0.2, 0.3]), r"error_noisy.*\(2,\).*error_bayes.*\(3,\)"),
        (lambda: performance_deterioration(1, -2, 3), "error_ideal"),
        (lambda: performance_deterioration(1, 2, None), "error_trivial"),
        (lambda: performance_deterioration(1, 2, "x"), "error_trivial"),
    ],
)
def test_bad_errors(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("measure", [ela, rla, brm, performance_deterioration])
def test_registered_with_facts(measure: object) -> None:
    assert registry[measure.name] is measure
    assert (measure.facts.needs, measure.facts.direction) == ("results", "min")
    assert registry[measure.facts.aliases[0]] is measure
    assert pickle.loads(pickle.dumps(measure)) is measure
    with pytest.raises(InputError, match=measure.name):
        measure.read_rows([1], [1])
