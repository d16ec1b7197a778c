"""Taking a skill out of use: it leaves the catalog, and still loads.

The skill names its replacement in ``metadata.replaced-by``, next to its
``metadata.status``. The replacement names it too, in ``metadata.replaces``: that stays
when the skill's folder is gone.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from satchel.errors import CannotRetireError, SkillError, SkillNotFoundError
from satchel.load import look_up
from satchel.model import SKILL_FILE, Catalog, Descriptor
from satchel.runtime import Satchel
from satchel.skill_md import encode_items, parse
from satchel.sources import LocalSource
from satchel.text import unified_lines
from satchel_lab._metadata_editor import edit_metadata
from satchel_lab.authoring._packs import put_file

_DEPRECATED: Final = "deprecated"


@dataclass(frozen=True, slots=True)
class SkillEdit:
    """One SKILL.md as it is, and as it is to be; ``shown`` is its path for a user."""

    file: Path
    shown: str
    before: bytes
    after: bytes

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = (
            data.decode("utf-8", "replace") for data in (self.before, self.after)
        )
        head = (f"--- {self.shown}", f"+++ {self.shown}")
        lines = (*head, *unified_lines(before, after, 2))
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Retirement:
    """What there is to write, the replacement first; empty where nothing changes.

    ``notes`` are sentences about what could not be done, or has another effect too.
    """

    edits: tuple[SkillEdit, ...]
    notes: tuple[str, ...] = ()

    def write(self) -> None:
        """Write each file whole, and none over what changed meanwhile.

        Where one cannot be written, those before it are put back.
        """
        written: list[SkillEdit] = []
        try:
            for edit in self.edits:
                put_file(edit.file, edit.after, over=edit.before)
                written.append(edit)
        except BaseException:
            # Half a retirement would name a skill that does not know of it.
            for edit in reversed(written):
                with suppress(SkillError):  # the first error is the one to tell
                    put_file(edit.file, edit.before, over=edit.after)
            raise


def retire(
    skills: Satchel, name: str, replacement: str = "", *, undo: bool = False
) -> Retirement:
    """Return what to write to retire a skill, or to undo that; write nothing.

    Args:
        skills: Where the skill is, and its replacement.
        name: The id of the skill.
        replacement: The id of the one that takes its place; empty for none, or for the
            one that it names already.
        undo: Whether to undo what an earlier call made.

    Raises:
        SkillNotFoundError: There is no such skill, or no such replacement.
        SkillExcludedError, DuplicateSkillError: It is there, and cannot be used.
        CannotRetireError: The replacement leads back to the skill; or the skill is not
            in a folder of the user's.
        NotEditableError: A SKILL.md is written in a way that no small change fits.
    """
    catalog = skills.registry.latest
    old, _ = look_up(catalog, name)
    # A second call without a replacement keeps the one that is named already.
    replacement = replacement or old.replaced_by
    notes: list[str] = []
    edits: list[SkillEdit] = []
    if replacement and not undo:
        _check_replacement(catalog, name, replacement)
    for entry, gone in _replacements(catalog, old, replacement, notes, undo=undo):
        replaces = [id for id in entry.replaces if id not in gone]
        if not undo and entry.id == replacement:
            replaces += gone
        encoded = encode_items(replaces) if replaces else None
        if tuple(replaces) != entry.replaces:
            edits += _edit_replacement(skills, entry, encoded, notes)
    status = None if undo else _DEPRECATED
    changes = {"status": status, "replaced-by": None if undo else replacement or None}
    edit = _edit(skills, old, changes)
    if not undo and parse(edit.before).profile == "strict":
        notes.append(
            f"{edit.shown} is in error in profile strict now, which has no metadata"
        )
    edits.append(edit)
    return Retirement(
        tuple(edit for edit in edits if edit.after != edit.before), tuple(notes)
    )


def _check_replacement(catalog: Catalog, name: str, replacement: str) -> None:
    if replacement == name:
        raise CannotRetireError(name, "it cannot take its own place")
    seen = {name}
    step = replacement
    # `seen` ends the walk where other skills already lead in a circle.
    while step and step not in seen:
        seen.add(step)
        try:
            step = look_up(catalog, step)[0].replaced_by
        except SkillNotFoundError:
            if step == replacement:
                raise
            step = ""
    if step == name:
        raise CannotRetireError(
            name, f"its replacement {replacement!r} leads back to it"
        )


def _replacements(
    catalog: Catalog, old: Descriptor, replacement: str, notes: list[str], *, undo: bool
) -> list[tuple[Descriptor, list[str]]]:
    """Return the skills whose ``replaces`` changes, with the ids to add or drop."""
    names = [*dict.fromkeys([old.id, *old.replaces])]
    retired = [e.descriptor for e in catalog.excluded if e.reason == _DEPRECATED]
    new = "" if undo else replacement
    changing = [
        (entry, [name for name in names if name != entry.id])
        for entry in (*catalog.entries, *retired)
        if entry.id in {replacement, old.replaced_by} - {old.id}
        or (undo and old.id in entry.replaces)
    ]
    marked = {entry.id for entry, _ in changing}
    if new and new not in marked:
        notes.append(f"{new} is not listed, and does not say that it replaces {old.id}")
    past = old.replaced_by
    if past and past not in {new, *marked}:
        notes.append(
            f"{past} is not listed; it may still say that it replaces {old.id}"
        )
    if new and any(entry.id == new for entry in retired):
        notes.append(f"{new} is retired itself")
    return changing


def _edit_replacement(
    skills: Satchel, entry: Descriptor, replaces: str | None, notes: list[str]
) -> list[SkillEdit]:
    try:
        return [_edit(skills, entry, {"replaces": replaces})]
    except CannotRetireError:
        notes.append(
            f"{entry.origin.location} cannot be written to: once the old skill is "
            "deleted, nothing says what took its place"
        )
        return []


def _edit(
    skills: Satchel, entry: Descriptor, changes: dict[str, str | None]
) -> SkillEdit:
    origin = entry.origin
    source = skills.registry.sources[origin.source]
    if not isinstance(source, LocalSource) or not source.is_editable:
        detail = f"it is in {origin.source}: change it where it is made"
        raise CannotRetireError(entry.id, detail)
    file = Path(source.folder_of(origin.key)) / SKILL_FILE
    shown = f"{origin.location}/{SKILL_FILE}"
    before = source.manifest(origin.key)
    return SkillEdit(file, shown, before, edit_metadata(before, changes, path=shown))
