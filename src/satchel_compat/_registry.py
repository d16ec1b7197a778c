"""SkillRegistry and SkillDescriptor: skills that are registered in code."""

import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast, get_args

from satchel.errors import (
    DuplicateSkillError,
    LimitExceededError,
    ReferenceNotFoundError,
    SkillManifestError,
    SkillNotFoundError,
    rename_advice,
)
from satchel.files import (
    TOO_LARGE_FIX,
    Listing,
    check_path,
    digest_bytes,
    mark_of,
    read_confined,
)
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


_PYTHON_FILES: Final = frozenset({"__init__.py", "__pycache__"})


def stat_file(path: str) -> FileStat | None:
    """Return size and digest of a regular file; None if there is none."""
    place = _find_package(path)
    if isinstance(place, Path):
        try:
            # Not `stat`: a link may lead out of the package, and is no file here.
            status = place.joinpath(path.partition("/")[2]).lstat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return FileStat(path, status.st_size, mark_of(status))
    if place is None or not place.is_file():
        return None
    data = place.read_bytes()
    return FileStat(path, len(data), digest_bytes(data))


def is_folder(path: str) -> bool:
    """Return whether a path is an importable package, or a folder in one."""
    place = _find_package(f"{path}/.")
    if isinstance(place, Path):
        return place.joinpath(path.partition("/")[2]).is_dir()
    if place is None or "/" not in path:
        return place is not None
    in_zip = _find_package(path)
    return in_zip is not None and in_zip.is_dir()


def files_below(folder: str) -> tuple[str, ...]:
    """Return the regular files below a folder, sorted; no link is followed."""
    place = _find_package(folder)
    if isinstance(place, Path):
        place /= folder.partition("/")[2]
    return () if place is None else tuple(sorted(_below(place, folder)))


def _below(place: Path | Traversable, path: str) -> Iterator[str]:
    if isinstance(place, Path) and place.is_symlink():
        return
    if place.is_file():
        yield path
    elif place.is_dir():
        for child in place.iterdir():
            name = child.name
            if name not in _PYTHON_FILES and not name.startswith("."):
                yield from _below(child, f"{path}/{name}")


def read_file(path: str, limit_bytes: int, owner: str) -> bytes:
    """Return the bytes of a file, whose path the caller has checked.

    ``owner`` is the skill to name in errors, which are those of
    `satchel.files.read_confined`.
    """
    place = _find_package(path)
    if isinstance(place, Path):
        inside = path.partition("/")[2]
        return read_confined(str(place), inside, limit_bytes, owner=owner)
    if place is None or not place.is_file():
        raise ReferenceNotFoundError(owner, path)
    # Files in an archive have no size before they are read.
    data = place.read_bytes()
    if len(data) > limit_bytes:
        raise LimitExceededError("file_bytes", limit_bytes, len(data), "bytes", path)
    return data


def _find_package(path: str) -> Path | Traversable | None:
    """Return the folder of the package, or the file itself if it is in an archive."""
    package, _, inside = path.partition("/")
    if not inside:
        return None
    try:
        # Only a plain name: for a dotted one `find_spec` imports the parents.
        spec = find_spec(package) if package.isidentifier() else None
        # A module that is no package would mean the folder that it is in.
        if spec is None or spec.submodule_search_locations is None:
            return None
        places = map(Path, spec.submodule_search_locations)
        folders = [place for place in places if place.is_dir()]
        if not folders:
            return files(package).joinpath(inside)
    except Exception:  # noqa: BLE001 - a package's own loader or code may raise anything
        return None
    # A namespace package has several folders: the first one that has the file counts.
    with_file = (folder for folder in folders if os.path.lexists(folder / inside))
    return next(with_file, folders[0])


@dataclass(frozen=True, slots=True)
class SkillDescriptor:
    """A skill in a `satchel.SkillRegistry`; hashable and immutable.

    ``references`` begin with an importable package:
    ``my_skills/agentic_rag/references/azure_search_config.md``. No other file can be
    read. ``import_path`` tells people where the skill is written; nothing imports it.
    ``tools`` names the tools of the skill. A registry takes it with a description only.

    Raises:
        TypeError: ``tools`` or ``references`` is not a tuple of texts.
        ValueError: There is no such category.
    """

    name: str
    description: str = ""
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
                for member in ("name", "description"):
                    if not getattr(descriptor, member).strip():
                        what = f"SkillDescriptor({descriptor.name!r})"
                        raise SkillManifestError(what, f"it needs a {member}")
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
    from satchel.config import find_config, load_config
    from satchel.runtime import Satchel
    from satchel.sources import usual

    path = find_config(Path.cwd())
    # A satchel.toml may have other settings and name no skills.
    is_named = path is not None and load_config(path).names_skills
    return Satchel() if is_named else Satchel(*usual())
