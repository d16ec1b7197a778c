"""An event loop in a thread of its own, for callers in any thread."""

import threading
from concurrent.futures import Future
from functools import partial
from typing import Final

import anyio
from anyio.from_thread import BlockingPortal

__all__ = ["OwnThread"]

END_S: Final = 10.0
"""Seconds that what runs in the loop has to end; mcp kills a command within five."""


class OwnThread:
    """A thread that runs an event loop until `end`; it keeps no program from ending.

    anyio has a context manager for this. Left open, that one waits for ever where it is
    collected when the program ends, so that a forgotten `close` would hang it.
    """

    def __init__(self, name: str) -> None:
        """Start the thread."""
        ready: Future[BlockingPortal] = Future()
        run = partial(anyio.run, _serve, ready)
        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()
        self.portal: Final = ready.result()

    def end(self) -> None:
        """Cancel what runs in the loop, and wait until it has ended; once is enough."""
        if threading.current_thread() is self._thread:  # the collector ran here
            threading.Thread(target=self.end, daemon=True).start()
            return
        try:
            self.portal.start_task_soon(self.portal.stop, True)  # noqa: FBT003
        except RuntimeError:  # it is not running any more
            return
        self._thread.join(END_S)


async def _serve(ready: "Future[BlockingPortal]") -> None:
    async with BlockingPortal() as portal:
        ready.set_result(portal)
        await portal.sleep_until_stopped()
