"""Untrusted text: what it hides, how to show it, what it costs."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.text._encoding import (
    decode as decode,
    is_text as is_text,
    is_unsure as is_unsure,
)
from satchel.text._plain import (
    EstimateCounter,
    clean_line,
    content_warnings as content_warnings,
    escape_xml as escape_xml,
    find_hidden,
    first_names as first_names,
    list_line as list_line,
    may_hide as may_hide,
    plural as plural,
    printable,
)

if TYPE_CHECKING:
    from satchel.text._diff import (
        LineMatcher as LineMatcher,
        unified_lines as unified_lines,
    )
    from satchel.text._output import (
        LOG_COMMAND as LOG_COMMAND,
        ascii_json as ascii_json,
        cells as cells,
        clip as clip,
        count_severities as count_severities,
        safe_in_log as safe_in_log,
        unsearched_folders as unsearched_folders,
        wrap as wrap,
    )
    from satchel.text._suspicious import hidden_text_findings as hidden_text_findings
    from satchel.text._words import (
        STOP_WORDS as STOP_WORDS,
        folded as folded,
        nearest as nearest,
        slug as slug,
    )

__all__ = ["EstimateCounter", "clean_line", "find_hidden", "printable"]

__getattr__ = lazy_door(
    __name__,
    {
        "_diff": "LineMatcher unified_lines",
        "_output": "LOG_COMMAND ascii_json cells clip count_severities safe_in_log "
        "unsearched_folders wrap",
        "_suspicious": "hidden_text_findings",
        "_words": "STOP_WORDS folded nearest slug",
    },
)
