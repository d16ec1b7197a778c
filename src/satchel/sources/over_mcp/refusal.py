"""Why something that a server sent is not used: carried out of the checks."""

from typing import Final

from satchel.text import clean_line

__all__ = ["RefusedError", "told"]

_MAX_CHARS: Final = 120


class RefusedError(Exception):
    """One entry of a server cannot be used; the others can. Never leaves this room."""

    def __init__(self, why: str, fix: str = "", code: str = "invalid-entry") -> None:
        """Keep the sentence, and what the server's owner can do."""
        super().__init__(why, fix, code)
        self.why = why
        self.fix = fix
        self.code = code


def told(text: object) -> str:
    """Return what a server sent as one short line that hides nothing."""
    line = clean_line(text) if isinstance(text, str) else type(text).__name__
    return line if len(line) <= _MAX_CHARS else f"{line[:_MAX_CHARS]}..."
