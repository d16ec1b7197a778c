"""What each client shows of a whole library, by rules that were measured.

Clients put names and descriptions of skills into a prompt, and most of them give that
list a budget. A rule says how one version of one client spends it. `predict_listing`
applies a rule: the same skills give the same listing.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from satchel_lab.clients._listing_rules import RULES, LibrarySkill, Shown
from satchel_lab.clients._loaders import Loader, Prediction
from satchel_lab.clients._pack import Candidate, PackReader

WINDOWS: Final = {"128k": 128_000, "200k": 200_000, "1m": 1_000_000}
SCHEMA_VERSION: Final = 1

# Properties of packs whose descriptions are long, and nothing else.
_TOO_LONG: Final = "description-over-"

ListingState = Literal["shown", "shortened", "left-out"]
LISTING_STATES: Final[tuple[ListingState, ...]] = ("shown", "shortened", "left-out")


@dataclass(frozen=True, slots=True)
class ListingRule:
    """What is known of how one client lists skills.

    ``how`` is ``measured``, ``documented`` or ``unknown``; ``checked`` is the day.
    ``kind`` names a rule, and ``numbers`` are what it needs. ``order`` and ``about``
    are sentences. ``agreed`` has, for each window at which it was measured, how many
    skills were right, and how many there were, in libraries that the rule was not made
    from.
    """

    key: str
    title: str
    version: str
    how: Literal["measured", "documented", "unknown"]
    checked: str
    kind: str
    order: str = ""
    about: str = ""
    source: str = ""
    agreed: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, Any])
    numbers: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


@dataclass(frozen=True, slots=True)
class SkillListing:
    """What becomes of one skill: ``text`` is the description that is shown of it."""

    skill: LibrarySkill
    state: ListingState
    text: str = ""


@dataclass(frozen=True, slots=True)
class ClientListing:
    """What one client shows of a library at one context window.

    ``skills`` are in the order in which the client lists them; those that it leaves
    out come last. ``most_chars`` is the length to which descriptions have to be
    shortened so that all are shown whole, and ``most_skills`` how many are if they stay
    as they are: both are None where all fit, or where nothing is known.
    """

    rule: ListingRule
    window: int
    skills: tuple[SkillListing, ...]
    most_chars: int | None = None
    most_skills: int | None = None

    def of(self, state: ListingState) -> tuple[SkillListing, ...]:
        """Return the skills of this state."""
        return tuple(skill for skill in self.skills if skill.state == state)

    @property
    def is_known(self) -> bool:
        """Whether there is a rule at all."""
        return self.rule.kind in RULES

    @property
    def to_shorten(self) -> tuple[LibrarySkill, ...]:
        """The skills whose descriptions are longer than `most_chars`."""
        most = self.most_chars
        if most is None:
            return ()
        every = (one.skill for one in self.skills)
        return tuple(skill for skill in every if len(skill.description) > most)


@cache
def listing_rules() -> Mapping[str, ListingRule]:
    """Return the rules by the key of the client, sorted."""
    text = files("satchel_lab.clients").joinpath("listings.json").read_text("utf-8")
    return rules_from_json(json.loads(text))


def rules_from_json(data: Mapping[str, Any]) -> Mapping[str, ListingRule]:
    """Return the rules of such a file; ValueError for another schema."""
    if data.get("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"expected schema_version {SCHEMA_VERSION}")
    entries = data["clients"].items()
    return {key: ListingRule(key, **entry) for key, entry in sorted(entries)}


def unknown_rule(loader: Loader) -> ListingRule:
    """Return the rule of a client whose lists nobody measured or documented."""
    return ListingRule(loader.key, loader.title, loader.version, "unknown", "", "")


def predict_listing(
    rule: ListingRule,
    skills: Sequence[LibrarySkill],
    window: int,
    *,
    advises: bool = True,
) -> ClientListing:
    """Return what a client shows of a library whose skills it all loads.

    Args:
        rule: One of `listing_rules`.
        skills: The library, in any order.
        window: The context window of the model, in tokens.
        advises: Whether to work out ``most_chars`` and ``most_skills``, which takes
            longer than the rest.
    """
    if rule.kind not in RULES:
        return ClientListing(rule, window, ())

    def show(some: Sequence[LibrarySkill]) -> list[tuple[LibrarySkill, Shown]]:
        shown = RULES[rule.kind](some, rule.numbers, window)
        return [(some[row.at], row) for row in shown]

    rows = show(skills)
    listed = {id(skill) for skill, _ in rows}
    whole = [
        SkillListing(skill, "shown" if shown.is_whole else "shortened", shown.text)
        for skill, shown in rows
    ]
    left_out = [SkillListing(s, "left-out") for s in skills if id(s) not in listed]
    listed_skills = (*whole, *sorted(left_out, key=lambda one: one.skill.name))
    if not advises or all(one.state == "shown" for one in listed_skills):
        return ClientListing(rule, window, listed_skills)

    def fits(some: Sequence[LibrarySkill]) -> bool:
        rows = show(some)
        return len(rows) == len(some) and all(shown.is_whole for _, shown in rows)

    ordered = [one.skill for one in listed_skills]
    return ClientListing(
        rule,
        window,
        listed_skills,
        _last(max(len(s.description) for s in skills), lambda n: fits(_cut(skills, n))),
        _last(len(ordered), lambda n: fits(ordered[:n])),
    )


def read_skill(
    candidate: Candidate, prediction: Prediction | None
) -> LibrarySkill | None:
    """Return a pack as a client reads it; None if it does not load it.

    Args:
        candidate: The pack as it is on disk.
        prediction: What the client makes of it by itself; None where nobody knows.
    """
    manifest = PackReader(candidate).parsed.manifest
    verdict = prediction.verdict if prediction else "loaded"
    shown = prediction.shown if prediction else None
    if verdict in ("hidden", "dropped", "breaks-neighbours") or not (manifest or shown):
        return None
    name = manifest.name if manifest else candidate.folder
    description = manifest.description if manifest else ""
    when = manifest.client.when_to_use if manifest else ""
    if prediction and shown and not _is_only_long(prediction):
        name, description = shown.name or name, shown.description or description
    return LibrarySkill(name, description, candidate.folder or name, when)


def _is_only_long(prediction: Prediction) -> bool:
    """Tell whether all that is cut is too long, which is what the rule is about."""
    return bool(prediction.reasons) and all(
        reason.startswith(_TOO_LONG) for reason in prediction.reasons
    )


def _cut(skills: Iterable[LibrarySkill], chars: int) -> list[LibrarySkill]:
    return [
        replace(skill, description=skill.description[:chars], when_to_use="")
        for skill in skills
    ]


def _last(most: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number up to ``most`` that holds; they are a prefix of all."""
    return bisect_left(range(1, most + 1), 1, key=lambda number: not holds(number))
