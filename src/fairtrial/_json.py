"""Format results as versioned JSON documents, which `result.schema.json` describes.

The commands gate, judge, compare, results and threshold write these documents.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

SCHEMA_VERSION = 1
"""Version of the document format. It increases if a key is removed or its meaning changes, but not if a key is added."""


def format_document(command: str, *, source: str, answer: str, comparisons: Iterable[Mapping[str, Any]], **facts: Any) -> str:
    """Format a result as JSON text. Undefined and infinite numbers become null.

    >>> text = format_document("compare", source="scores.csv", answer="a beats b.", comparisons=[{"p_value": float("nan")}])
    >>> json.loads(text)["comparisons"]
    [{'p_value': None}]
    """
    document = {
        "schema": "fairtrial-result",
        "version": SCHEMA_VERSION,
        "fairtrial": version("fairtrial"),
        "command": command,
        "source": source,
        "answer": answer,
        **facts,
        "comparisons": list(comparisons),
    }
    return json.dumps(_to_plain(document), indent=2, allow_nan=False, ensure_ascii=False)


def _to_plain(value: Any) -> Any:
    """Convert NumPy numbers, mappings and sequences to JSON types. Undefined and infinite numbers become None."""
    if isinstance(value, Mapping):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
