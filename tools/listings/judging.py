"""Compare what a client showed with what its rule says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from satchel_lab.clients import (
    Candidate,
    LibrarySkill,
    choose_loaders,
    listing_rules,
    loaders,
    predict,
    predict_listing,
    read_skill,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from satchel_lab.clients import ClientListing, SkillListing
    from tools.listings.clients import Lister, Rows, Seen
    from tools.listings.libraries import Library

_DIGEST_CHARS: Final = 12


@dataclass(frozen=True, slots=True)
class Judged:
    """How many skills of a library were predicted right, and those that were not.

    Each of ``wrong`` is a name, what was shown, and what was predicted; None where it
    is left out.
    """

    skills: int
    right: int
    in_order: bool
    wrong: tuple[tuple[str, str | None, str | None], ...] = ()


@lru_cache(maxsize=4)
def skills_of(key: str, library: Library) -> list[LibrarySkill]:
    """Return the skills of a library that a client loads, as it reads them."""
    known = {loader.key for loader in loaders()}
    chosen = choose_loaders([key]) if key in known else ()
    found: list[LibrarySkill] = []
    for pack in library.packs:
        data = pack.text.encode("utf-8", "surrogateescape")
        candidate = Candidate(data, pack.folder)
        said = predict(candidate, chosen)
        if said and said[0].verdict == "breaks-neighbours":
            return []
        skill = read_skill(candidate, said[0] if said else None)
        if skill is not None:
            found.append(skill)
    return found


def predicted(client: Lister, library: Library, window: int) -> ClientListing:
    """Return what the rule of a client says of a library."""
    rule = listing_rules()[client.key]
    skills = skills_of(client.key, library)
    return predict_listing(rule, skills, window, advises=False)


def rows_of(client: Lister, skills: Sequence[SkillListing]) -> Rows:
    """Return the rows that a client would show."""
    return tuple(
        (getattr(one.skill, client.names), one.text)
        for one in skills
        if one.state != "left-out"
    )


def judge(client: Lister, library: Library, seen: Seen) -> Judged:
    """Compare the rows that were seen with those that the rule says."""
    listing = predicted(client, library, seen.window).skills
    said = rows_of(client, listing)
    was, is_said = _by_name(seen.rows), _by_name(said)
    # A skill that is left out, as was said, is right too.
    every = {getattr(one.skill, client.names) for one in listing}
    names = sorted({*was, *is_said, *every})
    wrong = tuple(
        (name, was.get(name), is_said.get(name))
        for name in names
        if was.get(name) != is_said.get(name)
    )
    ordered = digest_of(client, seen.rows) == digest_of(client, said) or (
        [name for name, _ in seen.rows] == [name for name, _ in said]
    )
    return Judged(len(names), len(names) - len(wrong), ordered, wrong)


def _by_name(rows: Rows) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in rows}


def digest_of(client: Lister, rows: Rows) -> str:
    """Return a short digest of names and texts, in their order where it has one."""
    folded = [(name, " ".join(text.split())) for name, text in rows]
    if listing_rules()[client.key].numbers.get("by") == "files":
        folded.sort()
    text = json.dumps(folded, ensure_ascii=True).encode()
    return hashlib.sha256(text).hexdigest()[:_DIGEST_CHARS]


def counts_of(client: Lister, library: Library, rows: Rows) -> list[int]:
    """Return how many skills are shown whole, shortened, and left out."""
    skills = skills_of(client.key, library)
    whole = {
        getattr(skill, client.names): " ".join(skill.description.split())
        for skill in skills
    }
    texts = _by_name(rows)
    shown = sum(texts[name].startswith(whole[name]) for name in texts if name in whole)
    return [shown, len(texts) - shown, len(whole) - len(texts)]
