"""Texts that users read follow the writing guide: no phrases of the old dialect. Long sentences are listed.

Run `python -m tests.test_language` to list long sentences, or `python -m tests.test_language 60` to draw a random sample.
"""

import ast
import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_WORDS = 35
PHRASES = (
    "told apart",
    "mended",
    "file of evidence",
    "nothing speaks against",
    "what became of",
    "for want of",
    "goes on where",
    "is laid to",
    "ran well",
    "left open",
    "keeps its level",
    "worse than guessing",
    "holds zero",
    "how it went",
    "in their order",
    "the share of",
    "is no parameter",
    "speaks of",
    "false alarm",
    "stands for itself",
    "training part",
    "test part",
    "spoilt",
    "as they stand",
    "what stands",
    "not being asked for",
    "so many as",
    "of its own accord",
)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\"(])")
_NOT_TEXT = re.compile(r"(?s:```.*?```)|<[^>]+>|^\|.*$|^#.*$|^\s*[:.]{2,}.*$", re.MULTILINE)
_DEFINED_TERM = re.compile(r"\n\S.*\n(?= {4}\S)")  # of numpydoc: `name : type`, or a type


def list_pages():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    generated = {"calibration.md", "torture.md"}
    return [page for page in pages if page.name not in generated and "_build" not in page.parts]


def list_strings():
    """List all strings of the package with their files: docstrings, help texts, messages and sentences."""
    for path in sorted((ROOT / "src" / "fairtrial").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.value
    for path in sorted((ROOT / "src" / "fairtrial").rglob("*.j2")) + sorted((ROOT / "src" / "fairtrial").rglob("*.html")):
        yield path, path.read_text(encoding="utf-8")


def list_docstrings():
    for path in sorted((ROOT / "src" / "fairtrial").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
                yield path, _DEFINED_TERM.sub("\n\n", re.split(r"\n(?:Examples|References)\n-+\n", text)[0])


def split_sentences(text):
    """Split running text into sentences; code, tables and headings are left out, list items are sentences."""
    for paragraph in re.split(r"\n\s*\n(?:\s*[-*]\s)?|\n\s*[-*]\s|\n\s*\d+\.\s|\n-{3,}\n", _NOT_TEXT.sub("", text)):
        for sentence in _SENTENCE_END.split(" ".join(paragraph.split())):
            if len(sentence.split()) >= 4 and "|" not in sentence and ">>>" not in sentence:
                yield sentence


def list_sentences():
    sources = [*((page, page.read_text(encoding="utf-8")) for page in list_pages()), *list_docstrings()]
    return [(path.relative_to(ROOT), sentence) for path, text in sources for sentence in split_sentences(text)]


def test_no_phrase_of_the_old_dialect():
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, PHRASES))})\b", re.IGNORECASE)
    texts = [*((page, page.read_text(encoding="utf-8")) for page in list_pages()), *list_strings()]
    found = ((path, pattern.search(" ".join(text.split()))) for path, text in texts)
    assert [f"{path.relative_to(ROOT)}: {match[0]}" for path, match in found if match] == []


def test_the_check_finds_what_it_looks_for():
    assert list(split_sentences("One two three four. Five six seven eight.\n\n- nine ten eleven twelve")) == [
        "One two three four.",
        "Five six seven eight.",
        "nine ten eleven twelve",
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for path, sentence in random.Random(1).sample(list_sentences(), int(sys.argv[1])):
            print(f"{path}: {sentence}\n")
    else:
        for path, sentence in list_sentences():
            if len(sentence.split()) > MAX_WORDS:
                print(f"{len(sentence.split())} words, {path}: {sentence}\n")
