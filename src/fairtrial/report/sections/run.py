"""Setup: data sets, learners, conditions, settings and trials of a study, or columns, rows and models of a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from fairtrial._narrative import render_all
from fairtrial._text import format_count, join_names
from fairtrial.report.cache import get_declared_section, has_only_predictions, select_condition, unwrap_estimator
from fairtrial.report.judgement import FACTS, build_facts_frame, drop_single_dataset, get_fact, list_datasets, list_models
from fairtrial.report.names import format_measure_name, get_verdict_measure_name
from fairtrial.report.section import ReportTable, Section, Sentence, build_sentence, format_number, section
from fairtrial.report.sections.verdict import describe_choice
from fairtrial.study.results.selection import get_level
from fairtrial.study.results.summary import count_abstentions

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.source import ReportSource
    from fairtrial.study import Results

POSITIVE = "judged-positive"
_STATUSES = {"ok": "succeeded", "missing": "not run"}
_COUNTS, _ABSTENTIONS = "what-was-run-counts", "what-was-run-abstentions"
_MANY = 30
_LEARNER_NOTE = (
    "Parameters that are None are left out. Encoding and scaling, if a learner needs them, are fitted on each training set."
)
_ABSTENTION_NOTE = "Test rows for which a learner predicted no class, in the trials in which it abstained."


@section("what-was-run", title="Setup", order=20, serves=("study",), schemes="none", question="how")
def build_section(source: ReportSource) -> Section:
    """Show the size of a study, and tables of its learners, conditions, settings, trials, runs and failures."""
    results = source.get_all_results()
    counts = build_counts_frame(results)
    tables = [
        ReportTable(_COUNTS, "Size of the study", counts),
        ReportTable("what-was-run-learners", "Learners", build_learners_frame(results), note=_LEARNER_NOTE),
        ReportTable("what-was-run-conditions", "Conditions", build_conditions_frame(results), {"realised": "{:.4f}"}),
        ReportTable("what-was-run-settings", "Settings", build_settings_frame(results)),
        ReportTable("what-was-run-trials", "Status of the trials", build_status_frame(results)),
    ]
    runs, versions, failures = build_runs_frame(results), build_versions_frame(results), build_failures_frame(results)
    tables += [ReportTable("what-was-run-runs", "Runs", runs)] if len(runs) else []
    tables += [ReportTable("what-was-run-versions", "Versions", versions)] if len(versions) else []
    if len(failures):
        note = "One row per learner and error, with the first message."
        tables.append(ReportTable("what-was-run-failures", "Failures", failures, note=note, long=len(failures) > _MANY))
    abstentions = build_abstentions_frame(results)
    tables += [ReportTable(_ABSTENTIONS, "Abstentions", abstentions, note=_ABSTENTION_NOTE)] if len(abstentions) else []
    sentences = [_describe_command(results), *_build_run_sentences(results, counts), *_describe_abstentions(abstentions)]
    return Section("what-was-run", "Setup", tuple(sentences), (), tuple(tables), _build_run_notes(results))


def _describe_command(results: Results) -> Sentence:
    """Describe the study in one sentence: the command, the version, the size and the resampling."""
    archive = results.archive
    versions = [(run.get("versions") or {}).get("fairtrial") for run in archive.runs]
    last_version = next((str(name) for name in reversed(versions) if name), "")
    declared = archive.declaration.get("resampling")
    scheme = describe_resampling(declared[0] if isinstance(declared, list) and declared else declared)
    command = "" if has_only_predictions(results) else f"fairtrial run {archive.name}.toml"
    size = f"{format_count(len(archive.learners), 'learner')} on {format_count(len(archive.datasets), 'data set')}"
    conditions = f" under {format_count(len(archive.conditions), 'condition')}" if len(archive.conditions) > 1 else ""
    resampling = f" (resampling: {scheme})" if scheme else ""
    software = f"fairtrial {last_version}" if last_version else ""
    made = f"{command} ({software})" if command and software else command or software
    return Sentence(f"{made} evaluated {size}{conditions}{resampling}." if made else f"{size}{conditions}{resampling}.")


def describe_resampling(scheme: Any) -> str:
    """Describe a resampling scheme in a few words. Return an empty string if none was declared.

    >>> describe_resampling({"scheme": "stratified", "folds": 5, "repeats": 5})
    'stratified, 5 repeats of 5 folds'
    """
    if not isinstance(scheme, Mapping) or "scheme" not in scheme:
        return str(scheme) if isinstance(scheme, str) else ""
    repeats, folds = scheme.get("repeats"), scheme.get("folds")
    counts = [format_count(int(number), noun) for number, noun in ((repeats, "repeat"), (folds, "fold")) if number]
    return ", ".join(filter(None, [str(scheme["scheme"]), " of ".join(counts)]))


def _build_run_sentences(results: Results, counts: pd.DataFrame) -> list[Sentence]:
    def format_count(row: str) -> Any:
        return format_number(counts, _COUNTS, row, "count", "{:,d}")

    def format_noun(row: str) -> str:
        return row if counts.loc[row, "count"] != 1 else row[:-1]

    sentences = [
        build_sentence(
            "{study} evaluates {learners} {learner_noun} on {sets} {set_noun} under {conditions} {condition_noun}, "
            "with {splits} {split_noun} in total: {trials} {trial_noun}.",
            study="This study" if results.archive.name == "study" else results.archive.name,
            learners=format_count("learners"),
            learner_noun=format_noun("learners"),
            sets=format_count("data sets"),
            set_noun=format_noun("data sets"),
            conditions=format_count("conditions"),
            condition_noun=format_noun("conditions"),
            splits=format_count("splits"),
            split_noun=format_noun("splits"),
            trials=format_count("trials"),
            trial_noun=format_noun("trials"),
        )
    ]
    return sentences + _describe_outcomes(counts, format_count)


def _describe_outcomes(counts: pd.DataFrame, format_count: Any) -> list[Sentence]:
    bad, waiting = (int(counts["count"].loc[row]) for row in ("trials that failed", "trials not run"))
    sentences = []
    if not bad and not waiting:
        sentences.append(build_sentence("All trials succeeded."))
    if bad:
        sentences.append(build_sentence("Failed trials: {failed}.", failed=format_count("trials that failed")))
    if waiting:
        sentences.append(build_sentence("Trials not run: {waiting}.", waiting=format_count("trials not run")))
    return sentences


def _describe_abstentions(abstentions: pd.DataFrame) -> list[Sentence]:
    """Write a sentence for each learner that abstained."""
    return [
        build_sentence(
            "{learner} abstained in {some} of {every} {trial_noun}, on {rows} of {tested} test {noun}. Abstentions count as "
            "errors.",
            learner=abstentions["learner"].iloc[line],
            rows=format_number(abstentions, _ABSTENTIONS, line, "abstentions", "{:,d}"),
            tested=format_number(abstentions, _ABSTENTIONS, line, "of test rows", "{:,d}"),
            noun="row" if abstentions["of test rows"].iloc[line] == 1 else "rows",
            some=format_number(abstentions, _ABSTENTIONS, line, "in trials", "{:,d}"),
            every=format_number(abstentions, _ABSTENTIONS, line, "of trials", "{:,d}"),
            trial_noun="trial" if abstentions["of trials"].iloc[line] == 1 else "trials",
        )
        for line in range(len(abstentions))
    ]


def _build_run_notes(results: Results) -> tuple[str, ...]:
    alone = "Only the predictions of the models are known." if has_only_predictions(results) else ""
    declared_notes = results.archive.declaration.get("notes")
    more = [str(note) for note in declared_notes] if isinstance(declared_notes, (list, tuple)) else []
    return tuple(note for note in (alone, *more) if note)


def build_counts_frame(results: Results) -> pd.DataFrame:
    """Count data sets, learners, conditions, splits and trials."""
    import pandas as pd

    trials, archive = results.trials(), results.archive
    status = trials["status"].astype(str)
    counts = {
        "data sets": len(archive.datasets),
        "learners": len(archive.learners),
        "conditions": len(archive.conditions),
        "splits": len(trials[["dataset", "resampling", "repeat", "fold"]].drop_duplicates()),
        "trials": len(trials),
        "trials that succeeded": int((status == "ok").sum()),
        "trials that failed": int((~status.isin(["ok", "missing"])).sum()),
        "trials not run": int((status == "missing").sum()),
    }
    return pd.DataFrame({"count": list(counts.values())}, index=pd.Index(counts, name="number of"))


def build_learners_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the class and the parameters of each learner.

    Columns for samplers and tuning are included if any learner uses them.
    """
    import pandas as pd

    declared = get_declared_section(results, "learners")
    lines = []
    for learner in results.archive.learners:
        kind, parameters = unwrap_estimator(learner)
        declaration = declared.get(learner.name)
        tuned = "yes" if isinstance(declaration, Mapping) and declaration.get("tune") else "no"
        lines.append(
            (learner.name, kind or "unknown", format_parameters(parameters), _format_sampler(learner.parameters), tuned)
        )
    frame = pd.DataFrame(lines, columns=["learner", "class", "parameters", "sampler", "tuned in the fold"])
    default_values = {"sampler": "none", "tuned in the fold": "no"}
    return frame.drop(columns=[name for name, word in default_values.items() if (frame[name] == word).all()])


