"""What a load is asked for and returns, a rendered catalog, a search hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Final, Literal, NamedTuple, cast

from satchel.model._finding import Finding
from satchel.model._pack import SKILL_FILE, Descriptor

Style = Literal["lean", "agent-skills", "packs", "references"]
"""Wording, tools and result shape together; chosen once, for a session or a server."""

# By style: the tool that loads a skill, and its parameter for the id.
LOAD_TOOLS: Final[dict[Style, tuple[str, str]]] = {
    "lean": ("load_skill", "skill_id"),
    "agent-skills": ("load_skill", "skill_id"),
    "packs": ("load_skill", "name"),
    "references": ("load_skill_instructions", "skill_name"),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a pack's bytes.

    ``id`` is taken as it is: not trimmed, not folded. ``file`` is a listed path, a
    short name, or None for SKILL.md. ``who`` is the user the run acts for, ``via`` the
    edge it came through (``python``, ``tool``, ``cli``, ``mcp``, ``http``). ``agent``
    is what the agent is called, ``client`` the program that asks, ``conversation`` the
    id of a session; these only for events.
    """

    id: str
    file: str | None = None
    who: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)
    via: str = "python"
    agent: str = field(default="", compare=False)
    client: str = field(default="", compare=False)
    conversation: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        # A model may write any JSON: what is not text becomes a text that names
        # nothing.
        id, file = cast("object", self.id), cast("object", self.file)
        if not isinstance(id, str):
            object.__setattr__(self, "id", f"<{type(id).__name__}>")
        if not isinstance(file, (str, NoneType)):
            object.__setattr__(self, "file", f"<{type(file).__name__}>")


@dataclass(frozen=True, slots=True)
class Loaded:
    """One file of a pack, exact.

    ``data`` is the raw bytes and ``digest`` their SHA-256. ``text`` is the decoded
    text, unaltered; empty for a binary file, which ``media_type`` names. ``body``
    is the part of a SKILL.md after its frontmatter, else empty. ``notes`` are
    sentences for the reader, outside of the text: a replacement, hidden characters,
    a tag that breaks out. ``vouched`` is who vouches for the bytes, such as the lock
    with its source and digest; empty where nobody was asked.
    """

    descriptor: Descriptor
    file: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    digest: str
    media_type: str = "text/markdown"
    body: str = field(default="", repr=False)
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    vouched: str = ""

    @property
    def id(self) -> str:
        """The id that was loaded."""
        return self.descriptor.id

    @property
    def is_instructions(self) -> bool:
        """Whether this is the SKILL.md rather than another file."""
        return self.file == SKILL_FILE

    @property
    def is_binary(self) -> bool:
        """Whether the bytes are not text, so that ``text`` is empty."""
        return bool(self.data) and not self.text


class SkillGroup(NamedTuple):
    """Skills of a library that have something in common, and how many they are.

    ``kind`` is ``source``, ``folder`` or ``word`` (the first of their ids).
    """

    kind: str
    name: str
    skills: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A catalog section; ``str()`` of it is the text, empty where there are no skills.

    ``tokens`` is counted by ``counted_by`` (the default is an estimate, and says so).
    ``shortened``, ``names_only`` and ``left_out`` hold ids, in order; together with
    those listed in full they are the whole catalog. ``groups`` are what the text counts
    where it lists few. ``suggested`` are the ids that it shows for a message.
    """

    text: str = field(repr=False)
    tokens: int
    counted_by: str
    budget_tokens: int | None = None
    shortened: tuple[str, ...] = ()
    names_only: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    groups: tuple[SkillGroup, ...] = ()
    suggested: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def complete(self) -> bool:
        """Whether every skill is in the text with its whole description."""
        return not (self.shortened or self.names_only or self.left_out)


@dataclass(frozen=True, slots=True)
class Match:
    """A word of a query that a skill has.

    ``fields`` are where: ``name``, ``description``, ``keywords``, ``body`` (with the
    names of files). ``points`` is what it adds to the score.
    """

    word: str
    fields: tuple[str, ...]
    points: float


# Of right answers 5 % are below it, of wrong ones 54 %: "How sure a hit is" in
# docs/explanation/search.md.
_WEAK_BELOW: Final = 0.11


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill that matches a query; ``score`` grows with the match, without a unit.

    ``matches`` are the parts of the score, highest first. ``confidence``, 0 to 1, is
    how often a hit like this is what was asked for, where half of the queries ask for
    something that is not here; 1 where a ranker of your own says nothing. ``copies``
    are ids of skills of the same name and nearly the same text, which this row is for.
    ``partial`` means that only names and descriptions were searched of some skills, for
    the instructions of very many are indexed later. ``read_as`` are words of the query
    that no skill has, each with the word of this one that it was read as.
    """

    id: str
    description: str
    score: float
    source: str = ""
    matches: tuple[Match, ...] = ()
    confidence: float = 1.0
    copies: tuple[str, ...] = ()
    partial: bool = False
    read_as: tuple[tuple[str, str], ...] = ()

    @property
    def weak(self) -> bool:
        """Whether it is more likely that nothing here fits; use it only if it does."""
        return self.confidence < _WEAK_BELOW

    @property
    def terms(self) -> tuple[str, ...]:
        """The words of the query that it has."""
        return tuple(match.word for match in self.matches)

    @property
    def fields(self) -> tuple[str, ...]:
        """Where it has them."""
        fields = (field for match in self.matches for field in match.fields)
        return tuple(dict.fromkeys(fields))


def respelled(hits: Sequence[Hit]) -> dict[str, str]:
    """Return the words that hits were found by in another spelling, with that one."""
    return {word: other for hit in reversed(hits) for word, other in hit.read_as}
