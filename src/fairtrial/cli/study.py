"""Commands for studies: run, status, results, report, export, merge, check, forget."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairtrial._files import format_csv
from fairtrial._text import format_count, wrap_lines
from fairtrial.cli.application import (
    app,
    complete_from,
    complete_measures,
    errors_to_exit,
    format_examples,
    on_interrupt,
    print_frame,
    print_text,
    refuse_folders,
    refuse_option,
    refuse_with,
    refuse_without,
    warnings_to_stderr,
)
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.records import ResourceLimits
    from fairtrial.study.results.results import Results
    from fairtrial.study.run.progress import RunSummary
    from fairtrial.study.study import Study

# The views of `fairtrial results`, and the options that each view uses.
_VIEW_OPTIONS = {
    "summary": {"measure", "condition", "level", "resampling", "show_all", "explain", "csv", "json"},
    "table": {"measure", "condition", "level", "resampling", "csv"},
    "scores": {"measure", "resampling", "csv"},
    "robustness": {"measure", "condition", "resampling", "csv"},
    "deterioration": {"resampling", "csv"},
    "verdict": {"measure", "condition", "level", "resampling", "explain", "json"},
    "failures": {"resampling", "csv"},
    "times": {"resampling", "csv"},
    "tuning": {"resampling", "csv"},
    "resampling": {"measure", "condition", "level", "csv"},
    "learning-curve": {"measure", "resampling", "csv"},
    "generalisation": {"measure", "condition", "level", "resampling", "csv"},
}
RESULT_VIEWS = tuple(_VIEW_OPTIONS)

Store = Annotated[Path, typer.Argument(help="Results file written by `fairtrial run` (*.fairtrial).")]
StudyName = Annotated[
    str | None, typer.Option(help="Name of the study, if the results file has several. Default: the last one.")
]


@app.command(
    epilog=format_examples(
        "run study.toml --dry-run",
        "run study.toml",
        "run study.toml --retry timeout",
        "run study.toml --shard 1/4 --store part1.fairtrial",
    )
)
def run(
    context: typer.Context,
    study: Annotated[Path, typer.Argument(help="Study file (TOML).")],
    store: Annotated[Path | None, typer.Option(help="Results file. Default: NAME.fairtrial in the current folder.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Trials run in parallel. Default: the number of cores.")] = None,
    engine: Annotated[str, typer.Option(help="local, dask (workers on this machine) or dask://HOST:PORT.")] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the number of trials and the expected time; run nothing.")
    ] = False,
    retry: Annotated[
        list[str] | None, typer.Option(help="Rerun failed trials with status error, timeout, memory or crash. Repeatable.")
    ] = None,
    rerun: Annotated[
        list[str] | None, typer.Option(metavar="LEARNER", help="Forget the trials of a learner and rerun them. Repeatable.")
    ] = None,
    shard: Annotated[
        str | None, typer.Option(help="Run only part I of N, given as I/N, with its own --store; see fairtrial merge.")
    ] = None,
    limit_time: Annotated[
        str | None, typer.Option(help="Time limit per trial, e.g. 600 or '10 min'. Overrides the study file.")
    ] = None,
    limit_memory: Annotated[
        str | None, typer.Option(help="Memory limit per trial, e.g. '2 GB'. Overrides the study file.")
    ] = None,
    allow_local_code: Annotated[
        bool, typer.Option("--allow-local-code", help="Allow learners from local Python files that are not installed.")
    ] = False,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--quiet",
            help="Show progress, or only failures. Default: progress; plain lines if the output is not a terminal.",
        ),
    ] = None,
) -> None:
    """Run a study. Trials already in the results file are not repeated. Press Ctrl-C to stop; rerun to resume.

    The exit code is 1 if trials failed.
    """
    with errors_to_exit(), warnings_to_stderr(), on_interrupt("stopped before any trial ran: rerun the command"):
        refuse_folders(study)
        if not (dry_run or retry or rerun or shard or allow_local_code) and _is_unchanged(study, store):
            return
        from fairtrial.study.results.stored import LARGE_STUDY, store_scores
        from fairtrial.study.run.coordinator import run_study
        from fairtrial.study.run.dry_run import dry_run as plan_only
        from fairtrial.study.run.engine import check_engine
        from fairtrial.study.study import Study

        refuse_with(context, "progress", "dry_run")
        declared = Study.read(study, allow_local_code=allow_local_code)
        path = store or Path(f"{declared.name}.fairtrial")
        part = parse_shard(shard)
        limits = override_limits(declared, limit_time, limit_memory)
        options: dict[str, Any] = {"retry": tuple(retry or ()), "rerun": tuple(rerun or ()), "shard": part, "limits": limits}
        if dry_run:
            check_engine(engine, jobs)
            print_text(plan_only(declared, path, jobs=resolve_jobs(jobs), **options))
            raise typer.Exit
        outcome = run_study(declared, path, jobs=jobs, engine=engine, progress=progress, **options)
        if progress is False and (outcome.interrupted or outcome.forgotten):
            typer.echo(str(outcome), err=True)
        if outcome.interrupted:
            raise typer.Exit(130)
    with (
        errors_to_exit(),
        warnings_to_stderr(),
        on_interrupt(f"stopped: all trials are stored; show the results with: fairtrial results {path}"),
    ):
        if outcome.planned >= LARGE_STUDY and part is None:
            store_scores(path, declared.name, None if allow_local_code else study)
        if not outcome.done and outcome.planned >= LARGE_STUDY:
            failed: int | None = _print_unchanged(path, outcome)
        else:
            failed = _print_results(path, declared.name, part)
        _refuse_failures(outcome.failed if failed is None else failed, path)


def _is_unchanged(study: Path, store: Path | None) -> bool:
    """Return whether a large study is finished and unchanged, and print a message if so. Exit with code 1 if trials failed."""
    from fairtrial.study.results.stored import count_unchanged, read_name
    from fairtrial.study.run.progress import RunSummary

    path = store or Path(f"{read_name(study)}.fairtrial")
    n_trials = count_unchanged(path, study)
    if n_trials is None:
        return False
    _refuse_failures(_print_unchanged(path, RunSummary(planned=n_trials, stored=n_trials, done=0)), path)
    return True


def _print_unchanged(path: Path, outcome: RunSummary) -> int:
    """Report that a large study had nothing to run, and return the number of failed trials.

    Because the answer takes a long time to compute, only the commands that show it are printed.
    """
    from fairtrial.study.store.store import open_store

    typer.echo(str(outcome))
    _print_hints(f"answer: fairtrial results {path}", f"page: fairtrial report {path}")
    with open_store(path) as results_store:
        return sum(count for status, count in results_store.count_by_status().items() if status != "ok")


def _refuse_failures(n_failed: int, path: Path) -> None:
    """Exit with code 1 if trials failed."""
    if n_failed:
        typer.echo(f"fairtrial: {format_count(n_failed, 'trial')} failed: fairtrial results {path} --show failures", err=True)
        raise typer.Exit(1)


def _print_results(path: Path, name: str, shard: tuple[int, int] | None) -> int | None:
    """Print the answer, and return the number of failed trials in the results file. Return None for a shard."""
    from fairtrial.study.results.results import open_results

    if shard is not None:
        _print_hints(f"results file: {path}", f"merge: fairtrial merge FILE... --store {name}.fairtrial")
        return None
    opened = open_results(path, name)
    print_text(opened.summary().format_short(f"fairtrial results {path} --all"))
    _print_hints(f"tables: fairtrial results {path} --all")
    _print_hints(f"reasons: fairtrial results {path} --explain")
    _print_hints(f"results file: {path}", f"page: fairtrial report {path}")
    return len(opened.failures())


def _print_hints(*hints: str) -> None:
    """Print hints on one line if they fit into 80 columns, otherwise one hint per line."""
    line = "  " + "  ".join(hints)
    typer.echo(line if len(line) <= 80 else "\n".join(f"  {hint}" for hint in hints))


@app.command(epilog=format_examples("status study.fairtrial"))
def status(store: Store, study: StudyName = None) -> None:
    """Show the progress of a study, even while it runs: stored, failed and missing trials by learner."""
    from fairtrial.study.results.summary import compute_progress
    from fairtrial.study.store.store import open_store

    with errors_to_exit(), warnings_to_stderr(), open_store(store) as results_store:
        print_text(compute_progress(results_store.open_archive(study)))


@app.command(
    epilog=format_examples(
        "results study.fairtrial", "results study.fairtrial --measure h_measure", "results study.fairtrial --show robustness"
    )
)
def results(
    context: typer.Context,
    store: Store,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Any measure (see `fairtrial measures`). Default: the measures of the study.",
            autocompletion=complete_measures,
        ),
    ] = None,
    condition: Annotated[str | None, typer.Option(help="Condition of the study. Default: clean.")] = None,
    level: Annotated[float | None, typer.Option(help="Level of the condition.")] = None,
    resampling: Annotated[str | None, typer.Option(help="Resampling scheme of the study. Default: the first one.")] = None,
    view: Annotated[
        str,
        typer.Option(
            "--show",
            help=f"What to show: {', '.join(RESULT_VIEWS[:-1])} or {RESULT_VIEWS[-1]}.",
            autocompletion=complete_from(*RESULT_VIEWS),
        ),
    ] = "summary",
    show_all: Annotated[bool, typer.Option("--all", help="Show the means of all measures and all notes.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the reasons for the choice of test, and caveats.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV with all digits instead of a table.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the verdict and all pairs to this JSON file.")] = None,
    study: StudyName = None,
) -> None:
    """Show the results of a study: the answer, scores by any measure, robustness, verdict, failures and times."""
    from fairtrial.study.results.results import open_results

    with errors_to_exit(), warnings_to_stderr():
        _check_view_options(
            context, view, is_text=view == "verdict" or (view == "summary" and measure is None and condition is None)
        )
        selection: dict[str, Any] = {"condition": condition, "level": level}
        opened = open_results(store, study)
        if resampling is not None:
            opened = opened.for_resampling(resampling)
        if json is not None:
            from fairtrial.report.files import check_text_path, write_text

            verdict = opened.verdict(measure, **selection)
            write_text(check_text_path(json), verdict.to_json(store.name, "results", **selection) + "\n")
            typer.echo(f"written: {json}", err=csv)
        if explain:
            print_text(_format_explanation(opened, measure, selection))
            return
        if view == "summary" and measure is None and condition is None and not show_all:
            print_text(opened.summary().format_short())
            _print_hints("tables: --all", "reasons: --explain", "another measure: --measure NAME")
            _print_hints(f"results file: {store}", f"page: fairtrial report {store}")
            return
        if view in ("summary", "table") and not csv and (view == "table" or measure is not None or condition is not None):
            _print_wide_table(opened, measure, selection)
            return
        result = get_results_view(opened, view, measure=measure, exact=csv, **selection)
        if isinstance(result, str):
            print_text(result)
        elif csv:
            typer.echo(format_csv(result), nl=False)
        else:
            print_frame(result)


def _check_view_options(context: typer.Context, view: str, is_text: bool) -> None:
    """Refuse options of `fairtrial results` that the view does not use."""
    from fairtrial._check import check_one_of

    check_one_of("show", view, RESULT_VIEWS)
    refuse_without(context, "level", "condition")
    for name in sorted(_VIEW_OPTIONS["summary"] - _VIEW_OPTIONS[view]):
        refuse_option(context, name, f"with --show {view}")
    refuse_with(context, "show_all", "measure", "condition", "explain", "csv")
    refuse_with(context, "csv", "explain")
    if is_text:
        refuse_option(context, "csv", "on text", "choose a table with --show table")


def _print_wide_table(results: Results, measure: str | None, selection: dict[str, Any]) -> None:
    from fairtrial.study.results.summary import describe_wide_table

    title, table = describe_wide_table(results, measure, **selection)
    typer.echo(title)
    print_frame(table.rename_axis(index="dataset", columns=None).reset_index())


@app.command(
    epilog=format_examples("report study.fairtrial --out page.html", "report study.fairtrial --figures figures --format pdf")
)
def report(
    context: typer.Context,
    store: Store,
    out: Annotated[
        Path | None,
        typer.Option(
            help="HTML file. Default: the name of the results file, in the current folder; no page with --figures or --tables."
        ),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure to this folder.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the figures, separated by commas: svg, pdf, png, html, json.")
    ] = "svg",
    tables: Annotated[Path | None, typer.Option(help="Write every table to this folder as CSV, Markdown and LaTeX.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page. Default: the name of the study.")] = None,
    study: StudyName = None,
) -> None:
    """Write the report of a study as one self-contained HTML file, or its figures and tables as files."""
    from fairtrial import open_results
    from fairtrial.report.report import write_files

    with errors_to_exit(), warnings_to_stderr():
        refuse_without(context, "formats", "figures")
        if out is None and (figures is not None or tables is not None):
            refuse_option(context, "title", "without a page", "add --out")
        page = out if out or figures or tables else Path(f"{store.stem}.html")
        written = write_files(open_results(store, study), page, title=title, figures=figures, formats=formats, tables=tables)
        for path, count in written.items():
            typer.echo(f"written: {path}" + (f" ({format_count(count, 'file')})" if count is not None else ""))


@app.command(epilog=format_examples("export study.fairtrial --parquet rows.parquet"))
def export(
    store: Store,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file.")] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write a Parquet file.")] = None,
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", help="Export only this resampling scheme of the study. Default: all.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    study: StudyName = None,
) -> None:
    """Export predictions: one line per trial and test row, with row id, true label, prediction and scores."""
    from fairtrial.study.store.store import open_store
    from fairtrial.study.store.transfer import write_predictions

    with errors_to_exit(), warnings_to_stderr():
        if csv is None and parquet is None:
            raise InputError("no output file given: pass --csv FILE or --parquet FILE")
        for path, kind, other_format in ((csv, "csv", "parquet"), (parquet, "parquet", "csv")):
            if path is not None and path.suffix.lower() == f".{other_format}":
                raise InputError(
                    f"--{kind} must not name a .{other_format} file, got {path}: use --{other_format}, or another suffix"
                )
        with open_store(store) as results_store:
            results_store.check()
            archive = results_store.open_archive(study)
            archive = archive if scheme is None else archive.select_scheme(scheme)
            for path, kind in ((csv, "csv"), (parquet, "parquet")):
                if path is not None:
                    lines = write_predictions(archive, path, format=kind, overwrite=force)  # type: ignore[arg-type]
                    typer.echo(f"written: {path} ({format_count(lines, 'line')})")


@app.command(epilog=format_examples("merge part1.fairtrial part2.fairtrial --store study.fairtrial"))
def merge(
    files: Annotated[list[Path], typer.Argument(help="Results files to merge, such as the shards of a study.")],
    store: Annotated[Path, typer.Option(help="Results file that receives all trials. It is created if it does not exist.")],
) -> None:
    """Merge results files into one. The order of the files does not matter, and merging again changes nothing."""
    from fairtrial.study.store.transfer import merge as merge_stores

    with errors_to_exit(), warnings_to_stderr():
        typer.echo(str(merge_stores(store, files)))


@app.command(epilog=format_examples("check study.fairtrial"))
def check(
    store: Store,
    repair: Annotated[
        bool, typer.Option("--repair", help="Drop corrupted trials, so the next run repeats them. The old file is kept.")
    ] = False,
) -> None:
    """Check a results file: database pages, checksums, and trials against the plan. A corrupted file gives exit code 2."""
    from fairtrial.study.store.transfer import check_results, repair_results

    with errors_to_exit(), warnings_to_stderr():
        outcome = repair_results(store) if repair else None
        if outcome is not None:
            typer.echo(str(outcome))
        typer.echo(str(check_results(store)))


@app.command(epilog=format_examples("forget study.fairtrial --learner forest"))
def forget(
    store: Store,
    learner: Annotated[str, typer.Option(help="Learner whose trials are deleted, so the next run repeats them.")],
    dataset: Annotated[str | None, typer.Option(help="Delete only the trials on this data set.")] = None,
    study: StudyName = None,
) -> None:
    """Delete the trials of a learner from a results file."""
    from fairtrial.study.store.transfer import forget_trials

    with errors_to_exit(), warnings_to_stderr():
        count = forget_trials(store, learner, dataset=dataset, study=study)
        where = "" if dataset is None else f" on {dataset}"
        trials = f"{format_count(count, 'trial')} of {learner}{where}"
        typer.echo(f"{store}: {trials} deleted; fairtrial run repeats {'it' if count == 1 else 'them'}")


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of trials to run in parallel. Default: the number of cores that this process may use."""
    from fairtrial._check import check_whole_number
    from fairtrial.study.run.engine import count_usable_cores

    return count_usable_cores() if jobs is None else check_whole_number("jobs", jobs, 1)


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """Parse a shard such as `3/100` into the number of the part and the total number of parts.

    >>> parse_shard("3/100")
    (3, 100)
    """
    if text is None:
        return None
    matched = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]):
        raise InputError(f"--shard must be I/N with I from 1 to N, such as 3/100, got {text!r}")
    return int(matched[1]), int(matched[2])


