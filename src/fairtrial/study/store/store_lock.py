"""One writer at a time: a lock on a file beside the store, which goes when its holder does, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

from fairtrial.errors import StoreError

_held: set[int] = set()


class WriteLock:
    """The right to write to a store. A lock file that a killed process left behind does no harm.

    The lock is never on the store's own file: closing that by other means would drop the locks of SQLite.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = WriteLock(Path(folder) / "a.fairtrial")
    ...     inside = os.listdir(folder)
    ...     lock.release()
    ...     inside, os.listdir(folder)
    (['a.fairtrial.lock'], [])
    """

    def __init__(self, store: Path) -> None:
        self.path = store.with_name(f"{store.name}.lock")
        self._pid = os.getpid()
        self._descriptor = _locked(store, self.path)
        _held.add(self._descriptor)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(self._pid).encode(), 0)

    def release(self) -> None:
        """Give the right back; a second call, or one from a forked process, does nothing."""
        if self._descriptor not in _held or os.getpid() != self._pid:
            return
        _held.discard(self._descriptor)
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def _locked(store: Path, path: Path) -> int:
    """An open lock file that is ours. Whoever releases a lock removes its file, so the one we locked may be gone: try again."""
    import fcntl

    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(
                f"{store} cannot be written: {path.name} cannot be made beside it ({error.strerror}); "
                "check the permissions of the folder, or use another --store"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(descriptor, path):
                return descriptor
        except BlockingIOError:
            holder = _holder(descriptor)
            os.close(descriptor)
            raise StoreError(f"{store} is being written by {holder}: wait for it, or use another --store") from None
        except OSError as error:
            os.close(descriptor)
            raise StoreError(
                f"{store} cannot be written: its file system cannot lock files ({error.strerror}); keep it on a local disk"
            ) from None
        os.close(descriptor)


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(descriptor: int) -> str:
    told = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
    if not told.isdigit():
        return "another process"
    return f"process {told}" + (" (this one)" if int(told) == os.getpid() else "")


def _let_go() -> None:
    """A forked process must not keep the lock of its parent: it may outlive it."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
