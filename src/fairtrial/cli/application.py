"""The command-line application, and functions for tables, warnings and exit codes that all commands share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from fairtrial import __version__
from fairtrial._narrative import name_options
from fairtrial._text import join_names
from fairtrial.errors import FairtrialError, FairtrialWarning, InputError

if TYPE_CHECKING:
    import pandas as pd

_GAP = "  "
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
_NUMBER_NAMES = {"NUMBER": "a number", "INTEGER": "a whole number"}
_UsageError: Any = typer.BadParameter.__base__  # the base class of errors in the command line
_WELCOME = """fairtrial compares classifiers: which is better, how sure are we, is it robust?

  fairtrial judge predictions.csv   predictions of one or more models
  fairtrial compare scores.csv      a table of scores, one row per data set
  fairtrial run study.toml          data and learners
  fairtrial gate predictions.csv --candidate new --baseline old --margin 0.01
                                    may the new model replace the old one?

All commands: fairtrial --help    options and examples: fairtrial COMMAND --help"""


class NamingGroup(TyperGroup):
    """A group of commands. Help texts show the type of an option's value, e.g. NUMBER, and arguments in capitals."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, and set how its help text shows its options and arguments."""
        command: Any = super().get_command(ctx, cmd_name)
        if command is not None:
            hints = get_type_hints(command.callback) if command.callback else {}
            for parameter in [*command.params, command.get_help_option(ctx)]:
                if parameter.param_type_name == "argument":
                    _name_argument(parameter)
                elif parameter.metavar is None:
                    parameter.metavar = _name_value(hints.get(parameter.name, bool))
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and report its invalid options in one sentence."""
        with _exit_on_usage_error(lambda: f"{ctx.command_path} {ctx.invoked_subcommand}"):
            return super().invoke(ctx)

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the group, which are flags without a value."""
        parameters: Any = super().get_params(ctx)
        for parameter in parameters:
            parameter.metavar = parameter.metavar or ""
        return parameters


