"""The command-line application, and functions that all commands share for tables, warnings and exit codes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from fairtrial import __version__
from fairtrial._narrative import name_options
from fairtrial.errors import FairtrialError, FairtrialWarning, InputError

if TYPE_CHECKING:
    import pandas as pd

_GAP, _INDENT = "  ", "    "
_STOPPED_BEFORE = "stopped before anything ran: rerun the command"
_STOPPED = "stopped: rerun the command"


PANELS = {
    "Start here": ("judge", "compare", "run", "gate"),
    "Predictions and scores": ("threshold", "plan-test", "figure", "table"),
    "Studies": ("status", "results", "report", "export", "merge", "check", "forget"),
    "Data, measures, learners": ("data", "audit", "measures", "learners"),
    "Published experiments": ("reproduce",),
}
"""The commands by heading, in the order of the help text."""
_VALUES = {Path: "PATH", bool: "", int: "INTEGER", float: "NUMBER", str: "TEXT"}
_WELCOME = """fairtrial compares classifiers: which is better, how sure are we, is it robust?

  fairtrial judge predictions.csv   predictions of one or more models
  fairtrial compare scores.csv      a table of scores, one row per data set
  fairtrial run study.toml          data and learners
  fairtrial gate predictions.csv --candidate new --baseline old --margin 0.01
                                    may the new model replace the old one?

