"""The event of an act: a call of a tool that needs a skill, or a run of a script."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Literal, Self

from satchel.model._session import Activation


@dataclass(frozen=True, slots=True)
class NeededSkill:
    """A skill that an act needs, as it is now, and where the model has read it.

    ``digest`` is that of its SKILL.md, empty where it cannot be read. ``read`` is
    ``load`` for a load of this very version in the conversation, ``shown`` where the
    prompt or the messages show it without one, and empty where it was not read.
    """

    name: str
    digest: str = ""
    read: Literal["load", "shown", ""] = ""

    @classmethod
    def of(cls, name: str, digest: str, in_use: Iterable[Activation]) -> Self:
        """Return a skill that was read as it is now."""
        loaded = {skill.id: skill.digest for skill in in_use}.get(name, "")
        digest = digest or loaded  # some sources know no digest before a load
        return cls(name, digest, "load" if digest and digest == loaded else "shown")


@dataclass(frozen=True, slots=True, kw_only=True)
class ActEvent:
    """One act: what was to be done, on what it rests, and what came of it.

    ``outcome`` is ``allowed`` for a call that was let through, ``failed`` for one that
    raised, ``refused`` for what was not done, and for a script its `Ending`, with the
    status. ``approval`` is the yes or the rule that allowed it, or the code of the
    refusal. ``arguments`` is a keyed digest. A load is known by ``conversation``, skill
    and digest. A script's ``files_digest`` is that of all files of its skill, for which
    a person's yes is.
    """

    event: str = field(default="act", init=False)
    at: float
    tool: str
    outcome: str
    skills: tuple[NeededSkill, ...]
    arguments: str
    approval: str
    conversation: str
    agent: str
    script: str = ""
    script_digest: str = ""
    files_digest: str = ""
    runner: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return plain data, ``event`` first."""
        return asdict(self)
