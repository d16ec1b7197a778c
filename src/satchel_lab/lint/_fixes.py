"""Fixes of a SKILL.md that are safe without asking its author: the fixers, all run."""

import re
from collections import Counter
from collections.abc import Callable, Set as AbstractSet
from dataclasses import dataclass, fields, replace
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Finding,
    Limits,
    Manifest,
    portable_name,
)
from satchel.skill_md import (
    FENCE_REPAIRS,
    YAML_REPAIRS,
    MisspelledKey,
    Profile,
    body_of,
    corrected_keys,
    find_misspelled,
    parse,
    quoted,
    render_frontmatter,
)
from satchel_lab._frontmatter_editor import (
    LOSSY_REPAIR,
    entry_text,
    repaired_text,
    set_entry,
)
from satchel_lab.lint._report import SkillFix


@dataclass(frozen=True, slots=True)
class FixInput:
    """A SKILL.md to fix; ``manifest`` is how a lenient reader reads it."""

    text: str
    folder: str
    manifest: Manifest
    files: tuple[str, ...] = ()
    profile: Profile = "spec"
    limits: Limits = DEFAULT_LIMITS


def description_text(page: FixInput) -> str | None:
    line = f"description: {quoted(page.manifest.description)}\n"
    return set_entry(page.text, "description", line)


def frontmatter(page: FixInput) -> str | None:
    return repaired_text(page.text, page.limits)


def missing_name(page: FixInput) -> str | None:
    """Write the folder's name, where every client accepts it."""
    # A name that some client refuses would only move the mistake.
    if portable_name(page.folder) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n", first=True)


def misspelled_fields(page: FixInput) -> str | None:
    """Write each key as it is meant, unless that key is there as well."""
    text: str | None = page.text
    for slip in find_misspelled(page.manifest.frontmatter):
        if slip.counts and text is not None:
            text = _renamed(text, slip)
    return text


def _renamed(text: str, slip: MisspelledKey) -> str | None:
    around = "metadata" if slip.within else slip.written
    entry = entry_text(text, around)
    if not entry:
        return None
    before = r"[\s{,]" if slip.within else r"\A"
    key = re.compile(rf"({before})([\"']?){re.escape(slip.written)}\2(?=\s*:)")
    renamed, count = key.subn(rf"\g<1>\g<2>{slip.meant}\g<2>", entry)
    # With several matches it is uncertain which one is the key.
    return set_entry(text, around, renamed) if count == 1 else None


def name_as_folder(page: FixInput) -> str | None:
    """Write the name as the folder has it: ``PDF Forms`` in ``pdf-forms``."""
    if portable_name(page.manifest.name) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n")


_FIELD: Final = "references"
_FOLDER: Final = "references/"
_IN_BRACKETS: Final = lazy_pattern(
    r"(references[ \t]*:[ \t]*\[[^\[\]#\n]*)\]([^\n]*\n)"
)
_IN_LINES: Final = lazy_pattern(
    r"references[ \t]*:[^\n\[]*\n(?:[ \t]*-[^\n]*\n)*([ \t]*)- "
)


def unlisted_references(page: FixInput) -> str | None:
    """Add them at the end of the list, in the style of the list."""
    # A list closes a pack on purpose, so elsewhere its author decides what belongs on
    # it.
    if page.profile != "strict":
        return None
    declared = {*page.manifest.references}
    listed = declared | {f"{_FOLDER}{name}" for name in declared}
    names = [
        path.removeprefix(_FOLDER)
        for path in page.files
        if path.startswith(_FOLDER) and path not in listed
    ]
    entry = entry_text(page.text, _FIELD)
    if entry is None:
        return None
    return set_entry(page.text, _FIELD, _with(entry, names)) if names else None


def _with(entry: str, names: list[str]) -> str:
    """Return the entry with more names, in lines of its own where there is no list."""
    # As our writer has them in a list, in quotes where they need them.
    written = render_frontmatter({"x": tuple(names)}).splitlines()[2:-1]
    items = [line.removeprefix("  - ") for line in written]
    bracket = _IN_BRACKETS.fullmatch(entry)
    if bracket is not None:
        comma = "" if bracket[1].rstrip().endswith(("[", ",")) else ","
        pad = "" if bracket[1].endswith("[") else " "
        return f"{bracket[1].rstrip()}{comma}{pad}{', '.join(items)}]{bracket[2]}"
    lines = _IN_LINES.match(entry)
    margin = lines[1] if lines else "  "
    head = entry if lines else f"{_FIELD}:\n"
    return head + "".join(f"{margin}- {item}\n" for item in items)


@dataclass(frozen=True, slots=True)
class Fixer:
    """Proposes the text without findings of ``codes``."""

    # Only `keys` of the frontmatter and `fields` of the manifest may change; `partly`:
    # some findings of these codes may stay.

    propose: Callable[[FixInput], str | None]
    codes: AbstractSet[str]
    keys: AbstractSet[str] = frozenset()
    fields: AbstractSet[str] = frozenset()
    partly: bool = False


# Repairs that `satchel check --fix` writes into the file as they were read.
WRITTEN_REPAIRS: Final = (FENCE_REPAIRS | YAML_REPAIRS) - {
    LOSSY_REPAIR,
    "description-not-text",
}

FIXERS: Final = (
    Fixer(frontmatter, WRITTEN_REPAIRS),  # the others need valid YAML
    Fixer(misspelled_fields, {"misspelled-field", "unknown-field"}, partly=True),
    Fixer(description_text, {"description-not-text"}, {"description"}),
    Fixer(missing_name, {"missing-name"}, {"name"}),
    Fixer(name_as_folder, {"name-characters", "name-not-folder"}, {"name"}, {"name"}),
    Fixer(
        unlisted_references,
        {"unlisted-reference"},
        {"references"},
        {"references", "declares_files"},
    ),
)
# The codes of findings that may be fixed.
FIXABLE: Final = frozenset(code for fixer in FIXERS for code in fixer.codes)


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


def _read(page: FixInput) -> FixInput | None:
    """Return a page with what a lenient reader gets from its text, if anything."""
    manifest = parse(
        page.text.encode(),
        profile="lenient",
        # A pack with neither name nor folder is refused, and could not be fixed.
        directory=page.folder or "-",
        limits=page.limits,
        allow_empty_description=True,
    ).manifest
    return replace(page, manifest=manifest) if manifest is not None else None


def _is_safe(
    before: FixInput, after: FixInput, fixer: Fixer, codes: AbstractSet[str]
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
