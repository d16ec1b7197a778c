"""A pack that wants to run any command without a question."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

_SHELL: Final = re.compile(
    r"(?:bash|shell|powershell)(?:\(\s*\*?\s*\))?", re.IGNORECASE
)


@rule("unlimited-shell")
def unlimited_shell(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where ``allowed-tools`` has the shell without a limit."""
    # The example of agentskills.io/specification bounds it: `Bash(git:*)`.
    tools = pack.manifest.allowed_tools
    wide = next((tool for tool in tools if _SHELL.fullmatch(tool.strip(","))), None)
    if wide is not None:
        yield pack.finding_at("unlimited-shell", "allowed-tools", wide=wide)
