"""The directive `cli-reference`: every command of the command line with its arguments and options.

It reads the Typer application, so the page cannot fall behind the package.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from fairtrial.cli import app as commands_app

if TYPE_CHECKING:
    from sphinx.application import Sphinx

EXAMPLE = re.compile(r"^Examples?:\s*", re.MULTILINE)
DEFAULT = re.compile(r"\s*\[(?:default: (.*?)|required)\]$", re.DOTALL)


class CliReference(SphinxDirective):
    """One section per command: purpose, usage, examples, a table of arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self.build_section(command, name.split()) for name, command in list_commands()]

    def build_section(self, command: Any, names: list[str]) -> nodes.section:
        """Describe one command."""
        title = " ".join(["fairtrial", *names])
        section = nodes.section(ids=["-".join(["fairtrial", *names])], names=[title])
        section += nodes.title("", "", nodes.literal("", title))
        text, *examples = EXAMPLE.split(command.help or "")
        for paragraph in text.strip().split("\n\n"):
            section += nodes.paragraph("", " ".join(paragraph.replace("\b", "").split()))
        context = command.context_class(command, info_name=title)
        usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
        section += build_code(
            "\n".join([usage, *(line.strip() for example in examples for line in example.strip().splitlines())])
        )
        rows = [row for parameter in command.params if (row := describe_parameter(parameter, context))]
        if rows:
            section += build_table(rows)
        return section


def list_commands() -> list[tuple[str, Any]]:
    """Return the visible commands by name, with the subcommands of a group after it, in alphabetical order."""
    root = typer.main.get_command(commands_app)
    found = []
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        if not command.hidden:
            subcommands = sorted(getattr(command, "commands", {}).items())
            found += [(name, command)] if not subcommands else [(f"{name} {other}", sub) for other, sub in subcommands]
    return found


def describe_parameter(parameter: Any, context: Any) -> tuple[str, str, str] | None:
    """Return the declaration, the meaning and the default of a parameter; nothing for `--help` and hidden parameters."""
    record = parameter.get_help_record(context)
    if record is None or getattr(parameter, "hidden", False) or parameter.name == "help":
        return None
    declaration, meaning = record
    matched = DEFAULT.search(meaning)
    default = (matched[1] or "required") if matched else ""
    return declaration.replace("<bool>", "").strip(), DEFAULT.sub("", meaning).strip(), default


def build_code(text: str) -> nodes.literal_block:
    """Build a block of shell commands."""
    return nodes.literal_block(text, text, language="bash")


def build_table(rows: list[tuple[str, str, str]]) -> nodes.table:
    """Build a table of parameters."""
    group = nodes.tgroup(cols=3)
    group += [nodes.colspec(colwidth=width) for width in (32, 56, 12)]
    head, body = nodes.thead(), nodes.tbody()
    head += build_row([nodes.Text(title) for title in ("option", "meaning", "default")])
    body += [
        build_row([nodes.literal("", option), nodes.Text(meaning), nodes.Text(default)]) for option, meaning, default in rows
    ]
    group += [head, body]
    return nodes.table("", group, classes=["cli-options"])


def build_row(cells: list[nodes.Node]) -> nodes.row:
    """Build a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("cli-reference", CliReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
