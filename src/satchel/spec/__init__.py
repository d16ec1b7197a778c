"""The format of a pack: bytes of a SKILL.md to a manifest and a body, and back."""

from satchel.spec.loose import body_of
from satchel.spec.parsing import Parsed, parse
from satchel.spec.profiles import Profile

__all__ = ["Parsed", "Profile", "body_of", "parse"]
