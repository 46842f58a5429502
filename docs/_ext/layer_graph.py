"""The directive `layer-graph`: draws the layers of an import-linter contract, with the imports that exist."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path
from typing import Any

import grimp
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
ROW_HEIGHT, BOX_HEIGHT, MARGIN, CHAR_WIDTH, GAP = 64, 34, 16, 8, 14


class LayerGraph(SphinxDirective):
    """Draw the contract of a container, e.g. `fairtrial.study`: one row per layer, an arrow for every import between layers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the drawing as inline SVG."""
        container = self.arguments[0]
        layers = read_layers(container)
        self.env.note_dependency(str(ROOT / "pyproject.toml"))
        return [nodes.raw("", draw_layers(layers, find_imports(container, layers), container), format="html")]


def read_layers(container: str) -> list[list[str]]:
    """Read the layers of a container from the contracts in pyproject.toml, highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if container in contract.get("containers", ()))
    return [[name.strip(" ()") for name in layer.replace(":", "|").split("|")] for layer in layers]


def find_imports(container: str, layers: list[list[str]]) -> set[tuple[str, str]]:
    """Find which modules of the container import which others, at any depth."""
    graph = grimp.build_graph("fairtrial", include_external_packages=False, cache_dir=None)
    names = [name for layer in layers for name in layer if f"{container}.{name}" in graph.modules]
    return {
        (importer, imported)
        for importer in names
        for imported in names
        if importer != imported
        and graph.direct_import_exists(
            importer=f"{container}.{importer}", imported=f"{container}.{imported}", as_packages=True
        )
    }


def draw_layers(layers: list[list[str]], imports: set[tuple[str, str]], container: str) -> str:
    """Draw the layers as SVG that follows the page's colours."""
    widths = [sum(_width(name) + GAP for name in layer) - GAP for layer in layers]
    total = max(widths) + 2 * MARGIN
    centres: dict[str, tuple[float, float]] = {}
    boxes = []
    for row, layer in enumerate(layers):
        left, top = (total - widths[row]) / 2, MARGIN + row * ROW_HEIGHT
        for name in layer:
            centres[name] = (left + _width(name) / 2, top)
            boxes.append(
                f'<rect x="{left:.0f}" y="{top}" width="{_width(name)}" height="{BOX_HEIGHT}" rx="6" class="layer-box"/>'
                f'<text x="{left + _width(name) / 2:.0f}" y="{top + 22}" class="layer-name">{escape(name)}</text>'
            )
            left += _width(name) + GAP
    arrows = [
        f'<line x1="{x1:.0f}" y1="{y1 + BOX_HEIGHT}" x2="{x2:.0f}" y2="{y2}" class="layer-import"/>'
        for (x1, y1), (x2, y2) in sorted((centres[importer], centres[imported]) for importer, imported in imports)
        if y2 > y1
    ]
    height = 2 * MARGIN + (len(layers) - 1) * ROW_HEIGHT + BOX_HEIGHT
    title = f"Layers of {container}: each row may import the rows below it"
    return (
        f'<figure class="layer-graph"><svg viewBox="0 0 {total:.0f} {height}" role="img" aria-label="{escape(title)}" '
        f'style="max-width: {total:.0f}px; width: 100%">{"".join(arrows)}{"".join(boxes)}</svg></figure>'
    )


def _width(name: str) -> int:
    return CHAR_WIDTH * len(name) + 24


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("layer-graph", LayerGraph)
    return {"parallel_read_safe": True}
