"""A release: skills whose every byte is fixed by one digest."""

from dataclasses import dataclass

from satchel.model import Descriptor, Resource


def release_path(skill_id: str, path: str = "") -> str:
    """Return the path of a skill, or of a file of it, in the folder of a release."""
    return f"skills/{skill_id}/{path}" if path else f"skills/{skill_id}"


@dataclass(frozen=True, slots=True)
class ReleasedSkill:
    """One skill of a release."""

    # `descriptor` has no origin, but the digest of each file. `resources` are the same
    # files with SKILL.md, sorted by path; `digest` is that of the pack,
    # `sha256-tree-v1:` and 64 hex digits.

    descriptor: Descriptor
    digest: str
    resources: tuple[Resource, ...]

    @property
    def id(self) -> str:
        return self.descriptor.id


@dataclass(frozen=True, slots=True)
class Release:
    """Skills by id, and the other files of the release, by path."""

    # `id` is the digest of the whole folder, with release.json, so that it names
    # exactly these bytes. `document` is release.json itself.

    id: str
    skills: tuple[ReleasedSkill, ...]
    others: tuple[Resource, ...]
    document: Resource

    @property
    def hex(self) -> str:
        return self.id.rpartition(":")[2]

    @property
    def files(self) -> tuple[Resource, ...]:
        """Every file, release.json included, sorted by path by code point."""
        resources = [
            Resource(
                release_path(skill.id, resource.path), resource.digest, resource.size
            )
            for skill in self.skills
            for resource in skill.resources
        ]
        resources += [*self.others, self.document]
        return tuple(sorted(resources, key=lambda resource: resource.path))
