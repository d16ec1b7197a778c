"""From what is wanted to which bytes: an upstream is asked, its packs are stored."""

import os
import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.config import own_config
from satchel.errors import (
    ConfigError,
    ExtraMissingError,
    NotInstalledError,
    NotWrittenError,
    SourceUnavailableError,
)
from satchel.files import folded_name, folder_problem, path_problem
from satchel.load import STILL_LOADS, fetch, find_loadable
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Conflict,
    Descriptor,
    Finding,
    Found,
    Resource,
)
from satchel.products import import_product
from satchel.protocols import SkillSource, Verifier
from satchel.runtime import SystemClock, open_inputs
from satchel.sources import SourceWrapper
from satchel.text import first_names, nearest
from satchel_install._entries import SkillsEntry, Upstream, is_below
from satchel_install._git import Repository, fetched
from satchel_install._lock import LockedSkill, is_stored
from satchel_store.archives import TreeSource, archive_size_limit, open_library
from satchel_store.content import VARIABLE, ContentStore

_LIMITS: Final = DEFAULT_LIMITS
# Seconds for an archive, and the status of an answer that has one.
_DOWNLOAD_S: Final = 300.0
_OK: Final = 200
# Source: git-lfs, docs/spec.md.
_POINTER: Final = b"version https://git-lfs.github.com/spec/v1\n"
_LFS: Final = "is a pointer of Git LFS; add a folder of a clone that has its content"


@dataclass(slots=True)
class Resolved:
    """What an entry came to: its skills, and what somebody should know."""

    skills: list[LockedSkill] = field(default_factory=list[LockedSkill])
    findings: list[Finding] = field(default_factory=list[Finding])
    warnings: list[str] = field(default_factory=list[str])


class _Below(SourceWrapper):
    """The packs of a source at or below a folder."""

    def __init__(self, source: SkillSource, folder: str) -> None:
        super().__init__(source)
        self._folder = folder

    def scan(self) -> Iterator[Found | Finding]:
        for item in super().scan():
            if isinstance(item, Finding) or is_below(item.key, self._folder):
                yield item


@dataclass(frozen=True, slots=True)
class Library:
    """The packs of an upstream; ``start`` is where in a repository they are.

    ``apart`` has a sentence on each submodule, whose packs are not among them.
    """

    catalog: Catalog
    commit: str = ""
    start: str = ""
    root: str = ""
    apart: list[str] = field(default_factory=list[str])

    @property
    def entries(self) -> list[Descriptor]:
        """Return all packs that a load would give, by id."""
        others = self.catalog.excluded
        hidden = (one.descriptor for one in others if one.reason in STILL_LOADS)
        return sorted((*self.catalog.entries, *hidden), key=lambda entry: entry.id)

    def path_of(self, entry: Descriptor) -> str:
        """Return where a pack is in its upstream."""
        key = "" if entry.origin.key == self.root else entry.origin.key
        return "/".join(filter(None, (self.start, key)))


_Chosen: TypeAlias = dict[str, tuple[Descriptor, Library]]


