"""Names in the code are conventional: no dialect, one class per name (the glossary is in CONTRIBUTING.md)."""

import ast
from collections import Counter
from pathlib import Path

import fairtrial

PACKAGE = Path(fairtrial.__file__).parent
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}
VAGUE = {"each", "found", "told", "said", "place", "places", "shown", "those", "what", "given", "thing", "things"}
DIALECT = {"told", "telling", "teller", "warden", "ward", "stray", "strays", "lifted", "gathering", "twins"}


def list_identifiers():
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield path, node.lineno, node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield path, node.lineno, node.arg


def test_no_vague_or_private_words_in_names():
    offenders = [
        f"{path.relative_to(PACKAGE)}:{line} {name}"
        for path, line, name in list_identifiers()
        if name in VAGUE or DIALECT & set(name.lower().strip("_").split("_"))
    ]
    assert not offenders


def test_class_names_are_unique():
    names = Counter(node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []
