"""Where downloads are kept."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from fairtrial.errors import InputError

VARIABLE = "FAIRTRIAL_CACHE"


def cache_folder() -> Path:
    """FAIRTRIAL_CACHE if set, else the platform's folder for caches."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fairtrial"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fairtrial" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairtrial"


def keep(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all, so that a download that breaks off leaves nothing half done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        os.replace(file.name, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}; set {VARIABLE} to another folder") from None
    return path
