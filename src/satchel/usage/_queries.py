"""Queries that found no good skill, where an operator keeps them.

Nobody's text is written unless ``SATCHEL_QUERIES`` names a file.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from satchel.model import Hit

_MAX_CHARS: Final = 1_000
_MAX_SKILLS: Final = 5
# A client that searches without end fills no disk.
_MAX_BYTES: Final = 16 * 1024 * 1024


def record_query(path: str, query: str, hits: Sequence[Hit], at: float) -> None:
    """Append a line for a query whose hits are all weak, or that has none.

    What the system refuses to write is lost; no search fails for it.
    """
    ids = [hit.id for hit in hits[:_MAX_SKILLS]]
    line = json.dumps({"at": at, "query": query[:_MAX_CHARS], "weak": ids})
    with suppress(OSError):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(file).st_size < _MAX_BYTES:
                os.write(file, f"{line}\n".encode())
        finally:
            os.close(file)
