"""Which skills can be offered in a discovery index, and as which file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Descriptor,
    Finding,
    Limits,
    is_name,
)
from satchel_store.archives import archive_problem, tar_gz
from satchel_store.release._discovery_index import IndexEntry

ArtifactType: TypeAlias = Literal["skill-md", "archive"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is offered of one skill; ``files`` are its paths, SKILL.md first.

    A pack of SKILL.md alone is that file, every other one an archive.
    """

    id: str
    description: str
    files: tuple[str, ...]

    @property
    def type(self) -> ArtifactType:
        """Which of the two kinds it is."""
        return "skill-md" if self.files == (SKILL_FILE,) else "archive"

    @property
    def path(self) -> str:
        """Its path next to the index, and so its relative URL."""
        skill_md = self.type == "skill-md"
        return f"{self.id}/{SKILL_FILE}" if skill_md else f"{self.id}.tar.gz"

    @property
    def media_type(self) -> str:
        """Its content type over HTTP."""
        skill_md = self.type == "skill-md"
        return "text/markdown; charset=utf-8" if skill_md else "application/gzip"

    def entry(self, digest: str, url: str = "") -> IndexEntry:
        """Return its entry; ``digest`` is of its bytes, ``url`` else ``path``."""
        return IndexEntry(
            self.id, self.type, url or self.path, digest, self.files, self.description
        )


@dataclass(frozen=True, slots=True)
class Publication:
    """The artifacts that can be offered, by id; a finding for each that cannot."""

    artifacts: tuple[Artifact, ...]
    findings: tuple[Finding, ...] = ()


def plan_publication(
    skills: Iterable[Descriptor], *, limits: Limits | None = None
) -> Publication:
    """Decide for each skill whether and as what it can be offered; read nothing.

    A skill that is not offered stays in a release, where Satchel finds it. ``limits``
    are those of the program that will read the files; None is no limit.
    """
    artifacts: list[Artifact] = []
    findings: list[Finding] = []
    for entry in sorted(skills, key=lambda entry: entry.id):
        problem, fix = _publication_problem(entry, limits)
        if problem:
            where = f"{entry.origin.location}/{SKILL_FILE}" if entry.origins else ""
            about = partial(Finding.of, "not-publishable", where, id=entry.id)
            findings.append(about(problem=problem, fix=fix))
        else:
            files = (SKILL_FILE, *sorted(entry.resources))
            artifacts.append(Artifact(entry.id, entry.description, files))
    return Publication(tuple(artifacts), tuple(findings))


def artifact_bytes(artifact: Artifact, read: Callable[[str], bytes]) -> bytes:
    """Return an artifact's bytes; ``read`` gives those of one of the pack's files."""
    if artifact.type == "skill-md":
        return read(SKILL_FILE)
    return tar_gz((path, read(path)) for path in artifact.files)


def _publication_problem(entry: Descriptor, limits: Limits | None) -> tuple[str, str]:
    """Return what keeps a skill from an index, and what to do; empty if nothing."""
    if entry.remote:  # a digest would need its bytes, and make them ours
        problem = f"it is on the {entry.remote} of another publisher"
        return problem, "copy it into a folder of yours, read it, and serve that"
    # Clients take only names that follow the specification.
    if not is_name(entry.id):
        problem = "its name is not 1 to 64 of a-z, 0-9 and single inner hyphens"
        return problem, "rename it, or give it another id with satchel.sources.renamed"
    if not entry.description.strip():
        return "it has no description", "say in a sentence when to use it"
    length = len(entry.description)
    if length > MAX_DESCRIPTION_CHARS:
        most = f"{length:,} characters, and {MAX_DESCRIPTION_CHARS:,} are allowed"
        return f"its description has {most}", "shorten it"
    return _files_problem(entry, limits)


def _files_problem(entry: Descriptor, limits: Limits | None) -> tuple[str, str]:
    for path in entry.resources:
        problem = archive_problem(path)
        if problem:
            return f"{path}: {problem}", "shorten the names of its folders"
    for stat in entry.files if limits else ():
        if limits and stat.size > limits.file_bytes and stat.path in entry.resources:
            problem = f"{stat.path} has {stat.size:,} bytes, more than file_bytes"
            return f"{problem} = {limits.file_bytes:,}", "take it out of the pack"
    return "", ""
