"""The events of loads, of copies, of what is on offer, and of acts."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Literal, Self

from satchel.model._pack import Descriptor
from satchel.model._session import Activation


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """One load.

    Readers of event logs rely on the first six fields, in this order; new fields come
    after them. ``name`` is the id that was asked for (``<invalid>`` if it breaks the
    name rule), ``source`` the label of the source, empty if nothing was found;
    ``duration_s`` is in seconds; ``error`` is a message, None on success, and ``code``
    its kebab-case code.

    ``file`` is the path that was loaded or asked for; ``<invalid>`` if it is no plain
    path. ``digest`` and ``tokens`` are of the loaded bytes, ``tokens`` by the Satchel's
    counter. ``release`` is the release of the skill, ``owner`` its owner, ``agent`` and
    ``client`` the caller; each is empty if unknown. ``at`` is seconds since the epoch.
    ``conversation`` is what acts name their load by; empty where there are no acts.
    ``caller`` is the ``client`` of ``who``: on a server, the name of a token; ``call``
    is the id that it gave to the call, so that one sent again counts once.
    """

    name: str
    reference: str | None
    script: str | None
    source: str
    duration_s: float
    error: str | None
    file: str | None = None
    via: str = "python"
    digest: str = ""
    size_bytes: int = 0
    code: str | None = None
    tokens: int = 0
    release: str = ""
    owner: str = ""
    agent: str = ""
    client: str = ""
    at: float = 0.0
    conversation: str = ""
    caller: str = ""
    call: str = ""
    event: str = "skill_loaded"

    def as_dict(self) -> dict[str, object]:
        """Return a flat mapping, ``event`` first, then the fields in order."""
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        for key in ("conversation", "caller", "call"):
            if not flat[key]:  # most have none
                del flat[key]
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class SkillSynced:
    """A file or a whole pack was fetched to be stored elsewhere."""

    # No model and no user loaded it, so it does not count as use. `name`, `file`,
    # `source`, `via`, `code`, `client` and `at` are as in `UsageEvent`; for a whole
    # pack `file` is its SKILL.md.

    name: str
    file: str | None
    source: str
    via: str = "http"
    code: str | None = None
    client: str = ""
    at: float = 0.0
    event: str = "skill_synced"

    def as_dict(self) -> dict[str, object]:
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class CatalogSynced:
    """These skills were on offer at this time, loaded or not.

    ``added`` are the ids that were not listed before; ``owners`` are the known owners,
    by id. Without this event, a skill that is never loaded would leave no trace.
    """

    at: float
    entries: tuple[Descriptor, ...]
    added: tuple[str, ...] = ()
    release: str = ""
    via: str = "python"
    owners: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    event: str = "catalog_synced"


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
