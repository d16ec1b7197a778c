"""Make untrusted text safe to stand in markup and on a terminal."""

import re

from satchel.text.hidden import doubtful

__all__ = ["escape_xml", "printable"]


def escape_xml(text: str, *, quotes: bool = False) -> str:
    """Return ``text`` so that it can neither open nor close a tag.

    ``quotes`` escapes both quotes too, as an attribute's value needs it; elsewhere
    they would only cost tokens.
    """
    # Looking first is several times faster than replacing nothing.
    if "&" in text:
        text = text.replace("&", "&amp;")
    if "<" in text:
        text = text.replace("<", "&lt;")
    if ">" in text:
        text = text.replace(">", "&gt;")
    if quotes and '"' in text:
        text = text.replace('"', "&quot;")
    if quotes and "'" in text:
        text = text.replace("'", "&#x27;")
    return text


def printable(text: str, *, keep: str = "\n\t") -> str:
    r"""Return ``text`` with all that a terminal would obey, or hide, made visible.

    Control characters, ESC, bidirectional controls and hidden characters become
    ``<U+202E>``; emoji and the joiners of Persian and Indic words stay as they are.
    Of the control characters only those in ``keep`` pass; ``\r`` does not by default,
    because it lets a text overwrite its own line.
    """
    if text.isascii() and text.isprintable():
        return text

    def show(match: re.Match[str]) -> str:
        if match.lastgroup is None or match[0] in keep:
            return match[0]
        return f"<U+{ord(match[0]):04X}>"

    return doubtful().sub(show, text)
