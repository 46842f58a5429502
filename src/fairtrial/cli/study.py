"""Files of evidence: export them, merge them."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairtrial._check import check_one_of, check_whole_number
from fairtrial.cli.application import app, errors_to_exit, on_interrupt, print_frame, warnings_to_stderr
from fairtrial.errors import InputError
from fairtrial.study.records import ResourceLimits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.results.results import Results
    from fairtrial.study.study import Study

RESULT_VIEWS = ("summary", "table", "scores", "robustness", "deterioration", "verdict", "failures", "times")


def resolve_jobs(jobs: int | None) -> int:
    """How many trials at a time: as many as this process may use cores, unless told."""
    from fairtrial.study.run.engine import count_usable_cores

    return count_usable_cores() if jobs is None else check_whole_number("jobs", jobs, 1)


def parse_shard(text: str | None) -> tuple[int, int] | None:
    """The part of a study that `3/100` names.

    >>> parse_shard("3/100")
    (3, 100)
    """
    if text is None:
        return None
    matched = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not matched or not 1 <= int(matched[1]) <= int(matched[2]):
        raise InputError(f"shard must be I/N with I from 1 to N, such as 3/100, got {text!r}")
    return int(matched[1]), int(matched[2])


def override_limits(study: Study, time: str | None, memory: str | None) -> ResourceLimits | None:
    """The limits of the study with those that were told instead; None where none were."""
    from fairtrial.study.spec.models import parse_memory, parse_seconds
    from fairtrial.study.spec.resolve import resolve_limits as declared_limits

    if time is None and memory is None:
        return None
    options = {name: (text, read) for name, text, read in (("time", time, parse_seconds), ("memory", memory, parse_memory))}
    overrides = {name: _parse_limit(text, read) for name, (text, read) in options.items() if text is not None}
    return replace(declared_limits(study.declaration), **overrides)


def _parse_limit(text: str, read: Any) -> Any:
    """A plain number means seconds or bytes, "none" no limit."""
    plain = text.strip()
    amount = read(float(plain) if "." in plain else int(plain)) if re.fullmatch(r"\d+(\.\d+)?", plain) else read(plain)
    return None if amount == "none" else amount


def get_results_view(
    results: Results, view: str, *, measure: str | None, condition: str | None, level: float | None, exact: bool = False
) -> Any:
    """What a command shows of results: a text or a frame, for people to read, or the frame as the results give it (`exact`)."""
    check_one_of("show", view, RESULT_VIEWS)
    selection: dict[str, Any] = {"condition": condition, "level": level}
    if view == "summary" and measure is None and condition is None:
        return str(results)
    if view == "verdict":
        return str(results.verdict(measure, **selection))
    frame = _get_view_frame(results, view, measure, selection)
    formatters = {"robustness": _format_robustness, "times": _format_times}
    return frame if exact or view not in formatters else formatters[view](frame)


def _get_view_frame(results: Results, view: str, measure: str | None, selection: dict[str, Any]) -> pd.DataFrame:
    if view in ("summary", "table"):
        return results.wide(measure, **selection).rename_axis(index="dataset", columns=None).reset_index()
    if view == "scores":
        return results.scores(measure)
    if view == "robustness":
        return results.robustness(selection["condition"], measure or "accuracy")
    if view == "deterioration":
        return results.deterioration()
    return results.failures() if view == "failures" else results.times()


def _format_robustness(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each condition, level, data set and learner, then those over all data sets; an interval in one cell."""
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


def _format_interval(value: float, low: float, high: float) -> str:
    """A value with its interval in one cell.

    >>> _format_interval(0.0512345, 0.0101, 0.092), _format_interval(0.1, float("nan"), float("nan"))
    ('0.05123 (0.0101 to 0.092)', '0.1')
    """
    text = "" if isnan(value) else f"{value:.4g}"
    return text if isnan(low) or isnan(high) else f"{text} ({low:.4g} to {high:.4g})"


def _format_times(frame: pd.DataFrame) -> pd.DataFrame:
    """Times in milliseconds and memory in megabytes, with the unit in the name of the column."""
    names = {"fit_time": "fit", "predict_time": "predict", "fit_cpu": "fit CPU", "predict_cpu": "predict CPU"}
    table = frame.assign(**{column: 1000 * frame[column] for column in names}, memory=frame["memory"] / 1e6)
    return table.rename(columns={"memory": "memory (MB)"} | {column: f"{name} (ms)" for column, name in names.items()})


STORE = Annotated[Path, typer.Argument(help="The file with the evidence: what `fairtrial run` wrote, *.fairtrial.")]


