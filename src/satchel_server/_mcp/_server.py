"""The MCP server of one library: its handlers, its instructions, its transports."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import (
    StreamableHTTPASGIApp,
    StreamableHTTPSessionManager,
)
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    NotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp

from satchel.errors import ConfigError
from satchel.load import RUN_SCRIPT
from satchel.published import VERSION
from satchel_server._library import ServedLibrary
from satchel_server._mcp._extension import (
    IDENTIFIER,
    DirectoryParams,
    ExtensionHandlers,
    SkillParams,
)
from satchel_server._mcp._prompts import PromptHandlers
from satchel_server._mcp._request import (
    McpContext,
    McpRequest,
    contain_errors,
    handler_of,
    run_handler,
)
from satchel_server._mcp._scripts import ScriptHandlers
from satchel_server._mcp._sessions import SharedSessions
from satchel_server._mcp._short_way import ShortWay
from satchel_server._mcp._skills import ExtensionCatalog, skill_in
from satchel_server._mcp._subscriptions import (
    SessionNotifier,
    SubscriptionStreams,
    Watchers,
)
from satchel_server._mcp._tools import ToolHandlers, skill_in_call


def _discover(
    server: Server[Any], tools: ToolHandlers, mcp: McpRequest, _: RequestParams
) -> DiscoverResult:
    """Answer with the instructions of this caller: the later era."""
    version = mcp.ctx.protocol_version
    return DiscoverResult(
        supported_versions=[*MODERN_PROTOCOL_VERSIONS],
        capabilities=server.get_capabilities(protocol_version=version),
        instructions=tools.pointer(mcp.view) or None,
        **mcp.caching,
    )


async def _initialize(
    library: ServedLibrary, tools: ToolHandlers, ctx: McpContext, call_next: CallNext
) -> HandlerResult:
    """Put these instructions into the answer of the handshake: a middleware."""
    # The package's own instructions are one fixed text; these differ by caller.
    result = await call_next(ctx)
    if ctx.method != "initialize" or not isinstance(result, Mapping):
        return result
    pointer = await run_handler(library, ctx, lambda mcp: tools.pointer(mcp.view))
    instructions = {"instructions": pointer} if pointer else {}
    return {**cast("Mapping[str, Any]", result), **instructions}


# Without it the package declares lists that never change.
_CHANGES: Final = NotificationOptions(
    prompts_changed=True, resources_changed=True, tools_changed=True
)


class SkillServer(Server[Any]):
    """A server of skills; it says in either era that its lists may change."""

    streams: SubscriptionStreams

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the handshake of the earlier era."""
        return super().create_initialization_options(
            notification_options or _CHANGES, experimental_capabilities, extensions
        )


def build_server(library: ServedLibrary) -> SkillServer:
    """Return the MCP server of a library; nothing is read before it is requested.

    It is the package's low-level server: run it over streams with its ``run``, or
    over HTTP with `satchel_server.streamable_http`.
    """
    extension = ExtensionCatalog(library)
    watchers = Watchers(extension)
    streams = SubscriptionStreams(watchers)
    sessions = SessionNotifier(watchers)
    skills = ExtensionHandlers(extension)
    scripts = ScriptHandlers(library)
    tools = ToolHandlers(library, scripts)
    prompts = PromptHandlers(extension)
    handler = partial(handler_of, library)
    call_tool = handler(tools.call, near=skill_in_call)

    async def call(ctx: McpContext, params: CallToolRequestParams) -> CallToolResult:
        if params.name == RUN_SCRIPT and scripts.named(ctx):
            return await scripts.call(ctx, params)
        return await call_tool(ctx, params)

    def read(mcp: McpRequest, params: ReadResourceRequestParams) -> ReadResourceResult:
        return scripts.read(mcp, params) or skills.read_resource(mcp, params)

    server = SkillServer(
        library.settings.name,
        version=VERSION,
        lifespan=watchers.listening,
        # No argument of these tools is sent as a header, so there is none to compare.
        get_tool_input_schema=lambda _: None,
        on_list_tools=handler(tools.list),
        on_call_tool=call,
        on_list_resources=handler(skills.list_resources, lists=True),
        on_list_resource_templates=handler(skills.list_templates),
        on_read_resource=handler(read, near=lambda p: skill_in(p.uri)),
        on_subscribe_resource=sessions.subscribe,
        on_unsubscribe_resource=sessions.unsubscribe,
        on_subscriptions_listen=streams.listen,
        on_list_prompts=handler(prompts.list, lists=True),
        on_get_prompt=handler(prompts.get, near=lambda p: p.name),
        on_completion=handler(prompts.complete, lists=True),
    )
    # So that `streamable_http` can end them before its server stops.
    server.streams = streams
    server.extensions[IDENTIFIER] = {"directoryRead": True}
    add = server.add_request_handler
    listed = handler(skills.list_skills, lists=True)
    entry = handler(skills.get_skill, near=lambda p: skill_in(p.uri))
    directory = handler(skills.read_directory, near=lambda p: skill_in(p.uri))
    add("skills/list", PaginatedRequestParams, listed)
    add("skills/get", SkillParams, entry)
    add("resources/directory/read", DirectoryParams, directory)
    add("server/discover", RequestParams, handler(partial(_discover, server, tools)))
    server.add_notification_handler(
        "notifications/initialized", NotificationParams, sessions.initialized
    )
    # The first is the outermost, so errors of the others are contained, too.
    server.middleware[:0] = [contain_errors, partial(_initialize, library, tools)]
    return server


