"""Instructions that are longer than a load should bring."""

from collections.abc import Iterator

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding
from satchel.text import EstimateCounter


@rule("body-too-large")
def body_too_large(pack: LintContext) -> Iterator[Finding]:
    """Yield one warning that names each bound of the body that is passed."""
    bounds = pack.thresholds
    text = body(pack).text
    lines = pack.text.count("\n") + (not pack.text.endswith("\n"))
    over = [
        f"{amount:,} {unit}, {bound:,} are plenty"
        for amount, bound, unit in (
            (EstimateCounter().count(text), bounds.body_tokens, "tokens"),
            (lines, bounds.body_lines, "lines"),
            (len(text.encode("utf-8", "replace")), bounds.body_bytes, "bytes"),
        )
        # A bound of 0 is none.
        if 0 < bound < amount
    ]
    if over:
        yield Finding.of("body-too-large", SKILL_FILE, over="; ".join(over))
