"""The server of one library: who answers which method, in both eras of the protocol."""

from importlib.metadata import version
from typing import Any, Final

from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import NotificationParams, PaginatedRequestParams, RequestParams

from satchel.serve.library import Library
from satchel.serve.mcp.changes import Sessions, Streams
from satchel.serve.mcp.completing import Completions
from satchel.serve.mcp.extension import (
    IDENTIFIER,
    DirectoryParams,
    SkillParams,
    SkillsExtension,
)
from satchel.serve.mcp.faults import contain
from satchel.serve.mcp.introducing import Introducing
from satchel.serve.mcp.prompts import Prompts
from satchel.serve.mcp.resources import Resources
from satchel.serve.mcp.served import Served
from satchel.serve.mcp.tools import Tools
from satchel.serve.mcp.watching import Watchers

__all__ = ["SkillServer", "build_server"]

_CHANGES: Final = NotificationOptions(
    prompts_changed=True, resources_changed=True, tools_changed=True
)


class SkillServer(Server[Any]):
    """A server of skills; it says in either era that its lists may change."""

    streams: Streams

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what the handshake of the earlier era tells."""
        return super().create_initialization_options(
            notification_options or _CHANGES, experimental_capabilities, extensions
        )


def build_server(library: Library) -> SkillServer:
    """Return what answers MCP for a library; nothing is read before it is asked.

    It is the package's low-level server: run it over streams with its ``run``, or
    over HTTP with `satchel.serve.mcp.streamable_http`.
    """
    served = Served(library)
    watchers = Watchers(served)
    streams = Streams(library, watchers)
    sessions = Sessions(library, watchers)
    resources = Resources(served)
    tools = Tools(library)
    prompts = Prompts(library)
    server = SkillServer(
        library.settings.name,
        version=version("satchel"),
        lifespan=watchers.listening,
        # Nothing in our schemas is sent as a header, so there is nothing to compare.
        get_tool_input_schema=lambda _: None,
        on_list_tools=tools.list,
        on_call_tool=tools.call,
        on_list_resources=resources.list,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_subscribe_resource=sessions.subscribe,
        on_unsubscribe_resource=sessions.unsubscribe,
        on_subscriptions_listen=streams.listen,
        on_list_prompts=prompts.list,
        on_get_prompt=prompts.get,
        on_completion=Completions(served, prompts.hints).complete,
    )
    server.streams = streams
    _extend(server, SkillsExtension(served))
    introducing = Introducing(library, tools, server)
    server.add_request_handler("server/discover", RequestParams, introducing.discover)
    server.add_notification_handler(
        "notifications/initialized", NotificationParams, sessions.initialized
    )
    server.middleware[:0] = [contain, introducing.initialize]
    return server


def _extend(server: SkillServer, extension: SkillsExtension) -> None:
    server.extensions[IDENTIFIER] = {"directoryRead": True}
    add = server.add_request_handler
    add("skills/list", PaginatedRequestParams, extension.list_skills)
    add("skills/get", SkillParams, extension.get_skill)
    add("resources/directory/read", DirectoryParams, extension.read_directory)
