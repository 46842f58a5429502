"""Averages over folds and data sets, and their comparison with Tables 3 to 5."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, N_DATASETS, SCV, SHUFFLED
from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published

if TYPE_CHECKING:
    import pandas as pd

LOW, HIGH, ALL = "IR<9", "IR>9", "all"
PUBLISHED_COLUMNS = {GIVEN: "scv", SCV: "scv", LITERAL: "dobscv", SHUFFLED: "dobscv"}
_GROUP_LIMIT = 9.0  # the paper's groups; a ratio of exactly 9.00 belongs to the upper group
_DIGITS = 12  # decimal places of differences, so rounding errors do not make equal estimates differ
_INTERVAL_NOTE = (
    "The published value comes from a single run. Therefore `low` and `high` are the 95 % prediction limits for one more "
    "run like ours, minus the published value. Both limits are missing if there is only one run."
)
_EFFECTS_NOTE = (
    "`difference` is the estimate of the scheme minus that of the base, averaged over runs and data sets. The 95 % t interval "
    "is computed over families of data sets, because data sets derived from the same original are not independent. `higher` "
    "and `lower` count data sets. KEEL's folds are the same for all learners and runs. Our folds are drawn again in every run. "
    "The published differences are computed from the averages in Table 3. Published numbers are shown only if all data sets "
    "were run."
)
_AGREEMENT_NOTE = (
    "The table covers the data sets for which a row of Table 4 is available. It gives the number of these data sets, the mean "
    "difference and the mean absolute difference. The last column counts the published values within the 95 % prediction "
    "interval for one more run like ours."
)
_TABLE4_NOTE = (
    "The table shows means over runs, next to the published rows that are available to us (at most 19 data sets). For C4.5 "
    "on Yeast1458vs7, the paper prints the same SCV result as for Glass5 (.8829). This is probably an error, because the "
    "improvement printed in percent implies .5230. The data sets without a published row are in [all-sets.csv](all-sets.csv)."
)
_WILCOXON_NOTE = (
    "R+ is the sum of the ranks of data sets on which DOB-SCV is higher. Zero differences are ranked, and their ranks are "
    "divided equally between R+ and R-. If the number of zero differences is odd, one of them is dropped. The published rank "
    "sums add up to 65 x 66 / 2 or 66 x 67 / 2, so the paper did the same. R+ and R- are means over runs. The interval is the "
    "95 % prediction interval for one more run like ours, minus the published value. The p-value (normal approximation) is the "
    "median over runs. Most data sets are derived from the same few originals and are not independent, so all p-values are "
    "probably too small."
)


@dataclass(frozen=True, eq=False)
class FoldAverages:
    """Means (`auc`) and standard deviations (`sd`) of the AUC over folds.

    The frame has one row per scheme, run, data set and learner.
    """

    frame: pd.DataFrame

    @classmethod
    def from_scores(cls, scores: pd.DataFrame, imbalance: Mapping[str, float]) -> FoldAverages:
        """Average the scores of folds.

        If a learner failed on any fold of a data set, all rows of this learner and data set are dropped.
        """
        keys = ["scheme", "run", "dataset", "learner"]
        values = scores.groupby(keys, sort=False)["value"]
        summary: Any = values.agg(auc=lambda fold: fold.mean(skipna=False), sd=lambda fold: fold.std(ddof=1, skipna=False))
        frame: pd.DataFrame = summary.reset_index()
        is_failed = frame["auc"].isna().groupby([frame["dataset"], frame["learner"]]).transform("any")
        frame = frame[~is_failed].reset_index(drop=True)
        ratios = frame["dataset"].map(imbalance)
        return cls(frame.assign(imbalance=ratios, group=np.where(ratios < _GROUP_LIMIT, LOW, HIGH)))

    @property
    def n_datasets(self) -> int:
        """Number of data sets."""
        return int(self.frame["dataset"].nunique())

    @property
    def is_complete(self) -> bool:
        """Whether all data sets of the paper were run."""
        return self.n_datasets == N_DATASETS

    @property
    def bases(self) -> list[str]:
        """The stratified schemes with which DOB-SCV is compared.

        KEEL's folds come first if they were run.
        """
        return [scheme for scheme in (GIVEN, SCV) if (self.frame["scheme"] == scheme).any()]

    @property
    def dob_schemes(self) -> list[str]:
        """The kinds of DOB-SCV that were run."""
        return [scheme for scheme in (LITERAL, SHUFFLED) if (self.frame["scheme"] == scheme).any()]

    @property
    def datasets(self) -> pd.DataFrame:
        """Imbalance ratio and imbalance group of each data set."""
        return self.frame.drop_duplicates("dataset").set_index("dataset")[["imbalance", "group"]]

    def compare_runs(self, scheme: str = LITERAL, base: str | None = None) -> pd.DataFrame:
        """Subtract the estimates of the base from those of a scheme, run by run.

        The runs of different schemes are independent draws, which are paired by run number.
        """
        keys = ["run", "dataset", "learner"]
        estimates = self.frame[self.frame["scheme"] == scheme].set_index(keys)
        base_estimates = self.frame[self.frame["scheme"] == (base or self.bases[0])].set_index(keys)["auc"]
        differences = estimates[["imbalance", "group"]].assign(value=(estimates["auc"] - base_estimates).round(_DIGITS))
        differences["percent"] = 100 * differences["value"] / base_estimates
        return differences.dropna(subset=["value"]).reset_index()

    def average_runs(self, scheme: str, column: str = "auc") -> pd.DataFrame:
        """Return a scheme's means over runs, with a row per data set and a column per learner."""
        rows = self.frame[self.frame["scheme"] == scheme]
        return rows.pivot_table(index="dataset", columns="learner", values=column, sort=False)

    def compare_datasets(self, scheme: str, base: str, column: str = "auc") -> pd.DataFrame:
        """Subtract the base's means over runs from those of a scheme, by data set and learner."""
        means = self.average_runs(scheme, column)
        base_means = self.average_runs(base, column).reindex(index=means.index, columns=means.columns)
        return (means - base_means).round(_DIGITS).dropna(how="all")

    @cached_property
    def rank_sums(self) -> pd.DataFrame:
        """Wilcoxon signed-rank tests of DOB-SCV against SCV."""
        import pandas as pd

        rows = [
            (learner, scheme, base, run, *rank_differences(differences["value"]))
            for scheme in self.dob_schemes
            for base in self.bases
            for (learner, run), differences in self.compare_runs(scheme, base).groupby(["learner", "run"], sort=False)
        ]
        return pd.DataFrame(rows, columns=["learner", "scheme", "base", "run", "R+", "R-", "p", "higher", "lower"])


