"""The directive `result-schema` of Markdown pages: the keys of the JSON documents of fairtrial, read from their schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

import fairtrial

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx

SCHEMA = Path(fairtrial.__file__).with_name("result.schema.json")


class ResultSchema(SphinxDirective):
    """A table of keys of the document, or of one of its definitions, e.g. `result-schema:: comparison`."""

    optional_arguments = 1

    def run(self) -> list[Node]:
        """Return the table."""
        self.env.note_dependency(str(SCHEMA))
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        part = schema["$defs"][self.arguments[0]] if self.arguments else schema
        required = part.get("required", [])
        rows = [("key", "type", "meaning")]
        for name, facts in part["properties"].items():
            mark = "always present. " if name in required else ""
            rows.append((f"`{name}`", format_type(facts), (mark + facts.get("description", "")).strip().capitalize()))
        return self.parse_text_to_nodes(format_markdown_table(rows))


def format_markdown_table(rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table whose first row is the header."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def format_type(facts: dict[str, Any]) -> str:
    """Return the type of a key in words."""
    if "$ref" in facts:
        return facts["$ref"].rpartition("/")[2]
    if "const" in facts:
        return f"`{json.dumps(facts['const'])}`"
    if "enum" in facts:
        return ", ".join(f"`{value}`" for value in facts["enum"])
    if facts.get("type") == "array":
        return f"list of {format_type(facts['items'])}" if "items" in facts else "list"
    kind = facts.get("type", "any")
    return kind if isinstance(kind, str) else " or ".join(kind)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("result-schema", ResultSchema)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
