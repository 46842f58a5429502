"""Judge the paper's claims about its table 3, and our targets for agreement with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_count, format_p_value, join_names
from fairtrial.reproduce.claim import (
    CONTRADICTED,
    DIRECTION,
    INCONCLUSIVE,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    combine_estimates,
    combine_verdicts,
    estimate_mean,
    judge_datasets,
    judge_direction,
    judge_equivalence,
    judge_fact,
)
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
    select_differences,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

CLOSE, CLOSE_FRACTION, CLOSE_ELA = 1.5, 26 / 32, 0.02  # our targets: points, proportion of data sets, margin of ELA
LOSS_LIMIT = 0.02  # separates 'remarkable' from 'very low' losses, for which the paper gives no number
SIMILAR_LOSS = 0.03  # margin of 'similar' losses; the paper's own losses on autos and wine differ by 0.023 and 0.013

RUNS = {"": OURS, "votes": "ours, votes", "any class": "ours, any class"}
"""The main run and its variants: the SVM with votes, and noise that can assign any class."""
VARIANTS = tuple(name for name in RUNS if name)

# Estimates for one data set: acc0, acc10, ela and rla (C4.5 - SVM), acc0_svm, rla_c45, rla_svm; accuracies in percent.
Differences = Mapping[str, IntervalEstimate]
_QUANTITY_NAMES = {
    "acc0": "accuracy without noise, C4.5 - SVM",
    "acc10": "accuracy with noise, C4.5 - SVM",
    "ela": "ELA, C4.5 - SVM",
    "rla": "RLA, C4.5 - SVM",
    "acc0_svm": "accuracy of the SVM without noise",
    "rla_c45": "RLA of C4.5",
    "rla_svm": "RLA of the SVM",
}


def judge_claims(cells: TableCells, differences: Mapping[str, Mapping[str, Differences]]) -> tuple[Claim, ...]:
    """Judge the paper's claims about averages, counts and named data sets, then our targets.

    The main run uses the noise that the paper's text describes, and the SVM with logistic models. Its variants are the SVM
    with votes and noise that can assign any class. `differences` is the result of `estimate_differences`.
    """
    versions = cells.build_versions()
    if not len(versions[OURS]):
        return ()
    return (
        _judge_mean(versions, "Mean accuracy without noise: the SVM is better than C4.5", "acc0", -1),
        _judge_mean(versions, "Mean accuracy at 10 % noise: C4.5 is better than the SVM", "acc10", 1),
        _judge_mean(versions, "Mean RLA: C4.5 is more robust than the SVM", "rla", -1),
        _judge_mean(versions, "Mean ELA: C4.5 behaves better under noise than the SVM", "ela", -1),
        _judge_count(versions, "Without noise, the SVM is best on more data sets (20 of 32)", "acc0", c45_ahead=False),
        _judge_change(versions, "With noise, C4.5 is best on more data sets than without (16 instead of 12)", "acc0", "acc10"),
        _judge_count(versions, "By RLA, C4.5 is best on more data sets (23 of 32)", "rla", c45_ahead=True),
        _judge_change(versions, "C4.5 is best on fewer data sets by ELA (16) than by RLA (23)", "ela", "rla"),
        *(_judge_statement(statement, differences) for statement in STATEMENTS),
        _judge_preferences(versions),
        *_judge_targets(cells),
    )


def _judge_mean(versions: Mapping[str, Table3], text: str, quantity: str, sign: int) -> Claim:
    """Judge the sign of the mean difference C4.5 - SVM by its t interval."""
    digits = 2 if quantity.startswith("acc") else 4
    differences = {version: table.estimate_difference(quantity) for version, table in versions.items()}
    ours = versions[OURS].frame
    means = [f"{ours[f'{quantity}_{learner}'].mean():.{digits}f}" for learner in ("c45", "svm")]
    listed = {version: differences[version].format(f"{{:+.{digits}f}}") for version in (*RUNS.values(), PAPER)}
    details = f"C4.5 {means[0]}, SVM {means[1]}; difference: {_join_versions(listed)}"
    return _build_claim(text, lambda version: judge_direction([_orient(differences[version], sign)]), details)


def _judge_count(versions: Mapping[str, Table3], text: str, quantity: str, *, c45_ahead: bool) -> Claim:
    """Judge by the exact interval which learner is better on more data sets."""
    counts = {version: table.count_c45_wins(quantity) for version, table in versions.items()}
    listed = {
        version: f"{counts[version].wins} to {counts[version].losses} ({format_p_value(counts[version].p_value, ALPHA)})"
        for version in (*RUNS.values(), PAPER)
    }
    sign = 1 if c45_ahead else -1
    return _build_claim(
        text,
        lambda version: judge_direction([_orient(counts[version].estimate_excess(), sign)]),
        f"C4.5 to SVM, without ties: {_join_versions(listed)}",
    )


def _judge_change(versions: Mapping[str, Table3], text: str, fewer: str, more: str) -> Claim:
    """Judge whether C4.5 is best on more data sets by one quantity than by another.

    Data sets on which both quantities have the same winner do not count.
    """
    listed, counts = {}, {}
    for version in (*RUNS.values(), PAPER):
        before, after = (versions[version].find_preferred(quantity).eq("C4.5").astype(float) for quantity in (fewer, more))
        count = counts[version] = WinCount.of(after, before)
        listed[version] = (
            f"{before.sum():.0f} and {after.sum():.0f} "
            f"({count.wins} gained, {count.losses} lost, {format_p_value(count.p_value, ALPHA)})"
        )
    return _build_claim(
        text,
        lambda version: judge_direction([counts[version].estimate_excess()]),
        f"data sets (of {len(versions[OURS])}) on which C4.5 is best: {_join_versions(listed)}",
    )


def _judge_preferences(versions: Mapping[str, Table3]) -> Claim:
    """Judge whether ELA, if it disagrees with RLA, prefers the more accurate learner.

    This follows from ELA = RLA + (100 - A0) / A0, where A0 is the accuracy without noise in percent.
    """
    counts = {}
    for version in RUNS.values():
        preferences = versions[version].compare_preferences()
        different = preferences[preferences["differ"]]
        n_agree = int((versions[version].find_preferred("acc0")[different.index] == different["ELA"]).sum())
        counts[version] = (n_agree, len(different))
    n_agree, n = counts[OURS]
    return _build_claim(
        "If ELA and RLA prefer different learners, ELA prefers the learner that is better without noise",
        lambda version: judge_fact(counts[version][0] == counts[version][1]) if counts[version][1] else NOT_TESTABLE,
        f"true on {n_agree} of {format_count(n, 'such data set')}; this follows from the definitions",
    )


def _build_claim(text: str, judge: Callable[[str], Verdict], details: str) -> Claim:
    """Judge a claim by the main run and by its variants.

    `judge` takes the name of a version of table 3.
    """
    return build_claim(text, lambda run: judge(RUNS[run]), details, variants=VARIANTS)


def _orient(estimate: IntervalEstimate, sign: int) -> IntervalEstimate:
    return estimate if sign > 0 else -estimate


def _join_versions(details: Mapping[str, str]) -> str:
    """
    >>> _join_versions({"ours": "1 and 2", "ours, votes": "2 and 2", "paper": "3 and 4"})
    '1 and 2; votes 2 and 2; paper 3 and 4'
    """
    return "; ".join(f"{version.removeprefix(OURS).removeprefix(', ')} {text}".strip() for version, text in details.items())


@dataclass(frozen=True)
class StatementPart:
    """A quantity that a statement claims to be above, below or equal to a limit.

    Attributes
    ----------
    quantity : str
        Key of `Differences`.
    sign : int
        1 if the quantity is above the limit, -1 if it is below.
    limit : float, default 0
        The limit.
    opposite : tuple of str, default ()
        Data sets on which the sign is the opposite.
    margin : float, optional
        If given, the quantity is claimed to be equal to the limit up to this margin.
    """

    quantity: str
    sign: int = 1
    limit: float = 0.0
    opposite: tuple[str, ...] = ()
    margin: float | None = None

    def orient(self, name: str, differences: Differences) -> IntervalEstimate:
        """Return the estimate, with positive values if it supports the statement."""
        estimate = differences[self.quantity].subtract(self.limit)
        return _orient(estimate, -self.sign if name in self.opposite else self.sign)

    def judge(self, differences: Mapping[str, Differences]) -> Verdict:
        """Judge this part by one test of the mean over the data sets, or by equivalence tests."""
        estimates = [self.orient(name, by_name) for name, by_name in differences.items()]
        return judge_datasets(estimates) if self.margin is None else judge_equivalence(estimates, self.margin)

    def is_opposed(self, name: str, differences: Differences) -> bool:
        """Return whether the estimate for a data set contradicts the statement."""
        value = self.orient(name, differences).value
        return value < 0 if self.margin is None else abs(value) > self.margin

    def format(self, differences: Mapping[str, Differences]) -> str:
        """Format the mean over the data sets, or each value if equality is claimed."""
        pattern = "{:+.4f}" if self.quantity.startswith(("rla", "ela")) else "{:.2f}" if self.limit else "{:+.2f}"
        if self.margin is not None:
            values = join_names(f"{name} {by_name[self.quantity].format(pattern)}" for name, by_name in differences.items())
            return f"{_QUANTITY_NAMES[self.quantity]}: {values}"
        mean = combine_estimates(by_name[self.quantity] for by_name in differences.values())
        if not self.opposite:
            return f"{_QUANTITY_NAMES[self.quantity]} {mean.format(pattern)}"
        oriented = combine_estimates(self.orient(name, by_name) for name, by_name in differences.items())
        return f"{self.quantity.upper()}, difference in favour of this learner {oriented.format(pattern)}"


@dataclass(frozen=True)
class Statement:
    """A statement of the paper about named data sets.

    `limited` is True if a part uses our `LOSS_LIMIT` or `SIMILAR_LOSS`.
    """

    text: str
    datasets: tuple[str, ...]
    parts: tuple[StatementPart, ...]
    limited: bool = False

    def select(self, differences: Mapping[str, Differences]) -> dict[str, Differences]:
        """Select the data sets of this statement that were run."""
        return {name: differences[name] for name in self.datasets if name in differences}

    def judge(self, differences: Mapping[str, Differences]) -> Verdict:
        """Judge the statement.

        The statement is not testable if none of its data sets was run. It is inconclusive if only some of them were run.
        """
        selected = self.select(differences)
        if not selected:
            return NOT_TESTABLE
        if len(selected) < len(self.datasets):
            return INCONCLUSIVE
        return combine_verdicts(part.judge(selected) for part in self.parts)

    def find_opposed(self, differences: Mapping[str, Differences]) -> list[str]:
        """Find the data sets with an estimate that contradicts the statement."""
        selected = self.select(differences)
        return [name for name in selected if any(part.is_opposed(name, selected[name]) for part in self.parts)]


def _require(**signs: int) -> tuple[StatementPart, ...]:
    return tuple(StatementPart(quantity, sign) for quantity, sign in signs.items())


def _compare_losses(sign: int) -> tuple[StatementPart, ...]:
    return tuple(StatementPart(quantity, sign, LOSS_LIMIT) for quantity in ("rla_c45", "rla_svm"))


_FIRST = "autos wine banana dermatology heart phoneme twonorm"
_LIMIT = f"{100 * LOSS_LIMIT:g} %"
STATEMENTS = tuple(
    Statement(text, tuple(names.split()), parts, limited)
    for text, names, parts, limited in (
        ("The SVM is better without and with noise", _FIRST, _require(acc0=-1, acc10=-1), False),
        (
            "ELA and RLA prefer the same learner, which is the SVM except on autos in table 3",
            _FIRST,
            tuple(StatementPart(quantity, 1, opposite=("autos",)) for quantity in ("ela", "rla")),
            False,
        ),
        (f"Both lose accuracy remarkably (judged as: more than {_LIMIT})", "autos wine", _compare_losses(1), True),
        (
            f"Their losses are similar (judged as: RLA differs by at most {SIMILAR_LOSS:g})",
            "autos wine",
            (StatementPart("rla", margin=SIMILAR_LOSS),),
            True,
        ),
        (
            f"Both lose very little accuracy (judged as: less than {_LIMIT})",
            "banana dermatology heart phoneme twonorm",
            _compare_losses(-1),
            True,
        ),
        (
            "C4.5 is better without and with noise, and loses less",
            "car iris pima zoo monk-2",
            _require(acc0=1, acc10=1, rla=-1),
            False,
        ),
        (
            "C4.5 gains accuracy under noise, the SVM loses accuracy, and both measures prefer C4.5",
            "cleveland ecoli hayes-roth",
            _require(rla_c45=-1, rla_svm=1, rla=-1, ela=-1),
            False,
        ),
        (
            "The SVM is better without noise and worse with it",
            "ionosphere segment spambase wdbc",
            _require(acc0=-1, acc10=1),
            False,
        ),
        (
            "C4.5 gains accuracy under noise; ELA prefers the SVM, RLA prefers C4.5",
            "balance sonar flare lymphography",
            _require(rla_c45=-1, ela=1, rla=-1),
            False,
        ),
        ("Both gain accuracy under noise", "flare lymphography", _require(rla_c45=-1, rla_svm=-1), False),
        (
            "The SVM is better without noise and loses more; ELA prefers the SVM, RLA prefers C4.5",
            "vehicle ring newthyroid vowel magic yeast glass",
            _require(acc0=-1, ela=1, rla=-1),
            False,
        ),
        (
            "C4.5 is better without noise and loses more; ELA prefers C4.5, RLA prefers the SVM",
            "german contraceptive",
            _require(acc0=1, ela=-1, rla=1),
            False,
        ),
        ("The SVM stays below 50 % without noise", "contraceptive", (StatementPart("acc0_svm", -1, 50),), False),
    )
)


def _judge_statement(statement: Statement, differences: Mapping[str, Mapping[str, Differences]]) -> Claim:
    text = f"{statement.text}: {', '.join(statement.datasets)}"
    ours = statement.select(differences[OURS])
    if not ours:
        return Claim(text, NOT_TESTABLE, "none of these data sets was run at this scale")
    details = "; ".join(part.format(ours) for part in statement.parts)
    if len(ours) > 1 and any(part.margin is None for part in statement.parts):
        details = f"means: {details}"
    if len(ours) < len(statement.datasets):
        details = f"{len(ours)} of {format_count(len(statement.datasets), 'data set')} run; {details}"
    for source, by_dataset in (
        ("our estimates contradict it", ours),
        ("the paper's table 3 contradicts it", statement.select(differences[PAPER])),
    ):
        opposed = statement.find_opposed(by_dataset)
        if opposed:
            details += f"; {source} on {', '.join(opposed)}"
    return _build_claim(text, lambda version: statement.judge(differences[version]), details)


def find_contradictions(table: Table3, *, limited: bool = False) -> dict[str, list[str]]:
    """Find the statements that a table contradicts on at least one data set.

    The numbers of the table are taken as exact. If `limited` is True, check only the statements that need our `LOSS_LIMIT` or
    `SIMILAR_LOSS`. By default, check only the other statements.
    """
    differences = read_exact_differences(table)
    opposed = {statement.text: statement.find_opposed(differences) for statement in STATEMENTS if statement.limited is limited}
    return {text: names for text, names in opposed.items() if names}


def _judge_targets(cells: TableCells) -> tuple[Claim, ...]:
    """Judge our targets by equivalence tests of the differences from the paper."""
    comparison = cells.compare(OTHER_CLASS)
    c45 = select_differences(comparison, C45, CLEAN)
    rows = c45[["difference", "low", "high"]].itertuples(index=False, name=None)
    verdicts = [judge_equivalence([IntervalEstimate(*row)], CLOSE) for row in rows]
    far = c45[c45["difference"].abs() > CLOSE]
    names = join_names(f"{name} {value:+.2f}" for name, value in zip(far["dataset"], far["difference"], strict=True))
    n_needed = ceil(CLOSE_FRACTION * len(c45))
    mean_ela = {
        run: estimate_mean(select_differences(cells.compare(noise), C45, ELA)["difference"])
        for run, noise in (("", OTHER_CLASS), ("any class", ANY_CLASS))
    }
    return (
        Claim(
            f"C4.5 without noise is within {CLOSE} points of the paper on at least {n_needed} of "
            f"{format_count(len(c45), 'data set')}",
            judge_most(verdicts, n_needed),
            f"our mean is within {CLOSE} points on {len(c45) - len(far)} of {format_count(len(c45), 'data set')}"
            + (f" (not on {names})" if names else "")
            + f"; equivalence is significant on {verdicts.count(REPRODUCED)}, a larger difference on "
            f"{verdicts.count(CONTRADICTED)}",
            kind="target",
        ),
        build_claim(
            f"The mean ELA of C4.5 is within {CLOSE_ELA} of the paper's",
            lambda run: judge_equivalence([mean_ela[run]], CLOSE_ELA),
            f"difference {mean_ela[''].format()}; any class {mean_ela['any class'].format()}",
            kind="target",
            variants=["any class"],
        ),
    )


def judge_most(verdicts: Sequence[Verdict], n_needed: int) -> Verdict:
    """Judge from several verdicts whether at least `n_needed` statements are true.

    >>> judge_most(["reproduced", "direction reproduced", "contradicted"], 1)
    'reproduced'
    >>> judge_most(["reproduced", "direction reproduced", "contradicted"], 2)
    'direction reproduced'
    >>> judge_most(["reproduced", "inconclusive", "contradicted"], 2), judge_most(["reproduced", "contradicted"], 2)
    ('inconclusive', 'contradicted')
    """
    if not verdicts:
        return NOT_TESTABLE
    n_reproduced, n_direction = verdicts.count(REPRODUCED), verdicts.count(DIRECTION)
    if n_reproduced >= n_needed:
        return REPRODUCED
    if n_reproduced + n_direction >= n_needed:
        return DIRECTION
    return CONTRADICTED if len(verdicts) - verdicts.count(CONTRADICTED) < n_needed else INCONCLUSIVE


def estimate_differences(results: Results) -> dict[str, dict[str, Differences]]:
    """Estimate the differences between C4.5 and the SVM by version and data set.

    Learners are paired by split. The intervals are corrected for overlapping training sets (Nadeau & Bengio 2003). Intervals
    of RLA and ELA use the delta method. Data sets on which a learner failed are left out. The paper's numbers are taken as
    exact.
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
    """Return the splits with all accuracies of both learners, without and with noise."""
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
    """Return the loss, linearized around the mean accuracies, for each split.

    ELA is (1 - after) / before, with `maximum` = 1. RLA is 1 - after / before, with `maximum` = 0.
    """
    start, end = float(before.mean()), float(after.mean())
    if start == 0:
        return np.full(len(before), np.nan)
    quotient = (maximum - end) / start
    return quotient + (1 - maximum) - ((after - end) + quotient * (before - start)) / start


def _estimate_split_mean(values: Any, test_fraction: float) -> IntervalEstimate:
    """Estimate the mean over splits.

    The limits are NaN if the splits do not vary.
    """
    from fairtrial.study.results.stacking import compute_half_width

    mean = float(values.mean())
    varies = len(values) > 1 and np.ptp(values) > 1e-12
    half = compute_half_width(values, test_fraction, ALPHA) if varies else float("nan")
    return IntervalEstimate(mean, mean - half, mean + half, len(values) - 1)


def read_exact_differences(table: Table3) -> dict[str, Differences]:
    """Return the differences on each data set of a table whose numbers are taken as exact."""
    differences: dict[str, Differences] = {}
    for name, row in table.frame.iterrows():
        values = {quantity: row[f"{quantity}_c45"] - row[f"{quantity}_svm"] for quantity in ("acc0", "acc10", "ela", "rla")}
        values |= {column: row[column] for column in ("acc0_svm", "rla_c45", "rla_svm")}
        differences[str(name)] = {column: IntervalEstimate(*[float(value)] * 3) for column, value in values.items()}
    return differences
