"""Table 3 of the paper: accuracy, ELA and RLA by data set and learner, ours and published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

C45, SVM_VOTES, SVM_LOGISTIC = LEARNERS = ("c45", "puk-svc", "puk-svc-logistic")
LEARNER_LABELS = {C45: "C4.5", SVM_LOGISTIC: "the SVM with logistic models", SVM_VOTES: "the SVM with votes"}

# The new label of a selected row is another class, as the paper's text says, or any class, including the original one.
OTHER_CLASS, ANY_CLASS = "class-noise", "class-noise-any"
NOISE_LABELS = {OTHER_CLASS: "another class, as the text says", ANY_CLASS: "any class"}

CLEAN, NOISY, ELA, RLA = "accuracy at 0 %", "accuracy at 10 %", "ELA", "RLA"
QUANTITIES = {CLEAN: "acc0", NOISY: "acc10", ELA: "ela", RLA: "rla"}  # display names, and names in the columns of table 3
_DIGITS = {CLEAN: 2, NOISY: 2, ELA: 4, RLA: 4}

# Versions of table 3, which differ in the SVM and the noise. Claims are judged by the first.
PAPER, OURS = "paper", "ours"
VERSIONS = {
    OURS: (OTHER_CLASS, SVM_LOGISTIC),
    "ours, votes": (OTHER_CLASS, SVM_VOTES),
    "ours, any class": (ANY_CLASS, SVM_LOGISTIC),
    "ours, votes, any class": (ANY_CLASS, SVM_VOTES),
}

ALPHA = 0.05
_KEYS = ["dataset", "learner", "quantity"]


@dataclass(frozen=True)
class WinCount:
    """Wins and losses of one learner over data sets, with the exact sign test."""

    wins: int
    losses: int
    p_value: float

    @classmethod
    def of(cls, first: pd.Series[float], second: pd.Series[float]) -> WinCount:
        """Count the data sets on which the first value is larger and those on which it is smaller.

        Ties are left out.

        >>> import pandas as pd
        >>> WinCount.of(pd.Series([1.0] * 9 + [0.0]), pd.Series([0.5] * 10))
        WinCount(wins=9, losses=1, p_value=0.021484375)
        >>> WinCount.of(pd.Series([1.0, 1.0]), pd.Series([0.0, 1.0]))
        WinCount(wins=1, losses=0, p_value=1.0)
        """
        from fairtrial.significance import sign_test

        wins, losses = int((first > second).sum()), int((first < second).sum())
        return cls(wins, losses, float(sign_test(first, second).p_value) if wins + losses else 1.0)

    @property
    def is_ahead(self) -> bool | None:
        """Whether there are more wins than losses; None if the difference is not significant."""
        return (self.wins > self.losses) if self.p_value < ALPHA else None

    def estimate_excess(self) -> IntervalEstimate:
        """Estimate by how much the proportion of wins exceeds 1/2.

        The Clopper-Pearson limits agree with the sign test.

        >>> WinCount(9, 1, 0.0215).estimate_excess().format("{:.3f}")
        '0.400 (0.055 to 0.497)'
        >>> WinCount(0, 0, 1.0).estimate_excess().format("{:.1f}")
        '0.0 (-0.5 to 0.5)'
        """
        from fairtrial.measures.intervals import compute_clopper_pearson_limits

        n = self.wins + self.losses
        if not n:
            return IntervalEstimate(0.0, -0.5, 0.5)
        low, high = compute_clopper_pearson_limits(self.wins, n, 1 - ALPHA)
        return IntervalEstimate(self.wins / n, low, high).subtract(0.5)


@dataclass(frozen=True, eq=False)
class Table3:
    """A table in the form of the paper's table 3, with one row per data set.

    The methods take one of the quantities `acc0`, `acc10`, `ela` and `rla`.
    """

    frame: pd.DataFrame

    @classmethod
    def published(cls) -> Table3:
        """Read the paper's table 3."""
        return cls(read_published("ela_table3").set_index("dataset"))

    def __len__(self) -> int:
        return len(self.frame)

    def estimate_difference(self, quantity: str) -> IntervalEstimate:
        """Estimate the mean difference C4.5 - SVM over the data sets."""
        return estimate_mean(self.frame[f"{quantity}_c45"] - self.frame[f"{quantity}_svm"])

    def count_c45_wins(self, quantity: str) -> WinCount:
        """Count the data sets on which C4.5 is better or worse than the SVM."""
        c45, svm = self.frame[f"{quantity}_c45"], self.frame[f"{quantity}_svm"]
        return WinCount.of(c45, svm) if quantity.startswith("acc") else WinCount.of(svm, c45)

    def find_preferred(self, quantity: str) -> pd.Series[str]:
        """Return the better learner on each data set.

        As in the paper, a tie counts for C4.5.

        >>> import pandas as pd
        >>> Table3(pd.DataFrame({"ela_c45": [0.3, 0.1], "ela_svm": [0.2, 0.1]})).find_preferred("ela").tolist()
        ['SVM', 'C4.5']
        """
        difference = self.frame[f"{quantity}_svm"] - self.frame[f"{quantity}_c45"]
        return ((difference if quantity.startswith("acc") else -difference) > 0).map({True: "SVM", False: "C4.5"})

    def compare_preferences(self) -> pd.DataFrame:
        """Return the learners that ELA and RLA prefer on each data set, and whether the two differ.

        >>> import pandas as pd
        >>> row = {"ela_c45": [0.28], "ela_svm": [0.21], "rla_c45": [-0.01], "rla_svm": [0.09]}
        >>> Table3(pd.DataFrame(row, index=["balance"])).compare_preferences().to_dict("list")
        {'ELA': ['SVM'], 'RLA': ['C4.5'], 'differ': [True]}
        """
        import pandas as pd

        ela, rla = self.find_preferred("ela"), self.find_preferred("rla")
        return pd.DataFrame({"ELA": ela, "RLA": rla, "differ": ela != rla})


