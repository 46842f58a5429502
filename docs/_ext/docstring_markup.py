"""Convert docstrings that mix Markdown, Google style and prose to the reStructuredText that numpydoc expects.

A docstring in numpydoc form passes unchanged. Remove this extension when all docstrings are in that form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from measure_catalogue import format_list_table

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FENCE = re.compile(r"```(\w*)$")
TABLE_RULE = re.compile(r"\|[-:| ]+\|$")
GOOGLE_ARGUMENT = re.compile(r"    (\w+): (.*)")
CODE_OR_PIPE = re.compile(r"`[^`]*`|\|")
REQUEST_METHOD = re.compile(r"set_\w+_request$")


def convert_fences(lines: list[str]) -> list[str]:
    """Turn fenced code into `code-block` directives."""
    converted: list[str] = []
    inside = False
    for line in lines:
        fence = FENCE.match(line)
        if fence is None:
            converted.append(f"   {line}" if inside else line)
            continue
        converted += [""] if inside else ["", f".. code-block:: {fence[1] or 'text'}", ""]
        inside = not inside
    return converted


def convert_tables(lines: list[str]) -> list[str]:
    """Turn pipe tables into `list-table` directives, except in the output of examples."""
    converted: list[str] = []
    rows: list[tuple[str, ...]] = []
    in_example = False
    for line in [*lines, ""]:
        in_example = bool(line) and (in_example or line.startswith(">>>"))
        if line.startswith("|") and not in_example:
            if not TABLE_RULE.match(line):
                rows.append(tuple(cell.strip() for cell in line[1:].rstrip("|").split("|")))
            continue
        if rows:
            converted += format_list_table(rows)
            rows = []
        converted.append(line)
    return converted


def convert_google_arguments(lines: list[str]) -> list[str]:
    """Turn an `Args:` block into a Parameters section."""
    if "Args:" not in lines:
        return lines
    start = lines.index("Args:")
    converted = [*lines[:start], "Parameters", "----------"]
    for line in lines[start + 1 :]:
        argument = GOOGLE_ARGUMENT.match(line)
        converted += [argument[1], f"    {argument[2]}"] if argument else [line.replace(" " * 8, " " * 4, 1)]
    return converted


def add_notes_heading(lines: list[str]) -> list[str]:
    """Put a Notes heading before prose that follows the parameters without one."""
    if "Parameters" not in lines:
        return lines
    first = lines.index("Parameters") + 2
    for index in range(first + 1, len(lines) - 1):
        line, next_line = lines[index], lines[index + 1]
        if next_line.startswith("---") or line.startswith(">>>"):
            break
        if line and not line.startswith(" ") and not lines[index - 1] and not next_line.startswith(" "):
            return [*lines[:index], "Notes", "-----", *lines[index:]]
    return lines


def add_examples_heading(lines: list[str]) -> list[str]:
    """Put an Examples heading before the first `>>>` of a docstring that has none."""
    first = next((index for index, line in enumerate(lines) if line.startswith(">>>")), None)
    if first is None or "Examples" in lines:
        return lines
    return [*lines[:first], "", "Examples", "--------", *lines[first:]]


def escape_pipes(lines: list[str]) -> list[str]:
    """Escape `|` in prose, which would begin a substitution; code and examples stay as they are."""
    converted: list[str] = []
    in_example = False
    for line in lines:
        in_example = bool(line) and (in_example or line.startswith(">>>"))
        is_prose = not in_example and not line.startswith(" ")
        converted.append(CODE_OR_PIPE.sub(escape_pipe, line) if is_prose else line)
    return converted


def escape_pipe(match: re.Match[str]) -> str:
    r"""Return `\|` for a pipe, and code as it is."""
    return r"\|" if match[0] == "|" else match[0]


def process_docstring(_app: Sphinx, what: str, _name: str, _obj: object, _options: Any, lines: list[str]) -> None:
    """Convert the docstring in place, before numpydoc reads it."""
    converters = [convert_fences, convert_tables, escape_pipes]
    if what != "module":
        converters += [convert_google_arguments, add_notes_heading, add_examples_heading]
    for convert in converters:
        lines[:] = convert(lines)


def process_signature(
    _app: Sphinx, _what: str, _name: str, _obj: object, _options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Replace the default `<factory>` of dataclass fields, which Sphinx cannot parse."""
    if signature is None or "<factory>" not in signature:
        return None
    return signature.replace("<factory>", "..."), returns


def skip_request_method(_app: Sphinx, _what: str, name: str, *_: Any) -> bool | None:
    """Leave out the methods that scikit-learn generates for metadata routing."""
    return True if REQUEST_METHOD.match(name) else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to autodoc, before numpydoc does."""
    app.connect("autodoc-process-docstring", process_docstring, priority=400)
    app.connect("autodoc-process-signature", process_signature, priority=400)
    app.connect("autodoc-skip-member", skip_request_method)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
