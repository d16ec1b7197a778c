"""The format of a pack: bytes of a SKILL.md to a manifest and a body, and back."""

from satchel.spec.dialects import from_spec, to_spec
from satchel.spec.loose import body_of
from satchel.spec.parsing import Parsed, parse
from satchel.spec.profiles import (
    Breach,
    Profile,
    portable_name,
    spec_name_breaches,
    strict_name_breaches,
)
from satchel.spec.sentence import first_sentence
from satchel.spec.writer import render_frontmatter, write

__all__ = [
    "Breach",
    "Parsed",
    "Profile",
    "body_of",
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