@dataclass(frozen=True, eq=False)
class TableCells:
    """Our numbers and their limits by data set, learner, quantity and kind of noise."""

    other_class: pd.DataFrame
    any_class: pd.DataFrame

    @classmethod
    def from_results(cls, results: Results) -> TableCells:
        """Compute accuracies in percent, ELA and RLA with intervals.

        Failed learners have no row.
        """
        return cls(*(_compute_cells(results, noise) for noise in (OTHER_CLASS, ANY_CLASS)))

    def compare(self, noise: str) -> pd.DataFrame:
        """Join our numbers under this kind of noise with the published ones."""
        ours = self.other_class if noise == OTHER_CLASS else self.any_class
        published = read_published_cells()
        return compare_with_published(ours, published[published["dataset"].isin(ours["dataset"])], _KEYS)

    def build_versions(self) -> dict[str, Table3]:
        """Build our versions of table 3 and the paper's, all for the same data sets."""
        versions = {
            name: _pivot_cells(self.other_class if noise == OTHER_CLASS else self.any_class, svm)
            for name, (noise, svm) in VERSIONS.items()
        } | {PAPER: Table3.published().frame}
        shared = [name for name in versions[OURS].index if all(name in frame.index for frame in versions.values())]
        return {name: Table3(frame.loc[shared]) for name, frame in versions.items()}


