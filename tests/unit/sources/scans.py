"""What a scan of a source yields, taken apart."""

from satchel.model import Finding, Found
from satchel.protocols import SkillSource

__all__ = ["codes_of", "findings_of", "found_in"]


def found_in(source: SkillSource) -> list[str]:
    return [item.key for item in source.scan() if isinstance(item, Found)]


def findings_of(source: SkillSource) -> list[Finding]:
    return [item for item in source.scan() if isinstance(item, Finding)]


def codes_of(source: SkillSource) -> list[str]:
    return [finding.code for finding in findings_of(source)]
