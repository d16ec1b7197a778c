"""Untrusted text: what it hides, how to show it, what it costs."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.text._encoding import decode as decode, is_text as is_text
from satchel.text._suspicious import (
    clean_line,
    content_warnings as content_warnings,
    escape_xml,
    find_hidden,
    hidden_text_findings as hidden_text_findings,
    list_line as list_line,
    may_hide as may_hide,
    plural as plural,
    printable,
)
from satchel.text._tokens import EstimateCounter

if TYPE_CHECKING:
    from satchel.text._columns import cells as cells, clip as clip, wrap as wrap
    from satchel.text._diff import (
        LineMatcher as LineMatcher,
        unified_lines as unified_lines,
    )
    from satchel.text._json import ascii_json as ascii_json
    from satchel.text._markdown import (
        markdown_code as markdown_code,
        markdown_text as markdown_text,
    )
    from satchel.text._nearest import nearest as nearest

__all__ = ["EstimateCounter", "clean_line", "escape_xml", "find_hidden", "printable"]

__getattr__ = lazy_door(
    __name__,
    {
        "_columns": "cells clip wrap",
        "_diff": "LineMatcher unified_lines",
        "_json": "ascii_json",
        "_markdown": "markdown_code markdown_text",
        "_nearest": "nearest",
    },
)
