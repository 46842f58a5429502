"""Every finding that code creates has a template, and has the values that the template needs."""

import ast
import string
from collections import Counter
from pathlib import Path

import fairtrial
from fairtrial._narrative import _ARGUMENT, TEMPLATES

PACKAGE = Path(fairtrial.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
COMMON = {"noun", "nouns", "datasets", "models"}
"""Values that `render` or `Notes` supply."""


def list_created_findings():
    """Path, line, kind and value names of each call such as `Finding.of("kind", name=value)` or `notes.add("kind", ...)`."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            owner = ast.unparse(node.func.value)
            is_finding = node.func.attr == "of" and owner == "Finding"
            is_note = node.func.attr == "add" and owner.endswith("notes")
            kind = node.args[0]
            names = {keyword.arg for keyword in node.keywords}
            # Values of an unpacked mapping are not known here.
            if (is_finding or is_note) and isinstance(kind, ast.Constant) and None not in names:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", kind.value, names


def list_fields(template):
    text = _ARGUMENT.sub("", template) + "".join(match[2] for match in _ARGUMENT.finditer(template))
    return {name.split("[")[0].split(".")[0] for _, name, _, _ in string.Formatter().parse(text) if name}


def test_each_finding_has_the_values_of_its_template():
    created = list(list_created_findings())
    assert len(created) > 100
    assert {where: kind for where, kind, _ in created if kind not in TEMPLATES} == {}
    missing = {where: list_fields(TEMPLATES[kind]) - names - COMMON for where, kind, names in created}
    assert {where: names for where, names in missing.items() if names} == {}


def test_each_kind_has_one_template():
    tree = TREES[PACKAGE / "_narrative.py"]
    tables = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == "TEMPLATES"
    ]
    kinds = Counter(key.value for table in tables for key in table.keys if isinstance(key, ast.Constant))
    assert [kind for kind, count in kinds.items() if count > 1] == []
