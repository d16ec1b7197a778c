"""Tags that clients put around skills, or around text of their own."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, body, rule
from satchel.model import SKILL_FILE, Finding

_TAG: Final = re.compile(
    r"</(?:skill_content|skill_resources|activated_skill|available_skills|skill)\s*>"
    r"|</?system-reminder\s*>",
    re.IGNORECASE,
)


@rule("client-envelope")
def client_envelope(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first tag that ends what a client put around the body."""
    # The tags are those of agentskills.io, "Adding skills support", and of what Claude
    # Code and Gemini CLI send. Our own envelope has the code `envelope-breakout`.
    instructions = body(pack)
    match = _TAG.search(instructions.text)
    if match:
        yield Finding.of(
            "client-envelope",
            SKILL_FILE,
            instructions.line_at(match.start()),
            text=match[0],
        )
