"""Packs drawn from a library of public ones, which is no part of the project."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

from satchel_lab.clients import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def draw(
    path: Path, seed: int, count: int, without: Iterable[tuple[int, int]] = ()
) -> list[Candidate]:
    """Return ``count`` packs of a file of JSON lines with ``id``, ``dir``, ``text``.

    The same seed draws the same packs. Those whose folder has no name are left out, and
    those that each seed and count in ``without`` draw.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    packs = sorted((p for p in read if p["dir"].strip()), key=lambda p: str(p["id"]))
    taken = {
        each["id"]
        for other, number in without
        for each in _sample(packs, other, number)
    }
    drawn = _sample([p for p in packs if p["id"] not in taken], seed, count)
    return [
        Candidate(each["text"].encode("utf-8", "surrogatepass"), each["dir"])
        for each in drawn
    ]


def _sample(packs: list[dict[str, Any]], seed: int, count: int) -> list[dict[str, Any]]:
    return random.Random(seed).sample(packs, min(count, len(packs)))  # noqa: S311
