"""Text that nobody vouches for: what it hides, how to show it, what it costs."""

from satchel.text.doubts import find_doubts, tell_breakouts, tell_hidden
from satchel.text.escape import escape_xml, printable
from satchel.text.hidden import Hidden, clean_line, find_hidden
from satchel.text.scan import breaks_out, find_breakouts, may_hide
from satchel.text.tokens import EstimateCounter

__all__ = [
    "EstimateCounter",
    "Hidden",
    "breaks_out",
    "clean_line",
    "escape_xml",
    "find_breakouts",
    "find_doubts",
    "find_hidden",
    "may_hide",
    "printable",
    "tell_breakouts",
    "tell_hidden",
]
