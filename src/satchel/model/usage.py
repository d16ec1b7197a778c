"""One event of use."""

from dataclasses import asdict, dataclass

__all__ = ["UsageEvent"]


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """What one load did, free of content.

    The first six fields are a contract with the readers of event logs, in this
    order; further fields come only behind them. ``name`` is the id that was asked
    for (``<invalid>`` where it breaks the name rule), ``source`` the label of the
    source, empty where nothing was found; ``duration_s`` is monotonic seconds;
    ``error`` a message, None on success. ``code`` is the error's kebab-case code.
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
    event: str = "skill_loaded"

    def as_dict(self) -> dict[str, object]:
        """Return a flat mapping, ``event`` first, then the fields in order."""
        return {"event": self.event, **asdict(self)}
