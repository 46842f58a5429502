"""Studies: run them, ask how far they are, look at their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import print_frame, refusals, spoken, stopped_with

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
    with refusals(), spoken(), stopped_with("stopped before anything ran: run the same command again"):
        from fairtrial.study.declare.options import jobs_of, limits_of, shard_of
        from fairtrial.study.declare.study import Study
        from fairtrial.study.engine.coordinator import run as run_study
        from fairtrial.study.engine.engine import known_engine
        from fairtrial.study.plan.dry_run import dry_run as plan_only

        declared = Study.read(study, allow_local_code=allow_local_code)
        path = store or Path(f"{declared.name}.fairtrial")
        part = shard_of(shard)
        limits = limits_of(declared, limit_time, limit_memory)
        options: dict[str, Any] = {"retry": tuple(retry or ()), "shard": part, "limits": limits}
        if dry_run:
            known_engine(engine, jobs)
            typer.echo(str(plan_only(declared, path, jobs=jobs_of(jobs), **options)))
            raise typer.Exit
        done = run_study(declared, path, jobs=jobs, engine=engine, progress=progress, **options)
        if progress is False and (done.interrupted or done.failed):
            typer.echo(str(done), err=True)
        if done.interrupted:
            raise typer.Exit(130)
    with refusals(), spoken(), stopped_with(f"stopped: all trials are stored; fairtrial results {path} shows what they found"):
        _tell(path, declared.name, part)


def _tell(path: Path, name: str, shard: tuple[int, int] | None) -> None:
    from fairtrial.study.results.results import open_results

    if shard is None:
        typer.echo(f"{open_results(path, name)}\n")
    typer.echo(f"evidence: {path}")


@app.command()
def status(store: STORE, study: NAME = None) -> None:
    """How far a study is, also while it runs: trials stored, failed and missing, by learner."""
    from fairtrial.study.results.progress_report import how_far
    from fairtrial.study.results.results import open_results

    with refusals(), spoken():
        typer.echo(str(how_far(open_results(store, study))))


@app.command()
def results(
    store: STORE,
    measure: Annotated[str | None, typer.Option(help="Any measure (`fairtrial measures`); the study's own without it.")] = None,
    condition: Annotated[str | None, typer.Option(help="A condition of the study; clean without it.")] = None,
    level: Annotated[float | None, typer.Option(help="The level of the condition.")] = None,
    what: Annotated[
        str, typer.Option("--show", help="summary, table, scores, robustness, deterioration, verdict, failures or times.")
    ] = "summary",
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with all digits, instead of a table.")] = False,
    study: NAME = None,
) -> None:
    """Results of a study: any measure after the fact, robustness, verdict, failures, times."""
    from fairtrial.study.declare.options import results_view
    from fairtrial.study.results.results import open_results

    with refusals(), spoken():
        place: dict[str, Any] = {"condition": condition, "level": level}
        found = results_view(open_results(store, study), what, measure=measure, exact=csv, **place)
        if isinstance(found, str):
            typer.echo(found)
        elif csv:
            typer.echo(found.to_csv(index=False), nl=False)
        else:
            print_frame(found)
