"""The read path, and the styles in which what was read is handed to a model."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.load import _wording
from satchel.load._lean import (
    in_part as in_part,
    render_element as render_element,
    render_lean_error as render_lean_error,
    skill_of as skill_of,
)
from satchel.load._load import (
    ALLOWED as ALLOWED,
    STILL_LOADS as STILL_LOADS,
    fetch as fetch,
    find_loadable as find_loadable,
    has_changed as has_changed,
    load as load,
    look_up as look_up,
    media_type as media_type,
    needed_skill as needed_skill,
    resolve as resolve,
)
from satchel.load._style_tools import (
    offer_find as offer_find,
    offer_reader as offer_reader,
    tools_for as tools_for,
)
from satchel.load._tool_backend import (
    EXTENDED as EXTENDED,
    READ_TOOL as READ_TOOL,
    RUN_SCRIPT as RUN_SCRIPT,
    CallEvent as CallEvent,
    LoadAttempt as LoadAttempt,
    PlainBackend as PlainBackend,
    StyleOptions,
    ToolBackend as ToolBackend,
    current_call_event as current_call_event,
    fill_folder as fill_folder,
)

# The sentences that a model reads in a result.
wording = _wording

if TYPE_CHECKING:
    from satchel.load._contract_styles import (
        find_matches as find_matches,
        list_entries as list_entries,
        packs_result as packs_result,
        render_context as render_context,
        render_context_error as render_context_error,
        render_descriptor as render_descriptor,
    )
    from satchel.load._error_wording import (
        error_result as error_result,
        model_message as model_message,
        not_found_advice as not_found_advice,
        not_staged_note as not_staged_note,
        replacement_advice as replacement_advice,
    )
    from satchel.load._invocation import (
        InvokedSkill as InvokedSkill,
        invoke_skill as invoke_skill,
    )
    from satchel.load._parts import check_whole as check_whole, first_part as first_part
    from satchel.load._turn_cache import TurnCache as TurnCache

__all__ = ["StyleOptions"]

__getattr__ = lazy_door(
    __name__,
    {
        "_contract_styles": "find_matches list_entries packs_result render_context "
        "render_context_error render_descriptor",
        "_error_wording": "error_result model_message not_found_advice not_staged_note "
        "replacement_advice",
        "_invocation": "InvokedSkill invoke_skill",
        "_parts": "check_whole first_part",
        "_turn_cache": "TurnCache",
    },
)
