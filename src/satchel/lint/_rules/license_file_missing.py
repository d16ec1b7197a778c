"""A licence file that the manifest names and the pack does not have."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import Finding

_FILE: Final = re.compile(
    r"(?<![\w/.:-])(?:LICEN[CS]E|COPYING|NOTICE)[\w-]*(?:\.(?:txt|md))\b"
)


@rule("license-file-missing")
def license_file_missing(pack: LintContext) -> Iterator[Finding]:
    """Yield a note where ``license`` names a file that the pack does not have."""
    # agentskills.io/specification: "the name of a license or the name of a bundled
    # license file".
    written = pack.manifest.frontmatter.get("license")
    if not isinstance(written, str):
        return
    there = {file.path for file in pack.descriptor.files}
    for match in _FILE.finditer(written):
        if match[0] not in there:
            yield pack.finding_at("license-file-missing", "license", text=match[0])
