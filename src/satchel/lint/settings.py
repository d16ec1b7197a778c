"""What a check was told: thresholds that rules read from their `Context`."""

from collections.abc import Mapping
from dataclasses import replace

from satchel.model.lint import DEFAULT_THRESHOLDS, STRICT_BODY_BYTES, Thresholds

__all__ = ["DEFAULT_THRESHOLDS", "Thresholds", "thresholds_for"]


def thresholds_for(profile: str, given: Mapping[str, int] | None = None) -> Thresholds:
    """Return the thresholds of a profile, with those that were given in their place."""
    base = DEFAULT_THRESHOLDS
    if profile == "strict":
        base = replace(base, body_bytes=STRICT_BODY_BYTES)
    return replace(base, **given) if given else base