def override_limits(study: Study, time: str | None, memory: str | None) -> ResourceLimits | None:
    """Override the resource limits of the study. Return None if there is nothing to override."""
    from fairtrial.study.spec.models import LimitsSpec, validate_table

    if time is None and memory is None:
        return None
    overrides = {name: _parse_number(text) for name, text in (("time", time), ("memory", memory)) if text is not None}
    return validate_table(LimitsSpec, study.declaration.limits.to_dict() | overrides).to_resource_limits()


def _parse_number(text: str) -> str | float:
    """Parse a plain number of seconds or bytes. Other text is returned unchanged."""
    plain = text.strip()
    if not re.fullmatch(r"\d+(\.\d+)?", plain):
        return plain
    return float(plain) if "." in plain else int(plain)


def get_results_view(
    results: Results, view: str, *, measure: str | None, condition: str | None, level: float | None, exact: bool = False
) -> Any:
    """Get one view of the results, as text or as a readable table. If `exact` is true, tables are not formatted."""
    from fairtrial._check import check_one_of
    from fairtrial.study.results.tuning import count_choices

    check_one_of("show", view, RESULT_VIEWS)
    selection: dict[str, Any] = {"condition": condition, "level": level}
    if view == "summary" and measure is None and condition is None:
        return str(results)
    if view == "verdict":
        return str(results.verdict(measure, **selection))
    frame = _get_view_frame(results, view, measure, selection)
    formatters = {"robustness": _format_robustness, "times": _format_times, "tuning": count_choices}
    formatters["generalisation"] = _drop_empty_notes
    return frame if exact or view not in formatters else formatters[view](frame)