def _format_sampler(parameters: Mapping[str, Any]) -> str:
    sampler = parameters.get("sampler")
    return str(sampler.get("class", sampler)) if isinstance(sampler, Mapping) else "none" if sampler is None else str(sampler)


def format_parameters(values: Mapping[str, Any], separator: str = "=") -> str:
    """Format names and values on one line. Values that are None are omitted.

    >>> format_parameters({"max_depth": 3, "seed": None, "inner": {"class": "sklearn.svm.SVC", "parameters": {"C": 1.0}}})
    'max_depth=3, inner=sklearn.svm.SVC(C=1.0)'
    """
    return ", ".join(f"{name}{separator}{_format_parameter(value)}" for name, value in values.items() if value is not None)


def _format_parameter(value: Any) -> str:
    if isinstance(value, Mapping) and "class" in value:
        return f"{value['class']}({format_parameters(value.get('parameters') or {})})"
    return value if isinstance(value, str) else repr(value)


def build_conditions_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the effect of each condition and level.

    The frame also contains the mean realized level in successful trials.
    """
    import pandas as pd

    trials = results.trials()
    good = trials[trials["status"] == "ok"]
    lines = []
    for condition in results.archive.conditions:
        reached = pd.to_numeric(select_condition(good, condition)["realised_level"], errors="coerce").dropna()
        mean = float(reached.mean()) if len(reached) else float("nan")
        lines.append(
            (
                condition.name,
                get_level(condition),
                "no change" if condition.name == "clean" else condition.summary,
                mean,
            )
        )
    return pd.DataFrame(lines, columns=["condition", "level", "effect", "realised"])


def _format_schemes(results: Results) -> str:
    declared = results.archive.declaration.get("resampling")
    schemes = declared if isinstance(declared, list) else [declared]
    return "; ".join(format_parameters(scheme) for scheme in schemes if isinstance(scheme, Mapping)) or "not declared"


def build_settings_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the resampling, measures, verdict, resource limits and seed of a study."""
    import pandas as pd

    verdict = {"measure": get_verdict_measure_name(results)} | dict(get_declared_section(results, "verdict"))
    lines = {
        "resampling": _format_schemes(results),
        "measures": ", ".join(map(format_measure_name, results.measures)),
        "verdict": format_parameters(verdict),
        "limits per trial": format_parameters(get_declared_section(results, "limits")) or "not declared",
        "seed": str(results.archive.seed),
    }
    return pd.DataFrame({"setting": list(lines), "value": list(lines.values())})