def _compute_cells(results: Results, noise: str) -> pd.DataFrame:
    import pandas as pd

    from fairtrial.report.means import compute_level_means

    conditions = [condition for condition in results.archive.conditions if condition.name in ("clean", noise)]
    names = [dataset.name for dataset in results.archive.datasets]
    accuracies = pd.concat(
        [compute_level_means(results, conditions, dataset=name).assign(dataset=name) for name in names], ignore_index=True
    )
    accuracies["quantity"] = accuracies["condition"].map(lambda condition: CLEAN if condition == "clean" else NOISY)
    accuracies[["value", "low", "high"]] = 100 * accuracies[["mean", "low", "high"]]
    robustness = results.robustness(noise)
    losses = [
        robustness.rename(columns={name: "value", f"{name}_low": "low", f"{name}_high": "high"}).assign(quantity=quantity)
        for quantity, name in ((ELA, "ela"), (RLA, "rla"))
    ]
    columns = [*_KEYS, "value", "low", "high"]
    cells = pd.concat([part[columns].astype({"dataset": "object", "learner": "object"}) for part in (accuracies, *losses)])
    return cells[cells["value"].notna()].reset_index(drop=True)


def read_published_cells() -> pd.DataFrame:
    """Read the paper's table 3 in long form.

    The rows of its SVM are repeated for both of our SVMs.

    >>> cells = read_published_cells()
    >>> cells[(cells["dataset"] == "car") & (cells["quantity"] == CLEAN)]["value"].tolist()
    [91.33, 64.83, 64.83]
    """
    import pandas as pd

    rows = [
        (dataset, learner, quantity, row[f"{column}_{'c45' if learner == C45 else 'svm'}"])
        for dataset, row in Table3.published().frame.iterrows()
        for learner in LEARNERS
        for quantity, column in QUANTITIES.items()
    ]
    return pd.DataFrame(rows, columns=[*_KEYS, "value"])


def _pivot_cells(cells: pd.DataFrame, svm: str) -> pd.DataFrame:
    """Arrange cells as in table 3.

    Data sets without all eight numbers are left out.
    """
    columns = {
        f"{column}_{'c45' if learner == C45 else 'svm'}": (learner, quantity)
        for quantity, column in QUANTITIES.items()
        for learner in (C45, svm)
    }
    wide = cells.pivot(index="dataset", columns=["learner", "quantity"], values="value")
    complete = wide.reindex(columns=list(columns.values())).set_axis(list(columns), axis=1).dropna()
    return complete.reindex([name for name in dict.fromkeys(cells["dataset"]) if name in complete.index])


def build_tables(cells: TableCells) -> tuple[ResultTable, ...]:
    """Build the tables that compare our version of table 3 with the paper's."""
    import pandas as pd

    comparisons = {noise: cells.compare(noise) for noise in NOISE_LABELS}
    versions, published = cells.build_versions(), Table3.published()
    averages = pd.concat(
        [tabulate_averages(comparison, NOISE_LABELS[noise]) for noise, comparison in comparisons.items()], ignore_index=True
    )
    all_numbers = pd.concat(
        [comparison.assign(noise=NOISE_LABELS[noise]) for noise, comparison in comparisons.items()], ignore_index=True
    )
    if len(published) > len(versions[PAPER]):
        decisions = tabulate_decisions({**versions, f"{PAPER}, all {len(published)} data sets": published})
    else:
        decisions = tabulate_decisions(versions)
    tables = [
        ResultTable(
            "table3",
            "Table 3: ours and the paper's",
            tabulate_beside_published(comparisons[OTHER_CLASS]),
            _MAIN_NOTE,
            is_main=True,
        ),
        ResultTable("averages", "Averages", averages, _AVERAGES_NOTE, digits=4),
        ResultTable("decided", "Significant differences of averages and counts", decisions, _DECISIONS_NOTE, digits=4),
        ResultTable("best", "Number of data sets on which each learner is best", count_best(versions), _VERSIONS_NOTE),
    ]
    disagreements = tabulate_disagreements(versions)
    if len(disagreements):
        note = f"{_VERSIONS_NOTE} On all other data sets, both measures prefer the same learner in every version."
        tables.append(
            ResultTable("differently", "Data sets on which ELA and RLA prefer different learners", disagreements, note)
        )
    return (
        *tables,
        ResultTable("differences", "All numbers, differences and intervals", all_numbers, on_page=False),
        ResultTable("noise", "Which noise did the paper add?", compare_noise(cells), _NOISE_NOTE, digits=3),
    )


