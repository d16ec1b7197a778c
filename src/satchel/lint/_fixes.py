"""Fixes of a SKILL.md that are safe without asking its author."""

from collections import Counter
from dataclasses import fields, replace
from typing import Final

from satchel.lint._fixers import FIXABLE, FIXERS, Fixer, FixInput
from satchel.lint._report import SkillFix
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Finding, Limits, Manifest
from satchel.skill_md import Profile, body_of, corrected_keys, parse


# A proposal is accepted only if our reader gets the same from it but for the fields
# that the fixer is for, with the same body: a fix never changes what a pack means.
def fix_skill(  # noqa: PLR0913 - one pack, its parts by name
    data: bytes,
    findings: tuple[Finding, ...],
    *,
    path: str = SKILL_FILE,
    folder: str = "",
    files: tuple[str, ...] = (),
    profile: Profile = "spec",
    limits: Limits = DEFAULT_LIMITS,
) -> SkillFix | None:
    """Return how a SKILL.md can be fixed, given its findings; None where it cannot."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    reported = frozenset(finding.code for finding in findings)
    fixed: set[str] = set()
    nothing = Manifest(name="", description="")
    page = _read(FixInput(text, folder, nothing, files, profile, limits))
    for fixer in FIXERS:
        codes = fixer.codes & reported
        if not codes or page is None:
            continue
        proposed = fixer.propose(page)
        if proposed is None or proposed == page.text:
            continue
        after = _read(replace(page, text=proposed))
        if after is not None and _is_safe(page, after, fixer, codes):
            # A fixer may remove only some findings of a code; that code is not fixed.
            fixed |= codes - _codes(after).keys()
            page = after
    if page is None or page.text == text:
        return None
    return SkillFix(path, data, page.text.encode(), frozenset(fixed))


# A pack with neither name nor folder is refused, and could not be fixed.
_NO_FOLDER: Final = "-"


def _read(page: FixInput) -> FixInput | None:
    """Return a page with what a lenient reader gets from its text, if anything."""
    manifest = parse(
        page.text.encode(),
        profile="lenient",
        directory=page.folder or _NO_FOLDER,
        limits=page.limits,
        allow_empty_description=True,
    ).manifest
    return replace(page, manifest=manifest) if manifest is not None else None


def _is_safe(
    before: FixInput, after: FixInput, fixer: Fixer, codes: frozenset[str]
) -> bool:
    """Tell whether a page says the same as before, without the findings."""
    # The body is what the model reads: not a byte of it may change.
    if body_of(after.text) != body_of(before.text):
        return False
    if _unchanged(before.manifest, fixer) != _unchanged(after.manifest, fixer):
        return False
    old, new = before.manifest.references, after.manifest.references
    had, left = _codes(before), _codes(after)
    fewer = any(left[code] < had[code] for code in codes)
    return (
        # References may be added at the end; the order of the others has a meaning.
        new[: len(old)] == old
        and (fewer if fixer.partly else codes.isdisjoint(left))
        # What our reader repairs, other readers may not understand.
        and not (left.keys() - had.keys()) & FIXABLE
        # A second fix would change nothing, so that --fix ends.
        and fixer.propose(after) in (None, after.text)
    )


def _unchanged(manifest: Manifest, fixer: Fixer) -> dict[str, object]:
    values: dict[str, object] = {
        field.name: getattr(manifest, field.name)
        for field in fields(manifest)
        if field.name not in fixer.fields
    }
    frontmatter = corrected_keys(manifest.frontmatter)
    values["frontmatter"] = {
        key: value for key, value in frontmatter.items() if key not in fixer.keys
    }
    return values


def _codes(page: FixInput) -> Counter[str]:
    """Count the findings by code, for a lenient reader and for the profile."""
    profiles: tuple[Profile, ...] = ("lenient", page.profile)
    return Counter(
        finding.code
        for profile in profiles
        for finding in parse(
            page.text.encode(),
            profile=profile,
            directory=page.folder,
            limits=page.limits,
        ).findings
    )