def build_runs_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the start, end, engine, jobs, cores and numbers of trials of each run."""
    import pandas as pd

    lines = [
        (
            str(run.get("started") or ""),
            str(run.get("finished") or "not finished"),
            str(run.get("engine") or ""),
            run.get("jobs"),
            run.get("cpus"),
            run.get("done"),
            run.get("failed"),
        )
        for run in results.archive.runs
    ]
    return pd.DataFrame(lines, columns=["started", "finished", "engine", "jobs", "cores", "trials", "failed"])


def build_versions_frame(results: Results) -> pd.DataFrame:
    """Build a frame with the versions of each package that the runs and learners used."""
    import pandas as pd

    version_maps = [run.get("versions") or {} for run in results.archive.runs]
    version_maps += [learner.versions for learner in results.archive.learners]
    versions_by_package: dict[str, list[str]] = {}
    for package, version in (pair for version_map in version_maps for pair in version_map.items()):
        versions_by_package.setdefault(str(package), []).append(str(version))
    lines = [(package, ", ".join(dict.fromkeys(versions))) for package, versions in versions_by_package.items()]
    return pd.DataFrame(lines, columns=["package", "version"])


def build_status_frame(results: Results) -> pd.DataFrame:
    """Count the trials of each learner by status."""
    import pandas as pd

    trials = results.trials()
    learner, status = trials["learner"].astype(str), trials["status"].astype(str).replace(_STATUSES)
    counts = pd.crosstab(learner, status).reindex(
        [learner_facts.name for learner_facts in results.archive.learners], fill_value=0
    )
    first = [name for name in ("succeeded",) if name in counts.columns]
    order = first + [name for name in counts.columns if name not in first]
    return counts[order].rename_axis(index="learner", columns=None).reset_index()


def build_abstentions_frame(results: Results) -> pd.DataFrame:
    """Count the abstentions, test rows and trials of each learner that abstained."""
    names = {"abstained": "abstentions", "rows": "of test rows", "abstaining": "in trials", "trials": "of trials"}
    return count_abstentions(results.archive, results.trials())[["learner", *names]].rename(columns=names)


def build_failures_frame(results: Results) -> pd.DataFrame:
    """Count failed trials and their data sets by learner, status and error.

    The first message of each error is included.
    """
    frame = results.failures().astype({"learner": str, "dataset": str, "status": str})
    frame["error"], frame["message"] = frame["error"].fillna(""), frame["message"].fillna("")
    counts = frame.groupby(["learner", "status", "error"], sort=False).agg(
        trials=("dataset", "size"), sets=("dataset", "nunique"), message=("message", "first")
    )
    return counts.reset_index().rename(columns={"sets": "data sets", "message": "first message"})


@section("predictions", title="Predictions", order=20, serves=("judgement",), question="how")
def build_judgement_section(source: ReportSource) -> Section:
    """Describe the predictions. Notes list all assumptions and corrections."""
    judgement = source.get_judgement()
    tables: tuple[ReportTable, ...] = (
        ReportTable(FACTS, "Size of the judgement", build_facts_frame(judgement), {"value": "{:,}"}),
        ReportTable("judged-columns", "Role of each column", judgement.roles.frame(), long=True),
        ReportTable("judged-models", "Models", build_models_frame(judgement), long=True),
    )
    if judgement.positives.classes:
        tables += (
            ReportTable(
                POSITIVE, "Positive class", build_positive_frame(judgement), long=len(judgement.positives.classes) > 12
            ),
        )
    sentences = (
        _describe_file(judgement),
        _describe_columns(judgement),
        *_describe_positive_class(judgement),
        *explain_omissions(judgement),
    )
    return Section("predictions", "Predictions", sentences, (), tables, render_all(judgement.notes, "model"))


def build_models_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a frame with one row per data set and model.

    For a streamed file, the only other column is the number of rows.
    """
    several = len(list_datasets(judgement)) > 1
    if judgement.predictions is not None:
        return drop_single_dataset(judgement.predictions.frame(), several)
    rows = judgement.scores.groupby(["dataset", "model"], sort=False)["rows"].max().reset_index()
    return drop_single_dataset(rows, several)


