"""The directive `cli-reference`: every command with its usage, examples, arguments and options, as `--help` shows them.

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
    from collections.abc import Iterator

    from sphinx.application import Sphinx

DEFAULT = re.compile(r"\s*\[(?:default: (.*?)|required)\]$", re.DOTALL)


class CliReference(SphinxDirective):
    """One section per command: purpose, usage, examples, a table of arguments and options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self.build_section(name, context) for name, context in list_commands()]

    def build_section(self, name: str, context: Any) -> nodes.section:
        """Describe one command."""
        command = context.command
        section = nodes.section(ids=[name.replace(" ", "-")], names=[name])
        section += nodes.title("", "", nodes.literal("", name))
        for paragraph in (command.help or "").strip().split("\n\n"):
            section += build_text(" ".join(paragraph.replace("\b", "").split()))
        usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
        section += build_code(usage)
        if examples := [line.strip() for line in (command.epilog or "").splitlines()[1:]]:
            section += build_code("\n".join(examples))
        if rows := [row for parameter in command.params if (row := describe_parameter(parameter, context))]:
            section += build_table(rows)
        return section


def list_commands() -> list[tuple[str, Any]]:
    """Return the full names of the visible commands and their contexts, in alphabetical order."""
    root: Any = typer.main.get_command(commands_app)
    return sorted(walk_commands(root.context_class(root, info_name="fairtrial")), key=lambda item: item[0])


def walk_commands(context: Any) -> Iterator[tuple[str, Any]]:
    """Yield the visible commands of a group and of the groups in it."""
    for name in context.command.list_commands(context):
        command = context.command.get_command(context, name)
        if command.hidden:
            continue
        child = command.context_class(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from walk_commands(child)
        else:
            yield child.command_path, child


def describe_parameter(parameter: Any, context: Any) -> tuple[str, str, str] | None:
    """Return the declaration, the meaning and the default of a parameter; nothing for `--help` and hidden parameters."""
    record = parameter.get_help_record(context)
    if record is None or getattr(parameter, "hidden", False) or parameter.name == "help":
        return None
    declaration, meaning = record
    matched = DEFAULT.search(meaning)
    default = (matched[1] or "required") if matched else ""
    name = parameter.metavar if parameter.param_type_name == "argument" else declaration
    return name.strip(), DEFAULT.sub("", meaning).strip(), default


def build_text(text: str) -> nodes.paragraph:
    """Build a paragraph. Text between backticks is code."""
    parts = [nodes.literal("", part) if i % 2 else nodes.Text(part) for i, part in enumerate(text.split("`"))]
    return nodes.paragraph("", "", *parts)


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
        build_row([nodes.literal("", option), build_text(meaning), nodes.Text(default)]) for option, meaning, default in rows
    ]
    group += [head, body]
    return nodes.table("", group, classes=["cli-options"])


def build_row(cells: list[nodes.Node]) -> nodes.row:
    """Build a row of a table."""
    paragraphs = [cell if isinstance(cell, nodes.paragraph) else nodes.paragraph("", "", cell) for cell in cells]
    return nodes.row("", *(nodes.entry("", paragraph) for paragraph in paragraphs))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("cli-reference", CliReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
