"""The directive `layer-graph`: draws the layers of an import-linter contract, with the imports that exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import grimp
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
ROW_HEIGHT, BOX_HEIGHT, MARGIN, GAP = 56, 30, 10, 12
CHAR_WIDTH, PADDING = 7.9, 18  # of the names in the boxes, 13 px monospace
CLEARANCE = 6  # between boxes and the lines that lead past them


class Box(NamedTuple):
    """The box of a module: its row, its left end and its width."""

    row: int
    left: float
    width: float

    @property
    def right(self) -> float:
        """The right end."""
        return self.left + self.width

    @property
    def centre(self) -> float:
        """The horizontal centre."""
        return self.left + self.width / 2

    @property
    def top(self) -> float:
        """The upper edge."""
        return MARGIN + self.row * ROW_HEIGHT

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + BOX_HEIGHT


class Line(NamedTuple):
    """The line of an import. It leads down at `lane` past the rows between, or straight if there are none."""

    start: Box
    end: Box
    lane: float | None


class LayerGraph(SphinxDirective):
    """Draw the contract of a container, e.g. `fairtrial.study`: one row per layer, lines for the imports between rows."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the drawing as inline SVG."""
        container = self.arguments[0]
        self.env.note_dependency(str(ROOT / "pyproject.toml"))
        graph = grimp.build_graph("fairtrial", include_external_packages=False, cache_dir=None)
        layers = read_layers(container, graph.modules)
        imports = drop_implied_imports(find_imports(graph, container, layers))
        return [nodes.raw("", draw_layers(layers, imports, container), format="html")]


def read_layers(container: str, modules: Iterable[str]) -> list[list[str]]:
    """Read the layers of a container from the contracts in pyproject.toml, highest first.

    A layer is `a | b` or `a : b` if it has several modules, `(a)` if a module may be missing.
    """
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    names = next(contract["layers"] for contract in contracts if container in contract.get("containers", ()))
    layers = [[name.strip(" ()") for name in re.split("[|:]", layer)] for layer in names]
    present = [[name for name in layer if f"{container}.{name}" in set(modules)] for layer in layers]
    return [layer for layer in present if layer]


def find_imports(graph: grimp.ImportGraph, container: str, layers: list[list[str]]) -> set[tuple[str, str]]:
    """Find which modules import which modules of lower layers, at any depth."""
    return {
        (importer, imported)
        for row, layer in enumerate(layers)
        for importer in layer
        for lower_layer in layers[row + 1 :]
        for imported in lower_layer
        if graph.direct_import_exists(importer=f"{container}.{importer}", imported=f"{container}.{imported}", as_packages=True)
    }


def drop_implied_imports(imports: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Drop an import of a module that is also reached through another imported module, which would clutter the drawing."""
    reached: dict[str, set[str]] = {}

    def reach(importer: str) -> set[str]:
        if importer not in reached:
            direct = {imported for name, imported in imports if name == importer}
            reached[importer] = direct.union(*(reach(imported) for imported in direct))
        return reached[importer]

    return {
        (importer, imported)
        for importer, imported in imports
        if not any(imported in reach(other) for name, other in imports if name == importer and other != imported)
    }


def draw_layers(layers: list[list[str]], imports: set[tuple[str, str]], container: str) -> str:
    """Draw the layers as SVG in the page's colours."""
    boxes = place_boxes(layers)
    lines = route_lines(boxes, imports)
    lanes = [line.lane for line in lines if line.lane is not None]
    left = min([box.left for box in boxes.values()] + lanes)
    right = max([box.right for box in boxes.values()] + lanes)
    shapes = [f'<path d="{draw_line(line)}" class="layer-import"/>' for line in lines]
    for name, box in boxes.items():
        shapes.append(
            f'<rect x="{box.left:.1f}" y="{box.top}" width="{box.width:.1f}" height="{BOX_HEIGHT}" rx="6" class="layer-box"/>'
            f'<text x="{box.centre:.1f}" y="{box.top + 20}" class="layer-name">{escape(name)}</text>'
        )
    width, height = right - left + 2 * MARGIN, 2 * MARGIN + (len(layers) - 1) * ROW_HEIGHT + BOX_HEIGHT
    title = escape(f"Layers of {container}: each row may import the rows below it")
    return (
        f'<figure class="layer-graph"><svg viewBox="{left - MARGIN:.0f} 0 {width:.0f} {height}" role="img" '
        f'aria-label="{title}" style="max-width: {1.15 * width:.0f}px">{"".join(shapes)}</svg></figure>'
    )


def place_boxes(layers: list[list[str]]) -> dict[str, Box]:
    """Place the boxes of each layer in a row that is centred at 0."""
    boxes = {}
    for row, layer in enumerate(layers):
        widths = [CHAR_WIDTH * len(name) + PADDING for name in layer]
        left = -(sum(widths) + GAP * (len(layer) - 1)) / 2
        for name, width in zip(layer, widths, strict=True):
            boxes[name] = Box(row, left, width)
            left += width + GAP
    return boxes


def route_lines(boxes: dict[str, Box], imports: set[tuple[str, str]]) -> list[Line]:
    """Route a line for every import, the short ones first. A line that would cross boxes of rows between leads around them."""
    lines: list[Line] = []
    pairs = ((boxes[importer], boxes[imported]) for importer, imported in imports)
    for start, end in sorted(pairs, key=lambda pair: (pair[1].row - pair[0].row, pair)):
        between = [box for box in boxes.values() if start.row < box.row < end.row]
        lane = find_lane(start, end, between, lines) if between else None
        lines.append(Line(start, end, lane))
    return lines


def find_lane(start: Box, end: Box, between: list[Box], lines: list[Line]) -> float:
    """Find where a line can lead straight down past the boxes of the rows between, with the least detour."""
    edges = [edge for box in between for edge in (box.left - CLEARANCE, box.right + CLEARANCE)]
    candidates = [x + shift for x in (start.centre, end.centre, *edges) for shift in (0, -CLEARANCE, CLEARANCE)]
    free = [x for x in candidates if all(x <= box.left - CLEARANCE or x >= box.right + CLEARANCE for box in between)]
    taken = [line.lane for line in lines if line.lane is not None and line.start.row < end.row and start.row < line.end.row]
    return min(
        free,
        key=lambda x: (abs(x - start.centre) + abs(x - end.centre) + sum(40 for lane in taken if abs(lane - x) < 4), x),
    )


def draw_line(line: Line) -> str:
    """Draw a line as an SVG path: straight between neighbouring rows, otherwise down a lane."""
    (x1, y1), (x2, y2) = (line.start.centre, line.start.bottom), (line.end.centre, line.end.top)
    if line.lane is None:
        return f"M{x1:.1f} {y1}L{x2:.1f} {y2}"
    lane, bend = f"{line.lane:.1f}", ROW_HEIGHT - BOX_HEIGHT
    return (
        f"M{x1:.1f} {y1}C{x1:.1f} {y1 + bend / 2} {lane} {y1 + bend / 2} {lane} {y1 + bend}"
        f"L{lane} {y2 - bend}C{lane} {y2 - bend / 2} {x2:.1f} {y2 - bend / 2} {x2:.1f} {y2}"
    )


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("layer-graph", LayerGraph)
    return {"parallel_read_safe": True}
