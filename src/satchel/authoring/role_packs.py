"""The packs that ship with Satchel, as something to begin with."""

from typing import TYPE_CHECKING

from satchel.errors import SkillNotFoundError
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Finding, Found
from satchel.sources import roles
from satchel.spec import from_spec, render_frontmatter, to_spec
from satchel.spec.written import read_written

if TYPE_CHECKING:
    from satchel.protocols import SkillSource

__all__ = ["read_role", "role_names"]


def role_names() -> tuple[str, ...]:
    """Return the names of the packs that ship, sorted."""
    return tuple(sorted(_keys(_source())))


def read_role(
    role: str, name: str, description: str, *, in_spec: bool
) -> dict[str, bytes]:
    """Return the files of a pack that ships, under another name, by path.

    Args:
        role: Which pack.
        name: What it is to be called.
        description: What its description is to be; empty for its own.
        in_spec: Whether its frontmatter is to be in the public specification's dialect.

    Raises:
        SkillNotFoundError: There is no such pack; carries those that there are.
    """
    source = _source()
    keys = _keys(source)
    if role not in keys:
        raise SkillNotFoundError(role, tuple(sorted(keys)))
    key = keys[role]
    limit = DEFAULT_LIMITS.file_bytes
    files = {
        stat.path: source.read(key, stat.path, limit) for stat in source.files(key)
    }
    written = read_written(files[SKILL_FILE])
    assert not isinstance(written, Finding)  # noqa: S101 - our own pack
    fields = {**written.fields, "name": name}
    if description:
        fields["description"] = description
    head = render_frontmatter(to_spec(fields) if in_spec else from_spec(fields))
    return {**files, SKILL_FILE: head.encode() + written.body}


def _source() -> "SkillSource":
    return roles()


def _keys(source: "SkillSource") -> dict[str, str]:
    found = (each for each in source.scan() if isinstance(each, Found))
    return {each.key.rpartition("/")[2]: each.key for each in found}
