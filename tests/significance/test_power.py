"""Power against R's power.t.test and power.prop.test, Connor's closed form and simulation."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.errors import InputError
from fairtrial.significance.counts import mcnemar_table
from fairtrial.significance.power import power


def test_paired_t_equals_r():
    # power.t.test(n = 20, delta = .5, sd = 1, type = "paired", strict = TRUE); the same with power = .8; n = 14, sd = .03
    found = power(test="paired_t", difference=0.5, sd=1, n=20)
    assert found.power == pytest.approx(0.5645044184, abs=1e-7)
    assert found.n_needed == 34  # 33.3671291
    assert power(test="paired_t", sd=0.03, n=14).minimal_difference == pytest.approx(0.02430440017, rel=1e-6)


def test_two_proportions_equal_r():
    # power.prop.test(n = 500, p1 = .85, p2 = .8)$power; power.prop.test(power = .8, p1 = .85, p2 = .8)$n
    found = power(test="proportions", accuracy=0.85, difference=0.05, n=500)
    assert found.power == pytest.approx(0.5481243783, abs=1e-9)
    assert found.n_needed == 906  # 905.365778


def enumerate_mcnemar(n, size, discordant, alpha=0.05):
    """Power of the mid-p test, summed over all numbers of wins and losses."""
    wins, total = (discordant + size) / 2, 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if mcnemar_table(b, c).p_value <= alpha:
                total += stats.multinomial.pmf([b, c, n - b - c], n, [wins, discordant - wins, 1 - discordant])
    return total


@pytest.mark.parametrize(("n", "size", "discordant"), [(5, 0.6, 0.9), (12, 0.5, 0.6), (20, 0.3, 0.5), (30, 0.2, 0.2)])
def test_mcnemar_by_enumeration(n, size, discordant):
    found = power(test="mcnemar", difference=size, discordant=discordant, n=n)
    assert found.power == pytest.approx(enumerate_mcnemar(n, size, discordant), abs=1e-9)


def test_mcnemar_needs_the_smallest_number_of_cases():
    needed = power(test="mcnemar", difference=0.4, discordant=0.45).n_needed
    assert enumerate_mcnemar(int(needed), 0.4, 0.45) >= 0.8
    assert all(enumerate_mcnemar(n, 0.4, 0.45) < 0.8 for n in range(5, int(needed)))


@pytest.mark.parametrize("size", [0.002, 0.0025])
def test_mcnemar_of_many_cases_is_connors(size):
    za, zb, share = stats.norm.ppf(0.975), stats.norm.ppf(0.8), 0.1
    expected = (za * np.sqrt(share) + zb * np.sqrt(share - size**2)) ** 2 / size**2
    assert power(test="mcnemar", difference=size, discordant=share).n_needed == np.ceil(expected)


def test_mcnemar_approximation_continues_the_enumeration():
    args = {"test": "mcnemar", "difference": 0.009, "discordant": 0.1}
    assert power(n=10_001, **args).power == pytest.approx(power(n=10_000, **args).power, abs=0.003)


@pytest.mark.parametrize("effect", [0.5, 1.0, 1.7, 3.0])
@pytest.mark.parametrize(("n", "alpha"), [(6, 0.05), (8, 0.01)])
def test_wilcoxon_is_exact_if_all_differences_must_have_one_sign(effect, n, alpha):
    # REFERENCE section 8: n = 6 and 1.7 standard deviations give Phi(1.7) ** 6 = 0.761
    expected = stats.norm.cdf(effect) ** n + stats.norm.cdf(-effect) ** n
    assert power(difference=effect, sd=1, n=n, alpha=alpha).power == pytest.approx(expected, abs=1e-12)


def test_number_of_data_sets_is_that_of_the_exact_power():
    # Phi(1.7) ** 6 = 0.761 is below 0.8, and six data sets are the fewest that can be significant
    found = power(difference=1.7, sd=1, n=6)
    assert found.power == pytest.approx(0.761, abs=5e-4)
    assert found.n_needed == 7
    assert power(difference=1.7, sd=1, n=7).power >= 0.8
    assert stats.norm.cdf(found.minimal_difference) ** 6 == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("effect", "n"), [(0.5, 30), (0.8, 14), (1.0, 10), (1.2, 8), (1.5, 7)])
def test_wilcoxon_by_simulation(effect, n):
    rng = np.random.default_rng(0)
    runs = rng.normal(effect, 1, (20_000, n))
    p = stats.wilcoxon(runs, axis=1, method="asymptotic" if n > 25 else "exact").pvalue
    # 3 standard errors of both simulations; SciPy's normal approximation is used for 30 differences only
    assert power(difference=effect, sd=1, n=n).power == pytest.approx((p <= 0.05).mean(), abs=0.013)


def test_too_few_data_sets_for_the_exact_rank_test():
    assert power(difference=10, sd=1, n=5).power == 0
    assert np.isnan(power(sd=1, n=5).minimal_difference)
    assert power(difference=10, sd=1).n_needed == 6
    assert power(difference=10, sd=1, n=5, test="paired_t").power == pytest.approx(1)


@pytest.mark.parametrize(
    "given",
    [
        {"test": "wilcoxon", "sd": 0.03},
        {"test": "paired_t", "sd": 2.0},
        {"test": "mcnemar", "discordant": 0.2},
        {"test": "proportions", "accuracy": 0.9},
    ],
    ids=lambda given: given["test"],
)
def test_the_three_questions_agree(given):
    n = 40 if "sd" in given else 2000
    found = power(n=n, **given)
    there = power(n=n, difference=found.minimal_difference, **given)
    assert there.power == pytest.approx(0.8, abs=1e-6)
    assert there.n_needed in (n, n + 1)
    assert power(n=n, difference=-found.minimal_difference, **given).power == there.power
    fewer = power(n=int(there.n_needed) - 2, difference=found.minimal_difference, **given)
    assert fewer.power < 0.8 <= power(n=int(there.n_needed) + 1, difference=found.minimal_difference, **given).power
    steps = [power(n=n, difference=found.minimal_difference * k, **given).power for k in (0.5, 1, 1.5, 2)]
    assert steps == sorted(steps)


def test_a_study_gives_n_and_sd_but_never_the_difference():
    a, b = [0.8, 0.9, 0.7, 0.85, 0.6, 0.77, 0.93, 0.66], [0.78, 0.85, 0.71, 0.8, 0.6, 0.7, 0.9, 0.67]
    found = power(a, b, test="paired_t")
    sd = np.std(np.subtract(a, b), ddof=1)
    assert found.minimal_difference == pytest.approx(power(n=8, sd=sd, test="paired_t").minimal_difference)
    assert np.isnan(found.power)
    assert np.isnan(found.difference)
    assert [caveat.kind for caveat in found.caveats] == ["normal_differences", "estimated_sd"]


def test_tiny_and_huge_effects():
    assert power(test="paired_t", difference=1e-3, sd=1).n_needed == pytest.approx(7_848_881, rel=1e-3)
    assert power(test="paired_t", difference=50, sd=1, n=50).power == 1
    assert np.isnan(power(test="paired_t", difference=1e-9, sd=1).n_needed)


def test_two_data_sets_at_a_strict_level():
    # E[Phi(shift - critical S)], S half-normal: the noncentral t with one degree of freedom
    shift, critical = 40 * np.sqrt(2), stats.t.ppf(1 - 0.0005, 1)
    s = (np.arange(200_000) + 0.5) / 20_000
    expected = (stats.norm.cdf(shift - critical * s) * 2 * stats.norm.pdf(s)).sum() / 20_000
    assert power(test="paired_t", difference=40, sd=1, n=2, alpha=0.001).power == pytest.approx(expected, abs=1e-5)


def test_result_has_a_frame():
    found = power(test="mcnemar", difference=0.02, discordant=0.1, n=1000)
    assert (found.unit, found.caveats) == ("test cases", ())
    assert found.frame().loc[0, "n_needed"] == found.n_needed
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"test": "t"}, "test"),
        ({"difference": 0.1}, "sd"),
        ({"sd": 1.0}, "n or difference"),
        ({"sd": 1.0, "difference": 0}, "difference"),
        ({"sd": 1.0, "difference": np.inf}, "difference"),
        ({"sd": 1.0, "n": 1}, "^n "),
        ({"test": "mcnemar", "n": 100}, "discordant"),
        ({"test": "mcnemar", "discordant": 0.1, "difference": 0.2}, "0.1"),
        ({"test": "proportions", "n": 100}, "accuracy"),
        ({"a": [1, 2, 3]}, "a and b"),
        ({"a": [1, 2, 3], "b": [1, 2, 4], "test": "mcnemar"}, "'mcnemar'"),
        ({"sd": 1.0, "n": 10, "target": 0.01}, "target"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(InputError, match=message):
        power(**wrong)
