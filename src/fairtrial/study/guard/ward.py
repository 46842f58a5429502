"""What a guard holds: a warden and its child, started when needed, ended together, and whether work is to stop."""

from __future__ import annotations

import threading

from fairtrial.study.guard.blame import Exit
from fairtrial.study.guard.child_link import ChildLink, ChildLostError
from fairtrial.study.guard.warden_link import WardenLink, WardenLostError


class Ward:
    """At most one warden with at most one child. It does not know its guard, so that it can be closed after it."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.stop: threading.Event | None = None
        self.warden = WardenLink()
        self._child: ChildLink | None = None

    def stopped(self) -> bool:
        """Whether work is to end now."""
        return self.closing.is_set() or (self.stop is not None and self.stop.is_set())

    @property
    def data(self) -> str | None:
        """The content hash of the data set that the child holds."""
        return None if self._child is None else self._child.data

    def child(self) -> ChildLink:
        """The child; a new one where there is none."""
        if self._child is None:
            self._child = ChildLink(self.warden, self.stopped)
        return self._child

    def drop_child(self) -> None:
        """End the child; the next trial gets a new one."""
        child, self._child = self._child, None
        if child is not None:
            try:
                child.kill()
            except WardenLostError:
                self.warden.close(child.process)
            finally:
                child.close()

    def drop_after(self, error: Exception) -> tuple[Exit | None, str | None]:
        """End what is left after a failure that was no trial's; how the child ended, if that is known, and what it printed."""
        log = None if self._child is None else self._child.log()
        if isinstance(error, WardenLostError):
            child, self._child = self._child, None
            self.warden.close(None if child is None else child.process)
            if child is not None:
                child.close()
        else:
            self.drop_child()
        return (error.end if isinstance(error, ChildLostError) else None), log

    def close(self) -> None:
        """End both, in the process that started them."""
        self.closing.set()
        child, self._child = self._child, None
        self.warden.close(None if child is None else child.process)
        if child is not None:
            child.close()
