"""Tools that are not written as the specification has them (S12)."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding

_RULE: Final = re.compile(r"\([^)]*\)")


@rule("allowed-tools-form")
def allowed_tools_form(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a list, or on commas between the tools.

    In profile ``spec`` a list is the error `field-kind`.
    """
    written = pack.manifest.frontmatter.get("allowed-tools")
    tools = pack.manifest.allowed_tools
    if isinstance(written, str):
        if "," not in _RULE.sub("", written):
            return
        how = "commas between the tools"
    elif isinstance(written, list | tuple) and pack.profile != "spec":
        how = "a list"
    else:
        return
    yield Finding(
        "allowed-tools-form",
        "note",
        f"allowed-tools has {how}; the specification has blanks between the tools, and "
        "a client that keeps to it finds none of them",
        SKILL_FILE,
        pack.line_of("allowed-tools"),
        fix=f"write `allowed-tools: {' '.join(tools)}`"[:300],
    )