class OpenUpstream:
    """An upstream that is open: it says which packs it has, and reads them."""

    def __init__(
        self, upstream: Upstream, repository: Repository | None, base: Path, commit: str
    ) -> None:
        self.place: Final = upstream.place
        self.warnings: Final = list[str]()
        self._commit = commit
        self._upstream = upstream
        self._repository = repository
        self._base = base
        self._libraries: dict[str, Library] = {}

    def library(self, path: str) -> Library:
        """Return the packs below a folder of a repository, else all there are."""
        if path not in self._libraries:
            self._libraries[path] = self._open(path)
        return self._libraries[path]

    def _open(self, path: str) -> Library:
        upstream, repository = self._upstream, self._repository
        if repository is None:
            place, is_oci = upstream.place, upstream.kind == "oci"
            if is_oci:  # by its tag, or the digest that is locked
                name, commit = place.partition("@")[0], self._commit
                place = f"oci://{name}@{commit}" if commit else f"oci://{place}"
            # Only the user's own file lets an address lead to private networks.
            private = "://" in place and own_config(os.environ).allow_private
            if "://" not in place:
                place = str(self._base / place)
            sources: Sequence[SkillSource]
            if upstream.kind == "archive" and "://" in place:
                sources = (_downloaded(place, allow_private=private),)
            else:
                how: Any = {"limits": _LIMITS, "allow_private": private}
                sources = open_inputs((place,), **how).sources
            catalog = catalog_of([_Below(one, path) for one in sources])
            return Library(catalog, catalog.release if is_oci else "")
        is_top = path == "."
        path = path * (not is_top)
        files, links, apart = repository.read(path)
        name, is_pack = _name_of(path or upstream.place), SKILL_FILE in files
        above = path.rpartition("/")[0] if is_pack else path
        place = f"{upstream.place}/{above}".rstrip("/")
        source = TreeSource(files, name, label=place, limits=_LIMITS, links=links)
        catalog = catalog_of((_Below(source, name) if is_top else source,))
        return Library(catalog, repository.commit, path, name * is_pack, apart)

    def lock(
        self, entry: Descriptor, library: Library, name: str, store: ContentStore
    ) -> LockedSkill:
        """Store a pack, and return it as a lock has it.

        Raises:
            SkillError: A file cannot be read, or no system could have it.
        """
        reader = library.catalog.readers[entry.source]
        refusal_of = getattr(reader, "refusal_of", None)
        refusal = refusal_of(entry.origin.key) if refusal_of else ""
        refusal += f"; take another release, or: satchel remove {name}" * bool(refusal)
        if problem := folder_problem(entry.id) or refusal:
            raise ConfigError(entry.id, problem)
        files: list[Resource] = []
        spellings: dict[str, str] = {}
        for path in sorted({SKILL_FILE, *entry.present}):
            if problem := path_problem(path):
                raise ConfigError(f"{entry.id}/{path}", problem)
            first = spellings.setdefault(folded_name(path), path)
            if first != path:
                detail = f"on some systems this is the same as {first}"
                raise ConfigError(f"{entry.id}/{path}", detail)
            most = _LIMITS.skill_md_bytes if path == SKILL_FILE else _LIMITS.pack_bytes
            data = fetch(reader, entry, path, most)
            if data.startswith(_POINTER):
                self.warnings.append(f"{entry.id}/{path} {_LFS}")
            files.append(Resource(path, _stored(data, store), len(data)))
        at = library.path_of(entry)
        of = entry.id, name, self._upstream, library.commit, at, tuple(files)
        return LockedSkill(*of, tuple(entry.requires))


def _stored(data: bytes, store: ContentStore) -> str:
    try:
        return store.keep(data)
    except OSError as error:
        detail = f"{error.strerror}; set {VARIABLE} to a folder that can be"
        raise NotWrittenError(str(store.folder), detail) from error


def _downloaded(address: str, *, allow_private: bool) -> TreeSource:
    """Return the packs of an archive at an address."""
    try:
        from satchel_store.http import HttpClient, HttpRequest, parse_url
    except ImportError as error:
        raise ExtraMissingError("an archive at an address", "http") from error

    try:
        url = parse_url(address)
    except ValueError as error:
        raise ConfigError(address, str(error)) from error
    most = archive_size_limit(_LIMITS)
    server = f"{url.scheme}://{url.authority}/"
    client = HttpClient(server, allow_private=allow_private, timeout_s=_DOWNLOAD_S)
    with closing(client):
        response = client.get(HttpRequest(url, "archive_bytes", most))
    if response.status != _OK or response.encoding_problem:
        status = f"it answered with status {response.status}"
        raise SourceUnavailableError(address, response.encoding_problem or status)
    tree = open_library(response.body, limits=_LIMITS, where=address)
    name = tree.folder or _name_of(address).partition(".")[0]
    return TreeSource(tree.files, name, label=address, limits=_LIMITS, links=tree.links)


