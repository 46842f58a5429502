"""Directives that list the registered measures: `measure-table` and `measure-list`.

Both read `fairtrial.measures.registry`, so the page of measures cannot fall behind the package.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from sphinx.util.docutils import SphinxDirective

from fairtrial.measures import Measure, registry

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx

INPUT_ORDER = ("labels", "scores", "probabilities", "values", "results")
COLUMN_TITLES = ("measure", "needs", "better", "range", "chance", "reference")


def list_measures() -> list[Measure]:
    """Return all measures, grouped by the input that they need."""
    return sorted(registry.values(), key=lambda measure: INPUT_ORDER.index(measure.facts.needs))


def format_signature(measure: Measure) -> str:
    """Return the call signature without annotations."""
    signature = inspect.signature(measure)
    parameters = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def format_table_row(measure: Measure) -> tuple[str, ...]:
    """Return the cells of one measure as reStructuredText."""
    facts = measure.facts
    low, high = facts.range
    return (
        f":py:func:`{facts.name} <fairtrial.measures.{facts.name}>`",
        facts.needs,
        "higher" if facts.direction == "max" else "lower",
        f"{low:g} to {high:g}",
        "" if facts.chance is None else f"{facts.chance:g}",
        facts.cite,
    )


def format_list_table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a `list-table` whose first row is the header."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if column == 0 else '  -'} {cell}".rstrip() for column, cell in enumerate(row)]
    return lines


def format_entry(measure: Measure) -> list[str]:
    """Return the lines of an `autofunction` directive."""
    lines = [f".. autofunction:: fairtrial.measures.{measure.facts.name}{format_signature(measure)}", ""]
    if measure.facts.aliases:
        lines += [f"   Aliases: {', '.join(f'`{alias}`' for alias in measure.facts.aliases)}.", ""]
    return lines


class MeasureTable(SphinxDirective):
    """A table with one row per measure."""

    def run(self) -> list[Node]:
        """Return the table."""
        rows = [COLUMN_TITLES, *(format_table_row(measure) for measure in list_measures())]
        return self.parse_text_to_nodes("\n".join(format_list_table(rows)))


class MeasureList(SphinxDirective):
    """The signature and the docstring of every measure."""

    def run(self) -> list[Node]:
        """Return one entry per measure."""
        return self.parse_text_to_nodes("\n".join(line for measure in list_measures() for line in format_entry(measure)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("measure-table", MeasureTable)
    app.add_directive("measure-list", MeasureList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
