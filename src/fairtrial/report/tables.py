"""Tables for papers (LaTeX, booktabs) and pages (Markdown)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.significance.table import Better, quiet, ranked

if TYPE_CHECKING:
    import pandas as pd

Mark = Literal["better", "worse"]
HOLE = "\N{EN DASH}"
_MOST_DIGITS = 4
_LATEX_MARKS = {"worse": r"$\bullet$", "better": r"$\circ$"}
_MARKDOWN_MARKS = {"worse": "●", "better": "○"}

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}


def to_latex(
    scores: pd.DataFrame,
    *,
    better: Better | None = "max",
    digits: int | None = None,
    mean_ranks: Mapping[str, float] | pd.Series[float] | None = None,
    marks: Mapping[str, Mark] | None = None,
    reference: str = "",
    note: str = "",
    caption: str = "",
    label: str = "",
) -> str:
    r"""A table of scores (rows data sets, columns learners) in LaTeX, for the package booktabs.

    The best of each row is bold; the mean and the mean rank stand below. `marks` says which learners are told apart from the
    `reference` and are "worse" or "better" than it; `mean_ranks` are computed where they are not given. Scores that are missing
    leave a dash, and so do the mean and all mean ranks, which such a table does not have. `digits` are by default those of
    the data, at most four. With a `caption` or `label` the table floats. `better=None` is for frames of any kind: their
    cells are written as they are.

    >>> import pandas as pd
    >>> scores = pd.DataFrame({"C4.5": [0.91, 0.85], "k_NN": [0.88, 0.86]}, index=["iris", "R&D"])
    >>> print(to_latex(scores))
    % \usepackage{booktabs}
    \begin{tabular}{lrr}
    \toprule
     & C4.5 & k\_NN \\
    \midrule
    iris & \textbf{0.91} & 0.88 \\
    R\&D & 0.85 & \textbf{0.86} \\
    \midrule
    Mean & \textbf{0.88} & 0.87 \\
    Mean rank & \textbf{1.50} & \textbf{1.50} \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    sheet = _sheet(scores, better, digits, mean_ranks, marks, reference, note)
    rows = [r"\toprule", _latex_row([_latex_text(name) for name in sheet.head])]
    for part in (sheet.body, sheet.foot):
        rows += [r"\midrule", *(_latex_row(_written(row, _latex_cell, _latex_text)) for row in part)] if part else []
    align = "".join("r" if right else "l" for right in sheet.right)
    lines = [rf"\begin{{tabular}}{{{align}}}", *rows, r"\bottomrule", r"\end{tabular}"]
    if sheet.notes:
        told = r" \\ ".join(_latex_note(each) for each in sheet.notes)
        lines += [r"\par\smallskip", rf"{{\footnotesize\begin{{tabular}}{{@{{}}l@{{}}}}{told}\end{{tabular}}}}"]
    if caption or label:
        titled = [rf"\caption{{{_latex_text(caption)}}}"] if caption else []
        named = [rf"\label{{{label}}}"] if label else []
        lines = [r"\begin{table}", r"\centering", *titled, *named, *lines, r"\end{table}"]
    return "\n".join([r"% \usepackage{booktabs}", *lines]) + "\n"


