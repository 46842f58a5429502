"""Files in tracebacks and stacks, named from the folder of their package on: where that is belongs to the machine."""

from __future__ import annotations

import sys


def named_from_package(text: str) -> str:
    """The text of a traceback without the folders from which Python imports.

    >>> import numpy
    >>> named_from_package(f'File "{numpy.__file__}", line 3')
    'File "numpy/__init__.py", line 3'
    """
    for folder in sorted({each.rstrip("/") for each in sys.path if len(each) > 1}, key=len, reverse=True):
        text = text.replace(f'File "{folder}/', 'File "')
    return text
