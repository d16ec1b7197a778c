"""Packs drawn from a library of public ones, which is no part of the project."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

from satchel.compat import Candidate

if TYPE_CHECKING:
    from pathlib import Path


def draw(path: Path, seed: int, count: int) -> list[Candidate]:
    """Return ``count`` packs of a file of JSON lines with ``id``, ``dir``, ``text``.

    The same seed draws the same packs. Those whose folder has no name are left out.
    """
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        packs = [json.loads(line) for line in lines]
    packs = sorted((p for p in packs if p["dir"].strip()), key=lambda p: str(p["id"]))
    drawn = random.Random(seed).sample(packs, min(count, len(packs)))  # noqa: S311
    return [
        Candidate(each["text"].encode("utf-8", "surrogatepass"), each["dir"])
        for each in drawn
    ]
