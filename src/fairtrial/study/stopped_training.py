"""Ctrl-C while a learner trains."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPED = "Training interrupted by user"  # what scikit-learn's networks warn of instead of stopping


@contextmanager
def stopping() -> Iterator[None]:
    """Ctrl-C ends a training for good: a network that would go on half-trained, with a warning, is stopped too.

    >>> try:
    ...     with stopping():
    ...         warnings.warn("Training interrupted by user.", stacklevel=1)
    ... except KeyboardInterrupt:
    ...     print("stopped")
    stopped
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=_STOPPED)
        try:
            yield
        except UserWarning as told:
            if _STOPPED in str(told):
                raise KeyboardInterrupt from None
            raise