_MAIN_NOTE = (
    "Each cell shows our number, followed by the paper's number in parentheses. We used the noise that the paper's text "
    "describes, and the SVM with logistic models. An asterisk marks a number whose 95 % interval does not contain the paper's "
    "number. The interval of our mean over splits is corrected for overlapping training sets. The row 'best' counts the data "
    "sets on which a learner is better; as in the paper, ties count for C4.5."
)
_AVERAGES_NOTE = (
    "The table shows means over data sets. The interval of the difference (ours - paper) is a t interval over data sets. The "
    "mean distance is the mean absolute difference. With 'another class', a selected row gets the label of another class, as "
    "the paper's text says. With 'any class', some selected rows keep their label."
)
_VERSIONS_NOTE = (
    "Ties count for C4.5. The version 'ours' uses the noise that the paper's text describes, and the SVM with logistic models. "
    "The version 'votes' uses the SVM with votes. In versions with 'any class', a selected row can keep its label."
)
_DECISIONS_NOTE = (
    "The table shows the mean of C4.5 - SVM with a 95 % t interval over data sets. It also shows the number of data sets on "
    "which each learner is better (without ties), and the exact sign test. A mean is significant if its interval does not "
    "contain 0. A count is significant if p < 0.05."
)
_NOISE_NOTE = (
    "The table compares accuracies at 10 % noise. With 'other', a selected row gets another class, as the paper's text says. "
    "With 'any', it gets any class, including its own. The bias is our mean minus the paper's, with a 95 % t interval over "
    "data sets. The distance is the mean absolute difference. The sign test compares the numbers of data sets on which each "
    "kind of noise is closer to the paper."
)


def tabulate_beside_published(comparison: pd.DataFrame) -> pd.DataFrame:
    """Tabulate our version of table 3, with the paper's numbers in parentheses.

    Numbers that differ significantly from the paper's have an asterisk. The last rows are averages and counts of best results.
    """
    import pandas as pd

    columns: dict[str, dict[str, str]] = {}
    for quantity, digits in _DIGITS.items():
        for learner, label in ((C45, "C4.5"), (SVM_LOGISTIC, "SVM")):
            rows = select_differences(comparison, learner, quantity).set_index("dataset")
            cells = columns[f"{quantity}, {label}"] = {
                str(name): f"{ours:.{digits}f}{'*' if low > 0 or high < 0 else ''} ({published:.{digits}f})"
                for name, ours, published, low, high in zip(
                    rows.index, *(rows[column] for column in ("ours", "published", "low", "high")), strict=True
                )
            }
            cells["average"] = f"{rows['ours'].mean():.{digits}f} ({rows['published'].mean():.{digits}f})"
    frame = pd.DataFrame(columns)
    complete = comparison.rename(columns={"ours": "value"})
    both = [Table3(_pivot_cells(complete.assign(value=complete[column]), SVM_LOGISTIC)) for column in ("value", "published")]
    for quantity, column in QUANTITIES.items():
        for label in ("C4.5", "SVM"):
            counts = [int((table.find_preferred(column) == label).sum()) for table in both]
            frame.loc["best", f"{quantity}, {label}"] = f"{counts[0]} ({counts[1]})"
    order = [name for name in frame.index if name not in ("average", "best")] + ["average", "best"]
    return frame.loc[order].fillna("").rename_axis("data set").reset_index()


def tabulate_averages(comparison: pd.DataFrame, noise: str) -> pd.DataFrame:
    """Tabulate our mean, the paper's mean and their difference by learner and quantity."""
    import pandas as pd

    rows = []
    for learner in LEARNERS:
        for quantity in QUANTITIES:
            selected = select_differences(comparison, learner, quantity)
            difference, distance = estimate_mean(selected["difference"]), float(selected["difference"].abs().mean())
            means = [float(selected[name].mean()) for name in ("ours", "published")]
            interval = (difference.value, difference.low, difference.high)
            rows.append((noise, learner, quantity, *means, *interval, distance, len(selected)))
    columns = ["noise", "learner", "quantity", "ours", "paper", "difference", "low", "high", "mean distance", "data sets"]
    return pd.DataFrame(rows, columns=columns)


