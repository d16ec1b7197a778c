"""Cases for evals: from names asked for in vain, and queries without a good answer."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from satchel.text import plural
from satchel.usage import INVALID

QUERIES_VARIABLE: Final = "SATCHEL_QUERIES"
# Twice what a file of queries grows to.
_MAX_BYTES: Final = 32 * 1024 * 1024


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
    for query, weak in weak_queries(path, since) if path else ():
        hits = f"only weak matches: {', '.join(weak)}" if weak else "nothing"
        case = query, f"found {hits}"
        counts[case] = counts.get(case, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {
            "query": query,
            "expected_skill": None,
            "review": f"{about} ({plural(count, 'time')})",
        }
        for (query, about), count in ranked
    ]


def weak_queries(
    path: str, since: float, most_bytes: int = _MAX_BYTES
) -> Iterator[tuple[str, list[str]]]:
    """Yield the latest queries of a file with their weak hits; skip other lines.

    Raises:
        OSError: The file is there, and cannot be read.
    """
    if not os.path.exists(path):  # noqa: PTH110 - as it was given
        return
    with open(path, "rb") as file:  # noqa: PTH123 - as it was given
        file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
        lines = file.read(most_bytes).split(b"\n")
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            fields = cast("Mapping[str, Any]", json.loads(line))
            query, weak = fields["query"], fields["weak"]
            texts = isinstance(query, str) and all(isinstance(id, str) for id in weak)
            if texts and query.strip() and fields["at"] >= since:
                yield " ".join(query.split()), weak