def _format_explanation(results: Results, measure: str | None, selection: dict[str, Any]) -> str:
    """Format the answer, followed by the test result, the reasons for the choice of test, and all caveats."""
    verdict = results.verdict(measure, **selection)
    lines = [*wrap_lines(verdict.summary)]
    for text in verdict.explain().splitlines():
        lines += wrap_lines(text, indent="  ")
    return "\n".join(lines)


def _get_view_frame(results: Results, view: str, measure: str | None, selection: dict[str, Any]) -> pd.DataFrame:
    if view in ("summary", "table"):
        return results.wide(measure, **selection).rename_axis(index="dataset", columns=None).reset_index()
    views: dict[str, Callable[[], pd.DataFrame]] = {
        "scores": lambda: results.scores(measure),
        "robustness": lambda: results.robustness(selection["condition"], measure or "accuracy"),
        "deterioration": results.deterioration,
        "failures": results.failures,
        "times": results.times,
        "tuning": lambda: _get_choices(results),
        "resampling": lambda: results.compare_resampling(measure, **selection),
        "generalisation": lambda: results.generalisation(measure, **selection),
        "learning-curve": lambda: results.learning_curve(measure, by="all" if len(results.archive.datasets) > 1 else "dataset"),
    }
    return views[view]()


def _get_choices(results: Results) -> pd.DataFrame:
    choices = results.tuning()
    if choices.empty:
        raise InputError("no learner of the study is tuned: declare tune = { grid = { NAME = [VALUES] } } for a learner")
    return choices


