"""The read path, and the styles in which what was read is handed to a model."""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door
from satchel.load._agent_skills import (
    render_context,
    render_context_error as render_context_error,
)
from satchel.load._fetch import (
    TurnCache,
    fetch as fetch,
    has_changed as has_changed,
    media_type as media_type,
)
from satchel.load._json_styles import (
    find_matches as find_matches,
    list_entries as list_entries,
    packs_result as packs_result,
    render_descriptor as render_descriptor,
)
from satchel.load._load import load, look_up as look_up, resolve
from satchel.load._style_tools import (
    offer_find as offer_find,
    offer_reader as offer_reader,
    tools_for,
)
from satchel.load._tool_call import (
    CallEvent as CallEvent,
    LoadAttempt as LoadAttempt,
    ResultHooks as ResultHooks,
    current_call_event as current_call_event,
)
from satchel.load._wording import (
    StyleOptions,
    error_result as error_result,
    fill_folder as fill_folder,
    model_message as model_message,
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
