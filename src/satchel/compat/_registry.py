"""SkillRegistry and SkillDescriptor: skills that are registered in code."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast, get_args

from satchel.compat._package_files import read_file, stat_file
from satchel.errors import (
    DuplicateSkillError,
    LimitExceededError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
    rename_advice,
)
from satchel.files import TOO_LARGE_FIX, Listing, check_path, digest_bytes
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Category,
    FileStat,
    Finding,
    Found,
    Json,
    Limits,
)
from satchel.skill_md import encode_items, render_frontmatter, to_spec

if TYPE_CHECKING:
    from satchel.runtime import Satchel


@dataclass(frozen=True, slots=True)
class SkillDescriptor:
    """A skill in a `satchel.SkillRegistry`; hashable and immutable.

    ``references`` begin with an importable package:
    ``my_skills/agentic_rag/references/azure_search_config.md``. No other file can be
    read. ``import_path`` tells people where the skill is written; nothing imports it.
    ``tools`` names the tools of the skill.

    Raises:
        TypeError: ``tools`` or ``references`` is not a tuple of texts.
        ValueError: There is no such category.
    """

    name: str
    description: str
    instructions: str = field(default="", repr=False)
    category: Category = "standard"
    import_path: str = ""
    tools: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values that could change or cannot be hashed."""
        for label, items in (("tools", self.tools), ("references", self.references)):
            if not _are_texts(items):
                raise TypeError(
                    f"skill {self.name!r}: {label}: expected a tuple of texts; "
                    f"got {items!r}"
                )
        if self.category not in get_args(Category):
            raise ValueError(
                f"skill {self.name!r}: category: expected standard or raw; "
                f"got {self.category!r}"
            )


def _are_texts(items: object) -> bool:
    # The annotation says so too, but callers may have no type checker.
    if not isinstance(items, tuple):
        return False
    return all(isinstance(item, str) for item in cast("tuple[object, ...]", items))


