"""Names that not every client accepts."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule
from satchel.model import PORTABLE_NAME, Finding, is_name, portable_name
from satchel.skill_md import spec_name_violations, strict_name_violations

# Names that Windows gives to devices, in every folder.
_DEVICE: Final = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
_PROFILE_RULES: Final = {"spec": spec_name_violations, "strict": strict_name_violations}


@rule("name-not-portable", "reserved-name")
def name_not_portable(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on a name outside of what all profiles and clients accept."""
    name = pack.manifest.name
    if "name" not in pack.manifest.frontmatter:
        return
    is_portable = is_name(name, PORTABLE_NAME)
    find = _PROFILE_RULES.get(pack.profile)
    violations = find(name) if find else ()
    if not is_portable and not any(violations):
        near = portable_name(name)
        yield pack.finding_at(
            "name-not-portable",
            "name",
            sentence="" if near else "no-near",
            name=name,
            near=near,
        )
    if _DEVICE.fullmatch(name.lower()):
        yield pack.finding_at(
            "name-not-portable",
            "name",
            severity="warning",
            sentence="device",
            name=name,
        )
    for word in ("anthropic", "claude"):
        if word in name.lower():
            yield pack.finding_at("reserved-name", "name", word=word)
            break
