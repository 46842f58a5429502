"""Format tables for papers (LaTeX, booktabs), pages (Markdown) and the console (text)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import fit_table, wrap_lines
from fairtrial.errors import InputError
from fairtrial.significance.scores import Better, rank_values, round_noise

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict

Mark = Literal["better", "worse"]
MISSING_SCORE = "\N{EN DASH}"
SUMMARY_ROWS = ("Mean", "Mean rank")
_MOST_DIGITS = 4
_MOST_DIGITS_WITH_DEVIATIONS = 3
_LATEX_MARKS = {"worse": r"$\bullet$", "better": r"$\circ$"}
_MARKDOWN_MARKS = {"worse": "●", "better": "○"}
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
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
    deviations: pd.DataFrame | None = None,
    summary: Sequence[str] = SUMMARY_ROWS,
    caption: str = "",
    label: str = "",
) -> str:
    r"""Format a table of scores as LaTeX code that uses the package booktabs.

    The best score of each row is bold. The last rows contain the mean and the mean rank. A dash stands for a missing
    score, or for a mean or mean rank that is undefined because scores are missing.

    Parameters
    ----------
    scores : pandas.DataFrame
        Scores with data sets as rows and learners as columns. If `better` is None, any frame is accepted.
    better : {"max", "min"} or None, default "max"
        Whether larger or smaller scores are better. If None, nothing is bold, and no summary rows or marks are added.
    digits : int, optional
        Number of decimal places. Default: as many as the scores have, up to four (more if all scores are below 0.1).
    mean_ranks : mapping or pandas.Series, optional
        Mean rank of each learner. Default: computed from the scores.
    marks : mapping of str to {"better", "worse"}, optional
        Learners that are significantly better or worse than `reference`.
    reference : str, optional
        Learner with which the learners in `marks` are compared.
    note : str, optional
        Text below the table.
    deviations : pandas.DataFrame, optional
        Standard deviations, in a frame of the same shape as `scores`. They lower the default limit on decimal places to three.
    summary : sequence of {"Mean", "Mean rank"}, default ("Mean", "Mean rank")
        Summary rows below the scores. If there are none, `marks` are shown next to the scores.
    caption, label : str, optional
        Caption and label. If a caption or a label is given, the table is a LaTeX float.

    Returns
    -------
    str
        The LaTeX code.

    Examples
    --------
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
    sheet = _build_sheet(scores, better, digits, mean_ranks, marks, reference, note, deviations, summary)
    rows = [r"\toprule", _join_latex_row([_escape_latex(name) for name in sheet.head])]
    for section_rows in (sheet.body, sheet.foot):
        rows += (
            [r"\midrule", *(_join_latex_row(_render_row(row, _format_latex_cell, _escape_latex)) for row in section_rows)]
            if section_rows
            else []
        )
    align = "".join("r" if right else "l" for right in sheet.right)
    lines = [rf"\begin{{tabular}}{{{align}}}", *rows, r"\bottomrule", r"\end{tabular}"]
    if sheet.notes:
        note_lines = r" \\ ".join(_format_latex_note(note_cell) for note_cell in sheet.notes)
        lines += [
            r"\par\smallskip",
            rf"{{\footnotesize\begin{{tabular}}{{@{{}}p{{\linewidth}}@{{}}}}{note_lines}\end{{tabular}}}}",
        ]
    if caption or label:
        caption_lines = [rf"\caption{{{_escape_latex(caption)}}}"] if caption else []
        label_lines = [rf"\label{{{label}}}"] if label else []
        lines = [r"\begin{table}", r"\centering", *caption_lines, *label_lines, *lines, r"\end{table}"]
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
    deviations: pd.DataFrame | None = None,
    summary: Sequence[str] = SUMMARY_ROWS,
) -> str:
    """Format a table of scores in Markdown.

    The best score of each row is bold. The last rows contain the mean and the mean rank. A dash stands for a missing score.

    Parameters
    ----------
    scores : pandas.DataFrame
        Scores with data sets as rows and learners as columns. If `better` is None, any frame is accepted.
    better : {"max", "min"} or None, default "max"
        Whether larger or smaller scores are better. If None, nothing is bold, and no summary rows or marks are added.
    digits : int, optional
        Number of decimal places. Default: as many as the scores have, up to four (more if all scores are below 0.1).
    mean_ranks : mapping or pandas.Series, optional
        Mean rank of each learner. Default: computed from the scores.
    marks : mapping of str to {"better", "worse"}, optional
        Learners that are significantly better or worse than `reference`.
    reference : str, optional
        Learner with which the learners in `marks` are compared.
    note : str, optional
        Text below the table.
    deviations : pandas.DataFrame, optional
        Standard deviations, in a frame of the same shape as `scores`. They lower the default limit on decimal places to three.
    summary : sequence of {"Mean", "Mean rank"}, default ("Mean", "Mean rank")
        Summary rows below the scores. If there are none, `marks` are shown next to the scores.

    Returns
    -------
    str
        The Markdown text.

    Examples
    --------
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
    ● significantly worse than C4.5
    <BLANKLINE>
    """
    sheet = _build_sheet(scores, better, digits, mean_ranks, marks, reference, note, deviations, summary)
    rows = [[_escape_markdown(name) for name in sheet.head], ["---:" if right else ":---" for right in sheet.right]]
    rows += [_render_row(row, _format_markdown_cell, _escape_markdown) for row in (*sheet.body, *sheet.foot)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    for note_cell in sheet.notes:
        lines += ["", (_MARKDOWN_MARKS[note_cell.mark] + " " if note_cell.mark else "") + _escape_markdown(note_cell.text)]
    return "\n".join(lines) + "\n"


def to_text(
    scores: pd.DataFrame,
    *,
    better: Better | None = "max",
    digits: int | None = None,
    mean_ranks: Mapping[str, float] | pd.Series[float] | None = None,
    marks: Mapping[str, Mark] | None = None,
    reference: str = "",
    note: str = "",
    deviations: pd.DataFrame | None = None,
    summary: Sequence[str] = SUMMARY_ROWS,
) -> str:
    """Format a table of scores as text for the console. A star marks the best score of each row.

    Parameters
    ----------
    scores : pandas.DataFrame
        Scores with data sets as rows and learners as columns. If `better` is None, any frame is accepted.
    better : {"max", "min"} or None, default "max"
        Whether larger or smaller scores are better. If None, nothing is bold, and no summary rows or marks are added.
    digits : int, optional
        Number of decimal places. Default: as many as the scores have, up to four (more if all scores are below 0.1).
    mean_ranks : mapping or pandas.Series, optional
        Mean rank of each learner. Default: computed from the scores.
    marks : mapping of str to {"better", "worse"}, optional
        Learners that are significantly better or worse than `reference`.
    reference : str, optional
        Learner with which the learners in `marks` are compared.
    note : str, optional
        Text below the table.
    deviations : pandas.DataFrame, optional
        Standard deviations, in a frame of the same shape as `scores`. They lower the default limit on decimal places to three.
    summary : sequence of {"Mean", "Mean rank"}, default ("Mean", "Mean rank")
        Summary rows below the scores. If there are none, `marks` are shown next to the scores.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"C4.5": [0.91, 0.85], "k-NN": [0.88, 0.86]}, index=["iris", "wine"])
    >>> print(to_text(scores, marks={"k-NN": "worse"}, reference="C4.5"))
                C4.5     k-NN
    iris       0.91*   0.88
    wine       0.85    0.86*
    Mean       0.88*   0.87
    Mean rank  1.50*   1.50*●
    <BLANKLINE>
    * best of the row
    ● significantly worse than C4.5
    <BLANKLINE>
    """
    sheet = _build_sheet(scores, better, digits, mean_ranks, marks, reference, note, deviations, summary)
    rows = [[(" ".join(name.split()), "") for name in sheet.head]]
    for name, cells in (*sheet.body, *sheet.foot):
        rows.append([] if name is None else [(" ".join(name.split()), "")])
        rows[-1] += [_format_text_cell(cell) for cell in cells]
    columns = [_align_text_column(column, right) for column, right in zip(zip(*rows, strict=True), sheet.right, strict=True)]
    lines = [line for row in fit_table(list(zip(*columns, strict=True))) for line in row]
    notes = ["* best of the row"] if better is not None else []
    notes += [(_MARKDOWN_MARKS[cell.mark] + " " if cell.mark else "") + cell.text for cell in sheet.notes]
    wrapped = [line for text in notes for line in wrap_lines(text)]
    return "\n".join([*lines, *([""] if notes else []), *wrapped]) + "\n"


def build_score_frame(verdict: Verdict) -> pd.DataFrame:
    """Build the table of scores of a verdict, with a row for each data set and a column for each learner."""
    import pandas as pd

    table = verdict.table
    index = pd.Index(table.datasets, name=verdict.unit)
    return pd.DataFrame(table.values, index=index, columns=list(table.learners))


@dataclass(frozen=True)
class _TableCell:
    text: str
    bold: bool = False
    mark: Mark | Literal[""] = ""
    number: bool = True
    deviation: str = ""


_Row = tuple[str | None, list[_TableCell]]


@dataclass(frozen=True)
class _Sheet:
    """The content of a table, independent of the output format. If the name of a row is None, the row has only values."""

    head: list[str]
    right: list[bool]
    body: list[_Row]
    foot: list[_Row]
    notes: list[_TableCell]


def _build_sheet(
    scores: Any,
    better: Any,
    digits: Any,
    mean_ranks: Any,
    marks: Mapping[str, Mark] | None,
    reference: str,
    note: str,
    deviations: Any,
    summary: Sequence[str],
) -> _Sheet:
    if not hasattr(scores, "columns") or not hasattr(scores, "itertuples"):
        raise InputError(f"scores must be a frame, got {type(scores).__name__}: pass pandas.DataFrame(scores)")
    if 0 in scores.shape:
        raise InputError(f"scores must have at least 1 row and 1 column, got {scores.shape[0]} rows, {scores.shape[1]} columns")
    if digits is not None:
        digits = _check.check_whole_number("digits", digits, 0)
    _check.check_one_of("better", better, ("max", "min", None))
    if better is None:
        return _build_plain_sheet(scores, digits, note)
    names = [str(name) for name in scores.columns]
    marks = _check_marks(marks, names, reference)
    for name in summary:
        _check.check_one_of("summary", name, SUMMARY_ROWS)
    values = _check.check_numbers("scores", scores.to_numpy())
    spread = None if deviations is None else _check_deviations(deviations, values)
    digits = (
        _choose_digits(values, _MOST_DIGITS if spread is None else _MOST_DIGITS_WITH_DEVIATIONS) if digits is None else digits
    )
    sign = 1 if better == "min" else -1
    mark_cells: list[Mark | Literal[""]] = [marks.get(name, "") for name in names]
    body: list[_Row] = [
        (
            str(row),
            _build_number_cells(line, digits, sign, None if summary else mark_cells, None if spread is None else spread[i]),
        )
        for i, (row, line) in enumerate(zip(scores.index, values, strict=True))
    ]
    ranks = _compute_mean_ranks(values, sign) if mean_ranks is None else _order_given_ranks(mean_ranks, names)
    foot: list[_Row] = []
    if "Mean" in summary:
        foot.append(("Mean", _build_number_cells(values.mean(axis=0), max(digits, 2), sign)))
    if "Mean rank" in summary:
        foot.append(("Mean rank", _build_number_cells(ranks, 2, 1, mark_cells)))
    corner = "" if scores.index.name is None else str(scores.index.name)
    notes = [
        _TableCell(f"significantly {mark} than {reference}", mark=mark)
        for mark in ("worse", "better")
        if mark in marks.values()
    ]
    return _Sheet([corner, *names], [False] + [True] * len(names), body, foot, notes + ([_TableCell(note)] if note else []))


def _check_marks(marks: Mapping[str, Mark] | None, names: list[str], reference: str) -> Mapping[str, Mark]:
    for name, mark in (marks or {}).items():
        _check.check_one_of("marks", name, names)
        _check.check_one_of("marks", mark, ("better", "worse"))
    if marks and not reference:
        raise InputError("reference must name the learner that marks refer to, got '': pass reference=")
    return marks or {}


def _check_deviations(deviations: Any, values: FloatArray) -> FloatArray:
    spread = _check.check_numbers("deviations", deviations.to_numpy())
    if spread.shape != values.shape:
        raise InputError(f"deviations must have the shape of scores {values.shape}, got {spread.shape}: pass one per score")
    return spread


def _choose_digits(values: FloatArray, most_digits: int) -> int:
    """Choose as many decimal places as the values have, up to `most_digits`.

    If all absolute values are below 0.1, the limit is higher.
    """
    defined = values[np.isfinite(values)]
    decimals, largest = count_decimals(defined), float(np.abs(defined).max(initial=0.0))
    most = max(most_digits, most_digits - 1 - int(np.floor(np.log10(largest)))) if largest > 0 else most_digits
    return most if decimals is None else min(decimals, most)


def _build_number_cells(
    values: FloatArray,
    digits: int,
    sign: int,
    marks: Sequence[Mark | Literal[""]] | None = None,
    deviations: FloatArray | None = None,
) -> list[_TableCell]:
    """Build number cells. The smallest `sign * value` is bold, and so are values that are tied with it."""
    defined = np.isfinite(values)
    ranks = np.full(len(values), np.inf)
    if defined.any():
        ranks[defined] = rank_values(sign * round_noise(values[defined], np.abs(values[defined]).max()))
    best = defined & (ranks == ranks.min())
    marks = [""] * len(values) if marks is None else marks
    spreads = [""] * len(values) if deviations is None else [f"{x:.{digits}f}" if np.isfinite(x) else "" for x in deviations]
    return [
        _TableCell(
            f"{round(value, digits) + 0.0:.{digits}f}" if is_defined else MISSING_SCORE, bool(bold), mark, deviation=deviation
        )
        for value, is_defined, bold, mark, deviation in zip(values, defined, best, marks, spreads, strict=True)
    ]


def _compute_mean_ranks(values: FloatArray, sign: int) -> FloatArray:
    if not np.isfinite(values).all():
        return np.full(values.shape[1], np.nan)
    rounded = round_noise(values, np.abs(values).max(axis=1, keepdims=True))
    return np.asarray(rank_values(sign * rounded).mean(axis=0))


def _order_given_ranks(mean_ranks: Any, names: list[str]) -> FloatArray:
    ranks_by_name = {str(name): value for name, value in mean_ranks.items()}
    for name in names:
        if name not in ranks_by_name:
            raise InputError(f"mean_ranks must contain every learner, got none for {name!r}")
    return np.array([ranks_by_name[name] for name in names], dtype=np.float64)


def _build_plain_sheet(frame: pd.DataFrame, digits: int | None, note: str) -> _Sheet:
    """Build a table from any frame. An index that only numbers the rows is omitted."""
    import pandas as pd

    has_index = not isinstance(frame.index, pd.RangeIndex)
    right = [pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes]
    body: list[_Row] = [
        (str(index) if has_index else None, [_build_plain_cell(value, digits) for value in line])
        for index, line in zip(frame.index, frame.itertuples(index=False, name=None), strict=True)
    ]
    corner = [] if not has_index else ["" if frame.index.name is None else str(frame.index.name)]
    head = [*corner, *(str(name) for name in frame.columns)]
    return _Sheet(head, [False] * has_index + right, body, [], [_TableCell(note)] if note else [])


def _build_plain_cell(value: Any, digits: int | None) -> _TableCell:
    if isinstance(value, (bool, np.bool_)):
        return _TableCell("yes" if value else "no", number=False)
    if value is None or (isinstance(value, (float, np.floating)) and not np.isfinite(value)):
        return _TableCell(MISSING_SCORE)
    if isinstance(value, (float, np.floating)):
        return _TableCell(f"{value:.4g}" if digits is None else f"{value:.{digits}f}")
    return _TableCell(str(value), number=isinstance(value, (int, np.integer)))


def _render_row(row: _Row, cell: Callable[[_TableCell], str], text: Callable[[str], str]) -> list[str]:
    name, cells = row
    return ([] if name is None else [text(name)]) + [cell(table_cell) for table_cell in cells]


def _join_latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escape_latex(text: str) -> str:
    """Escape the special characters of LaTeX.

    Brackets and stars are also escaped, because LaTeX would interpret them after a line break.
    """
    escaped = "".join(_LATEX_ESCAPES.get(sign, sign) for sign in " ".join(text.split()))
    return re.sub("-(?=-)", "-{}", escaped)


def _format_latex_cell(cell: _TableCell) -> str:
    text = _format_latex_number(cell.text) if cell.number else _escape_latex(cell.text)
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    text += rf" $\pm$ {cell.deviation}" if cell.deviation else ""
    # The mark takes no width, so the numbers stay aligned.
    return text + (rf"\rlap{{\,{_LATEX_MARKS[cell.mark]}}}" if cell.mark else "")


def _format_latex_number(text: str) -> str:
    power = re.fullmatch(r"(-?)([0-9.]+)e([+-]\d+)", text)
    if power:
        return rf"${power[1]}{power[2]}\times10^{{{int(power[3])}}}$"
    return text.replace("-", "$-$").replace(MISSING_SCORE, "--")


def _format_latex_note(note: _TableCell) -> str:
    return (_LATEX_MARKS[note.mark] + " " if note.mark else "") + _escape_latex(note.text)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$~&])", r"\\\1", " ".join(text.split()))


