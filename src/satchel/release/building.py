"""From open skills to a release: equal skills give equal bytes, wherever they lay."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from satchel.catalog.entry import RETIRED
from satchel.errors import RefusedReleaseError, SkillError
from satchel.files import digest_bytes, path_problem, tree_digest
from satchel.load.fetching import fetch, has_changed
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileStat,
    Finding,
    Resource,
)
from satchel.model.release import RELEASE_FILE, Release, ReleasedSkill, inside
from satchel.release.discovery import (
    INDEX_V2,
    IndexEntry,
    artifact_bytes,
    index_v2,
    plan_publication,
)
from satchel.release.refusing import refusals
from satchel.runtime.owners import Owners
from satchel.sources.release_format import (
    folder_problem,
    folds_to,
    render_document,
    to_json,
)
from satchel.sources.release_reading import parse_release

if TYPE_CHECKING:
    from satchel.runtime import Satchel

__all__ = ["Built", "Put", "build_release", "index_entries"]

Put: TypeAlias = Callable[[str, bytes], None]
"""Takes a file of the release, by its path in there; each path comes once."""


@dataclass(frozen=True, slots=True)
class Built:
    """A release, and what is worth knowing of it: errors only where they were allowed.

    A note says for each skill that was found why it is not part of it.
    """

    release: Release
    findings: tuple[Finding, ...]


def build_release(
    skills: "Satchel", put: Put, *, allow_findings: bool = False
) -> Built:
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
    reading = _Reading(skills, put)
    reading.findings += refusals(skills)
    reading.findings += _worth_knowing(skills)
    reading.take_all()
    errors = [each for each in reading.findings if each.severity == "error"]
    if errors and not allow_findings:
        raise RefusedReleaseError(tuple(map(_reason, errors)))
    entries = index_entries(reading.skills, reading.others, "../../")
    reading.add(INDEX_V2, to_json(index_v2(entries)))
    reading.others.sort(key=lambda each: each.path)
    document = render_document(reading.skills, reading.others)
    # What is handed out is what a reader will make of it, or nothing.
    release = parse_release(document, RELEASE_FILE, skills.limits)
    put(RELEASE_FILE, document)
    return Built(release, tuple(reading.findings))


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
        if each.descriptor.status not in RETIRED
    }
    entries: list[IndexEntry] = []
    for artifact in plan_publication(offered.values()).artifacts:
        path = inside(artifact.id, SKILL_FILE)
        digest = offered[artifact.id].digest
        if artifact.type == "archive":
            path = _archive(artifact.id)
            digest = archives[path]
        entries.append(artifact.entry(digest, base + path))
    return entries


def _archive(skill_id: str) -> str:
    return f"archives/{skill_id}.tar.gz"


def _reason(finding: Finding) -> str:
    return f"{finding}; fix: {finding.fix}" if finding.fix else str(finding)


@dataclass(slots=True)
class _Reading:
    """Skills on their way into a release."""

    open: "Satchel"
    put: Put
    skills: list[ReleasedSkill] = field(default_factory=list[ReleasedSkill])
    others: list[Resource] = field(default_factory=list[Resource])
    findings: list[Finding] = field(default_factory=list[Finding])

    def take_all(self) -> None:
        catalog = self.open.registry.latest
        owners = Owners(lambda: self.open.registry.sources)
        folders: dict[str, str] = {}
        for entry in sorted(_released(catalog), key=lambda each: each.id):
            problem = folder_problem(entry.id)
            first = folders.setdefault(folds_to(entry.id), entry.id)
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
        kept = _with_only(entry, resources)
        for path, data in sorted(files.items()):
            self.put(inside(entry.id, path), data)
        released = ReleasedSkill(
            replace(kept, origins=()), tree_digest(resources), resources
        )
        self.skills.append(released)
        if entry.status in RETIRED:
            return
        plan = plan_publication([kept])
        self.findings += plan.findings
        for artifact in plan.artifacts:
            if artifact.type == "archive":
                self.add(
                    _archive(entry.id), artifact_bytes(artifact, files.__getitem__)
                )

    def _read(self, entry: Descriptor, catalog: Catalog) -> Iterator[tuple[str, bytes]]:
        """Yield each file that can be read; what cannot is an error finding."""
        reader, limits = catalog.readers[entry.source], self.open.limits
        folded: dict[str, str] = {}
        for path in (SKILL_FILE, *sorted(set(entry.resources))):
            problem = path_problem(inside(entry.id, path))
            first = folded.setdefault(folds_to(path), path)
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
        for held in catalog.withheld:
            if held.reason in {"hidden", "deprecated", "refused"}:
                continue
            message = f"{held.descriptor.id!r} is {held.reason}, and not released"
            place = f"{held.descriptor.origin.location}/{SKILL_FILE}"
            self.findings.append(
                Finding("skill-withheld", "note", message, place, fix=held.fix)
            )


def _worth_knowing(skills: "Satchel") -> Iterator[Finding]:
    """Yield what the packs were repaired in, and which folder held none (R19)."""
    for finding in skills.registry.latest.findings:
        if finding.severity != "error":
            yield finding
    for finding in skills.findings:
        if finding.code == "no-skills":
            yield finding


def _released(catalog: Catalog) -> Iterator[Descriptor]:
    """Yield what still loads: the listed, the hidden and the deprecated."""
    yield from catalog.entries
    for held in catalog.withheld:
        if held.reason in {"hidden", "deprecated"}:
            yield held.descriptor


def _with_only(entry: Descriptor, resources: tuple[Resource, ...]) -> Descriptor:
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
