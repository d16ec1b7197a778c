"""Which skills can be offered over HTTP, under which URL, and the indexes that say so.

Source: the Agent Skills Discovery RFC (cloudflare/agent-skills-discovery-rfc), v0.2.0,
and its v0.1.0, which older clients still ask for.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from satchel.files import archive_problem, tar_gz
from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Descriptor,
    Finding,
    Limits,
    is_name,
)

ArtifactType: TypeAlias = Literal["skill-md", "archive"]

INDEX_V2: Final = ".well-known/agent-skills/index.json"
INDEX_V1: Final = ".well-known/skills/index.json"
SCHEMA_V2: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One skill as an index lists it.

    ``url`` is resolved against the index's own; ``digest`` is that of the artifact's
    raw bytes. ``files`` are the pack's paths, SKILL.md first: v0.1.0 lists these
    instead, and has them below ``<name>/`` beside its index.
    """

    name: str
    type: ArtifactType
    description: str
    url: str
    digest: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What is offered of one skill, planned without reading any of it.

    A pack of SKILL.md alone is that file, every other one an archive. ``files`` are
    its paths, SKILL.md first.
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
        """Where it lies beside the index, and so its relative URL."""
        skill_md = self.type == "skill-md"
        return f"{self.id}/{SKILL_FILE}" if skill_md else f"{self.id}.tar.gz"

    @property
    def media_type(self) -> str:
        """Its content type over HTTP."""
        skill_md = self.type == "skill-md"
        return "text/markdown; charset=utf-8" if skill_md else "application/gzip"

    def entry(self, digest: str, url: str = "") -> IndexEntry:
        """Return its entry, given the digest of its bytes; ``url`` is ``path`` else."""
        return IndexEntry(
            self.id, self.type, self.description, url or self.path, digest, self.files
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

    ``limits`` are those of whoever reads the files afterwards; None is no concern.

    The name in an index is the skill's id, and no client takes one that is not as the
    specification wants it. A skill that is not offered is a warning
    ``not-publishable``, and stays in a release, where Satchel finds it.
    """
    artifacts: list[Artifact] = []
    findings: list[Finding] = []
    for entry in sorted(skills, key=lambda each: each.id):
        problem, fix = _publication_problem(entry, limits)
        if problem:
            findings.append(
                Finding.of(
                    "not-publishable",
                    f"{entry.origin.location}/{SKILL_FILE}" if entry.origins else "",
                    id=entry.id,
                    problem=problem,
                    fix=fix,
                )
            )
            continue
        files = (SKILL_FILE, *sorted(entry.resources))
        artifacts.append(Artifact(entry.id, entry.description, files))
    return Publication(tuple(artifacts), tuple(findings))


def artifact_bytes(artifact: Artifact, read: Callable[[str], bytes]) -> bytes:
    """Return an artifact's bytes; ``read`` gives those of one of the pack's files."""
    if artifact.type == "skill-md":
        return read(SKILL_FILE)
    return tar_gz((path, read(path)) for path in artifact.files)


def index_v2(entries: Iterable[IndexEntry]) -> dict[str, object]:
    """Return the index of v0.2.0, to be served as `INDEX_V2`, skills by name."""
    return {
        "$schema": SCHEMA_V2,
        "skills": [
            {
                "name": each.name,
                "type": each.type,
                "description": each.description,
                "url": each.url,
                "digest": each.digest,
            }
            for each in sorted(entries, key=lambda each: each.name)
        ],
    }


def index_v1(entries: Iterable[IndexEntry]) -> dict[str, object]:
    """Return the index of v0.1.0, to be served as `INDEX_V1`, skills by name.

    Each file of a skill lies at ``<name>/<path>`` beside it.
    """
    return {
        "skills": [
            {
                "name": each.name,
                "description": each.description,
                "files": list(each.files),
            }
            for each in sorted(entries, key=lambda each: each.name)
        ]
    }


def _publication_problem(entry: Descriptor, limits: Limits | None) -> tuple[str, str]:
    """Return what keeps a skill from an index, and what to do; empty if nothing."""
    if entry.remote:  # a digest would need its bytes, and make them ours
        problem = f"it lies on a {entry.remote} of somebody else's"
        return problem, "copy it into a folder of yours, read it, and serve that"
    if not is_name(entry.id):
        return (
            "its name is not 1 to 64 of a-z, 0-9 and single inner hyphens",
            "rename it, or give it another id with satchel.sources.renamed",
        )
    if not entry.description.strip():
        return "it has no description", "say in a sentence when to use it"
    length = len(entry.description)
    if length > MAX_DESCRIPTION_CHARS:
        most = f"{length:,} characters, and at most {MAX_DESCRIPTION_CHARS:,} are taken"
        return f"its description has {most}", "shorten it"
    return _files_problem(entry, limits)


def _files_problem(entry: Descriptor, limits: Limits | None) -> tuple[str, str]:
    for path in entry.resources:
        problem = archive_problem(path)
        if problem:
            return f"{path}: {problem}", "shorten the names of its folders"
    if limits is not None:
        for stat in entry.files:
            if stat.size > limits.file_bytes and stat.path in entry.resources:
                have = f"{stat.path} has {stat.size:,} bytes"
                problem = f"{have}, at most {limits.file_bytes:,} of a file are read"
                return problem, "take it out of the pack"
    return "", ""
