"""Show Altair charts in the example gallery."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import altair
from sphinx_gallery.scrapers import figure_rst


def scrape_chart(block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the chart that the last expression of a code block evaluates to, and return its reStructuredText."""
    statements = ast.parse(block[1]).body
    if not statements or not isinstance(statements[-1], ast.Expr):
        return ""
    chart = block_vars["example_globals"].get("___")  # where sphinx-gallery keeps the value of the last expression
    if not isinstance(chart, altair.TopLevelMixin):
        return ""
    image = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
    chart.save(image)
    return figure_rst([image], gallery_conf["src_dir"])
