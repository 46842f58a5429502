"""The directive `study-keys` of Markdown pages: the keys of one table of a study file, read from its pydantic model.

The meaning of a key is the string below its field in `fairtrial/study/spec/models.py`. A key without one is an error.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticUndefined
from result_schema import format_markdown_table
from sphinx.util.docutils import SphinxDirective

from fairtrial.study.spec import models

if TYPE_CHECKING:
    from docutils.nodes import Node
    from sphinx.application import Sphinx

PYTHON_ONLY = "object"  # the key under which a study in Python keeps an object; a file cannot contain it


class StudyKeys(SphinxDirective):
    """A table of keys, defaults and meanings of a model, e.g. `study-keys:: VerdictSpec`."""

    required_arguments = 1

    def run(self) -> list[Node]:
        """Return the table."""
        model = getattr(models, self.arguments[0])
        meanings = read_meanings(model)
        rows = [("key", "default", "meaning")]
        for name, field in model.model_fields.items():
            if name != PYTHON_ONLY:
                rows.append((f"`{name}`", format_default(field), meanings[name]))
        return self.parse_text_to_nodes(format_markdown_table(rows))


def format_default(field: Any) -> str:
    """Return the default of a field as TOML, or nothing if it is a table or has none."""
    default = field.get_default(call_default_factory=True)
    if default is None or default is PydanticUndefined or default in ({}, []):
        return ""
    if isinstance(default, (str, int, float)):
        return f"`{default!r}`".replace("'", '"')
    is_list_of_names = isinstance(default, list) and all(isinstance(item, str) for item in default)
    return f"`{default!r}`".replace("'", '"') if is_list_of_names else ""


def read_meanings(model: type) -> dict[str, str]:
    """Read the strings below the fields of a model and of the models that it extends."""
    meanings: dict[str, str] = {}
    for base in reversed([base for base in model.__mro__ if base.__module__ == models.__name__]):
        meanings |= dict(iter_meanings(base))
    return meanings


def iter_meanings(model: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a class with the strings below them."""
    [tree] = ast.parse(inspect.getsource(model)).body
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            yield field.target.id, " ".join(str(text.value.value).split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("study-keys", StudyKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
