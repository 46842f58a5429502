"""Compare text with a stored snapshot. Set FAIRTRIAL_UPDATE_SNAPSHOTS=1 to write the snapshots anew, and read the diff."""

import os
from pathlib import Path


def assert_snapshot(text: str, path: Path) -> None:
    """Assert that a text equals the stored one."""
    text = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n") + "\n"
    if os.environ.get("FAIRTRIAL_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    assert path.is_file(), f"{path} does not exist: run the test with FAIRTRIAL_UPDATE_SNAPSHOTS=1"
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs: read the diff, then update the snapshot"
