"""From open skills to a release: equal skills give equal bytes.

Wherever they were read.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from satchel.catalog import RETIRED_STATUSES, duplicate_error
from satchel.errors import RefusedReleaseError, SkillError
from satchel.files import (
    canonical_json,
    digest_bytes,
    folded_name,
    folder_problem,
    parse_release,
    path_problem,
    render_release,
    tree_digest,
)
from satchel.load import fetch, has_changed
from satchel.model import (
    RELEASE_FILE,
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileStat,
    Finding,
    Release,
    ReleasedSkill,
    Resource,
    release_path,
)
from satchel.release._discovery import (
    INDEX_V2,
    IndexEntry,
    artifact_bytes,
    index_v2,
    plan_publication,
)
from satchel.runtime import Satchel, unavailable_sources
from satchel.usage import OwnerLookup


def release_errors(skills: Satchel) -> tuple[Finding, ...]:
    """Return every reason, as errors: sources away, conflicts, packs in error.

    What only a program can know, whether it offers the tools that a skill names, is no
    matter of a release.
    """
    return tuple(_release_errors(skills))


def _release_errors(skills: Satchel) -> Iterator[Finding]:
    latest = skills.registry.latest
    yield from unavailable_sources(latest)
    for conflict in latest.unresolved:
        error = duplicate_error(conflict)
        yield Finding.of_error(error, fix=error.fix)
    yield from (each for each in latest.findings if each.severity == "error")


WriteFile: TypeAlias = Callable[[str, bytes], None]
"""Takes a file of the release, by its path in there; each path comes once."""


@dataclass(frozen=True, slots=True)
class BuiltRelease:
    """A release, and what is worth knowing of it: errors only where they were allowed.

    A note says for each skill that was found why it is not part of it.
    """

    release: Release
    findings: tuple[Finding, ...]


def build_release(
    skills: "Satchel", put: WriteFile, *, allow_findings: bool = False
) -> BuiltRelease:
    """Read every skill and hand each file of the release to ``put``; release.json last.

    Listed, hidden and deprecated skills are part of it, with the files that a load may
    return; what is disabled, untrusted, filtered, shadowed or refused is not. No time,
    no label and no path of this machine gets in.

    Args:
        skills: What is open; its policy plays no part, for that is of a deployment.
        put: Keeps the files. Where an error is raised, what it was given is void.
        allow_findings: Leave out what is in error instead of refusing everything.

    Raises:
        RefusedReleaseError: Something is in error; names all of it.
    """
    reading = _ReleaseBuilder(skills, put)
    reading.findings += release_errors(skills)
    reading.findings += _library_findings(skills)
    reading.take_all()
    errors = [each for each in reading.findings if each.severity == "error"]
    if errors and not allow_findings:
        raise RefusedReleaseError(tuple(map(_error_text, errors)))
    entries = index_entries(reading.skills, reading.others, "../../")
    reading.add(INDEX_V2, canonical_json(index_v2(entries)))
    reading.others.sort(key=lambda each: each.path)
    document = render_release(reading.skills, reading.others)
    # What is handed out is what a reader will make of it, or nothing.
    release = parse_release(document, RELEASE_FILE, skills.limits)
    put(RELEASE_FILE, document)
    return BuiltRelease(release, tuple(reading.findings))


def index_entries(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource], base: str
) -> list[IndexEntry]:
    """Return the entries of a discovery index for the skills of a release.

    ``base`` is the URL of the release's folder, relative to the index, with its slash.
    Artifacts are the files of the release themselves, so that an index that somebody
    has kept goes on naming what it named. A deprecated skill is in no index.
    """
    archives = {each.path: each.digest for each in others}
    offered = {
        each.id: each.descriptor
        for each in skills
        if each.descriptor.status not in RETIRED_STATUSES
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


def _error_text(finding: Finding) -> str:
    return f"{finding}; fix: {finding.fix}" if finding.fix else str(finding)


@dataclass(slots=True)
class _ReleaseBuilder:
    """Skills on their way into a release."""

    open: "Satchel"
    put: WriteFile
    skills: list[ReleasedSkill] = field(default_factory=list[ReleasedSkill])
    others: list[Resource] = field(default_factory=list[Resource])
    findings: list[Finding] = field(default_factory=list[Finding])

    def take_all(self) -> None:
        catalog = self.open.registry.latest
        owners = OwnerLookup(lambda: self.open.registry.sources)
        folders: dict[str, str] = {}
        for entry in sorted(_released_entries(catalog), key=lambda each: each.id):
            problem = folder_problem(entry.id)
            first = folders.setdefault(folded_name(entry.id), entry.id)
            if first != entry.id:
                problem = f"some systems take it for {first!r}"
            if problem:
                message = f"{entry.id!r}: {problem}"
                fix = "rename it, or give it another id"
                self._tell(entry, "unsafe-skill-id", message, fix=fix)
                continue
            if entry.remote:
                message = f"{entry.id!r} lies on a {entry.remote} of somebody else's"
                fix = "copy it into a folder of yours, read it, and release that"
                self._tell(entry, "remote-skill", message, fix=fix)
                continue
            self._take(replace(entry, owner=owners.of(entry)), catalog)
        self._tell_withheld(catalog)
        if not self.skills:
            message, fix = "there is no skill to release", "name a folder of packs"
            self.findings.append(Finding("no-skills", "error", message, fix=fix))

    def add(self, path: str, data: bytes) -> None:
        """Take a file that is no skill's."""
        self.put(path, data)
        self.others.append(Resource(path, digest_bytes(data), len(data)))

    def _take(self, entry: Descriptor, catalog: Catalog) -> None:
        files = dict(self._read(entry, catalog))
        if SKILL_FILE not in files:
            return
        resources = tuple(
            Resource(path, digest_bytes(data), len(data))
            for path, data in sorted(files.items())
        )
        kept = _with_files(entry, resources)
        for path, data in sorted(files.items()):
            self.put(release_path(entry.id, path), data)
        released = ReleasedSkill(
            replace(kept, origins=()), tree_digest(resources), resources
        )
        self.skills.append(released)
        if entry.status in RETIRED_STATUSES:
            return
        plan = plan_publication([kept])
        self.findings += plan.findings
        for artifact in plan.artifacts:
            if artifact.type == "archive":
                self.add(
                    _archive_path(entry.id), artifact_bytes(artifact, files.__getitem__)
                )

    def _read(self, entry: Descriptor, catalog: Catalog) -> Iterator[tuple[str, bytes]]:
        """Yield each file that can be read; what cannot is an error finding."""
        reader, limits = catalog.readers[entry.source], self.open.limits
        folded: dict[str, str] = {}
        for path in (SKILL_FILE, *sorted(set(entry.resources))):
            problem = path_problem(release_path(entry.id, path))
            first = folded.setdefault(folded_name(path), path)
            if first != path:
                problem = f"on some systems this is the same file as {first!r}"
            if problem:
                code = "unsafe-file-name" if first == path else "colliding-file-names"
                self._tell(entry, code, problem, path, "rename it")
                continue
            own = path == SKILL_FILE
            limit = limits.skill_md_bytes if own else limits.file_bytes
            try:
                data = fetch(reader, entry, path, limit)
            except SkillError as error:
                self._tell(entry, error.code, str(error), path)
                continue
            digest = digest_bytes(data)
            if own:
                changed = entry.digest not in {digest, ""}
            else:
                changed = has_changed(reader, entry, path, len(data), digest)
            if changed:
                message = "it has changed since the last sync"
                self._tell(entry, "changed-since-sync", message, path, "sync again")
                continue
            yield path, data

    def _tell(
        self,
        entry: Descriptor,
        code: str,
        message: str,
        path: str = SKILL_FILE,
        fix: str = "",
    ) -> None:
        place = f"{entry.origin.location}/{path}"
        self.findings.append(Finding(code, "error", message, place, fix=fix))

    def _tell_withheld(self, catalog: Catalog) -> None:
        for held in catalog.excluded:
            if held.reason in {"hidden", "deprecated", "refused"}:
                continue
            message = f"{held.descriptor.id!r} is {held.reason}, and not released"
            place = f"{held.descriptor.origin.location}/{SKILL_FILE}"
            self.findings.append(
                Finding("skill-withheld", "note", message, place, fix=held.fix)
            )


def _library_findings(skills: "Satchel") -> Iterator[Finding]:
    """Yield what the packs were repaired in, and which folder held none (R19)."""
    for finding in skills.registry.latest.findings:
        if finding.severity != "error":
            yield finding
    for finding in skills.findings:
        if finding.code == "no-skills":
            yield finding


def _released_entries(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield what still loads: the listed, the hidden and the deprecated."""
    yield from catalog.entries
    for held in catalog.excluded:
        if held.reason in {"hidden", "deprecated"}:
            yield held.descriptor


def _with_files(entry: Descriptor, resources: tuple[Resource, ...]) -> Descriptor:
    """Return the entry as a release knows it: these files, with their digests."""
    held = {each.path for each in resources}
    own = next(each for each in resources if each.path == SKILL_FILE)
    return replace(
        entry,
        references=tuple(sorted(held.intersection(entry.references))),
        scripts=tuple(sorted(held.intersection(entry.scripts))),
        assets=tuple(sorted(held.intersection(entry.assets))),
        others=tuple(sorted(held.intersection(entry.others))),
        digest=own.digest,
        size=own.size,
        files=tuple(
            FileStat(each.path, each.size, each.digest, each.digest)
            for each in resources
        ),
    )
