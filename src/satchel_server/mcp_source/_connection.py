"""One MCP client in a thread of its own, and the requests of the Skills extension."""

import base64
import contextlib
import json
import logging
import math
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

import anyio
import mcp_types as types
from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import RootModel, ValidationError

from satchel.errors import SourceUnavailableError
from satchel.model import IS_LOAD
from satchel_server._purpose import PURPOSE_KEY, SYNC
from satchel_server.mcp_source._entry import short_line
from satchel_server.mcp_source._target import EXTENSION, McpTarget

if TYPE_CHECKING:
    from anyio.abc import TaskStatus


INDEX_URI: Final = "skill://index.json"
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
    {types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT, types.INVALID_REQUEST}
)
# Error codes for what a server does not serve; the last one was used until 2025.
_NOT_SERVED_CODES: Final = frozenset(
    {types.INVALID_PARAMS, types.METHOD_NOT_FOUND, -32002}
)
_SYNC_META: Final = cast("types.RequestParamsMeta", {PURPOSE_KEY: SYNC})
_MAX_CURSOR_CHARS: Final = 4_096
# Far above what is used; a JSON number may have any count of digits.
_MAX_TTL_MS: Final = 10**9

for _name in ("mcp.client", "mcp.shared", "client"):
    # mcp logs answers that it cannot read, with tracebacks. Without a handler Python
    # would print them, and a server could write on the user's terminal.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class NotServedError(Exception):
    """The server does not serve what was asked for. Caught in this package."""


@dataclass(frozen=True, slots=True)
class SkillPage:
    """One page of ``skills/list``: its skills, the next page, and how long it holds."""

    skills: list[object]
    cursor: str | None
    ttl_s: float


class _AnyResult(RootModel[dict[str, Any]]):
    """Any object; its content is checked entry by entry, by the rules here."""


class _UriParams(types.RequestParams):
    uri: str


