"""The figure of a decision tree, from left to right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.drawing import GREY, INK, PALETTE, chart_of, finished, frame_of, titled, with_columns

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("node", "parent", "sign", "value", "leaf", "splits_on", "class", "cases", "errors")
# In pixels: from leaf to leaf, of a letter, and around words.
_LINE, _LETTER, _GAP = 30, 7.4, 22

_COUNTED = ("cases", "errors")
_SIGNS = {"<=": "≤", ">": ">"}
_LEGEND = "Leaves: class (cases/errors in training)"


def draw_tree(tree: Any, *, title: str = "Decision tree", most_leaves: int = 60) -> Any:
    """A tree from the root on the left to the leaves on the right: what each node asks, each answer, each leaf's class.

    Leaves show their class, and in brackets the training cases and how many of them are of another class. `tree` is a tree with
    `frame()` such as `C45().fit(X, y).tree_`, or such a frame. A tree of more than `most_leaves` leaves is refused: print it.

    >>> from sklearn.datasets import load_iris
    >>> from fairtrial.learners.c45 import C45
    >>> chart = draw_tree(C45().fit(*load_iris(return_X_y=True, as_frame=True)).tree_)
    >>> chart.to_dict()["title"]["subtitle"]
    ['5 leaves, 9 nodes. Leaves: class (cases/errors in training)']
    """
    import altair as alt

    nodes = with_columns("tree", frame_of(tree), _COLUMNS)
    leaves = int(nodes["leaf"].sum())
    if leaves > most_leaves:
        raise InputError(
            f"tree must have at most {most_leaves} leaves to be drawn, got {leaves}: print it, or raise most_leaves"
        )
    places = tree_places(nodes)
    width, height = float(places["end"].max()), _LINE * leaves
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    layers = [*_branches(places, x, y), *_questions(places, x, y), *_leaves(places, x, y)]
    told = titled(title, f"{_several(leaves, 'leaf', 'leaves')}, {_several(len(nodes), 'node', 'nodes')}. {_LEGEND}")
    plain = alt.ViewBackground(stroke=None)
    return finished(alt.layer(*layers).properties(width=width, height=height, title=told, view=plain))


def _several(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def tree_places(nodes: pd.DataFrame) -> pd.DataFrame:
    """Where each node stands, in pixels: `x` and `y`, where its words end, its answer and its words.

    >>> import pandas as pd
    >>> stump = {"node": [0, 1, 2], "parent": [-1, 0, 0], "sign": ["", "<=", ">"], "value": [None, 0.5, 0.5]}
    >>> stump |= {"leaf": [False, True, True], "splits_on": ["age", "", ""], "class": ["a", "a", "b"]}
    >>> stump |= {"cases": [5.0, 2.0, 3.0], "errors": [2.0, 0.0, 1.0]}
    >>> tree_places(pd.DataFrame(stump))[["words", "answer", "y"]].values.tolist()
    [['age', '', 30.0], ['a (2)', '≤ 0.5', 15.0], ['b (3/1)', '> 0.5', 45.0]]
    """
    told = nodes.reset_index(drop=True).assign(words=_words(nodes), answer=_answers(nodes))
    depth = _depths(told["parent"].to_numpy())
    return told.assign(depth=depth, y=_heights(told), **_columns(told, depth))


def _words(nodes: pd.DataFrame) -> list[str]:
    found = []
    for leaf, question, label, cases, errors in zip(
        *(nodes[name] for name in ("leaf", "splits_on", "class", "cases", "errors")), strict=True
    ):
        wrong = f"/{round(errors, 2):g}" if errors > 0.005 else ""
        found.append(f"{label} ({round(cases, 2):g}{wrong})" if leaf else str(question))
    return found


def _answers(nodes: pd.DataFrame) -> list[str]:
    pairs = zip(nodes["sign"], nodes["value"], strict=True)
    return [f"{_SIGNS[sign]} {value:.6g}" if sign in _SIGNS else f"{sign} {value}" if sign else "" for sign, value in pairs]


def _depths(parents: Any) -> Any:
    """Children come after their parents."""
    depth = np.zeros(len(parents), dtype=int)
    for node, parent in enumerate(parents):
        depth[node] = depth[parent] + 1 if parent >= 0 else 0
    return depth


def _heights(nodes: pd.DataFrame) -> Any:
    """Leaves one below the other in the order of branches, each other node midway between its first and its last child."""
    parents = nodes["parent"].to_numpy()
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    y, lines, waiting = np.zeros(len(parents)), 0, [0]
    while waiting:
        node = waiting.pop()
        waiting += reversed(children[node])
        if not children[node]:
            y[node] = _LINE * (lines + 0.5)
            lines += 1
    for node in reversed(range(len(parents))):
        if children[node]:
            y[node] = (y[children[node][0]] + y[children[node][-1]]) / 2
    return y


def _columns(nodes: pd.DataFrame, depth: Any) -> dict[str, Any]:
    """Where the words of each node begin and end: those of one depth begin at one place, behind the longest answer."""
    words, answers = (_LETTER * nodes[name].str.len().to_numpy(float) for name in ("words", "answer"))
    begin, inner = np.zeros(depth.max() + 1), ~nodes["leaf"].to_numpy(bool)
    for level in range(1, len(begin)):
        asked = words[(depth == level - 1) & inner].max()
        begin[level] = begin[level - 1] + asked + answers[depth == level].max() + 2 * _GAP
    x = begin[depth]
    return {"x": x, "end": x + words + _GAP}


def _branches(places: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    """From behind a question by a right angle to each child, with the answer on the line."""
    import altair as alt

    lines, answers = [], []
    forks, heights = _forks(places), places["y"].tolist()
    for child in places.to_dict("records"):
        if child["parent"] < 0:
            continue
        fork = forks[child["parent"]]
        corners = [(fork, heights[child["parent"]]), (fork, child["y"]), (child["x"] - 6, child["y"])]
        lines += [{"x": at, "y": height, "node": child["node"], "row": row} for row, (at, height) in enumerate(corners)]
        answers.append({"x": fork + 7, "y": child["y"], "text": child["answer"]})
    if not lines:
        return []
    drawn = chart_of(lines).mark_line(color="#9A9A9A", strokeWidth=1.1)
    told = chart_of(answers).mark_text(align="left", baseline="bottom", dy=-2, fontSize=11.5, color=GREY)
    return [drawn.encode(x, y, detail="node:N", order=alt.Order("row:Q")), told.encode(x, y, text="text:N")]


def _forks(places: pd.DataFrame) -> list[float]:
    """Where the lines to the children of each node part: at one place for all nodes of one depth."""
    ends: dict[int, float] = {}
    for row in places.to_dict("records"):
        if not row["leaf"]:
            ends[row["depth"]] = max(ends.get(row["depth"], 0.0), row["end"])
    return [ends.get(depth, float("nan")) for depth in places["depth"].tolist()]


def _questions(places: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    asked = [
        {"x": row["x"], "y": row["y"], "text": row["words"], "start": row["end"] - _GAP + 4, "end": fork}
        for row, fork in zip(places.to_dict("records"), _forks(places), strict=True)
        if not row["leaf"]
    ]
    if not asked:
        return []
    words = chart_of(asked).mark_text(align="left", baseline="middle", fontSize=13, color=INK, fontWeight="bold")
    line = chart_of([{**row, "x": row["start"]} for row in asked]).mark_rule(color="#9A9A9A", strokeWidth=1.1)
    return [words.encode(x, y, text="text:N"), line.encode(x, y, x2="end:Q")]


def _leaves(places: pd.DataFrame, x: Any, y: Any) -> list[Any]:
    import altair as alt

    names = sorted({str(label) for label in places["class"]})
    scale = alt.Scale(domain=names, range=[PALETTE[i % len(PALETTE)] for i in range(len(names))])
    rows = [
        {
            "x": row["x"],
            "y": row["y"],
            "text": row["words"],
            "class": str(row["class"]),
            **{what: row[what] for what in _COUNTED},
        }
        for row in places.to_dict("records")
        if row["leaf"]
    ]
    hint = [alt.Tooltip("class:N"), alt.Tooltip("cases:Q"), alt.Tooltip("errors:Q")]
    colour = alt.Color("class:N", scale=scale, legend=None)
    dots = chart_of(rows).mark_point(filled=True, size=90, opacity=1, shape="square").encode(x, y, color=colour, tooltip=hint)
    words = chart_of(rows).mark_text(align="left", baseline="middle", dx=10, fontSize=13, color=INK).encode(x, y, text="text:N")
    return [dots, words]