class CommandGroup(NamingGroup):
    """The group of all commands. Ctrl-C ends a command with a message and exit code 130, even during imports."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands in the order of the help text. Commands of other packages come last."""
        known = [name for names in PANELS.values() for name in names]
        names = super().list_commands(ctx)
        return [*(name for name in known if name in names), *(name for name in names if name not in known)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, and set its heading in the help text."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.rich_help_panel = next((panel for panel, names in PANELS.items() if cmd_name in names), None)
        return command

    def make_context(self, *names: Any, **more: Any) -> Any:
        """Parse the command line."""
        with _exit_on_interrupt(_STOPPED_BEFORE), _exit_on_usage_error(lambda: "fairtrial"):
            return super().make_context(*names, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _exit_on_interrupt(_STOPPED):
            return super().invoke(ctx)


def _name_value(hint: Any) -> str:
    """Return the placeholder for the value of an option in the help text. It is empty for flags.

    >>> _name_value(list[str] | None), _name_value(float), _name_value(bool)
    ('TEXT', 'NUMBER', '')
    """
    names = [_name_value(argument) for argument in get_args(hint) if argument is not type(None)]
    return names[0] if names else _VALUES.get(hint, "TEXT")


def _name_argument(parameter: Any) -> None:
    """Show the name of an argument in capitals. An ellipsis marks an argument that can be repeated."""
    name = (parameter.metavar or parameter.name).upper().removesuffix("...")
    usage = f"{name}..." if parameter.nargs != 1 else name
    parameter.metavar = usage
    parameter.get_usage_pieces = lambda _: [usage if parameter.required else f"[{usage}]"]
    parameter.display_type_rich = lambda **_: None


@contextmanager
def _exit_on_usage_error(get_command_path: Callable[[], str]) -> Iterator[None]:
    """Print a command-line error as one sentence, and exit with code 2. Some errors do not know their command."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        typer.echo(f"fairtrial: {_describe_usage_error(error, get_command_path)}", err=True)
        raise typer.Exit(2) from None


def _describe_usage_error(error: Any, get_command_path: Callable[[], str]) -> str:
    kind, parameter = type(error).__name__, getattr(error, "param", None)
    command = error.ctx.command_path if error.ctx else get_command_path()
    if kind == "MissingParameter" and parameter is not None:
        examples = (error.ctx.command.epilog or "").splitlines()[1:] or [f"{command} --help"]
        name = parameter.metavar.removesuffix("...") if parameter.param_type_name == "argument" else parameter.opts[0]
        return f"{name} must be given, e.g. {examples[0].strip()}"
    if kind == "BadParameter" and parameter is not None and parameter.metavar in _NUMBER_NAMES:
        value = error.__cause__.errors()[0]["input"] if hasattr(error.__cause__, "errors") else ""
        return f"{parameter.opts[0]} must be {_NUMBER_NAMES[parameter.metavar]}, got {value!r}: see {command} --help"
    if kind == "NoSuchOption" and error.possibilities:
        similar = join_names(map(repr, error.possibilities), conjunction="or")
        return f"no option is called {error.option_name!r}: did you mean {similar}?"
    message = error.format_message().rstrip(".")
    return f"{message[:1].lower()}{message[1:]}" + ("" if message.endswith("?") else f": see {command} --help")


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
    context_settings={"help_option_names": ["--help", "-h"]},
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


def complete_measures(incomplete: str) -> list[str]:
    """List the measures whose names begin with the given text."""
    from fairtrial.measures import registry

    return [name for name in registry if name.startswith(incomplete)]


def complete_from(*names: str) -> Callable[[str], list[str]]:
    """Return a function that lists which of the names begin with a given text."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def refuse_folders(*files: str | Path | None) -> None:
    """Refuse folders that are given as input files."""
    for file in files:
        if file is not None and Path(file).is_dir():
            raise InputError(f"{file} is a folder: pass a file")


def refuse_lists(option: str, values: Sequence[str] | None) -> None:
    """Refuse comma-separated names for an option that must be repeated for each name."""
    for value in values or ():
        if "," in value:
            repeated = " ".join(f"{option} {name.strip()}" for name in value.split(",") if name.strip())
            raise InputError(f"{option} must contain one name, got {value!r}: repeat the option ({repeated})")


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
    """Return the name of a parameter's option or argument as it is written on the command line."""
    parameter = next(parameter for parameter in context.command.params if parameter.name == name)
    if parameter.param_type_name == "argument":
        return name.upper()
    return str((parameter.secondary_opts if negated and parameter.secondary_opts else parameter.opts)[0])


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print fairtrial warnings as sentences as soon as they occur. Repeated sentences are printed only once."""
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
    """Set the message that is printed after Ctrl-C, unless the interrupted code provides its own message."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(str(error) or message) from None


def print_frame(frame: pd.DataFrame | Mapping[str, Sequence[Any]], optional: Sequence[str] = ()) -> None:
    """Print a frame, or a mapping of names to columns, as a plain-text table with 4 significant digits.

    If the table is wider than the terminal, the optional columns are omitted one by one. If it is still too wide, long cells
    are wrapped, and columns that do not fit are printed on the next line.
    """
    from rich.console import Console
    from rich.text import Text

    from fairtrial._text import fit_table, measure_width

    room = get_terminal_size().columns
    source: Any = frame
    columns = {str(name): [str(name), *map(format_cell, source[name])] for name in source}
    widths = {name: max(map(measure_width, column)) + len(_GAP) for name, column in columns.items()}
    for name in optional:
        if sum(widths[visible] for visible in columns) - len(_GAP) > room:
            del columns[name]
    header, *rows = fit_table(list(zip(*columns.values(), strict=True)), room)
    lines = [Text("\n".join(header), style="bold"), *(Text("\n".join(row)) for row in rows)]
    Console().print(Text("\n").join(lines), soft_wrap=True)


def print_text(text: object) -> None:
    """Print text, and wrap lines that are wider than the terminal."""
    from fairtrial._text import wrap_text

    typer.echo(wrap_text(str(text), get_terminal_size().columns))


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
