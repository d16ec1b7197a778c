"""Usage events: free of content, so that a log of them can be shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from satchel.model._pack import Descriptor


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """What one load did.

    The first six fields are a contract with the readers of event logs, in this
    order; further fields come only behind them. ``name`` is the id that was asked
    for (``<invalid>`` where it breaks the name rule), ``source`` the label of the
    source, empty where nothing was found; ``duration_s`` is monotonic seconds;
    ``error`` a message, None on success. ``code`` is the error's kebab-case code.

    ``file`` is the path that was handed out, or asked for; ``<invalid>`` where it is no
    plain path. ``digest`` is that of the bytes handed out, ``tokens`` what they cost by
    the Satchel's counter. ``release`` is the release they come from, ``owner`` who
    answers for the skill, ``agent`` and ``client`` who asked: each empty where nobody
    said. ``at`` is when it was done, in seconds since the epoch.
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
    event: str = "skill_loaded"

    def as_dict(self) -> dict[str, object]:
        """Return a flat mapping, ``event`` first, then the fields in order."""
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class SkillSynced:
    """That a file, or a whole pack, was fetched to be kept elsewhere.

    No model and no user loaded it, so it is no use of the skill. ``name``, ``file``,
    ``source``, ``via``, ``code``, ``client`` and ``at`` are as in `UsageEvent`; of a
    whole pack ``file`` is its SKILL.md.
    """

    name: str
    file: str | None
    source: str
    via: str = "http"
    code: str | None = None
    client: str = ""
    at: float = 0.0
    event: str = "skill_synced"

    def as_dict(self) -> dict[str, object]:
        """Return a flat mapping, ``event`` first, then the fields in order."""
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class CatalogSynced:
    """That these skills were on offer at this time, loaded or not.

    ``added`` are the ids that were not listed before; ``owners`` tells by id who
    answers for a skill, where that is known. Without this event a skill that nobody
    ever loads would leave no trace.
    """

    at: float
    entries: tuple[Descriptor, ...]
    added: tuple[str, ...] = ()
    release: str = ""
    via: str = "python"
    owners: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    event: str = "catalog_synced"
