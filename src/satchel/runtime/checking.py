"""Check packs: what a registry says of them, and what lint adds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.catalog import Registry
from satchel.catalog.allowlist import allow
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
    Manifest,
)
from satchel.runtime.time import SystemClock
from satchel.sources import folder
from satchel.spec import Profile, parse

if TYPE_CHECKING:
    from satchel.protocols import SkillSource

__all__ = ["check"]

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
        packs = tuple(_every_pack(catalog))
        for pack in packs:
            found.update(_look_at(pack, catalog, profile, limits))
    finally:
        registry.close()
    places = {origin.location for pack in packs for origin in pack.origins}
    return Report(len(places), _in_order(found), profile)


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


def _every_pack(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield every pack, whether it is listed, withheld, refused or in a conflict."""
    yield from catalog.entries
    for conflict in catalog.unresolved:
        yield from conflict.owners
    for held in catalog.withheld:
        yield held.descriptor


def _look_at(
    entry: Descriptor, catalog: Catalog, profile: Profile, limits: Limits
) -> Iterator[Finding]:
    """Yield what lint says of a pack; of a refused one as far as it can be read."""
    origin = entry.origin
    reader = catalog.readers[origin.source]
    try:
        data = reader.read(origin.key, SKILL_FILE, limits.skill_md_bytes)
        files = entry.files or tuple(reader.files(origin.key))
    except SkillError:  # the registry has said so
        return
    folder = origin.key.rpartition("/")[2]
    parsed = parse(data, profile="lenient", directory=folder, limits=limits)
    manifest = parsed.manifest or Manifest(name=folder, description="")
    listed = allow(manifest, files, closed=profile == "strict")

    def read(path: str) -> bytes:
        return reader.read(origin.key, path, limits.file_bytes)

    pack = Context(
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
        read=cache(read),
        told=listed.findings,
        profile=profile,
        limits=limits,
    )
    for finding in (
        *lint_pack(pack),
        *_duplicates(pack, catalog.conflict_of(entry.id)),
    ):
        yield replace(finding, path=f"{origin.location}/{finding.path}")


def _duplicates(pack: Context, conflict: Conflict | None) -> Iterator[Finding]:
    """Tell every owner of a name but the first who has it too."""
    if conflict is None:
        return
    first, *others = conflict.owners
    if pack.descriptor.origin in [other.origin for other in others]:
        yield Finding(
            "duplicate-skill",
            "error",
            f"{first.origin.location} has the name {first.id!r} too",
            SKILL_FILE,
            pack.line_of("name"),
            fix="rename one of the two",
        )


def _in_order(found: set[Finding]) -> tuple[Finding, ...]:
    """Sort, and drop what was said without a line where it was said with one too."""
    with_line = {(f.code, f.path, f.message) for f in found if f.line is not None}
    best = (
        f
        for f in found
        if f.line is not None or (f.code, f.path, f.message) not in with_line
    )
    return tuple(sorted(best, key=lambda f: (f.path, f.line or 0, f.code, f.message)))
