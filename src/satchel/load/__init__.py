"""The read path, and the styles in which what was read is handed to a model."""

from satchel.load.agent_skills import (
    render_context,
    render_context_error,
    render_context_note,
)
from satchel.load.find_tool import offer_find
from satchel.load.folder import fill_folder
from satchel.load.hooks import Hooks
from satchel.load.loading import load
from satchel.load.options import StyleOptions
from satchel.load.packs import packs_result
from satchel.load.paths import resolve
from satchel.load.references import (
    find_matches,
    list_entries,
    render_descriptor,
    render_reference_error,
)
from satchel.load.toolset import offer_reader, tools_for
from satchel.load.turn import TurnCache
from satchel.model import Style

__all__ = [
    "Hooks",
    "Style",
    "StyleOptions",
    "TurnCache",
    "fill_folder",
    "find_matches",
    "list_entries",
    "load",
    "offer_find",
    "offer_reader",
    "packs_result",
    "render_context",
    "render_context_error",
    "render_context_note",
    "render_descriptor",
    "render_reference_error",
    "resolve",
    "tools_for",
]
