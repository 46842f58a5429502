"""Checks of the run: failures, missing trials, warnings, times, and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.cache import get_declared_section, has_only_predictions
from fairtrial.report.check import CheckAnswer, check, list_unique, report_not_applicable, report_passed, report_raised

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from fairtrial.report.source import ReportSource

_LONG = 160
_SPLIT = ["dataset", "condition", "level", "repeat", "fold"]
LONG_ENOUGH = 0.2
"""Minimum median fitting time in seconds. A short delay can double a shorter time."""


@check(
    "FT009",
    title="Failures imputed or data sets excluded",
    looks_for="trials that failed (error, timeout, out of memory or crash)",
    why="Failures are rarely distributed at random over learners and data sets, so the handling of failed trials can "
    "determine which learner is best.",
    remedy="rerun the failed trials (fairtrial run --retry STATUS), raise the resource limits, or compare the verdicts under "
    "each failure policy ([verdict] failures)",
    cite="Rubin 1976",
    texts={
        "passed": "no trial failed.",
        "exclude": ("trials of {learners} failed on {datasets}. The verdict excludes data sets on which a learner failed."),
        "worst-rank": (
            "trials of {learners} failed on {datasets}. A learner that failed on a data set gets the worst rank there."
        ),
        "trivial": "trials of {learners} failed on {datasets}. A failed trial gets the score of the trivial classifier.",
    },
    affects_answer=True,
)
def check_failures(source: ReportSource) -> CheckAnswer:
    """Check for failed trials."""
    results = source.get_results()
    frame = results.failures()
    if frame.empty:
        return report_passed()
    counts = frame.groupby(["learner", "dataset", "status"], sort=False, observed=True).size().reset_index(name="trials")
    counts = counts.rename(columns={"dataset": "data set"})
    policy = str(get_declared_section(results, "verdict").get("failures") or "exclude")
    learners, datasets = list_unique(counts["learner"]), list_unique(counts["data set"])
    return report_raised(policy, details=counts, learners=learners, datasets=datasets)


@check(
    "FT011",
    title="Incomplete study",
    looks_for="planned trials that have not run",
    why="The trials that have run are rarely a representative sample of the planned trials: fast learners and small data sets "
    "come first. Stopping when the result looks favourable also biases the comparison.",
    remedy='resume the study with "fairtrial run" and wait until all trials have run',
    cite="Simmons, Nelson & Simonsohn 2011",
    texts={
        "passed": "every planned trial has run.",
        "raised": "{waiting:,} of {planned:,} trials have not run: all results are provisional.",
    },
    affects_answer=True,
)
def check_incomplete(source: ReportSource) -> CheckAnswer:
    """Check for trials that have not run."""
    import pandas as pd

    results = source.get_results()
    if results.complete:
        return report_passed()
    trials = results.trials().astype({"learner": str})
    lines = trials.assign(missing=trials["status"] == "missing").groupby("learner", sort=False)["missing"].agg(["sum", "size"])
    total = pd.DataFrame({"sum": [lines["sum"].sum()], "size": [lines["size"].sum()]}, index=["all"])
    frame = pd.concat([lines, total]).rename_axis("learner").reset_index()
    frame = frame.rename(columns={"sum": "not run", "size": "planned"})
    last = frame.iloc[-1]
    return report_raised(details=frame, waiting=int(last["not run"]), planned=int(last["planned"]))


@check(
    "FT018",
    title="Learners with warnings",
    looks_for="trials in which the learner issued a warning, e.g. scikit-learn's ConvergenceWarning. If fairtrial issues the "
    "same warning for all learners under a condition, the warning is reported but does not raise the check",
    why="A learner that did not converge may perform worse than it could, and warnings often indicate incorrect use.",
    remedy="follow the advice in the warning (e.g. more iterations, scaled attributes), then rerun the study",
    cite="Pedregosa et al. 2011",
    texts={
        "not applicable": "a prediction file does not record warnings.",
        "passed": "no learner issued a warning.",
        "condition": "no learner issued a warning, but fairtrial issued one under {conditions}: {warning}",
        "raised": "{learners} issued warnings. The most frequent one is from {worst} (in {trials:count trial}): {warning}",
    },
)
def check_warnings(source: ReportSource) -> CheckAnswer:
    """Check for trials with warnings."""
    results = source.get_results()
    if has_only_predictions(results):
        return report_not_applicable()
    lines = list_warnings(results.trials())
    if lines.empty:
        return report_passed()
    from_condition = _mark_condition_warnings(lines, results.trials())
    condition_warnings, lines = lines[from_condition], lines[~from_condition]
    if lines.empty:
        conditions, warning = list_unique(condition_warnings["condition"]), condition_warnings["warning"].iloc[0]
        return report_passed("condition", conditions=conditions, warning=warning)
    frame = lines.groupby(["learner", "warning"], sort=False).agg(trials=("dataset", "size"), sets=("dataset", "nunique"))
    frame = frame.reset_index().rename(columns={"sets": "data sets"})
    most = frame.iloc[int(frame["trials"].argmax())]
    return report_raised(
        details=frame,
        learners=list_unique(frame["learner"]),
        worst=most["learner"],
        trials=int(most["trials"]),
        warning=most["warning"],
    )


def list_warnings(trials: pd.DataFrame) -> pd.DataFrame:
    """List the warnings of successful trials, each with its learner and split.

    A count at the end of a warning, e.g. "(3 times)", is removed.
    """
    import pandas as pd

    warned_trials = trials[(trials["status"] == "ok") & trials["notes"].notna()]
    lines = [
        (str(learner), *split_key, (line.rpartition(" (")[0] if line.endswith(" times)") else line)[:_LONG])
        for notes, learner, *split_key in warned_trials[["notes", "learner", *_SPLIT]].itertuples(index=False, name=None)
        for line in str(notes).splitlines()
        if "Warning:" in line
    ]
    return pd.DataFrame(lines, columns=["learner", *_SPLIT, "warning"])


def _mark_condition_warnings(lines: pd.DataFrame, trials: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Mark the warnings that fairtrial issued for all learners on a split under a condition.

    The condition causes these warnings, not a learner.
    """
    good = trials[trials["status"] == "ok"]
    learners = good.groupby(_SPLIT, observed=True, dropna=False)["learner"].nunique().rename("all").reset_index()
    warned_learners = (
        lines.groupby([*_SPLIT, "warning"], observed=True, dropna=False)["learner"].nunique().rename("here").reset_index()
    )
    counts = lines.merge(learners, on=_SPLIT, how="left").merge(warned_learners, on=[*_SPLIT, "warning"], how="left")
    package_warnings = lines["warning"].str.startswith("SuspectInputWarning:") & (lines["condition"] != "clean")
    return np.asarray(package_warnings.to_numpy(dtype=bool) & (counts["here"] == counts["all"]).to_numpy(dtype=bool))


