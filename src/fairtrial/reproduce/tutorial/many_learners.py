"""Worked examples of tests of several learners: Friedman and Nemenyi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim, Reproduction
from fairtrial.reproduce.tutorial.examples import Result, example, joined, printed_claim

if TYPE_CHECKING:
    import pandas as pd


def many_learners() -> Reproduction:
    """Both, on the tutorial's table of three classifiers on ten domains."""
    table = published("tutorial_friedman_domains").set_index("domain")
    tied = table.copy()
    tied["fC"] = tied["fC"].replace(85.90, 85.91)  # the tutorial ranks them as equal
    return joined([_friedman(table, tied), _nemenyi(table, tied)])


def _friedman(table: pd.DataFrame, tied: pd.DataFrame) -> Reproduction:
    from scipy.stats import chi2

    from fairtrial.significance import friedman, iman_davenport

    found, slipped = friedman(table), friedman(tied, ties="uncorrected")
    results = [
        Result("chi-squared, by hand", found.statistic, 15.05, 2, "85.91 and 85.90 are no tie"),
        Result("chi-squared with that tie, no correction", slipped.statistic, 15.05, 2, "the tutorial's reading"),
        Result("chi-squared, by R", found.statistic, 15, 0),
        Result("p, by R", found.p_value, 0.0005531, 7),
        Result(
            "critical value at 0.05", float(chi2.ppf(0.95, 2)), 7.8, 1, f"a slip: {chi2.ppf(0.95, 3):.2f} is that of 3 degrees"
        ),
        Result("Iman and Davenport's F: p", iman_davenport(table).p_value, note="less careful, as it is advised today"),
    ]
    answer = (
        f"Yes: chi-squared {found.statistic:.4g} with 2 degrees of freedom, p = {found.p_value:.4g}. By hand the tutorial "
        "ranks two values as equal that differ by 0.01, and reads the critical value one line too low; R, on the next slides, "
        "does neither. The conclusion stays."
    )
    part = example(
        "friedman",
        "Friedman's test: three classifiers on ten domains",
        results,
        answer,
        asked="Is there any difference among three classifiers?",
    )
    claims = (
        printed_claim("Friedman's statistic by hand is 15.05", results[:1], f"with a tie {slipped.statistic:.4g}"),
        printed_claim("R gives 15, p = 0.0005531", results[2:4]),
        printed_claim("The critical value at 0.05 is 7.8", results[4:5], "with 2 degrees of freedom"),
        Claim("The three classifiers differ (p < 0.05)", found.p_value < 0.05, f"p = {found.p_value:.4g}"),
    )
    return joined([part, Reproduction((), (), claims)])


def _nemenyi(table: pd.DataFrame, tied: pd.DataFrame) -> Reproduction:
    from fairtrial.report.figures.critical_difference import draw_critical_difference
    from fairtrial.significance import posthoc

    found, slipped = posthoc(table, "nemenyi"), posthoc(tied, "nemenyi")
    unit = np.sqrt(3 * 4 / (6 * 10))
    assert found.critical_difference is not None
    critical = found.critical_difference / unit
    results = [
        *_pair_lines(slipped, "mean ranks, tie kept", {("fA", "fB"): -32.22, ("fA", "fC"): 2.22, ("fB", "fC"): 34.44}),
        *_pair_lines(found, "mean ranks, no tie", {}),
        Result("critical value at 0.05", critical, 2.55, 2, "of three learners; the printed one is near that of four, 2.569"),
    ]
    apart = [f"{each.first} and {each.second}" for each in found.comparisons if each.p_adjusted < 0.05]
    answer = (
        f"{' and '.join([', '.join(apart[:-1]), apart[-1]]) if len(apart) > 1 else apart[0]} are told apart (critical value "
        f"{critical:.3f}). The formula wants mean ranks; the tutorial puts the sums of ten ranks there, which makes its q ten "
        f"times too large ({_sums_told(slipped, unit)}). Here the conclusion is the same; with such numbers nearly "
        "any two learners would differ."
    )
    part = example("nemenyi", "Nemenyi's test after it", results, answer, asked="Which of the three differ?")
    told = {(each.first, each.second): each.p_adjusted for each in found.comparisons}
    claims = (
        printed_claim(
            "q is -32.22, 2.22 and 34.44", results[:3], f"a slip: rank sums stand for mean ranks ({_sums_told(slipped, unit)})"
        ),
        Claim(
            "A and B, B and C differ, A and C do not (at 0.05)",
            told["fA", "fB"] < 0.05 and told["fB", "fC"] < 0.05 and told["fA", "fC"] > 0.05,
            ", ".join(f"{a}-{b} p = {p:.4f}" for (a, b), p in told.items()),
        ),
    )
    picture = draw_critical_difference(
        dict(zip(found.learners, found.means, strict=True)),
        found.groups,
        critical_difference=found.critical_difference,
        title="Three classifiers on ten domains (Nemenyi)",
    )
    return joined([part, Reproduction((), (), claims, {"Nemenyi: three classifiers on ten domains": picture})])


def _sums_told(slipped: Any, unit: float) -> str:
    """What the formula gives of rank sums, exactly and with its root rounded as the tutorial must have done."""
    first = next(each for each in slipped.comparisons if (each.first, each.second) == ("fA", "fB"))
    gap = 10 * first.statistic * unit
    rounded = round(unit, 2)
    return f"q of A and B is {gap / unit:.2f} so, and {gap / rounded:.2f} with the root of {unit**2:.1f} rounded to {rounded:g}"


def _pair_lines(found: Any, reading: str, printed: dict[tuple[str, str], float]) -> list[Result]:
    """q of each pair, in the order and with the sign of the tutorial."""
    return [
        Result(
            f"q of {each.first} and {each.second}, {reading}",
            each.statistic,
            printed.get((each.first, each.second)),
            2,
            "a slip: rank sums" if printed else f"adjusted p = {each.p_adjusted:.4f}",
        )
        for each in found.comparisons
    ]
