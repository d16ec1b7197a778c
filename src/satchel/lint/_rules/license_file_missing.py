"""A licence that is said to be in a file of the pack (S9)."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import SKILL_FILE, Finding

_FILE: Final = re.compile(
    r"(?<![\w/.:-])(?:LICEN[CS]E|COPYING|NOTICE)[\w-]*(?:\.(?:txt|md))\b"
)


@rule("license-file-missing")
def license_file_missing(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where ``license`` names a file that the pack does not have.

    Source: agentskills.io/specification: "the name of a license or the name of a
    bundled license file".
    """
    written = pack.manifest.frontmatter.get("license")
    if not isinstance(written, str):
        return
    there = {file.path for file in pack.descriptor.files}
    for match in _FILE.finditer(written):
        if match[0] not in there:
            yield Finding.of(
                "license-file-missing",
                SKILL_FILE,
                pack.line_of("license"),
                text=match[0],
            )