def catalog_of(
    sources: Sequence[SkillSource], verifier: Verifier | None = None
) -> Catalog:
    """Return what sources have, each of them in full."""
    accept, rules = ParseOptions(limits=_LIMITS), CatalogRules(verifier=verifier)
    registry = Registry(sources, accept=accept, rules=rules, clock=SystemClock())
    registry.sync()
    latest = registry.latest
    away = next((s for s in latest.sources if s.error), None)
    if away is not None:
        raise SourceUnavailableError(away.label, away.error)
    return latest


def _name_of(place: str) -> str:
    """Return what a repository, or a folder of it, is called."""
    return place.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")


@contextmanager
def opened_upstream(
    upstream: Upstream, base: Path, commit: str = ""
) -> Generator[OpenUpstream]:
    """Open an upstream; ``base`` is the project's folder, and ``commit`` a lock's."""
    if upstream.kind != "git":
        yield OpenUpstream(upstream, None, base, commit)
        return
    with fetched(upstream, commit) as repository:
        yield OpenUpstream(upstream, repository, base, commit)


def resolve(
    request: SkillsEntry, base: Path, store: ContentStore, withdrawn: Mapping[str, str]
) -> Resolved:
    """Return the skills that an entry of a project comes to now, and store them.

    A skill that another one needs is added where the upstream has it. ``withdrawn``
    says, by digest, why one must not be used.

    Raises:
        NotInstalledError: A skill that is named is not there, and close ones are
            named; or it is withdrawn, by whom is said.
        SkillError: The upstream does not answer, or a pack cannot be read.
    """
    result = Resolved()
    with opened_upstream(request.upstream, base) as upstream:
        library = upstream.library(request.upstream.path)
        chosen = {e.id: (e, library) for e in library.entries if request.takes(e.id)}
        _check_named(request, library, [*chosen])
        _add_needed(chosen, upstream, result)
        findings = [*library.catalog.findings]
        with suppress(ImportError):  # without `satchel_lab` nobody reads manifests
            checking = import_product("satchel_lab.checking", "plugins")
            findings += checking.plugin_findings(library.catalog)
        if request.skills:
            # Of packs that nobody asked for, nothing is said.
            left = (one.descriptor for one in library.catalog.excluded)
            asked = (e for e in (*library.entries, *left) if request.takes(e.id))
            places = tuple(f"{entry.origin.location}/" for entry in asked)
            findings = [one for one in findings if f"{one.path}/".startswith(places)]
        # Who adds a pack can fix nothing in it.
        result.findings += (replace(finding, fix="") for finding in findings)
        for conflict in library.catalog.conflicts:
            if request.takes(conflict.id):
                why = _claims(conflict, library, request.upstream)
                result.warnings.append(f"{conflict.id} is left out: {why}")
        for entry, where in chosen.values():
            try:
                skill = upstream.lock(entry, where, request.name, store)
                if why := skill.withdrawal(withdrawn):
                    raise NotInstalledError(entry.id, why)  # noqa: TRY301 - as below
            except (ConfigError, NotInstalledError) as error:
                if entry.id in request.skills or len(chosen) == 1:
                    raise
                result.warnings.append(f"{entry.id} is left out: {error}")
            else:
                result.skills.append(skill)
                if entry.name != entry.id:
                    text = f"{entry.id} is called {entry.name} in its SKILL.md, and is "
                    result.warnings.append(f"{text}listed so in this project")
        result.warnings += upstream.warnings + library.apart
    return result


