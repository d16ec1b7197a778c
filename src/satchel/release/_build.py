"""From open skills to a release: equal skills give equal bytes, wherever they are."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from satchel.catalog import RETIRED_STATUSES, duplicate_error
from satchel.errors import RefusedReleaseError, SkillError
from satchel.files import (
    INDEX_V2,
    IndexEntry,
    canonical_json,
    digest_bytes,
    folded_name,
    folder_problem,
    index_v2,
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
from satchel.release._publication import artifact_bytes, plan_publication
from satchel.runtime import Satchel, unavailable_sources
from satchel.usage import OwnerLookup

WriteFile: TypeAlias = Callable[[str, bytes], None]
"""Takes a file of the release, by its path in there; each path comes once."""


@dataclass(frozen=True, slots=True)
class BuiltRelease:
    """A release, and its findings: errors only if they were allowed.

    A note says for each skill that is not part of it why it is not.
    """

    release: Release
    findings: tuple[Finding, ...]


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
        allow_findings: Leave out what is in error instead of refusing everything.

    Raises:
        RefusedReleaseError: Something is in error; names all of it.
    """
    builder = _ReleaseBuilder(skills, put)
    builder.findings += _library_findings(skills)
    builder.add_skills()
    errors = [item for item in builder.findings if item.severity == "error"]
    if errors and not allow_findings:
        raise RefusedReleaseError(
            tuple(f"{e}; fix: {e.fix}" if e.fix else str(e) for e in errors)
        )
    entries = index_entries(builder.skills, builder.others, "../../")
    builder.add_file(INDEX_V2, canonical_json(index_v2(entries)))
    builder.others.sort(key=lambda resource: resource.path)
    document = render_release(builder.skills, builder.others)
    # What a reader cannot parse must not be handed out.
    release = parse_release(document, RELEASE_FILE, skills.limits)
    put(RELEASE_FILE, document)
    return BuiltRelease(release, tuple(builder.findings))


def index_entries(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource], base: str
) -> list[IndexEntry]:
    """Return the entries of a discovery index for the skills of a release.

    ``base`` is the URL of the release's folder, relative to the index, with its slash.
    Artifacts are the files of the release themselves, so that an index that a client
    has stored keeps naming the same bytes. A deprecated skill is in no index.
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
        for entry in sorted(_released_entries(catalog), key=lambda entry: entry.id):
            where = f"{entry.origin.location}/{SKILL_FILE}"
            problem = folder_problem(entry.id)
            # The id becomes the name of a folder, and macOS and Windows fold case.
            first = folders.setdefault(folded_name(entry.id), entry.id)
            if first != entry.id:
                problem = f"some systems take it for {first!r}"
            if problem:
                self.findings.append(
                    Finding.of("unsafe-skill-id", where, id=entry.id, problem=problem)
                )
            elif entry.remote:
                self.findings.append(
                    Finding.of("remote-skill", where, id=entry.id, place=entry.remote)
                )
            else:
                self._add_skill(replace(entry, owner=owners.of(entry)), catalog)
        self.findings += _excluded_findings(catalog)
        if not self.skills:
            self.findings.append(
                Finding.of("no-skills", severity="error", sentence="release")
            )

    def add_file(self, path: str, data: bytes) -> None:
        """Add a file that belongs to no skill."""
        self.put(path, data)
        self.others.append(Resource(path, digest_bytes(data), len(data)))

    def _add_skill(self, entry: Descriptor, catalog: Catalog) -> None:
        # All files are read before one is written, so a skill without SKILL.md leaves
        # none.
        files = dict(sorted(self._read_files(entry, catalog)))
        if SKILL_FILE not in files:
            return
        resources = tuple(
            Resource(path, digest_bytes(data), len(data))
            for path, data in files.items()
        )
        descriptor = _with_files(entry, resources)
        for path, data in files.items():
            self.put(release_path(entry.id, path), data)
        # Origins are paths of this machine, so a release has none.
        self.skills.append(
            ReleasedSkill(
                replace(descriptor, origins=()), tree_digest(resources), resources
            )
        )
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
        folded: dict[str, str] = {}
        for path in (SKILL_FILE, *sorted(set(entry.resources))):
            where = f"{entry.origin.location}/{path}"
            first = folded.setdefault(folded_name(path), path)
            problem = path_problem(release_path(entry.id, path))
            if first != path:
                self.findings.append(
                    Finding.of(
                        "colliding-file-names",
                        where,
                        severity="error",
                        sentence="release",
                        first=first,
                    )
                )
                continue
            if problem:
                self.findings.append(
                    Finding.of(
                        "unsafe-file-name",
                        where,
                        severity="error",
                        sentence="release",
                        problem=problem,
                    )
                )
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
                self.findings.append(
                    Finding.of("changed-since-sync", where, sentence="release")
                )
                continue
            yield path, data


def _library_findings(skills: Satchel) -> Iterator[Finding]:
    """Yield what keeps skills from being released, and what was repaired.

    Whether a program offers the tools that a skill names does not matter here.
    """
    latest = skills.registry.latest
    yield from unavailable_sources(latest)
    for conflict in latest.unresolved:
        error = duplicate_error(conflict)
        yield Finding.of_error(error, fix=error.fix)
    # Errors first: they are what a failed deploy shows.
    yield from sorted(latest.findings, key=lambda item: item.severity != "error")
    for finding in skills.findings:
        if finding.code == "no-skills":  # of a folder that was named
            yield finding


def _released_entries(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield what still loads: the listed, the hidden and the deprecated."""
    yield from catalog.entries
    for excluded in catalog.excluded:
        if excluded.reason in {"hidden", "deprecated"}:
            yield excluded.descriptor


def _excluded_findings(catalog: Catalog) -> Iterator[Finding]:
    for excluded in catalog.excluded:
        if excluded.reason not in {"hidden", "deprecated", "refused"}:
            descriptor = excluded.descriptor
            where = f"{descriptor.origin.location}/{SKILL_FILE}"
            yield Finding.of(
                "skill-withheld",
                where,
                id=descriptor.id,
                reason=excluded.reason,
                fix=excluded.fix,
            )


def _with_files(entry: Descriptor, resources: tuple[Resource, ...]) -> Descriptor:
    """Return the entry as a release has it: these files, with their digests."""
    paths = {resource.path for resource in resources}
    own = next(resource for resource in resources if resource.path == SKILL_FILE)
    return replace(
        entry,
        references=tuple(sorted(paths.intersection(entry.references))),
        scripts=tuple(sorted(paths.intersection(entry.scripts))),
        assets=tuple(sorted(paths.intersection(entry.assets))),
        others=tuple(sorted(paths.intersection(entry.others))),
        digest=own.digest,
        size=own.size,
        files=tuple(
            FileStat(resource.path, resource.size, resource.digest, resource.digest)
            for resource in resources
        ),
    )
