"""Draw the decision trees of the guides "Which measure" and "Which test".

`python docs/make_guide_pictures.py` writes SVG files into `docs/pictures`; another folder may follow.
"""

import sys
import textwrap
from html import escape
from pathlib import Path

# A node is a question with the next node for each answer, or a recommendation (a string).
Node = str | tuple[str, dict[str, "Node"]]

WHICH_MEASURE: Node = (
    "What do you use of the model?",
    {
        "predicted labels": (
            "Do all errors cost the same?",
            {
                "yes, classes are balanced": "accuracy",
                "yes, but a class is rare": "balanced accuracy, MCC or kappa",
                "no, one class matters": "recall and precision, or the F1 score",
                "no, costs are known": "expected cost, net benefit",
            },
        ),
        "a ranking": (
            "Which part of the ranking?",
            {
                "all of it, costs unknown": "AUC, with the ROC curve",
                "all of it, costs roughly known": "H measure, with the cost curve",
                "only the top": "average precision or partial AUC",
            },
        ),
        "probabilities": (
            "What matters?",
            {
                "each probability": "Brier score or log loss",
                "whether they are too high or low": "calibration slope and intercept, with the curve",
            },
        ),
        "numbers": "MAE or RMSE",
    },
)

WHICH_TEST: Node = (
    "How many data sets?",
    {
        "one": (
            "What is a case?",
            {
                "a row of one test set": (
                    "Which measure?",
                    {
                        "accuracy": "McNemar test; Cochran's Q for several models",
                        "AUC": "DeLong test",
                        "any other": "bootstrap or permutation test",
                    },
                ),
                "a fold or repeat": "corrected resampled t test (Nadeau-Bengio)",
            },
        ),
        "several": (
            "How many learners?",
            {
                "two": "Wilcoxon signed-rank test",
                "three or more": (
                    "Compared with what?",
                    {
                        "each other": "Friedman test, pairs by Bergmann-Hommel",
                        "one control": "Friedman test, pairs by Holm",
                    },
                ),
            },
        ),
    },
)

_COLUMN, _BOX, _ROW, _LINE, _MARGIN = 290, 170, 58, 16, 10
_STYLE = (
    "text{font:13px sans-serif;fill:#2b2b2b}.answer{font-size:12px;fill:#6b6b6b}.question{fill:#edf8fb;stroke:#0072b2}"
    ".leaf{fill:#ffffff;stroke:#009e73}.edge{fill:none;stroke:#9a9a9a}"
)


def draw_tree(tree: Node, title: str) -> str:
    """Draw a decision tree as SVG: questions in blue, recommendations in green."""
    parts: list[str] = []
    n_leaves, depth = _draw_node(tree, 0, 0, parts)
    width, height = depth * _COLUMN + _BOX + 2 * _MARGIN, n_leaves * _ROW + 2 * _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    )
    paper = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title><style>{_STYLE}</style>{paper}", *parts, "</svg>"]) + "\n"


def _draw_node(node: Node, depth: int, first_row: int, parts: list[str]) -> tuple[int, int]:
    """Draw a node and its answers; return the number of rows and the largest depth."""
    if isinstance(node, str):
        _draw_box(node, depth, first_row + 0.5, "leaf", parts)
        return 1, depth
    question, answers = node
    n_rows, deepest = 0, depth
    middles = []
    for answer, child in answers.items():
        n_child, child_depth = _draw_node(child, depth + 1, first_row + n_rows, parts)
        middles.append((answer, first_row + n_rows + n_child / 2))
        n_rows, deepest = n_rows + n_child, max(deepest, child_depth)
    middle = first_row + n_rows / 2
    for answer, row in middles:
        _draw_edge(answer, depth, middle, row, parts)
    _draw_box(question, depth, middle, "question", parts)
    return n_rows, deepest


def _draw_box(text: str, depth: int, row: float, style: str, parts: list[str]) -> None:
    lines = textwrap.wrap(text, 24)
    x, y = _MARGIN + depth * _COLUMN, _MARGIN + row * _ROW
    height = _LINE * len(lines) + 12
    parts.append(f'<rect class="{style}" x="{x}" y="{y - height / 2:g}" width="{_BOX}" height="{height}" rx="4"/>')
    for index, line in enumerate(lines):
        baseline = y - _LINE * (len(lines) - 1) / 2 + _LINE * index + 4
        parts.append(f'<text x="{x + _BOX / 2:g}" y="{baseline:g}" text-anchor="middle">{escape(line)}</text>')


def _draw_edge(answer: str, depth: int, parent_row: float, child_row: float, parts: list[str]) -> None:
    x = _MARGIN + depth * _COLUMN + _BOX
    y, y_child = (_MARGIN + row * _ROW for row in (parent_row, child_row))
    end = x + _COLUMN - _BOX
    parts.append(f'<path class="edge" d="M{x} {y:g} H{x + 12} V{y_child:g} H{end}"/>')
    lines = textwrap.wrap(answer, 17)
    for index, line in enumerate(lines):
        baseline = y_child - 5 if index == 0 else y_child + 3 + 13 * index
        parts.append(f'<text class="answer" x="{x + 17}" y="{baseline:g}">{escape(line)}</text>')


def main(folder: str = str(Path(__file__).parent / "pictures")) -> None:
    """Write both figures."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, tree in (("which-measure", WHICH_MEASURE), ("which-test", WHICH_TEST)):
        text = draw_tree(tree, f"Decision tree: {name.replace('-', ' ')}")
        (Path(folder) / f"{name}.svg").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
