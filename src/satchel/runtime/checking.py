"""Check packs: what a registry says of them, and what lint adds."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.catalog import Registry
from satchel.catalog.assemble import Rules
from satchel.catalog.entry import Acceptance
from satchel.errors import (
    ConfigError,
    MissingPathError,
    SkillError,
    SourceUnavailableError,
)
from satchel.lint import Context, Report, lint_pack
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Limits,
    Reader,
)
from satchel.runtime.time import SystemClock
from satchel.sources import folder
from satchel.spec import Profile, parse

if TYPE_CHECKING:
    from satchel.protocols import SkillSource

__all__ = ["check"]

_LISTS: Final = frozenset({"references", "scripts", "assets"})

_PATIENCE_S: Final = 3_600.0
"""A check waits for slow disks: half an answer would look like a clean one."""


def check(
    paths: Sequence[str],
    *,
    profile: Profile = "spec",
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """Return all that is worth telling the authors of the packs below ``paths``.

    Each path is a pack, its SKILL.md, or a folder of packs; paths in findings begin
    with it as it was written. A pack reached twice is checked once.

    Raises:
        MissingPathError: A path does not exist.
        ConfigError: A path is a file, and no SKILL.md.
        SourceUnavailableError: A folder gave no answer.
    """
    roots = list(dict.fromkeys(_root(path) for path in paths))
    sources: list[SkillSource] = [folder(root, limits=limits) for root in roots]
    registry = Registry(
        sources,
        accept=Acceptance(profile=profile, limits=limits),
        rules=Rules(),
        clock=SystemClock(),
        deadline_s=_PATIENCE_S,
    )
    try:
        registry.sync()
        catalog = registry.latest
        for state in catalog.sources:
            if state.error:
                raise SourceUnavailableError(state.label, state.error)
        found = set(catalog.findings)
        for pack in _packs(catalog, profile, limits):
            found.update(_placed(pack))
            found.update(_duplicates(pack, catalog.conflict_of(pack.descriptor.id)))
    finally:
        registry.close()
    return Report(_count(catalog), tuple(sorted(found, key=_order)), profile)


def _root(path: str) -> str:
    """Return the folder to scan for what a user named."""
    place = Path(path)
    if not place.exists():
        raise MissingPathError(path)
    if place.is_dir():
        return path
    if place.name != SKILL_FILE:
        raise ConfigError(path, f"want a pack, its {SKILL_FILE}, or a folder of packs")
    return path.removesuffix(SKILL_FILE).rstrip("/") or str(place.parent)


def _readable(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield every pack with a manifest, listed or not."""
    yield from catalog.entries
    for conflict in catalog.unresolved:
        yield from conflict.owners
    for held in catalog.withheld:
        if held.reason != "refused":
            yield held.descriptor


def _count(catalog: Catalog) -> int:
    """Return how many folders hold a pack, refused ones included."""
    refused = (held.descriptor for held in catalog.withheld if held.reason == "refused")
    packs = (*_readable(catalog), *refused)
    return len({origin.location for pack in packs for origin in pack.origins})


def _packs(catalog: Catalog, profile: Profile, limits: Limits) -> Iterator[Context]:
    """Yield what the rules look at; a refused pack as a lenient reader has it."""
    for entry in _readable(catalog):
        yield from _context(entry, catalog, profile, profile, limits)
    for held in catalog.withheld:
        if held.reason == "refused":
            yield from _context(held.descriptor, catalog, profile, "lenient", limits)


def _context(
    entry: Descriptor,
    catalog: Catalog,
    profile: Profile,
    accept: Profile,
    limits: Limits,
) -> Iterator[Context]:
    """Yield the context of a pack; none where its SKILL.md cannot be read at all."""
    origin = entry.origin
    reader = catalog.readers[origin.source]
    try:
        data = reader.read(origin.key, SKILL_FILE, limits.skill_md_bytes)
        files = entry.files or reader.files(origin.key)
    except SkillError:
        return
    folder = origin.key.rpartition("/")[2]
    parsed = parse(data, profile=accept, directory=folder, limits=limits)
    manifest = parsed.manifest or Manifest(name=folder, description="")
    listed = allow(manifest, files, closed=profile == "strict")
    yield Context(
        descriptor=replace(
            entry,
            references=listed.references,
            scripts=listed.scripts,
            assets=listed.assets,
            others=listed.others,
            files=files,
        ),
        manifest=manifest,
        text=data.decode("utf-8", "replace"),
        read=cache(_reading(reader, origin.key, limits.file_bytes)),
        told=listed.findings,
        profile=profile,
        limits=limits,
    )


def _reading(reader: Reader, key: str, limit_bytes: int) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        return reader.read(key, path, limit_bytes)

    return read


def _placed(pack: Context) -> Iterator[Finding]:
    """Yield what lint says of a pack, with the pack's location in front of paths."""
    for finding in lint_pack(pack):
        yield replace(finding, path=f"{pack.descriptor.origin.location}/{finding.path}")


def _duplicates(pack: Context, conflict: Conflict | None) -> Iterator[Finding]:
    """Tell every owner of a name but the first who has it too."""
    if conflict is None or pack.descriptor is conflict.owners[0]:
        return
    yield Finding(
        "duplicate-skill",
        "error",
        f"{conflict.owners[0].origin.location} has the name {conflict.id!r} too",
        f"{pack.descriptor.origin.location}/{SKILL_FILE}",
        pack.line_of("name"),
        fix="rename one of the two",
    )


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line or 0, finding.code, finding.message
