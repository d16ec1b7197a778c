"""A map of a library that is too large to list, and the skills that fit a message."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from satchel.model import Descriptor, Hit, LazyTuple, Rendered, SkillGroup
from satchel.prompt._formats import shorten
from satchel.protocols import TokenCounter
from satchel.text import clean_line, list_line

# Names of sources and folders that one kind shows, and words.
#
# Source: a group costs some 8 tokens; 40 of them tell what a library is about for 320
# (measured on 11,793 public packs, where the first words of 40 have half of all).
_MAX_PLACES: Final = 12
_MAX_WORDS: Final = 40
# A name of a group is one word, or a plain path, so that none can pass for two groups,
# or for a line of its own. Authors of packs name folders: with a space in it, a name is
# not shown, since it can be a sentence that instructs. The operator names sources.
_PLAIN: Final = re.compile(r"[\w.@~-][\w .@~/-]{0,39}(?<! )")
_WORD: Final = re.compile(r"[^\W_]+")
_MAX_WORD_CHARS: Final = 24

# Characters of a description next to a message.
#
# Source: the first 20 to 90 characters of a description carry most of what leads to a
# skill; 20 rows of 60 have some 430 tokens.
SUGGESTED_CHARS: Final = 60
SUGGESTED: Final = 20
_TITLES: Final = {
    "source": "source",
    "folder": "folder",
    "word": "first word of the id",
}
_SUGGESTION_HEAD: Final = "Skills that may fit the user's message, best first:\n"


def places_of(entries: Sequence[Descriptor]) -> Iterable[tuple[str, str, str]]:
    """Return the id, source and key of each skill; none is made for it."""
    if isinstance(entries, LazyTuple) and entries.places is not None:
        return (
            (id, *place)
            for id, place in zip(entries.ids, entries.places(), strict=True)
        )
    return ((e.id, e.source, e.origin.key if e.origins else "") for e in entries)


def group(entries: Sequence[Descriptor]) -> tuple[SkillGroup, ...]:
    """Return the groups of a library: by source, by folder, by first word of the id.

    Each kind has its largest groups of two skills or more, ties by name. A kind that
    says little is left out: one source alone, folders of a skill each.
    """
    sources, folders, words = Counter[str](), Counter[str](), Counter[str]()
    total = 0
    for id, source, key in places_of(entries):
        total += 1
        sources[source] += 1
        if "/" in key:
            folders[key.partition("/")[0]] += 1
        word = _WORD.search(id)
        if word is not None:
            words[word[0].lower()] += 1
    groups = _largest("word", words, _MAX_WORDS)
    shown = _largest("folder", folders, _MAX_PLACES)
    if len(shown) > 1 and 2 * sum(one.skills for one in shown) > total:
        groups = shown + groups
    if len(sources) > 1:
        groups = _largest("source", sources, _MAX_PLACES) + groups
    return groups


def _largest(kind: str, counts: Counter[str], most: int) -> tuple[SkillGroup, ...]:
    longest = _MAX_WORD_CHARS if kind == "word" else 40
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    plain = (
        SkillGroup(kind, name, count)
        for name, count in ordered
        if count > 1 and len(name) <= longest and _PLAIN.fullmatch(name)
        if kind == "source" or " " not in name
    )
    return tuple(one for one, _ in zip(plain, range(most), strict=False))


def group_lines(groups: Sequence[SkillGroup], total: int) -> str:
    """Return a line for each kind: names, counts, and how many are in no group."""
    lines: list[str] = []
    for kind, title in _TITLES.items():
        of_kind = [one for one in groups if one.kind == kind]
        if of_kind:
            names = ", ".join(f"{one.name} {one.skills:,}" for one in of_kind)
            rest = total - sum(one.skills for one in of_kind)
            others = f", others {rest:,}" if rest else ""
            lines.append(f"By {title}: {names}{others}")
    return "\n".join(lines)


def with_suggestions(
    section: Rendered, hits: Iterable[Hit], counter: TokenCounter
) -> Rendered:
    """Return a section with the skills that fit a message behind it.

    What was there stays byte for byte, so that a cache of it holds. As many are added
    as its budget has room for; none where all skills are in the section in full.
    """
    if section.complete:
        return section
    text, tokens, ids = section.text, section.tokens, list[str]()
    added = f"{text}\n\n{_SUGGESTION_HEAD}"
    for hit in hits:
        added += suggestion(hit)
        count = counter.count(added.rstrip("\n"))
        if section.budget_tokens is not None and count > section.budget_tokens:
            break
        text, tokens = added.rstrip("\n"), count
        ids.append(hit.id)
    return replace(section, text=text, tokens=tokens, suggested=tuple(ids))


def suggestion(hit: Hit) -> str:
    """Return one skill that fits a message, as a line."""
    description = shorten(clean_line(hit.description), SUGGESTED_CHARS)
    return list_line(clean_line(hit.id), description)