def _format_markdown_cell(cell: _TableCell) -> str:
    text = cell.text if cell.number else _escape_markdown(cell.text)
    if cell.bold:
        text = f"**{text}**"
    text += f" \N{PLUS-MINUS SIGN} {cell.deviation}" if cell.deviation else ""
    return text + (f" {_MARKDOWN_MARKS[cell.mark]}" if cell.mark else "")


def _format_text_cell(cell: _TableCell) -> tuple[str, str]:
    """Return the text of a cell and the symbols that follow it."""
    text = " ".join(cell.text.split()) + (f" \N{PLUS-MINUS SIGN} {cell.deviation}" if cell.deviation else "")
    return text, "*" * cell.bold + (_MARKDOWN_MARKS[cell.mark] if cell.mark else "")


def _align_text_column(cells: Sequence[tuple[str, str]], right: bool) -> list[str]:
    """Pad the cells of a column to the same width. Symbols after a number do not change its alignment."""
    from rich.cells import cell_len

    signs_width = max(len(signs) for _, signs in cells)
    width = max(cell_len(text) for text, _ in cells)
    padding = [" " * (width - cell_len(text)) for text, _ in cells]
    return [
        (f"{space}{text}" if right else f"{text}{space}") + signs.ljust(signs_width)
        for space, (text, signs) in zip(padding, cells, strict=True)
    ]


def count_decimals(values: FloatArray) -> int | None:
    """Count the decimal places of the numbers. Return None if there are more than 11 decimal places."""
    scale = max(1.0, float(np.abs(values).max(initial=0.0)))
    for decimals in range(12):
        if np.abs(values - np.round(values, decimals)).max(initial=0.0) <= 1e-14 * scale:
            return decimals
    return None