def build_positive_frame(judgement: Judgement) -> pd.DataFrame:
    """Build a frame with the positive class and the other class of each data set.

    The frame also contains the reason for the choice of the positive class.
    """
    import pandas as pd

    positives = judgement.positives
    lines = [(name, label, negative, positives.reason) for name, (label, negative) in positives.classes.items()]
    frame = pd.DataFrame(lines, columns=["dataset", "positive class", "other class", "how"])
    return drop_single_dataset(frame, len(list_datasets(judgement)) > 1)


def _describe_positive_class(judgement: Judgement) -> tuple[Sentence, ...]:
    """Name the positive class, or refer to the table if the class differs between data sets."""
    positives = judgement.positives
    labels = list(dict.fromkeys(label for label, _ in positives.classes.values()))
    if not labels:
        return ()
    if len(labels) > 1:
        return (
            build_sentence(
                "The positive class differs between data sets ({how}); the table lists it for each.", how=positives.reason
            ),
        )
    return (build_sentence("The positive class is {label} ({how}).", label=labels[0], how=positives.reason),)


def _describe_file(judgement: Judgement) -> Sentence:
    numbers = {"rows": get_fact(judgement, "rows", "{:,}"), "models": get_fact(judgement, "models", "{:,}")}
    count = len(list_models(judgement))
    template = "{models} " + ("model predicts" if count == 1 else "models predict") + " {rows} rows"
    if len(list_datasets(judgement)) > 1:
        return build_sentence(
            template + " of {sets} data sets (source: {source}).",
            source=judgement.source,
            sets=get_fact(judgement, "data sets", "{:,}"),
            **numbers,
        )
    return build_sentence(template + " (source: {source}).", source=judgement.source, **numbers)