@check(
    "FT019",
    title="Oversubscribed timing",
    looks_for="combinations of data set and learner for which fitting took much longer than its CPU time, if the median "
    f"fitting time is at least {LONG_ENOUGH:g} seconds",
    why="The computer ran more processes than it has cores, or the learner had to wait. Wall-clock times then depend more on "
    "the system load than on the learner.",
    remedy="compare CPU times, or repeat the timing on an idle computer with fewer jobs",
    cite="Hoefler & Belli 2015",
    texts={
        "not applicable": "the times are unknown.",
        "passed": "no fit took much longer than its CPU time.",
        "raised": (
            "fitting took much longer than its CPU time for {learners}: {learner} on {dataset} took {wall:.3g} seconds, but "
            "only {cpu:.3g} seconds of CPU time."
        ),
    },
)
def check_timing(source: ReportSource) -> CheckAnswer:
    """Check for wall-clock times that exceed CPU times."""
    times = source.get_results().times()
    if times["fit_time"].isna().all():
        return report_not_applicable()
    slow = times[(times["note"] != "") & (times["fit_time"] >= LONG_ENOUGH)]
    if slow.empty:
        return report_passed()
    names = {"dataset": "data set", "learner": "learner", "fit_time": "seconds to fit", "fit_cpu": "CPU seconds to fit"}
    frame = slow[list(names)].rename(columns=names).astype({"data set": str, "learner": str}).reset_index(drop=True)
    worst = frame.iloc[int((frame["seconds to fit"] / frame["CPU seconds to fit"].clip(lower=1e-9)).argmax())]
    return report_raised(
        details=frame,
        formats={"seconds to fit": "{:.3g}", "CPU seconds to fit": "{:.3g}"},
        learners=list_unique(frame["learner"]),
        learner=worst["learner"],
        dataset=worst["data set"],
        wall=float(worst["seconds to fit"]),
        cpu=float(worst["CPU seconds to fit"]),
    )


@check(
    "FT022",
    title="Versions that differ between runs",
    looks_for="packages whose version differs between runs of the study",
    why="Different package versions may split, fit or score differently. Differences between learners may then be due to "
    "different versions.",
    remedy="rerun the study with the versions listed in the section 'How to reproduce', and store the results in a new file",
    cite="Sandve et al. 2013",
    texts={
        "not applicable": "the versions of the runs are unknown.",
        "passed": "all runs used the same versions.",
        "raised": "runs used different versions of {packages}.",
    },
)
def check_versions(source: ReportSource) -> CheckAnswer:
    """Check for runs with different versions of a package."""
    import pandas as pd

    runs = [run.get("versions") or {} for run in source.get_results().archive.runs]
    if not any(runs):
        return report_not_applicable()
    packages = dict.fromkeys(package for run_versions in runs for package in run_versions)
    versions_by_package = {
        name: list(dict.fromkeys(str(run_versions[name]) for run_versions in runs if name in run_versions)) for name in packages
    }
    lines = [(name, ", ".join(versions)) for name, versions in versions_by_package.items() if len(versions) > 1]
    if not lines:
        return report_passed()
    frame = pd.DataFrame(lines, columns=["package", "versions"])
    return report_raised(details=frame, packages=list_unique(frame["package"]))
