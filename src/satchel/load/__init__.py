"""The read path, and the styles in which what was read is handed to a model."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door
from satchel.load._agent_skills import (
    EXTENDED as EXTENDED,
    StyleOptions,
    fill_folder as fill_folder,
    render_context,
    render_context_error as render_context_error,
)
from satchel.load._load import (
    ALLOWED as ALLOWED,
    STILL_LOADS as STILL_LOADS,
    fetch as fetch,
    find_loadable as find_loadable,
    has_changed as has_changed,
    load,
    look_up as look_up,
    media_type as media_type,
    resolve,
)
from satchel.load._packs import packs_result as packs_result
from satchel.load._references import (
    find_matches as find_matches,
    list_entries as list_entries,
    render_descriptor as render_descriptor,
)
from satchel.load._style_tools import (
    offer_find as offer_find,
    offer_reader as offer_reader,
    tools_for,
)
from satchel.load._tool_backend import (
    CallEvent as CallEvent,
    LoadAttempt as LoadAttempt,
    PlainBackend as PlainBackend,
    ToolBackend as ToolBackend,
    current_call_event as current_call_event,
)
from satchel.load._turn_cache import TurnCache
from satchel.load._wording import (
    EDITED_ARGUMENTS as EDITED_ARGUMENTS,
    LOAD_TO_OPEN as LOAD_TO_OPEN,
    NO_SUCH_TOOL as NO_SUCH_TOOL,
    SKILL_IS_NO_TOOL as SKILL_IS_NO_TOOL,
    TOOL_CLOSED as TOOL_CLOSED,
    TOOL_DENIED as TOOL_DENIED,
    TOOL_MISSING as TOOL_MISSING,
    TOOL_OF_OTHER as TOOL_OF_OTHER,
    TOOLS_OPEN as TOOLS_OPEN,
    changes_note as changes_note,
    error_result as error_result,
    model_message as model_message,
    not_found_advice as not_found_advice,
    not_staged_note as not_staged_note,
    reinjected_section as reinjected_section,
    replacement_advice as replacement_advice,
    unchanged_note as unchanged_note,
)

if TYPE_CHECKING:
    from satchel.load._invocation import (
        InvokedSkill as InvokedSkill,
        invoke_skill as invoke_skill,
    )

__all__ = [
    "StyleOptions",
    "TurnCache",
    "load",
    "render_context",
    "resolve",
    "tools_for",
]

_LAZY: Final = {
    "InvokedSkill": "satchel.load._invocation",
    "invoke_skill": "satchel.load._invocation",
}

__getattr__ = lazy_door(__name__, _LAZY)