def _format_robustness(frame: pd.DataFrame) -> pd.DataFrame:
    """Format the losses on each data set, followed by the means over all data sets. Each interval is in one cell."""
    import pandas as pd

    from fairtrial.study.results.robustness import average_losses

    lines = frame.astype({"dataset": str})
    if lines["dataset"].nunique() > 1:
        lines = pd.concat([lines, average_losses(frame).assign(dataset="(over all)")], ignore_index=True)
    order = list(dict.fromkeys(zip(lines["condition"], lines["level"], strict=True)))
    positions = pd.Series([order.index(pair) for pair in zip(lines["condition"], lines["level"], strict=True)])
    lines = lines.iloc[positions.argsort(kind="stable")]
    table = lines[["condition", "level", "dataset", "learner", "clean", "noisy"]].copy()
    for name in ("rla", "ela"):
        limits = (lines[column] for column in (name, f"{name}_low", f"{name}_high"))
        table[f"{name} (low to high)"] = [_format_interval(*interval) for interval in zip(*limits, strict=True)]
    return table.reset_index(drop=True)


def _drop_empty_notes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if frame["note"].any() else frame.drop(columns="note")


def _format_interval(value: float, low: float, high: float) -> str:
    """Format a value and its interval in one cell.

    >>> _format_interval(0.0512345, 0.0101, 0.092), _format_interval(0.1, float("nan"), float("nan"))
    ('0.05123 (0.0101 to 0.092)', '0.1')
    """
    text = "" if isnan(value) else f"{value:.4g}"
    return text if isnan(low) or isnan(high) else f"{text} ({low:.4g} to {high:.4g})"


def _format_times(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert times to milliseconds and memory to megabytes. The units are added to the column names."""
    names = {"fit_time": "fit", "predict_time": "predict", "fit_cpu": "fit CPU", "predict_cpu": "predict CPU"}
    table = frame.assign(**{column: 1000 * frame[column] for column in names}, memory=frame["memory"] / 1e6)
    table = table if table["memory"].notna().any() else table.drop(columns="memory")
    return table.rename(columns={"memory": "memory (MB)"} | {column: f"{name} (ms)" for column, name in names.items()})
