"""Usage events: free of content, so that a log of them can be shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from satchel.model._pack import Descriptor


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
