"""Bytes of a SKILL.md to a manifest and findings: the one way in."""

from dataclasses import dataclass

from satchel.model import DEFAULT_LIMITS, Finding, Limits, Manifest
from satchel.spec.fences import span_of_bytes
from satchel.spec.frontmatter import Problem, read_tree
from satchel.spec.normalise import manifest_of
from satchel.spec.profiles import (
    Draft,
    Profile,
    guide_breaches,
    spec_breaches,
    strict_breaches,
)

__all__ = ["Parsed", "parse"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What `parse` made of a file.

    ``manifest`` is None exactly where the file was refused, and then at least one
    finding is an error. ``profile`` is the profile that matched, empty if refused.
    """

    manifest: Manifest | None
    findings: tuple[Finding, ...] = ()
    profile: str = ""


def parse(
    data: bytes,
    *,
    profile: Profile = "auto",
    path: str = "SKILL.md",
    directory: str = "",
    limits: Limits = DEFAULT_LIMITS,
    allow_empty_description: bool = False,
) -> Parsed:
    """Return what a SKILL.md says; nothing is ever raised, whatever the bytes."""
    span = span_of_bytes(data)
    if span is None:
        return _refuse("no-frontmatter", "there is no frontmatter", path, 1)
    tree = read_tree(data[span.head : span.end], limits)
    if isinstance(tree, Problem):
        line = span.line - 1 + tree.line if tree.line else None
        return _refuse(tree.code, tree.message, path, line)
    name = (tree.text("name") or "").strip() or None
    description = (tree.text("description") or "").strip()
    draft = Draft(tree, name, description, directory)
    if not description and not allow_empty_description:
        return _refuse("missing-description", "there is no description", path, None)
    if not name and not directory:
        return _refuse("missing-name", "there is no name", path, None)
    matched = "lenient"
    if next(spec_breaches(draft), None) is None:
        matched = "spec"
    elif next(strict_breaches(draft), None) is None:
        matched = "strict"
    findings = tuple(
        Finding(b.code, "warning", b.message, path, fix=b.fix)
        for b in guide_breaches(name or directory, directory)
    )
    manifest = manifest_of(tree, name or directory, description, matched)
    return Parsed(manifest, findings, matched)


def _refuse(code: str, message: str, path: str, line: int | None) -> Parsed:
    return Parsed(None, (Finding(code, "error", message, path, line),))
