"""Tables of what was run: learners, conditions, settings, runs, versions, and how the trials went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.report.checks.kept import estimator_of, section_of, under
from fairtrial.report.places import level_of
from fairtrial.report.sections.naming import judged_measure
from fairtrial.study.abstaining import abstentions

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_STATUSES = {"ok": "ran well", "missing": "not run"}


def counts_frame(results: Results) -> pd.DataFrame:
    """How many data sets, learners, conditions, splits and trials."""
    import pandas as pd

    trials, archive = results.trials(), results.archive
    status = trials["status"].astype(str)
    counts = {
        "data sets": len(archive.datasets),
        "learners": len(archive.learners),
        "conditions": len(archive.conditions),
        "splits": len(trials[["dataset", "repeat", "fold"]].drop_duplicates()),
        "trials": len(trials),
        "trials that ran well": int((status == "ok").sum()),
        "trials that failed": int((~status.isin(["ok", "missing"])).sum()),
        "trials not run": int((status == "missing").sum()),
    }
    return pd.DataFrame({"count": list(counts.values())}, index=pd.Index(counts, name="what"))


def learners_frame(results: Results) -> pd.DataFrame:
    """A line for each learner: class and parameters; sampler and tuning, where any learner has them."""
    import pandas as pd

    declared = section_of(results, "learners")
    lines = []
    for each in results.archive.learners:
        kind, parameters = estimator_of(each)
        own = declared.get(each.name)
        tuned = "yes" if isinstance(own, Mapping) and own.get("tune") else "no"
        lines.append((each.name, kind or "not known", told(parameters), _sampler(each.parameters), tuned))
    frame = pd.DataFrame(lines, columns=["learner", "class", "parameters", "sampler", "tuned in the fold"])
    idle = {"sampler": "none", "tuned in the fold": "no"}
    return frame.drop(columns=[name for name, word in idle.items() if (frame[name] == word).all()])


def _sampler(parameters: Mapping[str, Any]) -> str:
    found = parameters.get("sampler")
    return str(found.get("class", found)) if isinstance(found, Mapping) else "none" if found is None else str(found)


def told(values: Mapping[str, Any], sign: str = "=") -> str:
    """Names and values in one line; what is None is left out.

    >>> told({"max_depth": 3, "seed": None, "inner": {"class": "sklearn.svm.SVC", "parameters": {"C": 1.0}}})
    'max_depth=3, inner=sklearn.svm.SVC(C=1.0)'
    """
    return ", ".join(f"{name}{sign}{_value(value)}" for name, value in values.items() if value is not None)


def _value(value: Any) -> str:
    if isinstance(value, Mapping) and "class" in value:
        return f"{value['class']}({told(value.get('parameters') or {})})"
    return value if isinstance(value, str) else repr(value)


def conditions_frame(results: Results) -> pd.DataFrame:
    """A line for each condition and level: what it does, and the mean level that it reached in the trials that went well."""
    import pandas as pd

    trials = results.trials()
    good = trials[trials["status"] == "ok"]
    lines = []
    for each in results.archive.conditions:
        reached = pd.to_numeric(under(good, each)["realised_level"], errors="coerce").dropna()
        mean = float(reached.mean()) if len(reached) else float("nan")
        lines.append((each.name, level_of(each), "nothing is changed" if each.name == "clean" else each.words, mean))
    return pd.DataFrame(lines, columns=["condition", "level", "what it does", "realised"])


def settings_frame(results: Results) -> pd.DataFrame:
    """Resampling, measures, verdict, limits and seed, as text."""
    import pandas as pd

    verdict = {"measure": judged_measure(results)} | dict(section_of(results, "verdict"))
    lines = {
        "resampling": told(section_of(results, "resampling")) or "not declared",
        "measures": ", ".join(results.measures),
        "verdict": told(verdict),
        "limits of a trial": told(section_of(results, "limits")) or "not declared",
        "seed": str(results.archive.seed),
    }
    return pd.DataFrame({"setting": list(lines), "value": list(lines.values())})


def runs_frame(results: Results) -> pd.DataFrame:
    """A line for each run: when and how."""
    import pandas as pd

    lines = [
        (
            str(each.get("started") or ""),
            str(each.get("finished") or "not finished"),
            str(each.get("engine") or ""),
            each.get("jobs"),
            each.get("cpus"),
            each.get("done"),
            each.get("failed"),
        )
        for each in results.archive.runs
    ]
    return pd.DataFrame(lines, columns=["started", "finished", "engine", "jobs", "cores", "trials", "failed"])


def versions_frame(results: Results) -> pd.DataFrame:
    """A line for each package of the runs and learners, with its version, or with all where they differ."""
    import pandas as pd

    told_by = [each.get("versions") or {} for each in results.archive.runs]
    told_by += [each.versions for each in results.archive.learners]
    found: dict[str, list[str]] = {}
    for package, version in (pair for one in told_by for pair in one.items()):
        found.setdefault(str(package), []).append(str(version))
    lines = [(package, ", ".join(dict.fromkeys(versions))) for package, versions in found.items()]
    return pd.DataFrame(lines, columns=["package", "version"])


def status_frame(results: Results) -> pd.DataFrame:
    """A line for each learner: how many trials ended in which way."""
    import pandas as pd

    trials = results.trials()
    learner, status = trials["learner"].astype(str), trials["status"].astype(str).replace(_STATUSES)
    counts = pd.crosstab(learner, status).reindex([each.name for each in results.archive.learners], fill_value=0)
    first = [name for name in ("ran well",) if name in counts.columns]
    order = first + [name for name in counts.columns if name not in first]
    return counts[order].rename_axis(index="learner", columns=None).reset_index()


def abstentions_frame(results: Results) -> pd.DataFrame:
    """A line for each learner that abstained: on how many of how many test rows, and in how many trials."""
    names = {"abstained": "abstentions", "rows": "of test rows", "abstaining": "in trials", "trials": "of trials"}
    return abstentions(results.trials())[["learner", *names]].rename(columns=names)


def failures_frame(results: Results) -> pd.DataFrame:
    """A line for each learner, status and error: how many trials, on how many data sets, and the first message."""
    frame = results.failures().astype({"learner": str, "dataset": str, "status": str})
    frame["error"], frame["message"] = frame["error"].fillna(""), frame["message"].fillna("")
    counted = frame.groupby(["learner", "status", "error"], sort=False).agg(
        trials=("dataset", "size"), sets=("dataset", "nunique"), message=("message", "first")
    )
    return counted.reset_index().rename(columns={"sets": "data sets", "message": "first message"})
