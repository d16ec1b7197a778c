"""The fixers: each proposes the text of a SKILL.md without some findings."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from satchel.model import DEFAULT_LIMITS, Limits, Manifest, portable_name
from satchel.skill_md import (
    WRITTEN_REPAIRS,
    MisspelledKey,
    Profile,
    entry_text,
    find_misspelled,
    quoted,
    render_frontmatter,
    repaired_text,
    set_entry,
)


@dataclass(frozen=True, slots=True)
class FixInput:
    """A SKILL.md to fix; ``manifest`` is how a lenient reader reads it."""

    text: str
    folder: str
    manifest: Manifest
    files: tuple[str, ...] = ()
    profile: Profile = "spec"
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Fixer:
    """Proposes the text without findings of ``codes``."""

    # Only `keys` of the frontmatter and `fields` of the manifest may change; `partly`:
    # some findings of these codes may stay.

    propose: Callable[[FixInput], str | None]
    codes: frozenset[str]
    keys: frozenset[str]
    fields: frozenset[str]
    partly: bool = False


def fixer(
    *codes: str,
    keys: tuple[str, ...] = (),
    fields: tuple[str, ...] = (),
    partly: bool = False,
) -> Callable[[Callable[[FixInput], str | None]], Fixer]:
    return lambda propose: Fixer(
        propose, frozenset(codes), frozenset(keys), frozenset(fields), partly
    )


@fixer("description-not-text", keys=("description",))
def description_text(page: FixInput) -> str | None:
    line = f"description: {quoted(page.manifest.description)}\n"
    return set_entry(page.text, "description", line)


@fixer(*sorted(WRITTEN_REPAIRS))
def frontmatter(page: FixInput) -> str | None:
    return repaired_text(page.text, page.limits)


@fixer("missing-name", keys=("name",))
def missing_name(page: FixInput) -> str | None:
    """Write the folder's name, where every client accepts it."""
    # A name that some client refuses would only move the mistake.
    if portable_name(page.folder) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n", first=True)


@fixer("misspelled-field", "unknown-field", partly=True)
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


@fixer("name-characters", "name-not-folder", keys=("name",), fields=("name",))
def name_as_folder(page: FixInput) -> str | None:
    """Write the name as the folder has it: ``PDF Forms`` in ``pdf-forms``."""
    if portable_name(page.manifest.name) != page.folder:
        return None
    return set_entry(page.text, "name", f"name: {page.folder}\n")


_FIELD: Final = "references"
_FOLDER: Final = "references/"
_IN_BRACKETS: Final = re.compile(r"(references[ \t]*:[ \t]*\[[^\[\]#\n]*)\]([^\n]*\n)")
_IN_LINES: Final = re.compile(
    r"references[ \t]*:[^\n\[]*\n(?:[ \t]*-[^\n]*\n)*([ \t]*)- "
)


@fixer(
    "unlisted-reference", keys=("references",), fields=("references", "declares_files")
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


FIXERS: Final[tuple[Fixer, ...]] = (
    frontmatter,  # the others need valid YAML
    misspelled_fields,
    description_text,
    missing_name,
    name_as_folder,
    unlisted_references,
)
# The codes of findings that may be fixed.
FIXABLE: Final = frozenset(code for fixer in FIXERS for code in fixer.codes)
