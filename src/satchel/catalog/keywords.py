"""The words for search that a manifest holds besides its description."""

from collections.abc import Iterator
from typing import Final

from satchel.model import Json, Manifest

__all__ = ["MAX_KEYWORD_CHARS", "keywords_of"]

MAX_KEYWORD_CHARS: Final = 1_024
"""As much as the public specification allows a description; the rest is not searched.

A pack is untrusted: without a bound its keywords could outweigh everybody's text.
"""

_KEYS: Final = frozenset(["keywords", "trigger_keywords", "triggers", "tags"])


def keywords_of(manifest: Manifest) -> tuple[str, ...]:
    """Return the author's words for when to use a skill, each once, in order.

    Read are ``trigger_keywords`` (or ``triggers``), ``when_to_use``, and ``keywords``
    and ``tags``, at the top level or in ``metadata``; a list, or text with commas.
    """
    phrases = dict.fromkeys(_phrases(manifest))
    kept: list[str] = []
    left = MAX_KEYWORD_CHARS
    for phrase in phrases:
        left -= len(phrase)
        if left < 0:
            break
        kept.append(phrase)
    return tuple(kept)


def _phrases(manifest: Manifest) -> Iterator[str]:
    yield from manifest.trigger_keywords
    if manifest.client.when_to_use:
        yield " ".join(manifest.client.when_to_use.split())
    for table in (manifest.frontmatter, manifest.metadata):
        for key, value in table.items():
            if key.replace("-", "_") in _KEYS:
                yield from _texts(value)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from (text for part in value.split(",") if (text := part.strip()))
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str) and (text := item.strip()):
                yield text
