"""Public packs: the kinds of report that peers have on them, next to ours."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.corpus import read_corpus
from benchmarks.faults.fault import Pack
from benchmarks.faults.running import validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.faults.reports import Level, Said
    from benchmarks.faults.validators import Validator


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of report of one peer, and on how many packs.

    ``ours`` are the packs of those on which `satchel check` tells of the same.
    """

    peer: str
    kind: str
    level: Level
    packs: frozenset[int]
    ours: frozenset[int]


def draw(corpus: Path, seed: int, count: int) -> list[Pack]:
    """Return ``count`` packs of a corpus; the same seed draws the same packs."""
    texts = [text for text in read_corpus(corpus) if text.unsafe() is None]
    texts.sort(key=lambda text: text.id)
    drawn = random.Random(seed).sample(texts, min(count, len(texts)))  # noqa: S311
    return [Pack(text.dir, {"SKILL.md": text.data}) for text in drawn]


def group_packs(packs: Sequence[Pack]) -> list[list[int]]:
    """Share packs out to libraries in which no two folders have one name."""
    groups: list[dict[str, int]] = []
    for index, pack in enumerate(packs):
        group = next((each for each in groups if pack.folder not in each), None)
        if group is None:
            group = {}
            groups.append(group)
        group[pack.folder] = index
    return [list(group.values()) for group in groups]


def say(validator: Validator, packs: Sequence[Pack]) -> list[Said]:
    """Return what one validator says of each pack."""
    said: dict[int, Said] = {}
    for group in group_packs(packs):
        answers = validate(validator, [packs[index] for index in group])
        said.update(zip(group, answers, strict=True))
    return [said[index] for index in range(len(packs))]


def kinds(
    said: Mapping[str, Sequence[Said]],
    ours: Sequence[Said],
    subjects: Mapping[tuple[str, str], Iterable[str]],
) -> list[Kind]:
    """Return every kind of every peer, the most frequent ones first."""
    codes = [{report.kind for report in each.reports} for each in ours]
    made: list[Kind] = []
    for peer, answers in said.items():
        packs: dict[tuple[str, Level], set[int]] = defaultdict(set)
        for index, each in enumerate(answers):
            for report in each.reports:
                packs[report.kind, report.level].add(index)
        for (kind, level), where in packs.items():
            same = set(subjects.get((peer, kind), ()))
            both = frozenset(index for index in where if codes[index] & same)
            made.append(Kind(peer, kind, level, frozenset(where), both))
    return sorted(made, key=lambda kind: (kind.peer, -len(kind.packs), kind.kind))
