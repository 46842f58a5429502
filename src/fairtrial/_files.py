"""Write files atomically, and escape CSV text that a spreadsheet would evaluate as a formula."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

FORMULA_PATTERN = r"^[=+\-@\t\r]"
NUMBER_PATTERN = r"^[+\-]?(\d+\.?\d*|\.\d+)([eE][+\-]?\d+)?$"


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`. On success, the temporary file replaces `path`.

    If the file cannot be written, an InputError is raised, the temporary file is deleted, and `path` stays unchanged.
    """
    temporary = path.with_name(f".fairtrial-{secrets.token_hex(4)}.part")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise InputError(f"{path} cannot be written ({reason}): check the folder and the free disk space") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def format_csv(frame: pd.DataFrame, *, index: bool = False) -> str:
    r"""Format a frame as CSV text.

    Text that a spreadsheet would evaluate as a formula gets a leading apostrophe.

    >>> import pandas as pd
    >>> print(format_csv(pd.DataFrame({"learner": ["=cmd()", "-1.5"], "score": [-0.5, 1.0]})))
    learner,score
    '=cmd(),-0.5
    -1.5,1.0
    <BLANKLINE>
    """
    escaped = frame.copy(deep=False)
    escaped.columns = frame.columns.map(escape_formula)
    if index:
        escaped.index = frame.index.map(escape_formula)
    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "biufcmM":
            escaped.isetitem(position, frame.iloc[:, position].astype(object).map(escape_formula).to_numpy())
    return str(escaped.to_csv(index=index, lineterminator="\n"))


def escape_formula(value: Any) -> Any:
    """Put an apostrophe before text that starts like a spreadsheet formula, unless the text is a number."""
    if isinstance(value, str) and re.match(FORMULA_PATTERN, value) and not re.match(NUMBER_PATTERN, value):
        return f"'{value}"
    return value