def rank_differences(differences: Any) -> tuple[float, float, float, int, int]:
    """Rank differences as in the paper.

    Return R+, R-, p, the number of positive differences and the number of negative differences.

    >>> rank_differences(np.array([0.3, 0.1, -0.2]))[:2]
    (4.0, 2.0)
    """
    from fairtrial.significance import wilcoxon

    values = np.asarray(differences)
    result = wilcoxon(values, np.zeros(len(values)), zeros="split", method="approximate", correction=False)
    return result.details["R+"], result.details["R-"], result.p_value, int((values > 0).sum()), int((values < 0).sum())


def estimate_effects(differences: pd.DataFrame) -> dict[str, IntervalEstimate]:
    """Estimate the mean over data sets for each learner (column).

    >>> import pandas as pd
    >>> estimate_effects(pd.DataFrame({"SMO": [0.1, 0.2, 0.4]}))["SMO"].format()
    '+0.2333 (-0.1461 to +0.6128)'
    """
    return {str(learner): estimate_family_mean(values.dropna()) for learner, values in differences.items()}


def estimate_family_mean(values: pd.Series[float]) -> IntervalEstimate:
    """Estimate the mean over data sets, with a t interval over families of data sets.

    A family consists of the data sets that are derived from one original: their names are equal up to the first digit. The
    deviations of a family from the mean are summed. If every data set is its own family, this is the usual t interval.

    >>> import pandas as pd
    >>> values = pd.Series([0.1, 0.1, 0.4, 0.4], index=["Ecoli1", "Ecoli2", "Glass1", "Glass2"])
    >>> estimate_family_mean(values).format("{:.2f}")
    '0.25 (-1.66 to 2.16)'
    """
    from scipy.stats import t

    mean = float(values.mean()) if len(values) else float("nan")
    families = [re.split(r"\d", str(name), maxsplit=1)[0] or str(name) for name in values.index]
    deviations = (values - mean).groupby(families).sum()
    count = len(deviations)
    if count < 2:
        return IntervalEstimate(mean, float("nan"), float("nan"))
    half = float(t.ppf(0.975, count - 1) * np.sqrt(count / (count - 1) * (deviations**2).sum()) / len(values))
    return IntervalEstimate(mean, mean - half, mean + half, count - 1)


