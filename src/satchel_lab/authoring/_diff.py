"""What changed between two packs, as a value: by fields, body and files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from satchel.errors import DuplicateSkillError, rename_advice
from satchel.model import SKILL_FILE, Finding, Json, Resource
from satchel.prompt import XmlId
from satchel.skill_md import WrittenFrontmatter, read_as_written
from satchel.text import EstimateCounter, clean_line, unified_lines
from satchel_lab._frontmatter_editor import same_values
from satchel_lab.authoring._packs import PackLocation, WholePack, find_packs

ChangeKind: TypeAlias = Literal["added", "removed", "changed", "equal"]

_COUNTER: Final = EstimateCounter()
_CATALOG_LINE: Final = XmlId("agent-skills")


@dataclass(frozen=True, slots=True)
class PackSide:
    """One of two packs: where it is, its digest, and what it costs.

    ``catalog_tokens`` is what its entry adds to every prompt, ``body_tokens`` what its
    instructions add once they are loaded; both are estimates.
    """

    location: str
    digest: str
    catalog_tokens: int
    body_tokens: int


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of the manifest; None is a field that is not there.

    ``field`` is its keys with dots between, as ``metadata.owner``.
    """

    field: str
    old: Json
    new: Json
    fit: ChangeKind


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file other than SKILL.md; ``diff`` is empty for what is not text."""

    path: str
    old: Resource | None
    new: Resource | None
    diff: tuple[str, ...] = ()

    @property
    def fit(self) -> ChangeKind:
        """Whether it was added, removed or changed."""
        return "added" if not self.old else "removed" if not self.new else "changed"


@dataclass(frozen=True, slots=True)
class PackDiff:
    """Two packs of one name; ``old`` or ``new`` is None where there is only one.

    ``body`` are the lines of a unified diff, each without its line end; there are none
    where there is only one pack.
    """

    name: str
    old: PackSide | None
    new: PackSide | None
    manifest: tuple[FieldChange, ...] = ()
    body: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    skill_md_changed: bool = False

    @property
    def fit(self) -> ChangeKind:
        """Whether the pack was added, removed or changed, or is what it was."""
        if not self.old:
            return "added"
        if not self.new:
            return "removed"
        return "changed" if self.skill_md_changed or self.files else "equal"


def compare_places(old: str, new: str) -> tuple[PackDiff, ...]:
    """Return what changed from one place to another, by name; what is equal, too.

    Each place is a pack, its SKILL.md, an archive, or a folder of packs. Two single
    packs are compared whatever their names; else packs of one name are.

    Raises:
        DuplicateSkillError: Two packs at one place have one name.
        SkillError: A place does not exist, has no pack, or cannot be read.
    """
    before, after = find_packs(old), find_packs(new)
    # Two single packs may have got another name; of many, names are all there is.
    if len(before) == len(after) == 1:
        return (compare(before[0].read(), after[0].read()),)
    olds, news = _by_name(before), _by_name(after)
    return tuple(
        compare(*(side[name].read() if name in side else None for side in (olds, news)))
        for name in sorted({*olds, *news})
    )


def _by_name(places: Iterable[PackLocation]) -> dict[str, PackLocation]:
    by_name: dict[str, PackLocation] = {}
    for place in places:
        name = place.name
        first = by_name.setdefault(name, place)
        if first is not place:
            fix = rename_advice()
            raise DuplicateSkillError(name, first.location, place.location, fix)
    return by_name


def compare(old: WholePack | None, new: WholePack | None) -> PackDiff:
    """Return what changed from one pack to the other; one of them may not be there."""
    one = new or old
    assert one is not None  # noqa: S101 - one of them is there
    before, after = _written(old), _written(new)
    return PackDiff(
        one.name,
        _pack_side(old, before),
        _pack_side(new, after),
        tuple(_fields(before.fields, after.fields)),
        tuple(_lines(before.body, after.body)) if old and new else (),
        tuple(_files(old, new)),
        (old.skill_md if old else b"") != (new.skill_md if new else b""),
    )


def _written(pack: WholePack | None) -> WrittenFrontmatter:
    """Return the fields of SKILL.md; one that cannot be read is all body."""
    if pack is None:
        return WrittenFrontmatter({}, b"")
    written = read_as_written(pack.skill_md)
    if isinstance(written, Finding):
        return WrittenFrontmatter({}, pack.skill_md)
    return written


def _pack_side(pack: WholePack | None, written: WrittenFrontmatter) -> PackSide | None:
    if pack is None:
        return None
    manifest = pack.manifest
    entry = ""
    if manifest is not None:
        name, description = clean_line(manifest.name), clean_line(manifest.description)
        entry = _CATALOG_LINE.entry(name, description)
    body = _COUNTER.count(_text(written.body) or "")
    return PackSide(pack.location, pack.digest, _COUNTER.count(entry), body)


def _fields(
    old: Mapping[str, Json], new: Mapping[str, Json], prefix: str = ""
) -> Iterator[FieldChange]:
    """Yield the fields that differ: those of the old one in order, then new ones."""
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if key in old and key in new and same_values(before, after):
            continue
        inner = [
            value if isinstance(value, Mapping) else None for value in (before, after)
        ]
        if any(inner) and all(
            value is not None or key not in side
            for value, side in zip(inner, (old, new), strict=True)
        ):
            yield from _fields(inner[0] or {}, inner[1] or {}, f"{prefix}{key}.")
            continue
        fit: ChangeKind = "changed"
        if key not in old or key not in new:
            fit = "removed" if key in old else "added"
        yield FieldChange(f"{prefix}{key}", before, after, fit)


def _files(old: WholePack | None, new: WholePack | None) -> Iterator[FileChange]:
    olds, news = (
        {file.path: file for file in pack.resources} if pack else {}
        for pack in (old, new)
    )
    for path in sorted({*olds, *news} - {SKILL_FILE}):
        before, after = olds.get(path), news.get(path)
        if before != after:
            sides = [pack.files.get(path, b"") for pack in (old, new) if pack]
            diff = _lines(*sides) if old and new else ()
            yield FileChange(path, before, after, tuple(diff))


def _lines(old: bytes, new: bytes) -> Iterator[str]:
    """Yield a unified diff; nothing where either is not text."""
    before, after = _text(old), _text(new)
    if before is not None and after is not None:
        yield from unified_lines(before, after)


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
