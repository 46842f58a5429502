"""Link to the pages of the gallery. On a code host, the same links lead to the scripts in examples/."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPT = re.compile(r"\]\((?:\.\./)+examples/(\w+)\.py\)")
FOLDER = re.compile(r"\]\((?:\.\./)+examples\)")


def link_gallery(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Replace links to examples/ by links to the gallery."""
    source[0] = FOLDER.sub("](/gallery/index.rst)", SCRIPT.sub(r"](/gallery/\1.rst)", source[0]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the replacement to the reading of pages."""
    app.connect("source-read", link_gallery)
    return {"parallel_read_safe": True}