def predict_single_run(runs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the mean over runs and the 95 % prediction interval for one more run.

    The half width is t sd sqrt(1 + 1 / runs). The published value comes from a single run. If the paper used the same method,
    this value lies in the interval with a probability of 95 %. If there is only one run of ours, the limits are NaN.

    >>> import pandas as pd
    >>> runs = pd.DataFrame({"learner": ["a", "a", "a"], "value": [1.0, 2.0, 3.0]})
    >>> predict_single_run(runs, ["learner"]).round(3).values.tolist()
    [['a', 2.0, -2.968, 6.968]]
    """
    from scipy.stats import t

    summary = runs.groupby(list(keys), sort=False)["value"].agg(["mean", "std", "count"]).reset_index()
    count = summary["count"].to_numpy()
    half = t.ppf(0.975, np.maximum(count - 1, 1)) * summary["std"].to_numpy() * np.sqrt(1 + 1 / count)
    means = summary[list(keys)].assign(value=summary["mean"])
    return means.assign(low=summary["mean"] - half, high=summary["mean"] + half)


def build_tables(averages: FoldAverages) -> list[ResultTable]:
    """Build the comparisons with Tables 3 to 5, and the table of mean differences."""
    return [
        build_main_table(averages),
        build_table3(averages),
        *build_table4(averages),
        build_table5(averages),
        build_effects_table(averages),
    ]


def build_main_table(averages: FoldAverages) -> ResultTable:
    """Build Table 3 with our means beside the published ones."""
    import pandas as pd

    base = averages.bases[0]
    grouped = pd.concat([averages.frame, averages.frame.assign(group=ALL)], ignore_index=True)
    means = grouped.groupby(["learner", "group", "scheme"], sort=False)[["auc", "sd"]].mean()
    by_run = averages.compare_runs(LITERAL, base)
    percent: Any = pd.concat([by_run, by_run.assign(group=ALL)]).groupby(["learner", "group"], sort=False)["percent"].mean()
    published = read_published("dobscv_table3").set_index(["learner", "group"])
    rows = []
    for learner in averages.frame["learner"].unique():
        for group in (LOW, HIGH, ALL):
            if (learner, group, base) not in means.index:
                continue
            row: dict[str, Any] = {"learner": learner, "group": group}
            for name, scheme, column in (("SCV", base, "scv"), ("DOB-SCV", LITERAL, "dobscv")):
                for label, quantity in (("", "auc"), (" SD", "sd")):
                    row[f"{name}{label}"] = means.loc[(learner, group, scheme), quantity]
                    row[f"{name}{label}, paper"] = published.loc[(learner, group), f"{quantity}_{column}"]
            row |= {"%": percent[learner, group], "%, paper": published.loc[(learner, group), "pct_diff"]}
            rows.append(row)
    table = pd.DataFrame(rows)
    folds = "KEEL's folds" if base == GIVEN else "our own folds"
    note = (
        f"SCV uses {folds}; DOB-SCV is the published algorithm. SD is the mean standard deviation over folds. % is the "
        "difference as a percentage of the SCV estimate, averaged over data sets. The paper's numbers come from a single run."
    )
    if not averages.is_complete:
        table = table.drop(columns=[column for column in table if str(column).endswith(", paper")])
        note += f" Only {averages.n_datasets} of the {N_DATASETS} data sets were run, so the published averages are left out."
    digits = {"%", "%, paper"}
    table = table.assign(**{name: table[name].map("{:+.2f}".format) for name in table if name in digits})
    return ResultTable("table-3", "Table 3: AUC by SCV and DOB-SCV", table, note, digits=4, is_main=True)


def build_table3(averages: FoldAverages) -> ResultTable:
    """Compare our averages in each imbalance group with the published ones.

    The averaged quantities are the AUC, its standard deviation over folds, and the difference in percent.
    """
    import pandas as pd

    keys = ["learner", "group", "scheme"]
    percent = pd.concat([averages.compare_runs(scheme).assign(scheme=scheme) for scheme in averages.dob_schemes])
    published = read_published("dobscv_table3")
    parts = []
    for name, frame, columns in (
        ("auc", averages.frame, {scheme: f"auc_{column}" for scheme, column in PUBLISHED_COLUMNS.items()}),
        ("sd", averages.frame, {scheme: f"sd_{column}" for scheme, column in PUBLISHED_COLUMNS.items()}),
        ("percent", percent, dict.fromkeys((LITERAL, SHUFFLED), "pct_diff")),
    ):
        grouped = pd.concat([frame, frame.assign(group=ALL)], ignore_index=True)
        runs = grouped.groupby([*keys, "run"], sort=False)[name].mean().reset_index()
        ours = predict_single_run(runs.rename(columns={name: "value"}), keys)
        theirs = _repeat_by_scheme(published, columns)
        if not averages.is_complete:
            theirs["value"] = float("nan")
        parts.append(compare_our_rows(ours, theirs, keys).assign(quantity=name))
    table = pd.concat(parts, ignore_index=True)
    table = table[["quantity", *(column for column in table if column != "quantity")]]
    return ResultTable(
        "table-3-intervals", "Table 3 with intervals, all schemes", table, _INTERVAL_NOTE, digits=4, on_page=False
    )


def _repeat_by_scheme(published: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Repeat the published rows for each scheme.

    The column `value` contains the published column that corresponds to the scheme.
    """
    import pandas as pd

    return pd.concat([published.assign(scheme=scheme, value=published[column]) for scheme, column in columns.items()])


def compare_our_rows(ours: pd.DataFrame, published: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Compare our values with the published ones.

    Rows that occur only in the paper are left out.
    """
    return compare_with_published(ours, published.merge(ours[keys], on=keys), keys)


def build_effects_table(averages: FoldAverages) -> ResultTable:
    """Tabulate the mean difference between DOB-SCV and stratified folds by learner."""
    import pandas as pd

    means = read_published("dobscv_table3").query("group == 'all'").set_index("learner")
    published = means["auc_dobscv"] - means["auc_scv"]
    rows = []
    for scheme in averages.dob_schemes:
        for base in averages.bases:
            differences = averages.compare_datasets(scheme, base)
            for learner, effect in estimate_effects(differences).items():
                values = differences[learner].dropna()
                theirs = float(published.get(learner, float("nan"))) if averages.is_complete else float("nan")
                counts = (len(values), int((values > 0).sum()), int((values < 0).sum()))
                rows.append((learner, scheme, base, effect.value, effect.low, effect.high, theirs, *counts))
    columns = ["learner", "scheme", "base", "difference", "low", "high", "published", "data sets", "higher", "lower"]
    title = "What DOB-SCV adds to the average AUC"
    return ResultTable("effects", title, pd.DataFrame(rows, columns=columns), _EFFECTS_NOTE, digits=4)


def build_table4(averages: FoldAverages) -> list[ResultTable]:
    """Build the tables by data set, and the comparison with the available rows of Table 4."""
    import pandas as pd

    keys = ["dataset", "learner", "scheme"]
    columns = {scheme: f"auc_{column}" for scheme, column in PUBLISHED_COLUMNS.items()}
    published = _repeat_by_scheme(read_published("dobscv_table4_part"), columns)
    ours = predict_single_run(averages.frame.rename(columns={"auc": "value"}), keys)
    table = compare_our_rows(ours, published, keys)
    available = table[table["published"].notna()].reset_index(drop=True)
    rows = []
    for (learner, scheme), values in available.groupby(["learner", "scheme"], sort=False):
        n_within = ((values["low"] <= 0) & (values["high"] >= 0)).sum()
        within = f"{n_within} of {len(values)}" if values["low"].notna().any() else ""
        rows.append((learner, scheme, len(values), values["difference"].mean(), values["difference"].abs().mean(), within))
    names = ["learner", "scheme", "data sets", "mean difference", "mean absolute difference", "published within interval"]
    agreement = pd.DataFrame(rows, columns=names)
    return [
        ResultTable("table-4", "Table 4: AUC by data set, ours (paper)", _format_table4(available), _TABLE4_NOTE),
        ResultTable("table-4-agreement", "Table 4: agreement with the paper", agreement, _AGREEMENT_NOTE, digits=4),
        ResultTable("table-4-intervals", "Table 4 with intervals", available, _INTERVAL_NOTE, digits=4, on_page=False),
        ResultTable(
            "all-sets", "All data sets", table[[*keys, "ours"]], "The table shows means over runs.", digits=4, on_page=False
        ),
    ]


def _format_table4(available: pd.DataFrame) -> pd.DataFrame:
    """Format our AUC and the published one by data set, scheme and learner."""
    import pandas as pd

    base = GIVEN if (available["scheme"] == GIVEN).any() else SCV
    chosen = available[available["scheme"].isin([base, LITERAL])]
    if chosen.empty:
        return pd.DataFrame(columns=["dataset", "scheme"])
    texts = chosen.assign(
        text=[f"{ours:.4f} ({paper:.4f})" for ours, paper in zip(chosen["ours"], chosen["published"], strict=True)]
    )
    rows = {
        key: dict(zip(cells["learner"], cells["text"], strict=True))
        for key, cells in texts.groupby(["dataset", "scheme"], sort=False)
    }
    frame = pd.DataFrame([{"dataset": dataset, "scheme": scheme, **cells} for (dataset, scheme), cells in rows.items()])
    return frame.sort_values(
        "dataset", key=lambda names: names.map({name: i for i, name in enumerate(frame["dataset"].unique())}), kind="stable"
    ).reset_index(drop=True)


def build_table5(averages: FoldAverages) -> ResultTable:
    """Build the comparison of the rank sums and p-values with the published ones."""
    import pandas as pd

    keys = ["comparison", "learner", "quantity"]
    tests = averages.rank_sums.assign(comparison=lambda rows: rows["scheme"] + " against " + rows["base"])
    sums = predict_single_run(tests.melt(keys[:2], ["R+", "R-"], "quantity"), keys)
    p_values = tests.groupby(keys[:2], sort=False)["p"].median().reset_index().rename(columns={"p": "value"})
    ours = pd.concat([sums, p_values.assign(quantity="p", low=np.nan, high=np.nan)], ignore_index=True)
    published = read_published("dobscv_table5_wilcoxon").rename(columns={"r_plus": "R+", "r_minus": "R-", "p_value": "p"})
    published = published.melt("learner", ["R+", "R-", "p"], "quantity")
    if not averages.is_complete:
        published["value"] = float("nan")
    published = pd.concat([published.assign(comparison=comparison) for comparison in tests["comparison"].unique()])
    table = compare_our_rows(ours, published, keys)
    return ResultTable("table-5", "Table 5: Wilcoxon signed-rank test", table, _WILCOXON_NOTE, digits=4)
