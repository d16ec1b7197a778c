"""Check packs: what a registry says of them, and what lint adds."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from satchel.catalog import Registry
from satchel.catalog.assemble import Rules
from satchel.catalog.entry import Acceptance
from satchel.errors import ConfigError, MissingPathError, SourceUnavailableError
from satchel.lint import Context, Report, lint_pack
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Limits,
)
from satchel.protocols import SkillSource
from satchel.runtime.time import SystemClock
from satchel.sources import folder
from satchel.spec import Profile, parse

__all__ = ["check"]

_PATIENCE_S = 3_600.0
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
        found.update(map(_duplicate, catalog.unresolved))
        for entry in _readable(catalog):
            found.update(_lint(entry, catalog, profile, limits))
    finally:
        registry.close()
    return Report(_count(catalog), tuple(sorted(found, key=_order)), profile)


def _root(path: str) -> str:
    """Return the folder to scan for what a user named."""
    if not os.path.exists(path):
        raise MissingPathError(path)
    if os.path.isdir(path):
        return path
    head, tail = os.path.split(path)
    if tail != SKILL_FILE:
        raise ConfigError(path, f"want a pack, its {SKILL_FILE}, or a folder of packs")
    return head or os.curdir


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


def _lint(
    entry: Descriptor, catalog: Catalog, profile: Profile, limits: Limits
) -> Iterator[Finding]:
    origin = entry.origin
    reader = catalog.readers[origin.source]
    data = reader.read(origin.key, SKILL_FILE, limits.skill_md_bytes)
    parsed = parse(
        data,
        profile=profile,
        directory=origin.location.rstrip("/").rpartition("/")[2],
        limits=limits,
    )
    if parsed.manifest is None:  # it was changed under our hands
        return
    pack = Context(
        descriptor=entry,
        manifest=parsed.manifest,
        text=data.decode("utf-8", "replace"),
        read=cache(lambda path: reader.read(origin.key, path, limits.file_bytes)),
        profile=profile,
        limits=limits,
    )
    for finding in lint_pack(pack):
        yield replace(finding, path=f"{origin.location}/{finding.path}")


def _duplicate(conflict: Conflict) -> Finding:
    first, second = conflict.owners[:2]
    return Finding(
        "duplicate-skill",
        "error",
        f"{first.origin.location} has the name {conflict.id!r} too",
        f"{second.origin.location}/{SKILL_FILE}",
        fix="rename one of the two",
    )


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.path, finding.line or 0, finding.code, finding.message
