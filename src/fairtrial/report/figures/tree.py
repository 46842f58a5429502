"""Figure of a decision tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.figures.base import GREY, INK, PALETTE, build_chart, build_title, require_columns, style_chart, to_frame

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("node", "parent", "sign", "value", "leaf", "splits_on", "class", "cases", "errors")
# In pixels: distance between leaves, width of a letter, and space around text.
_LINE, _LETTER, _GAP = 30, 7.4, 22
_COUNT_COLUMNS = ("cases", "errors")
_SIGNS = {"<=": "≤", ">": ">"}
_LEGEND = "Leaves: class (training rows/errors)"


def draw_tree(tree: Any, *, title: str = "Decision tree", most_leaves: int = 60) -> Any:
    """Draw a decision tree from the root (left) to the leaves (right).

    Each leaf shows its class. The parentheses contain the number of training rows of the leaf and, after a slash, the number of
    training errors.

    Parameters
    ----------
    tree : tree or dataframe
        A tree with a method `frame`, such as `C45().fit(X, y).tree_`, or the frame itself.
    title : str
        Title of the chart.
    most_leaves : int
        Maximum number of leaves. An error is raised for larger trees, which can be printed instead.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fairtrial.learners.c45 import C45
    >>> chart = draw_tree(C45().fit(*load_iris(return_X_y=True, as_frame=True)).tree_)
    >>> chart.to_dict()["title"]["subtitle"]
    ['5 leaves, 9 nodes. Leaves: class (training rows/errors)']
    """
    import altair as alt

    nodes = require_columns("tree", to_frame(tree), _COLUMNS)
    leaves = int(nodes["leaf"].sum())
    if leaves > most_leaves:
        raise InputError(
            f"tree must have at most {most_leaves} leaves to be drawn, got {leaves}: print it, or raise most_leaves"
        )
    layout = layout_tree(nodes)
    width, height = float(layout["end"].max()), _LINE * leaves
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    layers = [*_draw_branches(layout, x, y), *_draw_questions(layout, x, y), *_draw_leaves(layout, x, y)]
    heading = build_title(
        title, f"{_format_noun_count(leaves, 'leaf', 'leaves')}, {_format_noun_count(len(nodes), 'node', 'nodes')}. {_LEGEND}"
    )
    plain = alt.ViewBackground(stroke=None)
    return style_chart(alt.layer(*layers).properties(width=width, height=height, title=heading, view=plain))


def _format_noun_count(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def layout_tree(nodes: pd.DataFrame) -> pd.DataFrame:
    """Compute the text of each node, its position in pixels, and the label of the branch that leads to it.

    >>> import pandas as pd
    >>> stump = {"node": [0, 1, 2], "parent": [-1, 0, 0], "sign": ["", "<=", ">"], "value": [None, 0.5, 0.5]}
    >>> stump |= {"leaf": [False, True, True], "splits_on": ["age", "", ""], "class": ["a", "a", "b"]}
    >>> stump |= {"cases": [5.0, 2.0, 3.0], "errors": [2.0, 0.0, 1.0]}
    >>> layout_tree(pd.DataFrame(stump))[["text", "answer", "y"]].values.tolist()
    [['age', '', 30.0], ['a (2)', '≤ 0.5', 15.0], ['b (3/1)', '> 0.5', 45.0]]
    """
    labelled_nodes = nodes.reset_index(drop=True).assign(text=_format_node_texts(nodes), answer=_format_branch_texts(nodes))
    depth = _compute_depths(labelled_nodes["parent"].to_numpy())
    return labelled_nodes.assign(
        depth=depth, y=_compute_heights(labelled_nodes), **_compute_text_extents(labelled_nodes, depth)
    )


def _format_node_texts(nodes: pd.DataFrame) -> list[str]:
    texts = []
    for leaf, question, label, cases, errors in zip(
        *(nodes[name] for name in ("leaf", "splits_on", "class", "cases", "errors")), strict=True
    ):
        wrong = f"/{round(errors, 2):g}" if errors > 0.005 else ""
        texts.append(f"{label} ({round(cases, 2):g}{wrong})" if leaf else str(question))
    return texts


def _format_branch_texts(nodes: pd.DataFrame) -> list[str]:
    pairs = zip(nodes["sign"], nodes["value"], strict=True)
    return [f"{_SIGNS[sign]} {value:.6g}" if sign in _SIGNS else f"{sign} {value}" if sign else "" for sign, value in pairs]


def _compute_depths(parents: Any) -> Any:
    """Compute the depth of each node. Children must come after their parents."""
    depth = np.zeros(len(parents), dtype=int)
    for node, parent in enumerate(parents):
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    return depth


def _compute_heights(nodes: pd.DataFrame) -> Any:
    """Place leaves below each other in the order of branches, and other nodes midway between their children."""
    parents = nodes["parent"].to_numpy()
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    y, lines, stack = np.zeros(len(parents)), 0, [0]
    while stack:
        node = stack.pop()
        stack += reversed(children[node])
        if not children[node]:
            y[node] = _LINE * (lines + 0.5)
            lines += 1
    for node in reversed(range(len(parents))):
        if children[node]:
            y[node] = (y[children[node][0]] + y[children[node][-1]]) / 2
    return y


def _compute_text_extents(nodes: pd.DataFrame, depth: Any) -> dict[str, Any]:
    """Compute where the text of each node starts and ends horizontally. Nodes of equal depth are aligned."""
    text_widths, answer_widths = (_LETTER * nodes[name].str.len().to_numpy(float) for name in ("text", "answer"))
    begin, inner = np.zeros(depth.max() + 1), ~nodes["leaf"].to_numpy(bool)
    for level in range(1, len(begin)):
        question_width = text_widths[(depth == level - 1) & inner].max()
        begin[level] = begin[level - 1] + question_width + answer_widths[depth == level].max() + 2 * _GAP
    x = begin[depth]
    return {"x": x, "end": x + text_widths + _GAP}


def _draw_branches(layout: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    """Draw the branches from each node to its children, and label each branch with its condition, such as "≤ 0.5"."""
    import altair as alt

    lines, answers = [], []
    forks, heights = _locate_forks(layout), layout["y"].tolist()
    for child in layout.to_dict("records"):
        if child["parent"] < 0:
            continue
        fork = forks[child["parent"]]
        corners = [(fork, heights[child["parent"]]), (fork, child["y"]), (child["x"] - 6, child["y"])]
        lines += [
            {"x": position, "y": height, "node": child["node"], "row": row} for row, (position, height) in enumerate(corners)
        ]
        answers.append({"x": fork + 7, "y": child["y"], "text": child["answer"]})
    if not lines:
        return []
    line_layer = build_chart(lines).mark_line(color="#9A9A9A", strokeWidth=1.1)
    answer_layer = build_chart(answers).mark_text(align="left", baseline="bottom", dy=-2, fontSize=11.5, color=GREY)
    return [line_layer.encode(x, y, detail="node:N", order=alt.Order("row:Q")), answer_layer.encode(x, y, text="text:N")]


def _locate_forks(layout: pd.DataFrame) -> list[float]:
    """Compute the horizontal position at which the branches of each node divide. Nodes of equal depth share a position."""
    ends: dict[int, float] = {}
    for row in layout.to_dict("records"):
        if not row["leaf"]:
            ends[row["depth"]] = max(ends.get(row["depth"], 0.0), row["end"])
    return [ends.get(depth, float("nan")) for depth in layout["depth"].tolist()]


def _draw_questions(layout: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    questions = [
        {"x": row["x"], "y": row["y"], "text": row["text"], "start": row["end"] - _GAP + 4, "end": fork}
        for row, fork in zip(layout.to_dict("records"), _locate_forks(layout), strict=True)
        if not row["leaf"]
    ]
    if not questions:
        return []
    text_layer = build_chart(questions).mark_text(align="left", baseline="middle", fontSize=13, color=INK, fontWeight="bold")
    line = build_chart([{**row, "x": row["start"]} for row in questions]).mark_rule(color="#9A9A9A", strokeWidth=1.1)
    return [text_layer.encode(x, y, text="text:N"), line.encode(x, y, x2="end:Q")]


def _draw_leaves(layout: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    import altair as alt

    names = sorted({str(label) for label in layout["class"]})
    scale = alt.Scale(domain=names, range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])
    rows = [
        {
            "x": row["x"],
            "y": row["y"],
            "text": row["text"],
            "class": str(row["class"]),
            **{column: row[column] for column in _COUNT_COLUMNS},
        }
        for row in layout.to_dict("records")
        if row["leaf"]
    ]
    hint = [alt.Tooltip("class:N"), alt.Tooltip("cases:Q"), alt.Tooltip("errors:Q")]
    colour = alt.Color("class:N", scale=scale, legend=None)
    dots = (
        build_chart(rows).mark_point(filled=True, size=90, opacity=1, shape="square").encode(x, y, color=colour, tooltip=hint)
    )
    text_layer = (
        build_chart(rows).mark_text(align="left", baseline="middle", dx=10, fontSize=13, color=INK).encode(x, y, text="text:N")
    )
    return [dots, text_layer]
