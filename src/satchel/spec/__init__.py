"""The format of a pack: bytes of a SKILL.md to a manifest and a body, and back.

What a sync of well-formed packs does not need is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from satchel.spec.dialects import from_spec, to_spec
from satchel.spec.parsing import Parsed, dialect_of, parse
from satchel.spec.profiles import (
    Breach,
    Profile,
    portable_name,
    spec_name_breaches,
    strict_name_breaches,
)

if TYPE_CHECKING:
    from satchel.spec.loose import body_of
    from satchel.spec.sentence import first_sentence
    from satchel.spec.writer import render_frontmatter, write

__all__ = [
    "Breach",
    "Parsed",
    "Profile",
    "body_of",
    "dialect_of",
    "first_sentence",
    "from_spec",
    "parse",
    "portable_name",
    "render_frontmatter",
    "spec_name_breaches",
    "strict_name_breaches",
    "to_spec",
    "write",
]

_HOMES: Final = {
    "body_of": "satchel.spec.loose",
    "first_sentence": "satchel.spec.sentence",
    "render_frontmatter": "satchel.spec.writer",
    "write": "satchel.spec.writer",
}


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