class SkillRegistry:
    """Skills by name, registered by explicit calls; it is a source as well.

    It has no global state, reads no file and discovers nothing. If you pass it to
    `satchel.Satchel`, its skills are listed and loaded like any others. Safe across
    threads.
    """

    def __init__(
        self,
        descriptors: Iterable[SkillDescriptor] = (),
        *,
        label: str = "registry",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """Register ``descriptors``; errors are those of `bootstrap`.

        Args:
            descriptors: The first skills.
            label: Its label as a source.
            limits: Bounds on what is accepted.
        """
        self.label: Final = label
        self._limits = limits
        self._lock = Lock()
        self._skills: Mapping[str, SkillDescriptor] = MappingProxyType({})
        self.bootstrap(descriptors)

    def __repr__(self) -> str:
        """Return what a debugger shows."""
        kind = type(self).__name__
        return f"{kind}({len(self._skills)} skills, label={self.label!r})"

    def register(self, descriptor: SkillDescriptor, *, replace: bool = False) -> None:
        """Add one skill; with ``replace`` it may take the place of one of its name.

        Raises:
            DuplicateSkillError: The name is taken; the message names both owners.
            SkillManifestError: It has no name or no description.
        """
        self._put((descriptor,), replace=replace)

    def bootstrap(self, descriptors: Iterable[SkillDescriptor]) -> None:
        """Register all of them, or none if one is refused.

        Raises:
            DuplicateSkillError, SkillManifestError: As for `register`.
        """
        self._put(descriptors, replace=False)

    def get(self, name: str) -> SkillDescriptor:
        """Return the skill of exactly this name.

        Raises:
            SkillNotFoundError: There is none.
        """
        try:
            return self._skills[name]
        except KeyError:
            raise SkillNotFoundError(name) from None

    def find(self, query: str) -> tuple[SkillDescriptor, ...]:
        """Return the skills whose name, description or references contain ``query``.

        Sorted by name. Upper and lower case are equal; an empty query matches all.
        """
        text = query.casefold()
        return tuple(
            skill
            for skill in self._skills.values()
            if text
            in "\n".join((skill.name, skill.description, *skill.references)).casefold()
        )

    def all_descriptors(self) -> Mapping[str, SkillDescriptor]:
        """Return all skills, by name and sorted; the mapping never changes."""
        return self._skills

    def scan(self) -> tuple[Found | Finding, ...]:
        """Return the skills, sorted by name, then findings."""
        packs: list[Found] = []
        findings: list[Finding] = []
        missing = partial(Finding.of, "listed-file-missing", sentence="package")
        for name, descriptor in self._skills.items():
            where = f"{self.label}/{name}"
            try:
                files = self._list(descriptor)
            except LimitExceededError as error:
                findings.append(Finding.of_error(error, where, fix=TOO_LARGE_FIX))
                continue
            packs.append(Found(name, where, (descriptor, files), files))
            for file in files:
                if file.missing:
                    path = f"{where}/{SKILL_FILE}"
                    findings.append(missing(path, reference=file.path))
        return (*packs, *findings)

    def manifest(self, key: str) -> bytes:
        """Return a SKILL.md with the content of the descriptor."""
        return self.read(key, SKILL_FILE, self._limits.skill_md_bytes)

    def files(self, key: str) -> tuple[FileStat, ...]:
        """Return SKILL.md and the references, sorted by path.

        A missing one is in the list, and marked: an error says that it is missing.
        """
        return self._list(self.get(key))

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        """Return one file's raw bytes; of references only those that are listed."""
        check_path(path, key)
        descriptor = self.get(key)
        if path != SKILL_FILE:
            # Only listed files: a path names an importable package, which may be any.
            if path not in descriptor.references:
                raise ReferenceNotFoundError(key, path)
            return read_file(path, limit_bytes, key)
        data = _write_skill_md(descriptor)
        if len(data) > limit_bytes:
            limit = "skill_md_bytes"
            raise LimitExceededError(limit, limit_bytes, len(data), "bytes", path)
        return data

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def _put(self, more: Iterable[SkillDescriptor], *, replace: bool) -> None:
        with self._lock:
            skills = dict(self._skills)
            for descriptor in more:
                _check_descriptor(descriptor)
                if descriptor.name in skills and not replace:
                    first = self._owner(skills[descriptor.name])
                    fix = rename_advice("register it with replace=True")
                    own = self._owner(descriptor)
                    raise DuplicateSkillError(descriptor.name, first, own, fix)
                skills[descriptor.name] = descriptor
            # A new mapping for each change: readers take no lock and never see half of
            # it.
            self._skills = MappingProxyType(dict(sorted(skills.items())))

    def _owner(self, descriptor: SkillDescriptor) -> str:
        return descriptor.import_path or f"{self.label}/{descriptor.name}"

    def _list(self, descriptor: SkillDescriptor) -> tuple[FileStat, ...]:
        skill_md = _write_skill_md(descriptor)
        listing = Listing(self._limits)
        listing.add(FileStat(SKILL_FILE, len(skill_md), digest_bytes(skill_md)))
        for path in dict.fromkeys(descriptor.references):
            if path != SKILL_FILE and listing.admits(path):
                listing.add(stat_file(path) or FileStat(path, 0, missing=True))
        return listing.files()


def _check_descriptor(descriptor: SkillDescriptor) -> None:
    for member in ("name", "description"):
        if not getattr(descriptor, member).strip():
            what = f"SkillDescriptor({descriptor.name!r})"
            raise SkillManifestError(what, f"it needs a {member}")


def _write_skill_md(descriptor: SkillDescriptor) -> bytes:
    """Return a SKILL.md with the same content; the instructions are not changed."""
    metadata: dict[str, Json] = {}
    if descriptor.tools:
        metadata["tools"] = encode_items(descriptor.tools)
    if descriptor.category != "standard":
        metadata["category"] = descriptor.category
    fields: dict[str, Json] = {
        "name": descriptor.name,
        "description": descriptor.description,
    }
    if descriptor.references:  # declared files close the pack to just these
        listed: list[Json] = [*descriptor.references]
        fields |= {"references": listed, "scripts": [], "assets": []}
    if metadata:
        fields["metadata"] = metadata
    text = render_frontmatter(to_spec(fields)) + descriptor.instructions
    # The parser reports a lone surrogate.
    return text.encode("utf-8", "surrogatepass")


_lock = threading.Lock()


def default_registry() -> "Satchel":
    """Return the one Satchel of this process, made and synced at the first call.

    It reads satchel.toml if there is one, else the usual folders of clients
    (`satchel.sources.usual`). Call its ``sync()`` to look again.
    """
    # Without the lock two threads could make one each: `cache` does not prevent that.
    with _lock:
        return _make()


@cache
def _make() -> "Satchel":
    from pathlib import Path

    from satchel.config import find_config
    from satchel.errors import NoSources
    from satchel.runtime import Satchel
    from satchel.sources import usual

    try:
        return Satchel() if find_config(Path.cwd()) else Satchel(*usual())
    # A satchel.toml may have other settings and name no skills.
    except NoSources:
        return Satchel(*usual())