All commands: fairtrial --help    options and examples: fairtrial COMMAND --help"""


class CommandGroup(TyperGroup):
    """The group of all commands. Ctrl-C ends a command with a message and exit code 130, even while it imports packages."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands in the order of the help text. Commands of other packages come last."""
        known = [name for names in PANELS.values() for name in names]
        names = super().list_commands(ctx)
        return [*(name for name in known if name in names), *(name for name in names if name not in known)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its heading, and with conventional names for the values of its options."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = next((panel for panel, names in PANELS.items() if cmd_name in names), None)
            hints = get_type_hints(command.callback) if command.callback else {"help": bool}
            for parameter in [*command.params, command.get_help_option(ctx)]:
                if parameter.param_type_name == "option" and parameter.metavar is None:
                    parameter.metavar = _name_value(hints.get(parameter.name, bool))
        return command

    def make_context(self, *names: Any, **more: Any) -> Any:
        """Parse the command line."""
        with _exit_on_interrupt(_STOPPED_BEFORE):
            return super().make_context(*names, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _exit_on_interrupt(_STOPPED):
            return super().invoke(ctx)


def _name_value(hint: Any) -> str:
    """Name the value of an option for the help text. Flags have no value.

    >>> _name_value(list[str] | None), _name_value(float), _name_value(bool)
    ('TEXT', 'NUMBER', '')
    """
    names = [_name_value(argument) for argument in get_args(hint) if argument is not type(None)]
    return names[0] if names else _VALUES.get(hint, "TEXT")


@contextmanager
def _exit_on_interrupt(message: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        typer.echo(f"fairtrial: {str(error) or message}", err=True)
        raise typer.Exit(130) from None


app = typer.Typer(
    cls=CommandGroup,
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Compare classifiers: which is better, how sure are we, is it robust?",
)


def format_examples(*commands: str) -> str:
    """Format commands as the examples at the end of a help text."""
    return "\n".join(["[bold]Examples[/bold]", *(f"  fairtrial {command}" for command in commands)])


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"fairtrial {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare classifiers: which is better, how sure are we, is it robust?"""
    if context.invoked_subcommand is None:
        typer.echo(_WELCOME)


@contextmanager
def errors_to_exit() -> Iterator[None]:
    """Print a fairtrial error as one sentence, and exit with code 2."""
    try:
        with name_options():
            yield
    except FairtrialError as error:
        typer.echo(f"fairtrial: {error}", err=True)
        raise typer.Exit(2) from None


def refuse_with(context: typer.Context, name: str, *others: str) -> None:
    """Refuse the option `name` if it would have no effect because one of the other options is given."""
    option_names = _list_given_options(context)
    for other in others:
        if name in option_names and other in option_names:
            raise InputError(f"{option_names[name]} has no effect with {option_names[other]}: remove one of them")


def refuse_without(context: typer.Context, name: str, *needed: str) -> None:
    """Refuse the option `name` if it would have no effect because none of the needed options is given."""
    option_names = _list_given_options(context)
    if name in option_names and not option_names.keys() & set(needed):
        names = [_name_option(context, other) for other in needed]
        refuse_option(context, name, f"without {' or '.join(names)}", f"add {names[0]}")


def refuse_option(context: typer.Context, name: str, where: str, remedy: str = "") -> None:
    """Refuse the option `name` if it is given, because it would have no effect."""
    option_names = _list_given_options(context)
    if name in option_names:
        instead = f"{remedy}, or remove" if remedy else "remove"
        raise InputError(f"{option_names[name]} has no effect {where}: {instead} {option_names[name]}")


def _list_given_options(context: typer.Context) -> dict[str, str]:
    """Map the parameters that were given on the command line to the names of their options."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    names = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    return {name: _name_option(context, name, context.params[name] is False) for name in names}


def _name_option(context: typer.Context, name: str, negated: bool = False) -> str:
    """Name the option or argument of a parameter as it is written on the command line."""
    parameter = next(parameter for parameter in context.command.params if parameter.name == name)
    if parameter.param_type_name == "argument":
        return name.upper()
    return str((parameter.secondary_opts if negated and parameter.secondary_opts else parameter.opts)[0])


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print fairtrial warnings as sentences as soon as they occur. Repeated sentences are printed once."""
    printed: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in printed:
            printed.add(str(message))
            typer.echo(f"fairtrial: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", FairtrialWarning)
        warnings.showwarning = show
        yield


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Ignore fairtrial warnings, because the printed result contains them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairtrialWarning)
        yield


@contextmanager
def on_interrupt(message: str) -> Iterator[None]:
    """Set the message that Ctrl-C prints, unless the interrupted code provides its own message."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(str(error) or message) from None


def print_frame(frame: pd.DataFrame | Mapping[str, Sequence[Any]]) -> None:
    """Print a frame, or columns by name, as a plain-text table with 4 significant digits.

    On a terminal, long text columns are dropped or shortened. If the table is still too wide, the columns that do not fit are
    continued on the next line.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console()
    room = console.width if console.is_terminal else None
    source: Any = frame
    table: dict[str, Sequence[Any]] = {str(name): list(source[name]) for name in source}
    visible = table if room is None else _drop_long_columns(table, room)
    columns = [[name, *map(format_cell, values)] for name, values in visible.items()]
    header, *lines = _format_lines(columns, room)
    console.print(Text("\n").join([Text(header, style="bold"), *map(Text, lines)]), soft_wrap=True)


def format_cell(value: Any) -> str:
    """Format a value for a table: floats with 4 significant digits, NaN as an empty cell.

    >>> [format_cell(value) for value in (0.9333333333333333, 12345.678, 3, float("nan"), "two\\nlines")]
    ['0.9333', '12346', '3', '', 'two lines']
    """
    from fairtrial._text import collapse_whitespace

    if isinstance(value, float):
        if isnan(value):
            return ""
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return "" if value is None else collapse_whitespace(value)


def _format_lines(columns: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """Yield the lines of a table. Columns that do not fit continue on the next line, indented."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in columns]
    groups = [list(range(len(columns)))] if room is None else _split_columns(widths, room)
    for line in zip(*columns, strict=True):
        padded = [text + " " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)]
        yield f"\n{_INDENT}".join(_GAP.join(padded[index] for index in group).rstrip() for group in groups)


def _split_columns(widths: Sequence[int], room: int) -> list[list[int]]:
    """Group the indices of the columns that fit on the same line."""
    groups: list[list[int]] = []
    left = 0
    for index, width in enumerate(widths):
        if not groups or width + len(_GAP) > left:
            left = room - (len(_INDENT) if groups else 0) - width
            groups.append([index])
        else:
            left -= width + len(_GAP)
            groups[-1].append(index)
    return groups


def _drop_long_columns(table: Mapping[str, Sequence[Any]], width: int) -> dict[str, Sequence[Any]]:
    narrow = 1 + (width < 170) + (width < 110)
    left_out = [
        *["aliases", "reference", "description"][:narrow],
        *(["class", "parameters", "from"][:narrow] if narrow > 1 else []),
    ]
    visible = {name: values for name, values in table.items() if name not in left_out}
    for column in ("description", "parameters"):
        visible = _cut_column(visible, column, width)
    return visible


def _cut_column(table: dict[str, Sequence[Any]], column: str, width: int) -> dict[str, Sequence[Any]]:
    """Shorten one column to the width that the other columns leave."""
    from fairtrial._text import collapse_whitespace

    if column not in table:
        return table
    widths = [
        max(len(format_cell(value)) for value in [name, *values]) + len(_GAP)
        for name, values in table.items()
        if name != column
    ]
    room = max(20, width - sum(widths))
    return {**table, column: [collapse_whitespace(text, room) for text in table[column]]}
