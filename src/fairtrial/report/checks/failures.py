"""Checks of what did not run as it should: failures, gaps, warnings, times, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.cache import get_declared_section, has_only_predictions
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.section import build_sentence, format_number

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from fairtrial.study import Results

_POLICIES = {
    "exclude": "data sets on which a learner failed are left out of the verdict, for all learners",
    "worst-rank": "a learner gets the worst rank where it failed",
    "trivial": "a failed trial counts as the trivial classifier",
}
_LONG = 160
_SPLIT = ["dataset", "condition", "level", "repeat", "fold"]
LONG_ENOUGH = 0.2
"""Seconds of fitting below which waits of the machine outweigh what the learner does, and nobody chooses by time."""


@check(
    "FT009",
    title="Failures imputed or data sets excluded",
    looks_for="trials that failed: error, timeout, memory or crash",
    why="What is put in the place of a failed trial, or that its data set is left out, can decide who wins: failures are "
    "rarely spread at random over learners and data sets.",
    remedy="run them again (fairtrial run --retry STATUS), raise the limits, or compare the verdicts under each policy "
    "([verdict] failures)",
    cite="Rubin 1976",
)
def failures(results: Results) -> CheckFinding:
    """Trials that failed, and what became of them."""
    frame = results.failures()
    if frame.empty:
        return report_passed(build_sentence("No trial that ran has failed."))
    counts = frame.groupby(["learner", "dataset", "status"], sort=False, observed=True).size().reset_index(name="trials")
    counts = counts.rename(columns={"dataset": "data set"})
    total = counts.groupby("learner", sort=False, observed=True)["trials"].sum()
    policy = str(get_declared_section(results, "verdict").get("failures") or "exclude")
    sentence = build_sentence(
        "Trials of {learners} failed on {sets}: {policy}.",
        learners=join_unique_names(total.index),
        sets=join_unique_names(counts["data set"]),
        policy=_POLICIES.get(policy, policy),
    )
    return report_raised(sentence, counts)


@check(
    "FT011",
    title="Incomplete study",
    looks_for="planned trials that have not run",
    why="What has run is rarely a fair sample of what was planned: quick learners and small data sets come first. "
    "Stopping when the result pleases is worse.",
    remedy="let the study run to its end: fairtrial run goes on where it stopped",
    cite="Simmons, Nelson & Simonsohn 2011",
)
def incomplete(results: Results) -> CheckFinding:
    """Trials that are missing."""
    import pandas as pd

    if results.complete:
        return report_passed(build_sentence("Every planned trial has run."))
    trials = results.trials().astype({"learner": str})
    lines = trials.assign(missing=trials["status"] == "missing").groupby("learner", sort=False)["missing"].agg(["sum", "size"])
    total = pd.DataFrame({"sum": [lines["sum"].sum()], "size": [lines["size"].sum()]}, index=["all"])
    frame = pd.concat([lines, total]).rename_axis("learner").reset_index()
    frame = frame.rename(columns={"sum": "not run", "size": "planned"})
    last = len(frame) - 1
    sentence = build_sentence(
        "{missing} of {planned} trials have not run: every number here is provisional.",
        missing=format_number(frame, "checks-ft011", last, "not run", "{:,d}"),
        planned=format_number(frame, "checks-ft011", last, "planned", "{:,d}"),
    )
    return report_raised(sentence, frame)


@check(
    "FT018",
    title="Learners with warnings",
    looks_for="trials in which the learner gave warnings, such as scikit-learn's ConvergenceWarning; what this package "
    "warns of under a condition, whatever the learner, is told but not raised",
    why="A learner that did not converge is judged below what it can do, and warnings often name a wrong use.",
    remedy="do what the warning says (more iterations, scaled attributes), then run again",
    cite="Pedregosa et al. 2011",
)
def warned(results: Results) -> CheckFinding:
    """Trials with notes of warnings."""
    if has_only_predictions(results):
        return report_not_applicable(build_sentence("A file of predictions does not tell of warnings."))
    lines = list_warnings(results.trials())
    if lines.empty:
        return report_passed(build_sentence("No learner gave a warning."))
    from_condition = _mark_condition_warnings(lines, results.trials())
    condition_warnings, lines = lines[from_condition], lines[~from_condition]
    if lines.empty:
        condition_names, warning = join_unique_names(condition_warnings["condition"]), condition_warnings["warning"].iloc[0]
        return report_passed(
            build_sentence(
                "No learner gave a warning; under {where} the condition did: {warning}", where=condition_names, warning=warning
            )
        )
    frame = lines.groupby(["learner", "warning"], sort=False).agg(trials=("dataset", "size"), sets=("dataset", "nunique"))
    frame = frame.reset_index().rename(columns={"sets": "data sets"})
    most = int(frame["trials"].argmax())
    sentence = build_sentence(
        "{learners} gave warnings; most often {worst}, in {trials} {noun}: {warning}",
        learners=join_unique_names(frame["learner"]),
        worst=frame["learner"].iloc[most],
        trials=format_number(frame, "checks-ft018", most, "trials", "{:d}"),
        noun="trial" if frame["trials"].iloc[most] == 1 else "trials",
        warning=frame["warning"].iloc[most],
    )
    return report_raised(sentence, frame)


def list_warnings(trials: pd.DataFrame) -> pd.DataFrame:
    """A line for each warning of a trial that went well: where it was, learner, and the warning without its count."""
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
    """Warnings of this package that every learner of a split has under a condition: no learner is to blame for them."""
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
    looks_for=f"data sets and learners for which fitting took much longer than its CPU time; fits of less than {LONG_ENOUGH:g} "
    "seconds (the median) are left aside, for any small wait doubles them",
    why="The machine then had more to do than it has cores, or the learner waited: wall-clock times say more of the load "
    "than of the learner.",
    remedy="compare CPU times, or time again on a quiet machine, with fewer jobs where there were several",
    cite="Hoefler & Belli 2015",
)
def oversubscribed(results: Results) -> CheckFinding:
    """Times that are not to be trusted."""
    times = results.times()
    if times["fit_time"].isna().all():
        return report_not_applicable(build_sentence("No times are known."))
    slow = times[(times["note"] != "") & (times["fit_time"] >= LONG_ENOUGH)]
    if slow.empty:
        return report_passed(build_sentence("No fit that takes long enough to matter took much longer than its CPU time."))
    names = {"dataset": "data set", "learner": "learner", "fit_time": "seconds to fit", "fit_cpu": "CPU seconds to fit"}
    frame = slow[list(names)].rename(columns=names).astype({"data set": str, "learner": str}).reset_index(drop=True)
    worst = int((frame["seconds to fit"] / frame["CPU seconds to fit"].clip(lower=1e-9)).argmax())
    sentence = build_sentence(
        "Fitting {learners} took much longer than its CPU time: {learner} on {dataset} {wall} seconds, of which {cpu} were "
        "spent computing.",
        learners=join_unique_names(frame["learner"]),
        learner=frame["learner"].iloc[worst],
        dataset=frame["data set"].iloc[worst],
        wall=format_number(frame, "checks-ft019", worst, "seconds to fit", "{:.3g}"),
        cpu=format_number(frame, "checks-ft019", worst, "CPU seconds to fit", "{:.3g}"),
    )
    return report_raised(sentence, frame, **{"seconds to fit": "{:.3g}", "CPU seconds to fit": "{:.3g}"})


@check(
    "FT022",
    title="Versions that differ between runs",
    looks_for="packages whose version is not the same in all runs of the study",
    why="Another version may split, fit or score differently; differences between learners may then be differences "
    "between versions.",
    remedy="run the study anew into another file with the versions of the section 'How to reproduce'",
    cite="Sandve et al. 2013",
)
def versions_differ(results: Results) -> CheckFinding:
    """Runs with different versions."""
    import pandas as pd

    runs = [run.get("versions") or {} for run in results.archive.runs]
    if not any(runs):
        return report_not_applicable(build_sentence("No run has told its versions."))
    packages = dict.fromkeys(package for run_versions in runs for package in run_versions)
    versions_by_package = {
        name: list(dict.fromkeys(str(run_versions[name]) for run_versions in runs if name in run_versions)) for name in packages
    }
    lines = [(name, ", ".join(versions)) for name, versions in versions_by_package.items() if len(versions) > 1]
    if not lines:
        return report_passed(build_sentence("All runs had the same versions."))
    frame = pd.DataFrame(lines, columns=["package", "versions"])
    return report_raised(
        build_sentence("Runs had different versions of {packages}.", packages=join_unique_names(frame["package"])), frame
    )