_ListSkills: TypeAlias = types.PaginatedRequest[Literal["skills/list"]]
_GetSkill: TypeAlias = types.Request[_UriParams, Literal["skills/get"]]


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

    Every call has a deadline; it raises `SourceUnavailableError` if no answer comes,
    and `NotServedError` if the server does not have what is asked for. Safe across
    threads: calls run concurrently in one event loop, in one thread that this object
    owns and that ends with `close`.
    """

    def __init__(self, target: McpTarget) -> None:
        self._target: Final = target
        self.label: Final = target.label
        self.answers = 0
        """How many answers came so far."""
        self._lock = threading.Lock()
        self._thread: LoopThread | None = None
        self._live: _ConnectedClient | None = None
        self._closed = False

    def has_skills(self) -> bool:
        """Return whether the server declares the extension."""

        async def ask(client: Client) -> bool:
            return EXTENSION in (client.server_capabilities.extensions or {})

        return self._call(ask)

    def page(self, cursor: str | None) -> SkillPage:
        """Return one page of the server's skills."""
        params = types.PaginatedRequestParams(cursor=cursor)
        try:
            answer = self._send(_ListSkills(method="skills/list", params=params))
        except NotServedError as error:  # although it declares the method
            raise self._error(f"it does not list its skills: {error}") from error
        skills, following = answer.get("skills"), answer.get("nextCursor")
        if not isinstance(skills, list):
            raise self._error("its list of skills is not a list")
        if following is not None and not (
            isinstance(following, str) and len(following) <= _MAX_CURSOR_CHARS
        ):
            raise self._error("its list of skills has an invalid cursor")
        return SkillPage(cast("list[object]", skills), following, _ttl_seconds(answer))

    def skill(self, uri: str) -> tuple[object, float]:
        """Return the entry of one skill, and for how many seconds it holds."""
        answer = self._send(_GetSkill(method="skills/get", params=_UriParams(uri=uri)))
        return answer.get("skill"), _ttl_seconds(answer)

    def read(self, uri: str) -> bytes | None:
        """Return the bytes of one resource; None if the answer has none."""
        # Read here, in the caller's context: `ask` runs in another thread.
        meta = None if IS_LOAD.get() else _SYNC_META

        async def ask(client: Client) -> types.ReadResourceResult:
            return await client.session.read_resource(uri, meta=meta)

        contents = self._call(ask).contents
        # Some servers send a folder; the file is the one with the URI that was asked
        # for.
        if len(contents) != 1:
            contents = [content for content in contents if content.uri == uri]
        return _raw_bytes(contents[0]) if len(contents) == 1 else None

    def index(self) -> object:
        """Return the older index of skills, parsed."""
        data = self.read(INDEX_URI)
        try:
            return json.loads(data or b"")
        except (ValueError, RecursionError):
            raise self._error(f"{INDEX_URI} is not JSON") from None

    def _send(self, request: _ListSkills | _GetSkill) -> dict[str, Any]:
        async def ask(client: Client) -> dict[str, Any]:
            return (await client.session.send_request(request, _AnyResult)).root

        answer = self._call(ask)
        if answer.get("resultType", "complete") != "complete":
            raise self._error("it asks for more input before it answers")
        return answer

    def _call(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        """Return what ``ask`` returns for a client; it may be called twice."""
        while True:
            live, fresh = self._connected()
            try:
                return live.thread.portal.call(self._answer_of, ask, live.client)
            except MCPError as error:
                reason = short_line(error.message)
                if error.code in _NOT_SERVED_CODES:
                    raise NotServedError(reason) from error
                if error.code not in _DISCONNECTED_CODES:
                    raise self._error(reason) from error
                # Not tried again: the caller would wait as long a second time.
                if error.code == types.REQUEST_TIMEOUT:
                    self._drop(live)
                    raise self._late() from TimeoutError(reason)
            except ValidationError as error:
                raise self._error("the answer has the wrong shape") from error
            except TimeoutError as error:
                self._drop(live)
                raise self._late() from error
            except Exception as error:  # noqa: BLE001 - transports raise what they like
                reason = _failure_reason(error)
            self._drop(live)
            # An old connection may have broken unnoticed, so a new one gets one try.
            if fresh:
                raise self._error(reason)

    async def _answer_of(
        self, ask: Callable[[Client], Awaitable[T]], client: Client
    ) -> T:
        with anyio.fail_after(self._target.timeout_s):
            answer = await ask(client)
        self.answers += 1
        return answer

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
                raise self._error("it was closed")
            live = self._live
            # The task ends when the server goes away.
            if live is not None and not live.task.done():
                return live, False
            if self._thread is None:
                self._thread = LoopThread(f"satchel-mcp-{self.label}")
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
        raise self._error(reason)

    def _drop(self, live: _ConnectedClient) -> None:
        """Stop using a connection; it ends on its own."""
        with self._lock:
            if self._live is live:
                self._live = None
        live.end()

    def _error(self, detail: str) -> SourceUnavailableError:
        return SourceUnavailableError(self.label, detail)

    def _late(self) -> SourceUnavailableError:
        return self._error(f"no answer within {self._target.timeout_s:g} seconds")


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


def _failure_reason(error: BaseException) -> str:
    """Return what went wrong, without paths and addresses."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, MCPError):
        return short_line(error.message)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def _ttl_seconds(answer: dict[str, Any]) -> float:
    """Return how long the server says that its answer holds; 0 if it says nonsense."""
    ttl = answer.get("ttlMs")
    # "not >" instead of "<=" also refuses NaN.
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
        return 0.0
    # A huge integer cannot become a float.
    return min(ttl, _MAX_TTL_MS) / 1000


def _raw_bytes(
    content: types.TextResourceContents | types.BlobResourceContents,
) -> bytes | None:
    """Return the bytes of a resource with its line ends; None if it has none."""
    try:
        if isinstance(content, types.TextResourceContents):
            return content.text.encode()
        # Without `validate`, Python skips characters that are not base64.
        return base64.b64decode(content.blob, validate=True)
    except ValueError:
        return None
