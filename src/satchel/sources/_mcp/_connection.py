"""One MCP client in a thread of its own, for callers in any thread."""

import contextlib
import logging
import math
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

import anyio
from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT
from pydantic import ValidationError

from satchel.errors import SourceUnavailableError
from satchel.sources._mcp._target import McpTarget
from satchel.sources._mcp._uris import short_line

if TYPE_CHECKING:
    from anyio.abc import TaskStatus


# Seconds in which tasks of the loop must end; mcp kills a command within five.
SHUTDOWN_S: Final = 10.0


class LoopThread:
    """A thread that runs an event loop until `end`; the program may end before that."""

    def __init__(self, name: str) -> None:
        # Not the context manager of anyio: left open, it waits for ever when it is
        # collected, so that a forgotten `close` would hang the end of the program.
        ready: Future[BlockingPortal] = Future()
        run = partial(anyio.run, _run_portal, ready)
        self._thread = threading.Thread(target=run, name=name, daemon=True)
        self._thread.start()
        self.portal: Final = ready.result()

    def end(self) -> None:
        """Cancel what runs in the loop, and wait until it has ended."""
        if threading.current_thread() is self._thread:  # the collector ran here
            threading.Thread(target=self.end, daemon=True).start()
            return
        try:
            self.portal.start_task_soon(self.portal.stop, True)  # noqa: FBT003
        except RuntimeError:  # it is not running any more
            return
        self._thread.join(SHUTDOWN_S)


async def _run_portal(ready: "Future[BlockingPortal]") -> None:
    async with BlockingPortal() as portal:
        ready.set_result(portal)
        await portal.sleep_until_stopped()


T = TypeVar("T")

# Codes of mcp's transports for an answer that will never come; the last one means over
# HTTP that the server has forgotten the session.
_DISCONNECTED_CODES: Final = frozenset(
    {CONNECTION_CLOSED, REQUEST_TIMEOUT, INVALID_REQUEST}
)


for _name in ("mcp.client", "mcp.shared", "client"):
    # mcp logs answers that it cannot read, with tracebacks. Without a handler Python
    # would print them, and a server could write on the user's terminal.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class UnexpectedAnswerError(Exception):
    """The server refused, or sent the wrong shape, which has the code 0.

    Caught in this package.
    """

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class _ConnectedClient:
    """A client that is connected, until ``ended`` is set or the server goes away."""

    thread: LoopThread
    client: Client
    ended: anyio.Event
    task: "Future[None]"

    def end(self) -> None:
        """Ask it to end, and do not wait for that."""
        with contextlib.suppress(RuntimeError):  # the thread has ended already
            self.thread.portal.start_task_soon(self.ended.set)


class McpConnection:
    """Calls a server; connects at the first call, and again after the server went away.

    Every call has a deadline. Safe across threads: calls run concurrently in one event
    loop, in one thread that this object owns and that ends with `close`.
    """

    def __init__(self, target: McpTarget) -> None:
        self._target: Final = target
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._live: _ConnectedClient | None = None
        self._closed = False

    def call(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        """Return what ``ask`` returns for a client; it may be called twice."""
        while True:
            live, fresh = self._connected()
            try:
                return live.thread.portal.call(
                    _with_deadline, self._target.timeout_s, ask, live.client
                )
            except MCPError as error:
                reason = short_line(error.message)
                if error.code not in _DISCONNECTED_CODES:
                    raise UnexpectedAnswerError(error.code, reason) from error
                # Not tried again: the caller would wait as long a second time.
                if error.code == REQUEST_TIMEOUT:
                    self._drop(live)
                    raise self._late() from TimeoutError(reason)
            except ValidationError as error:
                reason = "the answer has the wrong shape"
                raise UnexpectedAnswerError(0, reason) from error
            except TimeoutError as error:
                self._drop(live)
                raise self._late() from error
            except Exception as error:  # noqa: BLE001 - transports raise what they like
                reason = _failure_reason(error)
            self._drop(live)
            # An old connection may have broken unnoticed, so a new one gets one try.
            if fresh:
                raise SourceUnavailableError(self._target.label, reason)

    def close(self) -> None:
        """End the connection and the thread; a second call does nothing."""
        with self._lock:
            self._closed = True
            live, self._live = self._live, None
            thread, self._thread = self._thread, None
        # Outside the lock: a call that fails meanwhile needs it in `_drop`.
        if live is not None:
            live.end()
            wait([live.task], SHUTDOWN_S)
        if thread is not None:
            thread.end()

    def _connected(self) -> tuple[_ConnectedClient, bool]:
        """Return the connection, and whether it was made just now."""
        # Another thread may be connecting, which may take as long as a call.
        if not self._lock.acquire(timeout=self._target.timeout_s):
            raise self._late() from TimeoutError()
        try:
            if self._closed:
                raise SourceUnavailableError(self._target.label, "it was closed")
            live = self._live
            # The task ends when the server goes away.
            if live is not None and not live.task.done():
                return live, False
            if self._thread is None:
                self._thread = LoopThread(f"satchel-mcp-{self._target.label}")
                # In case the caller forgets to close; also when the program ends.
                weakref.finalize(self, self._thread.end)
            self._live = self._connect(self._thread)
            return self._live, True
        finally:
            self._lock.release()

    def _connect(self, thread: LoopThread) -> _ConnectedClient:
        try:
            task, value = thread.portal.start_task(_keep_connected, self._target)
        except TimeoutError as error:
            raise self._late() from error
        except Exception as error:  # noqa: BLE001 - transports raise what they like
            reason = _failure_reason(error)
        else:
            client, ended = value
            return _ConnectedClient(thread, client, ended, task)
        raise SourceUnavailableError(self._target.label, reason)

    def _drop(self, live: _ConnectedClient) -> None:
        """Stop using a connection; it ends on its own."""
        with self._lock:
            if self._live is live:
                self._live = None
        live.end()

    def _late(self) -> SourceUnavailableError:
        detail = f"no answer within {self._target.timeout_s:g} seconds"
        return SourceUnavailableError(self._target.label, detail)


async def _keep_connected(
    target: McpTarget, *, task_status: "TaskStatus[tuple[Client, anyio.Event]]"
) -> None:
    """Keep a client connected: one task enters it and leaves it, as anyio asks.

    The deadline is for connecting only.
    """
    ended = anyio.Event()
    with anyio.move_on_after(target.timeout_s) as scope:
        async with target.open() as client:
            scope.deadline = math.inf
            task_status.started((client, ended))
            await ended.wait()
    if scope.cancelled_caught:
        raise TimeoutError


async def _with_deadline(
    timeout_s: float, ask: Callable[[Client], Awaitable[T]], client: Client
) -> T:
    with anyio.fail_after(timeout_s):
        return await ask(client)


def _failure_reason(error: BaseException) -> str:
    """Return what went wrong, without paths and addresses."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, MCPError):
        return short_line(error.message)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