# How long to wait for answers after the client has disconnected.
WAIT_S: Final = 5.0
_ENDLESS: Final = "subscriptions/listen"
_CANCELLED: Final = "notifications/cancelled"

_Item: TypeAlias = SessionMessage | Exception
_Streams: TypeAlias = tuple[
    MemoryObjectReceiveStream[_Item], MemoryObjectSendStream[SessionMessage]
]


@asynccontextmanager
async def drained_streams(
    read: AsyncIterable[_Item], send: Callable[[SessionMessage], Awaitable[None]]
) -> AsyncGenerator[_Streams]:
    """Yield streams for a server; the first ends once every request is answered."""
    # `mcp` alone drops open requests at the end of input, and a script that pipes its
    # requests in waits for the answers.
    to_server, requests = anyio.create_memory_object_stream[_Item]()
    answers, from_server = anyio.create_memory_object_stream[SessionMessage]()
    # Of requests without an answer; those that never get one are not counted.
    waiting = set[object]()
    answered = anyio.Condition()
    reading = anyio.CancelScope()

    async def forward_requests() -> None:
        with reading:
            async with to_server:
                async for item in read:
                    message = item.message if isinstance(item, SessionMessage) else None
                    # Counted before the server has it: its answer cannot come first.
                    match message:
                        case JSONRPCRequest() if message.method != _ENDLESS:
                            waiting.add(message.id)
                        case JSONRPCNotification() if message.method == _CANCELLED:
                            waiting.discard((message.params or {}).get("requestId"))
                        case _:
                            pass
                    await to_server.send(item)
                with anyio.move_on_after(WAIT_S):
                    async with answered:
                        while waiting:
                            await answered.wait()

    async def forward_answers() -> None:
        async with from_server:
            async for message in from_server:
                await send(message)
                answer = message.message
                if isinstance(answer, JSONRPCResponse | JSONRPCError):
                    waiting.discard(answer.id)
                    async with answered:
                        answered.notify_all()

    async with anyio.create_task_group() as group:
        group.start_soon(forward_requests)
        group.start_soon(forward_answers)
        async with requests, answers:
            yield requests, answers
            # The server has ended, so nothing takes further requests.
            reading.cancel()


# The Host and Origin headers that a server on loopback accepts.
LOOPBACK: Final = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
    allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
)


@dataclass(frozen=True, slots=True)
class StreamableHttp:
    """What an application mounts at ``/mcp``, and what has to run while it serves.

    ``lifespan`` can be entered once. ``app`` takes the request at any path. A stream
    of changes is open until its client disconnects: call ``close_streams`` before you
    end a server that waits for open connections.
    """

    app: ASGIApp
    lifespan: Callable[[], AbstractAsyncContextManager[None]]
    close_streams: Callable[[], None]


def streamable_http(
    library: ServedLibrary,
    *,
    security: TransportSecuritySettings | None = LOOPBACK,
    max_body_bytes: int = 1024 * 1024,
    max_sessions: int = 1_000,
) -> StreamableHttp:
    """Return the server for Streamable HTTP, in both eras of the protocol.

    Args:
        library: What is served.
        security: Which hosts and origins are answered; None if a guard has checked
            them.
        max_body_bytes: Bytes of one request; a larger one is answered with 413.
        max_sessions: Sessions of the earlier era at a time; each ends after half an
            hour without a request.

    Raises:
        ConfigError: Scripts would run where one caller's could reach another's files.
    """
    settings = library.settings
    if settings.scripts:
        detail = "they are for stdio; over HTTP each token names its own"
        raise ConfigError("ServerSettings.scripts", detail)
    if (
        settings.work
        and library.view().scripts((), "", lambda _: None).isolated is False
    ):
        detail = "over HTTP it keeps callers from one another, and says isolated = True"
        raise ConfigError("the runner", detail)
    server = build_server(library)
    manager = StreamableHTTPSessionManager(
        server,
        # One JSON answer, and no stream for it: no proxy holds it back.
        json_response=True,
        security_settings=security,
        max_request_body_size=max_body_bytes,
        max_sessions=max_sessions,
    )
    app = ShortWay(SharedSessions(StreamableHTTPASGIApp(manager)), library)
    return StreamableHttp(app, manager.run, server.streams.close)


async def run_stdio(library: ServedLibrary) -> None:
    """Serve the client at standard input and output until it disconnects.

    Requests that it sent before are answered.
    """
    server = build_server(library)
    async with (
        stdio_server() as (read, write),
        read,
        write,
        drained_streams(read, write.send) as streams,
    ):
        await server.run(*streams, server.create_initialization_options())