def to_markdown(
    scores: pd.DataFrame,
    *,
    better: Better | None = "max",
    digits: int | None = None,
    mean_ranks: Mapping[str, float] | pd.Series[float] | None = None,
    marks: Mapping[str, Mark] | None = None,
    reference: str = "",
    note: str = "",
) -> str:
    """The same table in Markdown.

    >>> import pandas as pd
    >>> scores = pd.DataFrame({"C4.5": [0.91, 0.85], "k_NN": [0.88, 0.86]}, index=["iris", "wine"])
    >>> print(to_markdown(scores, marks={"k_NN": "worse"}, reference="C4.5"))
    |  | C4.5 | k\\_NN |
    | :--- | ---: | ---: |
    | iris | **0.91** | 0.88 |
    | wine | 0.85 | **0.86** |
    | Mean | **0.88** | 0.87 |
    | Mean rank | **1.50** | **1.50** ● |
    <BLANKLINE>
    ● told apart from C4.5 and worse
    <BLANKLINE>
    """
    sheet = _sheet(scores, better, digits, mean_ranks, marks, reference, note)
    rows = [[_markdown_text(name) for name in sheet.head], ["---:" if right else ":---" for right in sheet.right]]
    rows += [_written(row, _markdown_cell, _markdown_text) for row in (*sheet.body, *sheet.foot)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    for each in sheet.notes:
        lines += ["", (_MARKDOWN_MARKS[each.mark] + " " if each.mark else "") + _markdown_text(each.text)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Cell:
    text: str
    bold: bool = False
    mark: Mark | Literal[""] = ""
    number: bool = True


_Row = tuple[str | None, list[_Cell]]


@dataclass(frozen=True)
class _Sheet:
    """What a table says, before it is written in a language. A row without a name has no cell for it."""

    head: list[str]
    right: list[bool]
    body: list[_Row]
    foot: list[_Row]
    notes: list[_Cell]


def _sheet(
    scores: Any, better: Any, digits: Any, mean_ranks: Any, marks: Mapping[str, Mark] | None, reference: str, note: str
) -> _Sheet:
    if not hasattr(scores, "columns") or not hasattr(scores, "itertuples"):
        raise InputError(f"scores must be a frame, got {type(scores).__name__}: pass pandas.DataFrame(scores)")
    if 0 in scores.shape:
        raise InputError(f"scores must have at least 1 row and 1 column, got {scores.shape[0]} rows, {scores.shape[1]} columns")
    if digits is not None:
        digits = _check.whole_number("digits", digits, 0)
    _check.one_of("better", better, ("max", "min", None))
    if better is None:
        return _any_sheet(scores, digits, note)
    names = [str(name) for name in scores.columns]
    marks = _checked_marks(marks, names, reference)
    values = _check.numbers("scores", scores.to_numpy())
    digits = _digits(values) if digits is None else digits
    sign = 1 if better == "min" else -1
    body: list[_Row] = [(str(row), _numbers(line, digits, sign)) for row, line in zip(scores.index, values, strict=True)]
    ranks = _mean_ranks(values, sign) if mean_ranks is None else _given_ranks(mean_ranks, names)
    foot: list[_Row] = [
        ("Mean", _numbers(values.mean(axis=0), max(digits, 2), sign)),
        ("Mean rank", _numbers(ranks, 2, 1, [marks.get(name, "") for name in names])),
    ]
    corner = "" if scores.index.name is None else str(scores.index.name)
    notes = [
        _Cell(f"told apart from {reference} and {mark}", mark=mark) for mark in ("worse", "better") if mark in marks.values()
    ]
    return _Sheet([corner, *names], [False] + [True] * len(names), body, foot, notes + ([_Cell(note)] if note else []))


def _checked_marks(marks: Mapping[str, Mark] | None, names: list[str], reference: str) -> Mapping[str, Mark]:
    for name, mark in (marks or {}).items():
        _check.one_of("marks", name, names)
        _check.one_of("marks", mark, ("better", "worse"))
    if marks and not reference:
        raise InputError("reference must name the learner that marks are against, got '': pass reference=")
    return marks or {}


def _digits(values: FloatArray) -> int:
    """Decimals of the data, but no more than four, or four digits of the largest number where it is small."""
    defined = values[np.isfinite(values)]
    found, largest = decimals_of(defined), float(np.abs(defined).max(initial=0.0))
    most = max(_MOST_DIGITS, _MOST_DIGITS - 1 - int(np.floor(np.log10(largest)))) if largest > 0 else _MOST_DIGITS
    return most if found is None else min(found, most)


def _numbers(values: FloatArray, digits: int, sign: int, marks: Sequence[Mark | Literal[""]] | None = None) -> list[_Cell]:
    """Cells of numbers, the smallest of sign x value in bold; equality is judged as for ranks."""
    defined = np.isfinite(values)
    places = np.full(len(values), np.inf)
    if defined.any():
        places[defined] = ranked(sign * quiet(values[defined], np.abs(values[defined]).max()))
    best = defined & (places == places.min())
    marks = [""] * len(values) if marks is None else marks
    return [
        _Cell(f"{round(value, digits) + 0.0:.{digits}f}" if known else HOLE, bool(bold), mark)
        for value, known, bold, mark in zip(values, defined, best, marks, strict=True)
    ]


def _mean_ranks(values: FloatArray, sign: int) -> FloatArray:
    if not np.isfinite(values).all():
        return np.full(values.shape[1], np.nan)
    calm = quiet(values, np.abs(values).max(axis=1, keepdims=True))
    return np.asarray(ranked(sign * calm).mean(axis=0))


def _given_ranks(mean_ranks: Any, names: list[str]) -> FloatArray:
    given = {str(name): value for name, value in mean_ranks.items()}
    for name in names:
        if name not in given:
            raise InputError(f"mean_ranks must hold every learner, got none for {name!r}")
    return np.array([given[name] for name in names], dtype=np.float64)


def _any_sheet(frame: pd.DataFrame, digits: int | None, note: str) -> _Sheet:
    """A frame of any kind; an index that only counts the rows is left out."""
    import pandas as pd

    named = not isinstance(frame.index, pd.RangeIndex)
    right = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes]
    body: list[_Row] = [
        (str(index) if named else None, [_any_cell(value, digits) for value in line])
        for index, line in zip(frame.index, frame.itertuples(index=False, name=None), strict=True)
    ]
    corner = [] if not named else ["" if frame.index.name is None else str(frame.index.name)]
    head = [*corner, *(str(name) for name in frame.columns)]
    return _Sheet(head, [False] * named + right, body, [], [_Cell(note)] if note else [])


def _any_cell(value: Any, digits: int | None) -> _Cell:
    if isinstance(value, (bool, np.bool_)):
        return _Cell("yes" if value else "no", number=False)
    if value is None or (isinstance(value, (float, np.floating)) and not np.isfinite(value)):
        return _Cell(HOLE)
    if isinstance(value, (float, np.floating)):
        return _Cell(f"{value:.4g}" if digits is None else f"{value:.{digits}f}")
    return _Cell(str(value), number=isinstance(value, (int, np.integer)))


def _written(row: _Row, cell: Callable[[_Cell], str], text: Callable[[str], str]) -> list[str]:
    name, cells = row
    return ([] if name is None else [text(name)]) + [cell(each) for each in cells]


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_text(text: str) -> str:
    """Text with LaTeX's own signs escaped; brackets and stars too, which mean something to the line break before them."""
    escaped = "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))
    return re.sub("-(?=-)", "-{}", escaped)


def _latex_cell(cell: _Cell) -> str:
    written = _latex_number(cell.text) if cell.number else _latex_text(cell.text)
    if cell.bold:
        written = rf"\textbf{{{written}}}"
    # A mark takes no room, so that the numbers stay in line.
    return written + (rf"\rlap{{\,{_LATEX_MARKS[cell.mark]}}}" if cell.mark else "")


def _latex_number(text: str) -> str:
    power = re.fullmatch(r"(-?)([0-9.]+)e([+-]\d+)", text)
    if power:
        return rf"${power[1]}{power[2]}\times10^{{{int(power[3])}}}$"
    return text.replace("-", "$-$").replace(HOLE, "--")


def _latex_note(note: _Cell) -> str:
    return (_LATEX_MARKS[note.mark] + " " if note.mark else "") + _latex_text(note.text)


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$~&])", r"\\\1", " ".join(text.split()))


def _markdown_cell(cell: _Cell) -> str:
    written = cell.text if cell.number else _markdown_text(cell.text)
    if cell.bold:
        written = f"**{written}**"
    return written + (f" {_MARKDOWN_MARKS[cell.mark]}" if cell.mark else "")


def decimals_of(values: FloatArray) -> int | None:
    """Decimals that the numbers are given with; None if they are not rounded."""
    scale = max(1.0, float(np.abs(values).max(initial=0.0)))
    for decimals in range(12):
        if np.abs(values - np.round(values, decimals)).max(initial=0.0) <= 1e-14 * scale:
            return decimals
    return None
