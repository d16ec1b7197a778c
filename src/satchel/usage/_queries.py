"""Queries that found no good skill, where an operator keeps them, and cases from them.

Nobody's text is written unless `QUERIES_VARIABLE` names a file.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

from satchel.model import Hit
from satchel.text import plural
from satchel.usage._redaction import INVALID

QUERIES_VARIABLE: Final = "SATCHEL_QUERIES"
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


def suggest_cases(
    missing: Mapping[str, int], path: str = "", *, since: float = 0.0
) -> list[dict[str, Any]]:
    """Return cases to review, the most frequent first: queries nothing answers yet.

    ``missing`` are names that were asked for in vain, with how often; ``path`` is the
    file of queries, if there is one. ``expected_skill`` is null until somebody says
    which skill it should be.

    Raises:
        OSError: The file is there, and cannot be read.
    """
    counts: dict[tuple[str, str], int] = {}
    for name, count in missing.items():
        # A name that was no name is the text of somebody, and was not kept.
        if name != INVALID:
            query = " ".join(name.replace("-", " ").replace("_", " ").split())
            counts[query, f"asked for as {name}, which is not there"] = count
    for query, weak in _queries(path, since):
        about = (
            f"found only weak matches: {', '.join(weak)}" if weak else "found nothing"
        )
        counts[query, about] = counts.get((query, about), 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {
            "query": query,
            "expected_skill": None,
            "review": f"{about} ({plural(count, 'time')})",
        }
        for (query, about), count in ranked
    ]


def _queries(path: str, since: float) -> Iterator[tuple[str, list[str]]]:
    """Yield the queries of a file with their weak hits; skip lines that are none."""
    if not path or not os.path.exists(path):  # noqa: PTH110 - as it was given
        return
    with open(path, "rb") as file:  # noqa: PTH123 - as it was given
        lines = file.read(2 * _MAX_BYTES).split(b"\n")
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            fields = cast("Mapping[str, Any]", json.loads(line))
            query, weak = fields["query"], fields["weak"]
            texts = isinstance(query, str) and all(isinstance(id, str) for id in weak)
            if texts and query.strip() and fields["at"] >= since:
                yield " ".join(query.split()), weak