def _describe_columns(judgement: Judgement) -> Sentence:
    roles = judgement.roles
    layout_text = "one line per row and model" if roles.get("model") else "one line per row"
    frame = roles.frame()
    guessed = sorted(set(frame.loc[(frame["how"] == "guessed") & (frame["role"] != "unused"), "role"]))
    parts = {
        "layout": roles.layout,
        "what": layout_text,
        "unused": join_names(list(roles.unused)),
        "guessed": join_names(guessed),
    }
    template = "The file is {layout} ({what})."
    template += (
        " These roles were inferred from column names and values: {guessed}."
        if guessed
        else " The roles of all columns were given."
    )
    template += " Unused columns: {unused}." if roles.unused else ""
    return build_sentence(template, **{name: part for name, part in parts.items() if "{" + name + "}" in template})


def explain_omissions(judgement: Judgement) -> tuple[Sentence, ...]:
    """Explain why some sections or results are missing from the report."""
    sentences = []
    streamed = judgement.predictions is None
    if not judgement.curves:
        many = streamed and len(judgement.classes["class"].unique()) > 2
        why = "streamed files with more than two classes have none" if many else "the file has no scores"
        sentences.append(build_sentence("No curves are shown, because {why}.", why=why))
    if not len(judgement.calibration):
        sentences.append(build_sentence("Calibration was not assessed, because no model has predicted probabilities."))
    if not judgement.roles.subgroups:
        sentences.append(build_sentence("No subgroup column was given or recognized."))
    if len(list_models(judgement)) < 2:
        sentences.append(build_sentence("There are no paired tests, because the file has only one model."))
    elif judgement.verdict is None:
        sentences.append(_explain_no_verdict(judgement, streamed))
    return tuple(sentences)


def _explain_no_verdict(judgement: Judgement, streamed: bool) -> Sentence:
    scope = "data sets" if len(list_datasets(judgement)) > 1 else "splits"
    if streamed:
        why = "the file was streamed"
    elif len(list_datasets(judgement)) == 1 and not judgement.roles.get("fold") and not judgement.roles.get("repeat"):
        why = "the file has one split of one data set"
    else:
        why = "a model has no value for the main measure on some of them, or there is only one split"
    return build_sentence("There is no comparison over {what}: {why}.", what=scope, why=why)


@section("setup", title="Setup", order=20, serves=("comparison",), question="how")
def build_comparison_section(source: ReportSource) -> Section:
    """Describe a comparison of scores: the command, the version, the size and the test."""
    import pandas as pd

    verdict = source.verdict
    assert verdict is not None
    facts = {
        "learners": join_names(verdict.table.learners, None),
        f"{verdict.unit}s": f"{len(verdict.table.datasets):,}",
        "measure": verdict.measure_name or "unknown",
        "better": "larger" if verdict.better == "max" else "smaller",
        "test": describe_choice(verdict.choice),
        "alpha": f"{verdict.alpha:g}",
    }
    frame = pd.DataFrame({"value": list(facts.values())}, index=pd.Index(facts, name="setting"))
    size = (
        f"{format_count(len(verdict.table.learners), 'learner')} on {format_count(len(verdict.table.datasets), verdict.unit)}"
    )
    software = f"fairtrial {metadata.version('fairtrial')}"
    sentence = Sentence(f"fairtrial compare ({software}) compared {size}: {describe_choice(verdict.choice)}.")
    return Section("setup", "Setup", (sentence,), (), (ReportTable("setup-facts", "Settings of the comparison", frame),))


@section("setup", title="Setup", order=20, serves=("threshold",), question="how")
def build_threshold_section(source: ReportSource) -> Section:
    """Describe the choice of a threshold: the command, the version and the size."""
    result = source.get_thresholds()
    size = f"{format_count(len(source.learners), 'model')} on {format_count(result.choices[0].rows, 'row')}"
    software = f"fairtrial {metadata.version('fairtrial')}"
    return Section(
        "setup", "Setup", (Sentence(f"Computed for {size} of {result.source} with fairtrial threshold ({software})."),)
    )
