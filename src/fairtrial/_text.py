"""Format values for readers: numbers, p-values, intervals, durations, counts with nouns, and lists of names.

This is the only module that formats values for sentences. `format_text` fills a template, whose format specifications refer to
the functions of this module.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from decimal import ROUND_CEILING, Context
from html import escape
from itertools import zip_longest
from math import isinf, isnan
from typing import Any
from unicodedata import east_asian_width

SMALL_P = 0.001
"""P-values below this number are written as "p < 0.001"."""

_P_FORMAT = "p at alpha "
_ELLIPSIS = "…"
_MAX_DIGITS = 17
_MAX_NAMES = 8
_GAP, _CONTINUED = "  ", "    "
_LONG_CELL = 11
_IRREGULAR_PLURALS = {"index": "indices", "criterion": "criteria", "hypothesis": "hypotheses"}


def generalize_message(message: str) -> str:
    """Replace numbers and quoted text with #, so messages with the same cause become equal.

    >>> generalize_message("class 'a' has 3 rows, must have 0.5"), generalize_message("3 rows")
    ('class # has # rows, must have #', '# rows')
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+(\.\d+)?(e[-+]?\d+)?", "#", message)


def collapse_whitespace(text: object, max_length: int | None = None) -> str:
    """Replace line breaks and control characters with spaces, and cut long text at the end of a word.

    >>> collapse_whitespace("cannot open\\n[/data/train]"), collapse_whitespace("no such file or directory", 16)
    ('cannot open [/data/train]', 'no such file or…')
    """
    line = " ".join("".join(character if character.isprintable() else " " for character in str(text)).split())
    if max_length is None or len(line) <= max_length:
        return line
    prefix = line[:max_length]  # a word is kept if there is room for the ellipsis after it
    start, _, _ = prefix.rpartition(" ")
    return (start if len(start) > max_length // 2 else prefix[:-1]).rstrip() + _ELLIPSIS


def format_reason(error: object, message: object, max_length: int = 120) -> str:
    """Format the reason for a failure: the class of the error and its message, if known.

    >>> format_reason("ValueError", "3 rows are too few\\nsecond line"), format_reason(None, None)
    ('ValueError: 3 rows are too few second line', '')
    """
    return collapse_whitespace(": ".join(part for part in (error, message) if isinstance(part, str) and part), max_length)


def format_count(number: int, noun: str) -> str:
    """Format a count with its noun in the singular or plural.

    >>> format_count(1, "fold"), format_count(3000, "fold"), format_count(2, "class"), format_count(0, "entry")
    ('1 fold', '3,000 folds', '2 classes', '0 entries')
    """
    return f"{number:,} {noun if number == 1 else make_plural(noun)}"


def make_plural(noun: str) -> str:
    """Form the plural of a noun.

    >>> make_plural("data set"), make_plural("class"), make_plural("category"), make_plural("index")
    ('data sets', 'classes', 'categories', 'indices')
    """
    if noun in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[noun]
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def join_names(names: Iterable[object], limit: int | None = _MAX_NAMES, conjunction: str = "and") -> str:
    """Join names into a list. If there are more than `limit` + 1 names, list the first `limit` and count the others.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"]), join_names(["a", "b", "c", "d"], 2)
    ('a', 'a and b', 'a, b and c', 'a, b and 2 more')
    """
    texts = [str(name) for name in names]
    if limit is not None and len(texts) > limit + 1:
        texts = [*texts[:limit], f"{len(texts) - limit:,} more"]
    return f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def capitalize(text: str) -> str:
    """Capitalize the first letter, and leave the other letters unchanged.

    >>> capitalize("iris and McNemar")
    'Iris and McNemar'
    """
    return text[:1].upper() + text[1:]


def format_number(value: float, number_format: str = "{:.3g}") -> str:
    """Format a number. Zero has no sign, and undefined or infinite numbers are written as words.

    >>> format_number(0.91234), format_number(-0.0001, "{:.3f}"), format_number(float("nan")), format_number(12345)
    ('0.912', '0.000', 'undefined', '12,345')
    """
    if isnan(value) or isinf(value):
        return "undefined" if isnan(value) else "infinite" if value > 0 else "minus infinity"
    if number_format.startswith(_P_FORMAT):
        return format_p_value(value, float(number_format.removeprefix(_P_FORMAT))).removeprefix("p ").removeprefix("= ")
    if number_format == "{:.3g}" and abs(value) >= 1000:
        return f"{value:,.0f}"
    text = number_format.format(value)
    return text if any(character in "123456789" for character in text.partition("e")[0]) else text.replace("-", "", 1)


def format_difference(value: float, number_format: str = "{:.3g}") -> str:
    """Format a difference with its sign.

    >>> format_difference(0.0213), format_difference(-0.5), format_difference(0.0)
    ('+0.0213', '-0.5', '0')
    """
    text = format_number(value, number_format)
    return f"+{text}" if value > 0 and text[0].isdigit() and float(text.replace(",", "")) > 0 else text


def format_distinct(value: float, others: Iterable[float]) -> str:
    """Format a number with 3 significant digits, or more if it would otherwise look equal to 1 or to one of `others`.

    >>> format_distinct(0.999977, [0.999977, 0.999936]), format_distinct(0.91234, [0.8]), format_distinct(1.0, [0.99999])
    ('0.99998', '0.912', '1')
    """
    different = [number for number in (*others, 1.0) if number != value]
    for digits in range(3, _MAX_DIGITS):
        text = f"{value:.{digits}g}"
        if text not in {f"{number:.{digits}g}" for number in different}:
            return text
    return repr(value)


def format_interval(low: float, high: float, level: float | None = 0.95, number_format: str = "{:.3g}") -> str:
    """Format a confidence interval. If the level is None, format only the limits.

    >>> format_interval(0.008, 0.0341), format_interval(-0.1, 0.2, None)
    ('95 % CI 0.008 to 0.0341', '-0.1 to 0.2')
    """
    limits = f"{format_number(low, number_format)} to {format_number(high, number_format)}"
    return limits if level is None else f"{format_percentage(level)} CI {limits}"


def format_percentage(proportion: float) -> str:
    """Format a proportion as a percentage.

    >>> format_percentage(0.95), format_percentage(0.1187), format_percentage(0.999)
    ('95 %', '11.9 %', '99.9 %')
    """
    return f"{100 * proportion:.3g} %"


def format_p_value(p: float, alpha: float = 0.05, *, digits: int = 2, at_most: bool = False) -> str:
    """Format a p-value with enough digits that rounding does not move it across alpha. `at_most` marks an upper bound.

    >>> format_p_value(0.01234), format_p_value(0.050016), format_p_value(0.04998), format_p_value(1e-9)
    ('p = 0.012', 'p = 0.05002', 'p = 0.04998', 'p < 0.001')
    >>> format_p_value(0.012, at_most=True), format_p_value(0.0121, at_most=True), format_p_value(float("nan"))
    ('p <= 0.012', 'p <= 0.013', 'p undefined')
    """
    if isnan(p):
        return "p undefined"
    if p < SMALL_P <= alpha:
        return f"p < {SMALL_P:g}"
    if at_most:
        return f"p <= {_round_up(p, alpha, digits)}"
    return f"p = {choose_p_format([p], alpha, digits).format(p)}"


def make_p_format(alpha: float) -> str:
    """Make a format with which `format_number` writes p-values without "p =".

    >>> format_number(0.01234, make_p_format(0.05)), format_number(1e-9, make_p_format(0.05))
    ('0.012', '< 0.001')
    """
    return f"{_P_FORMAT}{float(alpha)!r}"


def is_p_format(number_format: str) -> bool:
    """Return whether a format was made by `make_p_format`."""
    return number_format.startswith(_P_FORMAT)


def _round_up(p: float, alpha: float, digits: int) -> str:
    """Round up an upper bound of a p-value, but not across alpha."""
    for n_digits in range(digits, _MAX_DIGITS + 1):
        rounded = float(f"{p:.{n_digits}g}")
        if rounded < p:
            rounded = float(Context(prec=n_digits, rounding=ROUND_CEILING).create_decimal(p))
        if not _is_across_alpha(rounded, p, alpha) or p == alpha:
            return f"{rounded:.{n_digits}g}"
    return f"{p:.{_MAX_DIGITS}g}"


def choose_p_format(values: Iterable[float], alpha: float, digits: int = 2) -> str:
    """Choose a format for p-values with enough digits to show on which side of alpha each one lies.

    >>> choose_p_format([0.0123], 0.05), choose_p_format([0.0496], 0.05), choose_p_format([0.0123, 0.05000004], 0.05)
    ('{:.2g}', '{:.3g}', '{:.7g}')
    """
    candidates = [value for value in map(float, values) if value != alpha and not isnan(value)]
    while digits < _MAX_DIGITS and any(_is_across_alpha(float(f"{value:.{digits}g}"), value, alpha) for value in candidates):
        digits += 1
    return f"{{:.{digits}g}}"


def _is_across_alpha(rounded: float, value: float, alpha: float) -> bool:
    return rounded == alpha or (rounded < alpha) != (value < alpha)


def format_duration(seconds: float) -> str:
    """Format a duration with at most two units.

    >>> format_duration(0.0123), format_duration(46.2), format_duration(125), format_duration(8000), format_duration(200_000)
    ('12 ms', '46 s', '2 min 5 s', '2 h 13 min', '2 d 7 h')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.2g} ms"
    if seconds < 10:
        return f"{seconds:.2g} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    for size, unit, small_size, small_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if rounded >= size:
            count, remainder = divmod(rounded, size)
            return f"{count:,} {unit} {remainder // small_size} {small_unit}".replace(f" 0 {small_unit}", "")
    return f"{rounded} s"


def format_text(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template, whose format specifications refer to functions of this module.

    Numbers can be formatted as `number`, `difference`, `percent`, `duration`, `interval` (low, high, level) or `p`, which uses
    the value of `alpha` if given. `names` joins a list, and `on` also puts "on" before it. `quoted` adds quotation marks, and
    `parentheses` adds parentheses unless the value is empty. `count NOUN` formats a number, or the length of a list, with the
    noun. `is`, `has`, `does`, `was` and `s` produce the singular or plural form that matches a number or the length of a list.
    All other specifications are Python formats. A list without a specification is joined.

    >>> format_text("{models} {models:has} no scores on {n:count row} ({p:p}).", {"models": ["a", "b"], "n": 1, "p": 0.012})
    'a and b have no scores on 1 row (p = 0.012).'
    """
    return _TextFormatter(float(values.get("alpha", 0.05))).vformat(template, (), dict(values))


def _count(value: Any) -> int:
    return (
        len(value) if isinstance(value, Sized) and not isinstance(value, str) else 1 if isinstance(value, str) else int(value)
    )


def _format_quoted(value: Any) -> str:
    return join_names(map(repr, value)) if isinstance(value, (list, tuple)) else repr(value)


_AGREEMENT = {"is": ("is", "are"), "has": ("has", "have"), "does": ("does", "do"), "was": ("was", "were"), "s": ("s", "")}
_SPECIFICATIONS: dict[str, Callable[[Any], str]] = {
    "number": format_number,
    "difference": format_difference,
    "percent": format_percentage,
    "interval": lambda limits: format_interval(*limits),
    "parentheses": lambda text: f" ({text})" if text else "",
    "duration": format_duration,
    "names": join_names,
    "on": lambda names: f" on {join_names(names)}" if names else "",
    "quoted": _format_quoted,
}


class _TextFormatter(string.Formatter):
    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "p":
            return format_p_value(value, self.alpha)
        if format_spec in _SPECIFICATIONS:
            return _SPECIFICATIONS[format_spec](value)
        if format_spec in _AGREEMENT:
            return _AGREEMENT[format_spec][_count(value) != 1]
        if format_spec.startswith("count "):
            return format_count(_count(value), format_spec.removeprefix("count "))
        if not format_spec and isinstance(value, (list, tuple)):
            return join_names(value)
        return str(super().format_field(value, format_spec))


def wrap_lines(text: str, width: int = 80, indent: str = "") -> list[str]:
    """Break a text into lines of at most `width` characters. A number and its percent sign stay together.

    >>> wrap_lines("no pair differs significantly", 16)
    ['no pair differs', 'significantly']
    """
    import textwrap

    lines = textwrap.wrap(
        text.replace(" %", "\u00a0%"),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0%", " %") for line in lines]


def wrap_item(text: str, mark: str) -> list[str]:
    """Break a text into lines of at most 80 characters, with `mark` before the first line.

    >>> wrap_item("Only 12 rows.", "!")
    ['! Only 12 rows.']
    """
    return [f"{mark if i == 0 else ' '} {line}" for i, line in enumerate(wrap_lines(text, 78))]


def format_table(rows: Sequence[Sequence[str]], *, indent: str = "  ", left: int = 1) -> list[str]:
    """Align rows of text in columns. The first `left` columns are aligned left, the others right.

    >>> format_table([["model", "AUC"], ["tree", "0.9"]])
    ['  model  AUC', '  tree   0.9']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (
            indent
            + "  ".join(
                f"{cell:<{width}}" if i < left else f"{cell:>{width}}"
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        ).rstrip()
        for row in rows
    ]


def measure_width(text: str) -> int:
    """Count the terminal columns that a text occupies. Wide characters, such as Chinese ones, occupy two.

    >>> measure_width("tree"), measure_width("日本")
    (4, 4)
    """
    return len(text) if text.isascii() else sum(1 + (east_asian_width(character) in "WF") for character in text)


def fit_table(rows: Sequence[Sequence[str]], width: int = 80, *, right: Collection[int] = ()) -> list[list[str]]:
    """Align a table whose first row is the header, and return the lines of each row.

    If the table is too wide, headers and sentences are wrapped. Columns that still do not fit are placed on the next line.
    Columns whose index is in `right` are aligned right.

    >>> for lines in fit_table([["pair", "mean rank", "outcome"], ["a - b", "1", "no significant difference"]], 28):
    ...     print("\\n".join(lines))
    pair   mean  outcome
           rank
    a - b  1     no significant
                 difference
    """
    columns = list(zip(*rows, strict=True))
    natural_widths = [max(map(measure_width, column)) for column in columns]
    smallest_widths = list(map(_measure_longest_word, columns))
    widths = _shrink_columns(natural_widths, smallest_widths, width)
    if _measure_table(widths) > width:
        limits = [max(width - len(_CONTINUED), smallest) for smallest in smallest_widths]
        widths = list(map(min, natural_widths, limits))
    groups = _split_columns(widths, width)
    return [_format_row(row, widths, groups, right) for row in rows]


def _measure_table(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _measure_longest_word(column: Sequence[str]) -> int:
    """Compute the smallest possible width of a column. Only the header and sentences are wrapped, not numbers and names."""
    header, *cells = column
    is_prose = max(map(len, cells), default=0) > _LONG_CELL and not any(cell[:1] in tuple("+-.0123456789") for cell in cells)
    words = [*header.split(), *(word for cell in cells for word in (cell.split() if is_prose else [cell]))]
    return max(map(measure_width, words), default=0)


def _shrink_columns(widths: Sequence[int], smallest: Sequence[int], room: int) -> list[int]:
    """Shrink columns in proportion to their width until the table fits or no column can shrink any further."""
    shrunk = list(widths)
    while _measure_table(shrunk) > room and (wide := [i for i, width in enumerate(shrunk) if width > smallest[i]]):
        shrunk[max(wide, key=lambda i: shrunk[i] / widths[i])] -= 1
    return shrunk


def _split_columns(widths: Sequence[int], room: int) -> list[list[int]]:
    """Group the indices of the columns that fit on the same line."""
    groups: list[list[int]] = []
    left = 0
    for index, width in enumerate(widths):
        if not groups or width + len(_GAP) > left:
            left = room - (len(_CONTINUED) if groups else 0) - width
            groups.append([index])
        else:
            left -= width + len(_GAP)
            groups[-1].append(index)
    return groups


def _format_row(
    row: Sequence[str], widths: Sequence[int], groups: Sequence[Sequence[int]], right: Collection[int]
) -> list[str]:
    cells = [
        wrap_lines(cell, width) if measure_width(cell) > width else [cell] for cell, width in zip(row, widths, strict=True)
    ]
    lines: list[str] = []
    for group in groups:
        start = "" if group is groups[0] else _CONTINUED
        for texts in zip_longest(*(cells[index] for index in group), fillvalue=""):
            blanks = [" " * (widths[index] - measure_width(text)) for index, text in zip(group, texts, strict=True)]
            padded = [
                blank + text if index in right else text + blank
                for index, text, blank in zip(group, texts, blanks, strict=True)
            ]
            lines.append((start + _GAP.join(padded)).rstrip())
    return [line for line in lines if line] or [""]


def wrap_text(text: str, width: int = 80) -> str:
    """Wrap lines that are too long.

    Continuation lines are aligned with the text of the first line or, in a table, with its last column.

    >>> print(wrap_text("models:\\n  tree    a decision tree with many leaves", 30))
    models:
      tree    a decision tree
              with many leaves
    """
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, width))


def _wrap_line(line: str, width: int) -> list[str]:
    if measure_width(line) <= width:
        return [line]
    starts = [match.end() for match in re.finditer(r"^ *([-!] )?|(?<=\S) {2,}", line) if match.end() <= width * 3 // 4]
    start = starts[-1]
    first, *rest = wrap_lines(line[start:], width - start) or [""]
    return [line[:start] + first, *(" " * start + part for part in rest)]


def format_html_table(frame: Any, **options: Any) -> str:
    """Format a data frame as an HTML table for notebooks. Wide tables scroll, and the notebook sets the colours.

    `options` are passed to `DataFrame.to_html`. The index is hidden by default.

    >>> import pandas as pd
    >>> table = format_html_table(pd.DataFrame({"rows": [1], "cost": [12345.678], "auc": [0.123456]}))
    >>> "<td>12,346</td>" in table, "<td>0.1235</td>" in table
    (True, True)
    """
    settings = {"index": False, "border": 0, "na_rep": "", "float_format": _format_cell} | options
    return f'<div style="overflow-x: auto; margin-bottom: 1em">{frame.to_html(**settings)}</div>'


def format_html_block(text: str) -> str:
    """Format aligned text as monospaced HTML, because some notebooks show preformatted text in a proportional font.

    >>> format_html_block("a < b")
    '<pre style="font-family: monospace">a &lt; b</pre>'
    """
    return f'<pre style="font-family: monospace">{escape(text)}</pre>'


def _format_cell(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