def _check_named(request: SkillsEntry, library: Library, chosen: Sequence[str]) -> None:
    ids = [entry.id for entry in library.entries]
    place = str(request.upstream)
    for pattern in request.skills:
        if any(fnmatchcase(skill_id, pattern) for skill_id in chosen):
            continue
        if conflict := library.catalog.conflict_of(pattern):
            detail = f"{pattern!r}: {_claims(conflict, library, request.upstream)}"
            raise NotInstalledError(place, detail)
        if excluded := library.catalog.exclusion_of(pattern):
            raise NotInstalledError(place, f"{pattern!r}: {excluded.detail}")
        near = nearest(pattern, ids, 3)
        has = f"it has {first_names(ids) or 'none'}"
        hint = f"did you mean {', '.join(near)}?" if near else has
        raise NotInstalledError(place, f"it has no skill {pattern!r}; {hint}")
    if not chosen:
        of = library, request.upstream
        whys = [f"{one.id}: {_claims(one, *of)}" for one in library.catalog.conflicts]
        whys += [*map(str, library.catalog.findings), *library.apart]
        raise NotInstalledError(place, ": ".join(["it has no skill to add", *whys[:1]]))


def _claims(conflict: Conflict, library: Library, upstream: Upstream) -> str:
    """Return which packs have one name, of which plugins, and what adds one of them."""
    text = f"{len(conflict.owners)} packs are called so: {conflict.places}"
    if any(conflict.plugins):
        text += f", of the plugins {first_names([*filter(None, conflict.plugins)])}"
    # Below the folder of one that is at the top, there are the others, too.
    one = max(conflict.owners, key=lambda owner: owner.origin.key.count("/"))
    if upstream.kind == "git" and not all(map(library.path_of, conflict.owners)):
        text += "; the one at the top is added with --path ."
    source, more = upstream.place, ["--rev", upstream.rev] * bool(upstream.rev)
    if upstream.kind == "git":
        source += f"/tree/HEAD/{library.path_of(one)}"
    elif upstream.kind == "folder":
        source = one.origin.location
    elif upstream.kind == "archive":
        more += ["--path", library.path_of(one)]
    else:
        return f"{text}; ask its publisher which one to add"
    return f"{text}; to add one: {shlex.join(['satchel', 'add', source, *more])}"


def _add_needed(chosen: _Chosen, upstream: OpenUpstream, result: Resolved) -> None:
    """Add what chosen skills need and the upstream has; a cycle ends, as all are in."""
    waiting = [*chosen]
    while waiting:
        entry, _ = chosen[waiting.pop()]
        for name in (one for one in entry.requires if one not in chosen):
            # All of a repository, not only the folder that was named.
            whole = upstream.library("")
            needed = find_loadable(whole.catalog, name)
            if needed is None:
                text = f"{entry.id} needs {name}, which is not in {upstream.place}"
                advice = f"add it: satchel add SOURCE --skill {name}"
                result.warnings.append(f"{text}, or more than once; {advice}")
                continue
            chosen[name] = needed, whole
            waiting.append(name)


def fetch_locked(
    skills: Sequence[LockedSkill], base: Path, store: ContentStore
) -> None:
    """Store the bytes of locked skills that are not there yet, each from its upstream.

    Raises:
        NotInstalledError: An upstream has other bytes now.
        SourceUnavailableError: One does not answer.
    """
    groups: dict[tuple[Upstream, str], list[LockedSkill]] = {}
    for skill in skills:
        if not is_stored(skill, store):
            groups.setdefault((skill.upstream, skill.commit), []).append(skill)
    for (of, commit), missing in groups.items():
        with opened_upstream(of, base, commit) as upstream:
            for skill in missing:
                _fetch_one(skill, upstream, store)


def _fetch_one(skill: LockedSkill, upstream: OpenUpstream, store: ContentStore) -> None:
    # Of git the one folder: others may have more packs of this name.
    of = skill.upstream
    path = (of.kind == "git" and skill.path) or of.path * of.has(skill.path)
    library = upstream.library(path)
    entry = find_loadable(library.catalog, skill.id)
    digests: Mapping[str, str] = {}
    if entry is not None:
        now = upstream.lock(entry, library, skill.entry, store)
        digests = {file.path: file.digest for file in now.files}
    for file in skill.files:
        if digests.get(file.path) != file.digest:
            there = digests.get(file.path, "no such file")
            detail = f"{skill.id}/{file.path} was {file.digest}, and now there is "
            raise NotInstalledError(skill.source, f"{detail}{there}")
