"""Secrets that a pack would hand to everybody who loads it (E02)."""

from collections.abc import Iterator

from satchel.lint.context import Context, rule
from satchel.lint.reading import bytes_of
from satchel.lint.secrets import find_secrets
from satchel.model import SKILL_FILE, Finding

__all__ = ["sensitive_pattern"]


@rule("sensitive-pattern")
def sensitive_pattern(pack: Context) -> Iterator[Finding]:
    """Yield an error on what has the shape of a secret; never the secret itself."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        data = (
            pack.text.encode("utf-8", "replace")
            if path == SKILL_FILE
            else bytes_of(pack, path)
        )
        for line, kind in find_secrets(data):
            yield Finding(
                "sensitive-pattern",
                "error",
                f"this has the shape of {kind}",
                path,
                line,
                fix="revoke it if it is real, and let a script take it from the "
                "environment; write an example so that it shows: `YOUR_KEY`",
            )