NAME = Annotated[str | None, typer.Option(help="The study's name, for a file that holds several; the last one without it.")]


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="The study file, TOML.")],
    store: Annotated[
        Path | None, typer.Option(help="Where the evidence is kept; NAME.fairtrial in this folder without it.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Trials at a time; as many as there are cores without it.")] = None,
    engine: Annotated[str, typer.Option(help="local, dask (workers on this machine) or dask://HOST:PORT.")] = "local",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the plan: trials, those stored, the time.")] = False,
    retry: Annotated[
        list[str] | None, typer.Option(help="Run such failures again: error, timeout, memory or crash; may come twice.")
    ] = None,
    shard: Annotated[
        str | None, typer.Option(help="I/N: only the I-th of N parts, with a --store of its own; then fairtrial merge.")
    ] = None,
    limit_time: Annotated[str | None, typer.Option(help="Of a trial: seconds, or '10 min'; before the study's.")] = None,
    limit_memory: Annotated[str | None, typer.Option(help="Of a trial: bytes, or '2 GB'; before the study's.")] = None,
    allow_local_code: Annotated[
        bool, typer.Option("--allow-local-code", help="Let the study import learners that are not installed as packages.")
    ] = False,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--quiet", help="Show the progress, or only failures; lines for a log, off a terminal, without it."
        ),
    ] = None,
) -> None:
    """Run a study: only what the store does not hold yet. Ctrl-C stops cleanly; the same command goes on."""
    with errors_to_exit(), warnings_to_stderr(), on_interrupt("stopped before anything ran: run the same command again"):
        from fairtrial.study.run.coordinator import run as run_study
        from fairtrial.study.run.dry_run import dry_run as plan_only
        from fairtrial.study.run.engine import check_engine
        from fairtrial.study.study import Study

        declared = Study.read(study, allow_local_code=allow_local_code)
        path = store or Path(f"{declared.name}.fairtrial")
        part = parse_shard(shard)
        limits = override_limits(declared, limit_time, limit_memory)
        options: dict[str, Any] = {"retry": tuple(retry or ()), "shard": part, "limits": limits}
        if dry_run:
            check_engine(engine, jobs)
            typer.echo(str(plan_only(declared, path, jobs=resolve_jobs(jobs), **options)))
            raise typer.Exit
        outcome = run_study(declared, path, jobs=jobs, engine=engine, progress=progress, **options)
        if progress is False and (outcome.interrupted or outcome.failed):
            typer.echo(str(outcome), err=True)
        if outcome.interrupted:
            raise typer.Exit(130)
    with (
        errors_to_exit(),
        warnings_to_stderr(),
        on_interrupt(f"stopped: all trials are stored; fairtrial results {path} shows what they found"),
    ):
        _print_results(path, declared.name, part)


def _print_results(path: Path, name: str, shard: tuple[int, int] | None) -> None:
    from fairtrial.study.results.results import open_results

    if shard is None:
        typer.echo(f"{open_results(path, name)}\n")
    typer.echo(f"evidence: {path}")


@app.command()
def status(store: STORE, study: NAME = None) -> None:
    """How far a study is, also while it runs: trials stored, failed and missing, by learner."""
    from fairtrial.study.results.results import open_results
    from fairtrial.study.results.summary import compute_progress

    with errors_to_exit(), warnings_to_stderr():
        typer.echo(str(compute_progress(open_results(store, study))))


@app.command()
def results(
    store: STORE,
    measure: Annotated[str | None, typer.Option(help="Any measure (`fairtrial measures`); the study's own without it.")] = None,
    condition: Annotated[str | None, typer.Option(help="A condition of the study; clean without it.")] = None,
    level: Annotated[float | None, typer.Option(help="The level of the condition.")] = None,
    view: Annotated[
        str, typer.Option("--show", help="summary, table, scores, robustness, deterioration, verdict, failures or times.")
    ] = "summary",
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all digits, instead of a table.")] = False,
    study: NAME = None,
) -> None:
    """Results of a study: any measure after the fact, robustness, verdict, failures, times."""

    from fairtrial.study.results.results import open_results

    with errors_to_exit(), warnings_to_stderr():
        selection: dict[str, Any] = {"condition": condition, "level": level}
        result = get_results_view(open_results(store, study), view, measure=measure, exact=csv, **selection)
        if isinstance(result, str):
            typer.echo(result)
        elif csv:
            typer.echo(result.to_csv(index=False), nl=False)
        else:
            print_frame(result)


@app.command()
def export(
    store: STORE,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file.")] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write a Parquet file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    study: NAME = None,
) -> None:
    """Write the evidence: a line for each test row with its trial, id, truth, prediction and scores."""
    from fairtrial.errors import InputError
    from fairtrial.study.store.store import ResultsStore
    from fairtrial.study.store.transfer import export as write

    with errors_to_exit(), warnings_to_stderr():
        if csv is None and parquet is None:
            raise InputError("export must be told a file: --csv FILE or --parquet FILE")
        for path, kind, other_format in ((csv, "csv", "parquet"), (parquet, "parquet", "csv")):
            if path is not None and path.suffix.lower() == f".{other_format}":
                raise InputError(
                    f"--{kind} must not name a .{other_format} file, got {path}: use --{other_format}, or another ending"
                )
        with ResultsStore.open(store) as results_store:
            archive = results_store.open_archive(study)
            for path, kind in ((csv, "csv"), (parquet, "parquet")):
                if path is not None:
                    lines = write(archive, path, format=kind, overwrite=force)  # type: ignore[arg-type]
                    typer.echo(f"written: {path} ({lines} lines)")


@app.command()
def merge(
    files: Annotated[list[Path], typer.Argument(help="The files to merge, such as the shards of a study.")],
    store: Annotated[Path, typer.Option(help="The file that gets all evidence; it is made where it is not there.")],
) -> None:
    """Put the evidence of several files into one. The order does not matter; merging again changes nothing."""
    from fairtrial.study.store.transfer import merge as merge_stores

    with errors_to_exit(), warnings_to_stderr():
        typer.echo(str(merge_stores(store, files)))
