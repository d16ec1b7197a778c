"""The server of one library: who answers which method, in both eras of the protocol."""

from importlib.metadata import version
from typing import Any, Final

from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types import PaginatedRequestParams

from satchel.serve.library import Library
from satchel.serve.mcp.extension import (
    IDENTIFIER,
    DirectoryParams,
    SkillParams,
    SkillsExtension,
)
from satchel.serve.mcp.faults import contain
from satchel.serve.mcp.resources import Resources
from satchel.serve.mcp.served import Served

__all__ = ["SkillServer", "build_server"]

_CHANGES: Final = NotificationOptions(
    prompts_changed=True, resources_changed=True, tools_changed=True
)


class SkillServer(Server[Any]):
    """A server of skills; it says in either era that its lists may change."""

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
    resources = Resources(served)
    extension = SkillsExtension(served)
    server = SkillServer(
        library.settings.name,
        version=version("satchel"),
        on_list_resources=resources.list,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
    )
    server.extensions[IDENTIFIER] = {"directoryRead": True}
    add = server.add_request_handler
    add("skills/list", PaginatedRequestParams, extension.list_skills)
    add("skills/get", SkillParams, extension.get_skill)
    add("resources/directory/read", DirectoryParams, extension.read_directory)
    server.middleware.insert(0, contain)
    return server
