"""The paper's claims about its table 3, judged by our intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_count, format_p_value, join_names
from fairtrial.reproduce.claim import OUTCOMES, Claim, IntervalEstimate, combine_outcomes, estimate_mean
from fairtrial.reproduce.ela import tables
from fairtrial.reproduce.ela.tables import (
    ALPHA,
    ANY_CLASS,
    C45,
    CLEAN,
    ELA,
    OTHER_CLASS,
    OURS,
    PAPER,
    VERSIONS,
    Table3,
    TableCells,
    WinCount,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

CLOSE, CLOSE_FRACTION, CLOSE_ELA = 1.5, 26 / 32, 0.02  # our own targets
LOSS_LIMIT = 0.02  # separates 'remarkable' from 'very low' losses, for which the paper gives no number

# Estimates for one data set: acc0, acc10, ela and rla (C4.5 - SVM), acc0_svm, rla_c45, rla_svm; accuracies in percent.
Differences = Mapping[str, IntervalEstimate]
Rule = Callable[[Differences], bool | None]
_MAX_NUMBERS = 4  # how many numbers of a data set a rule uses


def judge_claims(cells: TableCells, differences: Mapping[str, Mapping[str, Differences]]) -> tuple[Claim, ...]:
    """Judge our targets, then the paper's claims about averages, counts and single data sets.

    All claims are judged for the noise that the paper's text describes and the SVM with logistic models. The details also give
    the numbers of the other versions of table 3. `differences` come from `estimate_differences`.
    """
    versions = cells.build_versions()
    if not len(versions[OURS]):
        return ()
    return (
        *_judge_targets(cells),
        _judge_mean(versions, "Mean accuracy without noise: the SVM is better than C4.5", "acc0", -1),
        _judge_mean(versions, "Mean accuracy at 10 % noise: C4.5 is better than the SVM", "acc10", 1),
        _judge_mean(versions, "Mean RLA: C4.5 is more robust than the SVM", "rla", -1),
        _judge_mean(versions, "Mean ELA: C4.5 behaves better under noise than the SVM", "ela", -1),
        _judge_count(versions, "Without noise, the SVM is best on more data sets (20 of 32)", "acc0", c45_ahead=False),
        _judge_change(versions, "With noise, C4.5 is best on more data sets than without (16 instead of 12)", "acc0", "acc10"),
        _judge_count(versions, "By RLA, C4.5 is best on more data sets (23 of 32)", "rla", c45_ahead=True),
        _judge_change(versions, "C4.5 is best on fewer data sets by ELA (first number) than by RLA (second)", "ela", "rla"),
        *(_judge_statement(statement, differences) for statement in STATEMENTS),
        _judge_preferences(versions[OURS]),
    )


def _judge_targets(cells: TableCells) -> list[Claim]:
    comparison = cells.compare(OTHER_CLASS)
    c45 = tables.select_differences(comparison, C45, CLEAN)
    ela, ela_any_class = (
        estimate_mean(tables.select_differences(frame, C45, ELA)["difference"])
        for frame in (comparison, cells.compare(ANY_CLASS))
    )
    far = c45[c45["difference"].abs() > CLOSE]
    n_close = len(c45) - len(far)
    names = join_names(f"{name} {value:+.2f}" for name, value in zip(far["dataset"], far["difference"], strict=True))
    rows = c45[["difference", "low", "high"]].itertuples(index=False, name=None)
    are_within = [IntervalEstimate(*row).is_within(CLOSE) for row in rows]
    return [
        Claim(
            f"C4.5 without noise is within {CLOSE} points of the paper on at least 26 of 32 data sets, or the same proportion "
            "of those that were run (our target)",
            n_close >= CLOSE_FRACTION * len(c45) if len(c45) else None,
            f"our mean is within {CLOSE} points on {n_close} of {format_count(len(c45), 'data set')}"
            + (f" (not on {names})" if names else "")
            + f"; the whole interval is within on {are_within.count(True)} and outside on {are_within.count(False)}",
        ),
        Claim(
            f"The mean ELA of C4.5 is within {CLOSE_ELA} of the paper's (our target)",
            abs(ela.value) <= CLOSE_ELA if len(c45) else None,
            f"difference {ela.format()}; with noise to any class {ela_any_class.format()}",
        ),
    ]


def _judge_mean(versions: Mapping[str, Table3], text: str, quantity: str, sign: int) -> Claim:
    """Judge the sign of the mean difference C4.5 - SVM over data sets."""
    digits = 2 if quantity.startswith("acc") else 4
    differences = {version: table.estimate_difference(quantity) for version, table in versions.items()}
    details = {
        version: f"{table.frame[f'{quantity}_c45'].mean():.{digits}f} and {table.frame[f'{quantity}_svm'].mean():.{digits}f}, "
        f"difference {differences[version].format(f'{{:+.{digits}f}}')}"
        for version, table in versions.items()
    }
    our_sign = differences[OURS].sign
    return Claim(text, our_sign == sign if our_sign else None, f"C4.5 and SVM: {_join_versions(details)}")


def _judge_count(versions: Mapping[str, Table3], text: str, quantity: str, *, c45_ahead: bool) -> Claim:
    """Judge which learner is better on more data sets."""
    counts = {version: table.count_c45_wins(quantity) for version, table in versions.items()}
    details = {
        version: f"{count.wins} to {count.losses} ({format_p_value(count.p_value, ALPHA)})" for version, count in counts.items()
    }
    is_ahead = counts[OURS].is_ahead
    reproduced = None if is_ahead is None else is_ahead is c45_ahead
    return Claim(text, reproduced, f"C4.5 to SVM, without ties: {_join_versions(details)}")


def _judge_change(versions: Mapping[str, Table3], text: str, fewer: str, more: str) -> Claim:
    """Judge whether C4.5 is best on more data sets by one quantity than by another."""
    details, counts = {}, {}
    for version, table in versions.items():
        before, after = (table.find_preferred(quantity).eq("C4.5").astype(float) for quantity in (fewer, more))
        count = counts[version] = WinCount.of(after, before)
        details[version] = (
            f"{before.sum():.0f} and {after.sum():.0f} "
            f"({count.wins} gained, {count.losses} lost, {format_p_value(count.p_value, ALPHA)})"
        )
    n_datasets = len(versions[OURS])
    return Claim(text, counts[OURS].is_ahead, f"data sets (of {n_datasets}) on which C4.5 is best: {_join_versions(details)}")


def _join_versions(details: Mapping[str, str]) -> str:
    """
    >>> _join_versions({"ours": "1 and 2", "paper": "3 and 4"})
    'ours 1 and 2; paper 3 and 4'
    """
    return "; ".join(f"{version} {text}" for version, text in details.items())


def _judge_preferences(table: Table3) -> Claim:
    """Judge a consequence of ELA = RLA + (100 - A0) / A0: if the preferences differ, the second term decides."""
    preferences = table.compare_preferences()
    different = preferences[preferences["differ"]]
    n_agree = int((table.find_preferred("acc0")[different.index] == different["ELA"]).sum())
    return Claim(
        "If ELA and RLA prefer different learners, ELA prefers the learner that is better without noise",
        n_agree == len(different) if len(different) else None,
        f"true on {n_agree} of {len(different)} such data sets; this follows from the definitions",
    )


@dataclass(frozen=True)
class Statement:
    """A statement about some data sets, and the rule that judges it; `limited` is True if the rule uses our `LOSS_LIMIT`."""

    text: str
    datasets: tuple[str, ...]
    rule: Rule
    limited: bool = False

    def judge(self, differences: Mapping[str, Differences]) -> dict[str, bool | None]:
        """Judge the statement on each of its data sets that was run.

        A contradiction counts only if it remains after a Bonferroni correction for all numbers of the statement.
        """
        return {name: self._judge_dataset(differences[name]) for name in self.datasets if name in differences}

    def _judge_dataset(self, differences: Differences) -> bool | None:
        outcome = self.rule(differences)
        wide = {name: estimate.widen(_MAX_NUMBERS * len(self.datasets)) for name, estimate in differences.items()}
        return None if outcome is False and self.rule(wide) is not False else outcome


def _require_signs(**signs: int) -> Rule:
    """Return a rule that requires these signs."""
    return lambda differences: combine_outcomes(_has_sign(differences, name, sign) for name, sign in signs.items())


def _has_sign(differences: Differences, name: str, sign: int) -> bool | None:
    return differences[name].sign == sign if differences[name].sign else None


def _prefer_same(differences: Differences) -> bool | None:
    """Whether ELA and RLA prefer the same learner."""
    return _has_sign(differences, "ela", differences["rla"].sign) if differences["rla"].sign else None


def _prefer_svm_by_ela(differences: Differences) -> bool | None:
    """Whether C4.5 or the SVM gains under noise while ELA prefers the SVM and RLA prefers C4.5."""
    gains = [_has_sign(differences, name, -1) for name in ("rla_c45", "rla_svm")]
    one_gains = True if True in gains else None if None in gains else False
    return combine_outcomes([one_gains, _require_signs(ela=1, rla=-1)(differences)])


def _exceed_limit(differences: Differences) -> list[bool | None]:
    return [differences[name].subtract(LOSS_LIMIT).is_positive for name in ("rla_c45", "rla_svm")]


def _negate(outcome: bool | None) -> bool | None:
    return None if outcome is None else not outcome


_FIRST = "autos wine banana dermatology heart phoneme twonorm"
_LIMIT = f"{100 * LOSS_LIMIT:g} %"
STATEMENTS = tuple(
    Statement(text, tuple(names.split()), rule, limited)
    for text, names, rule, limited in (
        ("The SVM is better without and with noise", _FIRST, _require_signs(acc0=-1, acc10=-1), False),
        ("ELA and RLA prefer the same learner", _FIRST, _prefer_same, False),
        (
            f"Both lose accuracy remarkably (judged as: more than {_LIMIT})",
            "autos wine",
            lambda differences: combine_outcomes(_exceed_limit(differences)),
            True,
        ),
        (
            f"Both lose very little accuracy (judged as: less than {_LIMIT})",
            "banana dermatology heart phoneme twonorm",
            lambda differences: combine_outcomes(_negate(outcome) for outcome in _exceed_limit(differences)),
            True,
        ),
        (
            "C4.5 is better without and with noise, and loses less",
            "car iris pima zoo monk-2",
            _require_signs(acc0=1, acc10=1, rla=-1),
            False,
        ),
        (
            "C4.5 gains accuracy under noise, the SVM loses accuracy, and both measures prefer C4.5",
            "cleveland ecoli hayes-roth",
            _require_signs(rla_c45=-1, rla_svm=1, rla=-1, ela=-1),
            False,
        ),
        (
            "The SVM is better without noise and worse with it",
            "ionosphere segment spambase wdbc",
            _require_signs(acc0=-1, acc10=1),
            False,
        ),
        (
            "One or both gain accuracy under noise; ELA prefers the SVM, RLA prefers C4.5",
            "balance sonar flare lymphography",
            _prefer_svm_by_ela,
            False,
        ),
        ("Both gain accuracy under noise", "flare lymphography", _require_signs(rla_c45=-1, rla_svm=-1), False),
        (
            "The SVM is better without noise and loses more; ELA prefers the SVM, RLA prefers C4.5",
            "vehicle ring newthyroid vowel magic yeast glass",
            _require_signs(acc0=-1, ela=1, rla=-1),
            False,
        ),
        (
            "C4.5 is better without noise and loses more; ELA prefers C4.5, RLA prefers the SVM",
            "german contraceptive",
            _require_signs(acc0=1, ela=-1, rla=1),
            False,
        ),
        (
            "The SVM stays below 50 % without noise",
            "contraceptive",
            lambda differences: _negate(differences["acc0_svm"].subtract(50).is_positive),
            False,
        ),
    )
)


def _judge_statement(statement: Statement, differences: Mapping[str, Mapping[str, Differences]]) -> Claim:
    """Judge a statement on its data sets; a data set that was not run leaves it inconclusive."""
    text = f"{statement.text}: {', '.join(statement.datasets)}"
    ours = statement.judge(differences[OURS])
    if not ours:
        return Claim(text, None, "none of these data sets was run at this scale")
    details = []
    for version, by_dataset in differences.items():
        outcomes = statement.judge({name: by_dataset[name] for name in ours if name in by_dataset})
        details.append(f"{version} {_format_outcomes(outcomes, named=version in (OURS, PAPER))}")
    reproduced = combine_outcomes(ours.get(name) for name in statement.datasets)
    n_run = f"{len(ours)} of {format_count(len(statement.datasets), 'data set')} run"
    return Claim(text, reproduced, f"{n_run}: {'; '.join(details)}")


def _format_outcomes(outcomes: Mapping[str, bool | None], *, named: bool) -> str:
    """
    >>> _format_outcomes({"iris": True, "wine": None, "car": False, "zoo": None}, named=True)
    '1 reproduced, 1 contradicted (car), 2 inconclusive (wine, zoo)'
    """
    parts = []
    for reproduced, label in OUTCOMES.items():
        names = [name for name, outcome in outcomes.items() if outcome is reproduced]
        parts.append(f"{len(names)} {label}" + (f" ({', '.join(names)})" if named and names and not reproduced else ""))
    return ", ".join(parts)


def find_contradictions(table: Table3, *, limited: bool = False) -> dict[str, list[str]]:
    """Find the statements that a table contradicts, by data set, if its numbers are taken as exact.

    With `limited`, judge only the statements with a rule that uses our `LOSS_LIMIT`; by default, judge the others.
    """
    differences = read_exact_differences(table)
    contradictions = {
        statement.text: [name for name, outcome in statement.judge(differences).items() if outcome is False]
        for statement in STATEMENTS
        if statement.limited is limited
    }
    return {text: names for text, names in contradictions.items() if names}


def estimate_differences(results: Results) -> dict[str, dict[str, Differences]]:
    """Estimate the differences between C4.5 and the SVM by data set, for each version of table 3 and for the paper's.

    Learners are paired by split. The intervals are corrected for overlapping training sets (Nadeau & Bengio 2003); those of
    RLA and ELA use the delta method. Data sets on which a learner failed are left out. The paper's numbers are taken as exact.
    """
    from fairtrial.study.results.stacking import compute_test_fraction

    differences: dict[str, dict[str, Differences]] = {}
    for version, (noise, svm) in VERSIONS.items():
        accuracies = _pair_accuracies(results, noise, svm)
        by_dataset = differences[version] = {}
        for name in dict.fromkeys(accuracies.index.get_level_values("dataset")):
            rows = accuracies.loc[[name]]
            splits = [(int(repeat), int(fold)) for _, repeat, fold in rows.index]
            by_dataset[str(name)] = compute_differences(rows, compute_test_fraction(results.archive, str(name), splits))
    return differences | {PAPER: read_exact_differences(Table3.published())}


def _pair_accuracies(results: Results, noise: str, svm: str) -> pd.DataFrame:
    """Return the splits (data set, repeat, fold) with all four accuracies: both learners, without and with noise."""
    from fairtrial.study.results.stacking import keep_shared_splits

    scores = keep_shared_splits(results.scores("accuracy"))
    selected = scores[scores["condition"].isin(["clean", noise]) & scores["learner"].isin([C45, svm])]
    learner = selected["learner"].astype(object).map({C45: "c45", svm: "svm"})
    quantity = selected["condition"].astype(object).map({"clean": "acc0", noise: "acc10"})
    wide = selected.assign(dataset=selected["dataset"].astype(object), column=quantity + "_" + learner).pivot(
        index=["dataset", "repeat", "fold"], columns="column", values="value"
    )
    return wide.reindex(columns=["acc0_c45", "acc0_svm", "acc10_c45", "acc10_svm"]).dropna()


def compute_differences(splits: pd.DataFrame, test_fraction: float) -> Differences:
    """Compute the differences on one data set from the four accuracies of each split.

    >>> import pandas as pd
    >>> c45, svm = [0.9, 0.8, 0.7], [0.8, 0.6, 0.6]
    >>> splits = pd.DataFrame({"acc0_c45": c45, "acc0_svm": svm, "acc10_c45": c45, "acc10_svm": svm})
    >>> compute_differences(splits, 0.2)["acc0"].format("{:.1f}")
    '13.3 (-5.6 to 32.3)'
    """
    values = {str(name): splits[name].to_numpy(dtype=np.float64) for name in splits.columns}
    numbers = {name: 100 * (values[f"{name}_c45"] - values[f"{name}_svm"]) for name in ("acc0", "acc10")}
    numbers["acc0_svm"] = 100 * values["acc0_svm"]
    for learner in ("c45", "svm"):
        numbers[f"rla_{learner}"] = _linearize_loss(values[f"acc0_{learner}"], values[f"acc10_{learner}"], 0.0)
    numbers["rla"] = numbers["rla_c45"] - numbers["rla_svm"]
    ela = [_linearize_loss(values[f"acc0_{learner}"], values[f"acc10_{learner}"], 1.0) for learner in ("c45", "svm")]
    numbers["ela"] = ela[0] - ela[1]
    return {name: _estimate_split_mean(array, test_fraction) for name, array in numbers.items()}


def _linearize_loss(before: Any, after: Any, maximum: float) -> Any:
    """Compute a loss from the mean accuracies, plus the first-order contribution of each split.

    ELA is (1 - after) / before (maximum = 1); RLA is 1 - after / before (maximum = 0).
    """
    start, end = float(before.mean()), float(after.mean())
    if start == 0:
        return np.full(len(before), np.nan)
    quotient = (maximum - end) / start
    return quotient + (1 - maximum) - ((after - end) + quotient * (before - start)) / start


def _estimate_split_mean(values: Any, test_fraction: float) -> IntervalEstimate:
    """Estimate the mean over splits; the interval is unknown if the splits do not vary."""
    from fairtrial.study.results.stacking import compute_half_width

    mean = float(values.mean())
    varies = len(values) > 1 and np.ptp(values) > 1e-12
    half = compute_half_width(values, test_fraction, ALPHA) if varies else float("nan")
    return IntervalEstimate(mean, mean - half, mean + half, len(values) - 1)


def read_exact_differences(table: Table3) -> dict[str, Differences]:
    """Return the differences on each data set of a table; its numbers are taken as exact."""
    differences: dict[str, Differences] = {}
    for name, row in table.frame.iterrows():
        values = {quantity: row[f"{quantity}_c45"] - row[f"{quantity}_svm"] for quantity in ("acc0", "acc10", "ela", "rla")}
        values |= {column: row[column] for column in ("acc0_svm", "rla_c45", "rla_svm")}
        differences[str(name)] = {column: IntervalEstimate(*[float(value)] * 3) for column, value in values.items()}
    return differences
