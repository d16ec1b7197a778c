"""Tools that are not written in the form of the specification."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

_RULE: Final = re.compile(r"\([^)]*\)")
_MAX_CHARS: Final = 300


@rule("allowed-tools-form")
def allowed_tools_form(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a list, or on commas between the tools."""
    written = pack.manifest.frontmatter.get("allowed-tools")
    tools = pack.manifest.allowed_tools
    if isinstance(written, str):
        if "," not in _RULE.sub("", written):
            return
        how = "commas between the tools"
    # In profile `spec` a list is the error `field-kind`.
    elif isinstance(written, list | tuple) and pack.profile != "spec":
        how = "a list"
    else:
        return
    finding = pack.finding_at(
        "allowed-tools-form", "allowed-tools", how=how, tools=" ".join(tools)
    )
    yield replace(finding, fix=finding.fix[:_MAX_CHARS])
