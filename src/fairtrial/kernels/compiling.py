"""How a kernel is compiled: by numba, cached on disk, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile at the first call and keep the result on disk.

    Threads come from `fairtrial.kernels.threads`: numba's own `parallel=True` costs seconds of compile time.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
