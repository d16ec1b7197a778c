"""A Satchel and its conversations: the only room that knows all rooms below it."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.runtime._approvals import (
        Approvals as Approvals,
        question_lines as question_lines,
        question_text,
    )
    from satchel.runtime._background_sync import FolderWatch as FolderWatch
    from satchel.runtime._config_inputs import no_input_advice as no_input_advice
    from satchel.runtime._edited_pack import retry_after_edit as retry_after_edit
    from satchel.runtime._finding_log import without_logging as without_logging
    from satchel.runtime._findings import unavailable_sources as unavailable_sources
    from satchel.runtime._history import (
        loads_in_text as loads_in_text,
        requested_access as requested_access,
    )
    from satchel.runtime._inputs import (
        SkillInputs as SkillInputs,
        open_inputs as open_inputs,
    )
    from satchel.runtime._options import (
        Options as Options,
        SessionOptions,
        SystemClock as SystemClock,
        check_approve as check_approve,
        check_choice as check_choice,
        check_only as check_only,
        check_who as check_who,
        patterns_of as patterns_of,
    )
    from satchel.runtime._rare_findings import (
        empty_folder_finding as empty_folder_finding,
        need_findings as need_findings,
    )
    from satchel.runtime._satchel import (
        Satchel as Satchel,
        findings_of_sync as findings_of_sync,
    )
    from satchel.runtime._saved_state import (
        dump_state as dump_state,
        merge_states as merge_states,
        parse_state as parse_state,
        read_state as read_state,
    )
    from satchel.runtime._scripts import scripts_of as scripts_of
    from satchel.runtime._session import (
        Session as Session,
        SessionSkill as SessionSkill,
    )
    from satchel.runtime._session_state import SavedState as SavedState
    from satchel.runtime._staging import LocalStager, Stager, UploadStager
    from satchel.runtime._tool_calls import (
        CallApproval as CallApproval,
        Permit as Permit,
    )
    from satchel.runtime._used_approvals import (
        UsedApprovalsInFolder as UsedApprovalsInFolder,
        UsedApprovalsInMemory as UsedApprovalsInMemory,
    )
    from satchel.runtime._view import As as As, View
    from satchel.runtime._why import Why

__all__ = [
    "LocalStager",
    "SessionOptions",
    "Stager",
    "UploadStager",
    "View",
    "Why",
    "question_text",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_approvals": "Approvals question_lines question_text",
        "_background_sync": "FolderWatch",
        "_config_inputs": "no_input_advice",
        "_edited_pack": "retry_after_edit",
        "_finding_log": "without_logging",
        "_findings": "unavailable_sources",
        "_history": "loads_in_text requested_access",
        "_inputs": "SkillInputs open_inputs",
        "_options": "Options SessionOptions SystemClock check_approve check_choice "
        "check_only check_who patterns_of",
        "_rare_findings": "empty_folder_finding need_findings",
        "_satchel": "Satchel findings_of_sync",
        "_saved_state": "dump_state merge_states parse_state read_state",
        "_scripts": "scripts_of",
        "_session": "Session SessionSkill",
        "_session_state": "SavedState",
        "_staging": "LocalStager Stager UploadStager",
        "_tool_calls": "CallApproval Permit",
        "_used_approvals": "UsedApprovalsInFolder UsedApprovalsInMemory",
        "_view": "As View",
        "_why": "Why",
    },
)