def select_differences(comparison: pd.DataFrame, learner: str, quantity: str) -> pd.DataFrame:
    """Select the data sets for which we and the paper have a quantity of a learner."""
    selected = comparison[(comparison["learner"] == learner) & (comparison["quantity"] == quantity)]
    return selected.dropna(subset=["difference"])


def count_best(versions: Mapping[str, Table3]) -> pd.DataFrame:
    """Count the data sets on which each learner is best in each version of table 3.

    A tie counts for C4.5.
    """
    import pandas as pd

    rows = []
    for version, table in versions.items():
        for quantity, column in QUANTITIES.items():
            n_c45 = int(table.find_preferred(column).eq("C4.5").sum())
            rows.append((version, quantity, n_c45, len(table) - n_c45))
    return pd.DataFrame(rows, columns=["table", "quantity", "C4.5 best", "SVM best"])


def tabulate_disagreements(versions: Mapping[str, Table3]) -> pd.DataFrame:
    """Tabulate the data sets on which ELA and RLA prefer different learners."""
    import pandas as pd

    preferences = {version: table.compare_preferences() for version, table in versions.items()}
    names = [name for name in preferences[OURS].index if any(frame["differ"][name] for frame in preferences.values())]
    columns = {
        version: [
            f"ELA {ela}, RLA {rla}" if differ else f"both {ela}"
            for ela, rla, differ in frame.loc[names].itertuples(index=False, name=None)
        ]
        for version, frame in preferences.items()
    }
    return pd.DataFrame({"data set": names, **columns})


def tabulate_decisions(versions: Mapping[str, Table3]) -> pd.DataFrame:
    """Tabulate mean differences, counts and significance."""
    import pandas as pd

    rows = []
    for version, table in versions.items():
        for quantity, column in QUANTITIES.items():
            mean, count = table.estimate_difference(column), table.count_c45_wins(column)
            significant = ["yes" if is_significant else "no" for is_significant in (mean.sign != 0, count.is_ahead is not None)]
            interval = (mean.value, mean.low, mean.high)
            rows.append((version, quantity, *interval, significant[0], count.wins, count.losses, count.p_value, significant[1]))
    columns = ["table", "quantity", "C4.5 - SVM", "low", "high", "mean significant"]
    return pd.DataFrame(rows, columns=[*columns, "C4.5 better", "SVM better", "p, sign test", "count significant"])


def compare_noise(cells: TableCells) -> pd.DataFrame:
    """Compare our accuracies under each kind of noise with the paper's."""
    import pandas as pd

    comparisons = {"other": cells.compare(OTHER_CLASS), "any": cells.compare(ANY_CLASS)}
    rows = []
    for learner in LEARNER_LABELS:
        differences = pd.DataFrame(
            {
                kind: select_differences(comparison, learner, NOISY).set_index("dataset")["difference"]
                for kind, comparison in comparisons.items()
            }
        ).dropna()
        if differences.empty:
            continue
        row: dict[str, Any] = {"learner": learner}
        for kind in comparisons:
            bias = estimate_mean(differences[kind])
            row |= {f"bias, {kind}": bias.value, f"low, {kind}": bias.low, f"high, {kind}": bias.high}
            row[f"distance, {kind}"] = float(differences[kind].abs().mean())
        count = WinCount.of(differences["other"].abs(), differences["any"].abs())
        p_value = count.p_value if count.wins + count.losses else float("nan")
        rows.append(row | {"any closer": count.wins, "data sets": len(differences), "p, sign test": p_value})
    return pd.DataFrame(rows)
