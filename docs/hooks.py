"""What the pages take from the package itself, so that they cannot fall behind it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers `<!-- measure table -->`, `<!-- measure list -->` and `<!-- file: NAME -->`."""
    if "<!-- measure" in markdown:
        markdown = markdown.replace("<!-- measure table -->", _table()).replace("<!-- measure list -->", _list())
    return re.sub(r"<!-- file: (\S+) -->", lambda found: _without_title(ROOT / found[1]), markdown)


def _table() -> str:
    from fairtrial.measures.listing import facts_frame

    frame = facts_frame()
    lines = ["| measure | needs | better | range | chance | reference |", "|---|---|---|---|---|---|"]
    lines += [
        f"| [`{line['measure']}`](#{_anchor(line['measure'])}) | {line['needs']} | {line['better']} | {line['range']} "
        f"| {line['chance']} | {line['reference']} |"
        for line in frame.to_dict("records")
    ]
    return "\n".join(lines)


def _list() -> str:
    from fairtrial.measures import registry
    from fairtrial.measures.listing import facts_frame, signature_of

    parts = []
    for line in facts_frame().to_dict("records"):
        name = line["measure"]
        prose, _, example = (inspect.getdoc(registry[name]) or "").partition("\n>>> ")
        aliases = (
            f" Also called {', '.join(f'`{each}`' for each in registry[name].facts.aliases)}." if line["also called"] else ""
        )
        parts.append(
            f"### {name} {{#{_anchor(name)}}}\n\n```python\n{name.rpartition('.')[2]}{signature_of(name)}\n```\n\n"
            f"{prose.strip()}{aliases}\n\n```pycon\n>>> {example.strip()}\n```\n"
        )
    return "\n".join(parts)


def _anchor(name: str) -> str:
    return name.replace(".", "-")


def _without_title(path: Path) -> str:
    return path.read_text().partition("\n")[2]
