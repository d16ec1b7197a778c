"""Which tools each style has, and when the one that finds skills is among them."""

from collections.abc import Iterable
from typing import Final

from satchel.load._lean import lean_tools
from satchel.load._tool_backend import DEFAULT_STYLE_OPTIONS, StyleOptions, ToolBackend
from satchel.model import Catalog, Descriptor, Rendered, Style
from satchel.tools import Toolbox

# From so many skills on, a list is searched rather than read.
FIND_FROM: Final = 30


def tools_for(
    style: Style,
    backend: ToolBackend,
    *,
    find: bool = False,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    even_empty: bool = False,
) -> Toolbox:
    """Return the tools of ``style``, in a stable order; none where nothing is listed.

    Args:
        style: Names, parameters and shape of results.
        backend: Loads; its errors become the style's results.
        find: Whether the tool that finds skills is among them.
        options: How what was loaded is written.
        even_empty: It does not matter that nothing is listed now: a prompt names the
            tools.
    """
    if not even_empty and not backend.catalog.entries:
        return Toolbox("satchel")
    if style == "lean":
        tools = lean_tools(backend, options)
    else:
        # Most programs use one style, and wait for no other.
        from satchel.load._contract_styles import contract_tools

        tools = contract_tools(style, backend, options)
    if find:  # where not all skills are listed
        from satchel.load._find_tool import find_tool

        tools = (*tools, find_tool(backend, style))
    return Toolbox("satchel", tools)


def offer_reader(style: Style, entries: Iterable[Descriptor]) -> bool:
    """Return whether some of these skills has a file that the style's reader gives."""
    if style == "packs":  # its load_skill gives references and scripts
        return any(entry.assets or entry.others for entry in entries)
    return any(entry.resources for entry in entries)


def offer_find(catalog: Catalog, rendered: Rendered) -> bool:
    """Return whether the tool that finds skills is worth its place in a prompt."""
    return len(catalog) >= FIND_FROM or not rendered.complete
