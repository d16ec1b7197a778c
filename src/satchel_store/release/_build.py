"""From open skills to a release: equal skills give equal bytes, wherever they are."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from satchel.catalog import RETIRED_STATUSES
from satchel.errors import RefusedReleaseError, SkillError
from satchel.files import (
    digest_bytes,
    folded_name,
    folder_problem,
    path_problem,
    tree_digest,
)
from satchel.load import STILL_LOADS, fetch, has_changed
from satchel.model import (
    RELEASE_FILE,
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileStat,
    Finding,
    Limits,
    Resource,
)
from satchel.products import import_product
from satchel.runtime import Satchel, unavailable_sources
from satchel.usage import OwnerLookup
from satchel_store.release._discovery_index import INDEX_V2, IndexEntry, index_v2
from satchel_store.release._document import canonical_json
from satchel_store.release._format import parse_release, render_release
from satchel_store.release._publication import artifact_bytes, plan_publication
from satchel_store.release._release import Release, ReleasedSkill, release_path

# Neither `satchel build` nor `satchel pack` hands out a pack with this finding.
UNFINISHED_CODE: Final = "left-to-fill-in"

# Takes a file of the release, by its path in there; each path comes once.
WriteFile: TypeAlias = Callable[[str, bytes], None]


@dataclass(frozen=True, slots=True)
class BuiltRelease:
    """A release, and its findings: errors only if they were allowed.

    A note says for each skill that is not part of it why it is not. ``left_out`` is
    what left-out.json lists: the path of a pack or a file as of the folder that was
    named, the id if the pack could be read, the code of the error and the reason.
    """

    release: Release
    findings: tuple[Finding, ...]
    left_out: tuple[Mapping[str, str], ...] = ()


def build_release(
    skills: Satchel, put: WriteFile, *, allow_findings: bool = False
) -> BuiltRelease:
    """Read every skill and hand each file of the release to ``put``; release.json last.

    Listed, hidden and deprecated skills are part of it, with the files that a load may
    return; what is disabled, untrusted, filtered, shadowed or refused is not. It has no
    time, no label and no path of this machine.

    Args:
        skills: What is open; its policy is ignored, because a policy belongs to a
            deployment.
        put: Stores the files. If an error is raised, what it got is not a release.
        allow_findings: Leave out what is in error instead of refusing everything, and
            list it in left-out.json. A source that does not answer refuses all the
            same: what it has is not known to be bad.

    Raises:
        RefusedReleaseError: Something is in error; names all of it.
    """
    builder = _ReleaseBuilder(skills, put)
    builder.findings += _library_findings(skills)
    builder.add_skills()
    errors = [item for item in builder.findings if item.severity == "error"]
    away = any(item.code == "source-unavailable" for item in errors)
    if errors and (away or not allow_findings):
        raise RefusedReleaseError(
            tuple(
                f"{e}; fix: {e.fix}" * (e.fix not in str(e)) or str(e) for e in errors
            )
        )
    if left_out := _left_out(skills.registry.latest, errors):
        builder.add_file("left-out.json", canonical_json({"left_out": left_out}))
    entries = index_entries(builder.skills, builder.others, "../../")
    builder.add_file(INDEX_V2, canonical_json(index_v2(entries)))
    # One order only: the parser refuses a release that has another.
    builder.others.sort(key=lambda resource: resource.path)
    document = render_release(builder.skills, builder.others)
    # What a reader cannot parse must not be handed out.
    release = parse_release(document, RELEASE_FILE, skills.limits)
    put(RELEASE_FILE, document)
    return BuiltRelease(release, tuple(builder.findings), tuple(left_out))


def _left_out(catalog: Catalog, errors: Iterable[Finding]) -> list[dict[str, str]]:
    contested = [owner for one in catalog.unresolved for owner in one.owners]
    packs = *catalog.entries, *(one.descriptor for one in catalog.excluded), *contested
    ids = {origin.location: pack.id for pack in packs for origin in pack.origins}
    starts = {f"{state.label}/" for state in catalog.sources}
    starts |= {o.location.removesuffix(o.key) for pack in packs for o in pack.origins}
    # The longest first, so that a folder in another one is taken off as a whole.
    texts = map(re.escape, sorted(starts - {""}, key=len, reverse=True))
    inside = re.compile(rf"(?<![\w./-])(?:{'|'.join(texts)})")
    why: tuple[str, str] = ("duplicate-skill", "another pack has this id too")
    origins = ((pack.id, origin) for pack in contested for origin in pack.origins)
    rows: set[tuple[str, str, str, str]] = {
        (origin.key, skill_id, *why) for skill_id, origin in origins
    }
    for finding in errors:
        place = finding.path
        while place and place not in ids:
            place = place.rpartition("/")[0]
        path, count = inside.subn("", finding.path, 1)
        reason = inside.sub("", finding.message)
        if count:
            rows.add((path, ids.get(place, ""), finding.code, reason))
    keys = "path", "id", "code", "reason"
    return [dict(zip(keys, row, strict=True)) for row in sorted(rows)]


def index_entries(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource], base: str
) -> list[IndexEntry]:
    """Return the entries of a discovery index for the skills of a release.

    ``base`` is the URL of the release's folder, relative to the index, with its slash.
    Artifacts are the files of the release themselves, so that an index that a client
    has stored keeps naming the same bytes.
    """
    archives = {resource.path: resource.digest for resource in others}
    offered = {
        skill.id: skill.descriptor
        for skill in skills
        if skill.descriptor.status not in RETIRED_STATUSES
    }
    entries: list[IndexEntry] = []
    for artifact in plan_publication(offered.values()).artifacts:
        path = release_path(artifact.id, SKILL_FILE)
        digest = offered[artifact.id].digest
        if artifact.type == "archive":
            path = _archive_path(artifact.id)
            digest = archives[path]
        entries.append(artifact.entry(digest, base + path))
    return entries


def _archive_path(skill_id: str) -> str:
    return f"archives/{skill_id}.tar.gz"


@dataclass(slots=True)
class _ReleaseBuilder:
    """The skills, the other files and the findings of a release so far."""

    open: Satchel
    put: WriteFile
    skills: list[ReleasedSkill] = field(default_factory=list[ReleasedSkill])
    others: list[Resource] = field(default_factory=list[Resource])
    findings: list[Finding] = field(default_factory=list[Finding])

    def add_skills(self) -> None:
        catalog = self.open.registry.latest
        owners = OwnerLookup(lambda: self.open.registry.sources)
        folders: dict[str, str] = {}
        # By id: the order of the sources must not change a byte.
        for entry in sorted(_released_entries(catalog), key=lambda entry: entry.id):
            where = f"{entry.origin.location}/{SKILL_FILE}"
            problem = folder_problem(entry.id)
            # The id becomes the name of a folder, and macOS and Windows fold case.
            first = folders.setdefault(folded_name(entry.id), entry.id)
            if first != entry.id:
                problem = f"some systems take it for {first!r}"
            if problem:
                self._note("unsafe-skill-id", where, id=entry.id, problem=problem)
            elif entry.remote:
                self._note("remote-skill", where, id=entry.id, place=entry.remote)
            else:
                self._add_skill(replace(entry, owner=owners.of(entry)), catalog)
        self.findings += _excluded_findings(catalog)
        if not self.skills:
            self._note("no-skills", severity="error", sentence="release")

    def add_file(self, path: str, data: bytes) -> None:
        """Add a file that belongs to no skill."""
        self.put(path, data)
        self.others.append(Resource(path, digest_bytes(data), len(data)))

    def _note(self, code: str, where: str = "", **facts: Any) -> None:  # noqa: ANN401
        self.findings.append(Finding.of(code, where, **facts))

    def _add_skill(self, entry: Descriptor, catalog: Catalog) -> None:
        # All files are read before one is written, so a skill without SKILL.md leaves
        # none.
        files = dict(sorted(self._read_files(entry, catalog)))
        left = tuple(unfinished(entry, catalog, self.open.limits))
        self.findings += left
        if SKILL_FILE not in files or left:
            return
        resources = tuple(
            Resource(p, digest_bytes(d), len(d)) for p, d in files.items()
        )
        descriptor = _with_files(entry, resources)
        for path, data in files.items():
            self.put(release_path(entry.id, path), data)
        # Origins are paths of this machine, so a release has none.
        portable = replace(descriptor, origins=())
        self.skills.append(ReleasedSkill(portable, tree_digest(resources), resources))
        if entry.status in RETIRED_STATUSES:
            return
        plan = plan_publication([descriptor])
        self.findings += plan.findings
        for artifact in plan.artifacts:
            if artifact.type == "archive":
                data = artifact_bytes(artifact, files.__getitem__)
                self.add_file(_archive_path(entry.id), data)

    def _read_files(
        self, entry: Descriptor, catalog: Catalog
    ) -> Iterator[tuple[str, bytes]]:
        """Yield each file that can be read; the others become error findings."""
        reader, limits = catalog.readers[entry.source], self.open.limits
        refuse = partial(self._note, severity="error", sentence="release")
        folded: dict[str, str] = {}
        for path in (SKILL_FILE, *sorted(set(entry.resources))):
            where = f"{entry.origin.location}/{path}"
            first = folded.setdefault(folded_name(path), path)
            problem = path_problem(release_path(entry.id, path))
            if first != path:
                refuse("colliding-file-names", where, first=first)
                continue
            if problem:
                refuse("unsafe-file-name", where, problem=problem)
                continue
            own = path == SKILL_FILE
            limit = limits.skill_md_bytes if own else limits.file_bytes
            try:
                data = fetch(reader, entry, path, limit)
            except SkillError as error:
                self.findings.append(Finding.of_error(error, where))
                continue
            digest = digest_bytes(data)
            # The catalog has read SKILL.md itself; of other files it may have the size
            # and the time only.
            if own:
                changed = entry.digest not in {digest, ""}
            else:
                changed = has_changed(reader, entry, path, len(data), digest)
            if changed:
                self._note("changed-since-sync", where, sentence="release")
            else:
                yield path, data


def _library_findings(skills: Satchel) -> Iterator[Finding]:
    """Yield what keeps skills from being released, and what was repaired."""
    latest = skills.registry.latest
    yield from unavailable_sources(latest)
    for conflict in latest.unresolved:
        error = conflict.error
        yield Finding.of_error(error, fix=error.fix)
    # Errors first: they are what a failed deploy shows.
    yield from sorted(latest.findings, key=lambda item: item.severity != "error")
    # Of a folder that was named. Whether a program offers the tools that a skill names
    # does not matter here.
    yield from (item for item in skills.findings if item.code == "no-skills")


def _released_entries(catalog: Catalog) -> Iterator[Descriptor]:
    yield from catalog.entries
    for excluded in catalog.excluded:
        if excluded.reason in STILL_LOADS:
            yield excluded.descriptor


def _excluded_findings(catalog: Catalog) -> Iterator[Finding]:
    for excluded in catalog.excluded:
        # What is refused has an error of its own.
        if excluded.reason not in {*STILL_LOADS, "refused"}:
            skill, reason, fix = excluded.descriptor, excluded.reason, excluded.fix
            where = f"{skill.origin.location}/{SKILL_FILE}"
            yield Finding.of(
                "skill-withheld", where, id=skill.id, reason=reason, fix=fix
            )


def _with_files(entry: Descriptor, resources: tuple[Resource, ...]) -> Descriptor:
    """Return the entry as a release has it: these files, with their digests."""
    paths = {resource.path for resource in resources}
    own = next(resource for resource in resources if resource.path == SKILL_FILE)
    buckets: dict[str, Any] = {
        bucket: tuple(sorted(paths.intersection(getattr(entry, bucket))))
        for bucket in ("references", "scripts", "assets", "others")
    }
    files = tuple(FileStat(r.path, r.size, r.digest, r.digest) for r in resources)
    return replace(entry, digest=own.digest, size=own.size, files=files, **buckets)


def is_refused(finding: Finding) -> bool:
    """Return whether a pack with this finding is not handed to others."""
    return finding.severity == "error" or finding.code == UNFINISHED_CODE


def unfinished(
    entry: Descriptor, catalog: Catalog, limits: Limits
) -> Iterator[Finding]:
    """Yield, as errors, what a listed pack leaves to fill in.

    Raises:
        ProductMissingError: ``satchel_lab``, which has the rules, is not installed.
    """
    checking = import_product("satchel_lab.checking", "a release")
    for finding in checking.check_entry(entry, catalog, limits, {UNFINISHED_CODE}):
        yield replace(finding, severity="error")
