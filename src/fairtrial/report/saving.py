"""A chart becomes a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairtrial import _check
from fairtrial.errors import InputError

FORMATS = ("svg", "png", "pdf", "html", "json")
SUFFIXES = tuple(f".{name}" for name in FORMATS)

_OPTIONS: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"scale_factor": 2}}


def formats_of(formats: str | Iterable[str], known: Sequence[str] = FORMATS) -> list[str]:
    """Each format once, in lower case and without a dot; a text may name several, with commas between.

    >>> formats_of("svg, .PDF,svg"), formats_of(["json"])
    (['svg', 'pdf'], ['json'])
    """
    names = formats.split(",") if isinstance(formats, str) else [str(each) for each in formats]
    plain = [name.strip().lower().removeprefix(".") for name in names]
    for name in plain:
        _check.one_of("formats", name, known)
    return list(dict.fromkeys(plain))


def check_picture_path(path: Path) -> None:
    """A picture can be written there: a known suffix, in a folder that exists."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"path must end in one of {', '.join(SUFFIXES)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise InputError(f"path must lie in a folder that exists, got {str(path)!r}: create {str(path.parent)!r} first")


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart in the format that the suffix names: .svg, .png, .pdf, .html or .json (the Vega-Lite description).

    The HTML file holds all it needs and works offline; PNG has twice the pixels of the screen.

    >>> import tempfile
    >>> from fairtrial.measures import roc_curve
    >>> from fairtrial.report.curves import draw_roc
    >>> chart = draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(chart, f"{folder}/roc.svg").name
    'roc.svg'
    """
    if not callable(getattr(chart, "save", None)) or not hasattr(chart, "to_dict"):
        raise InputError(f"chart must be a figure, got {type(chart).__name__}: pass what a draw_ function gives")
    path = Path(path)
    suffix = path.suffix.lower()
    check_picture_path(path)
    with _writable(path):
        chart.save(str(path), format=suffix[1:], **_OPTIONS.get(suffix, {}))
    return path


def save_text(text: str, path: Path) -> Path:
    """Write a text in UTF-8, its lines ended as on Unix, and give the path."""
    with _writable(path):
        path.write_text(text, encoding="utf-8", newline="\n")
    return path


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """What the system says against a file becomes one sentence."""
    try:
        yield
    except OSError as error:
        told = error.strerror or error
        raise InputError(f"path must be one that can be written, got {str(path)!r} ({told}): name another") from None


def made_folder(folder: Path) -> Path:
    """The folder, which is made where it is not there."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"folder must be a folder, got the file {str(folder)!r}: name another one")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder must be one that can be made, got {str(folder)!r} ({error.strerror}): name another") from None
    return folder
