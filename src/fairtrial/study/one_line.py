"""Names and messages of others as one plain line, so that no line break, control sequence or length spoils what is shown."""

from __future__ import annotations

_CUT = "…"


def one_line(text: object, most: int | None = None) -> str:
    """Text without line breaks and control characters; longer than `most` it is cut after a word, and ends in "…".

    >>> one_line("cannot open\\n[/data/train]"), one_line("no such file or directory", 16)
    ('cannot open [/data/train]', 'no such file or…')
    """
    words = " ".join("".join(each if each.isprintable() else " " for each in str(text)).split())
    if most is None or len(words) <= most:
        return words
    kept = words[:most]  # a word that ends exactly there is whole
    start, _, _ = kept.rpartition(" ")
    return (start if len(start) > most // 2 else kept[:-1]).rstrip() + _CUT


def reason(error: object, message: object, most: int = 120) -> str:
    """Why a trial failed: the class of the error and its message, as far as they are known.

    >>> reason("ValueError", "3 rows are too few\\nsecond line"), reason(None, None)
    ('ValueError: 3 rows are too few second line', '')
    """
    return one_line(": ".join(part for part in (error, message) if isinstance(part, str) and part), most)
