"""Sources that yield, and sources elsewhere: what the registry makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from satchel import Options, Satchel, sources
from satchel.errors import DuplicateSkillError
from satchel.model import SKILL_FILE, FileStat, Found, Manifest

if TYPE_CHECKING:
    from satchel.protocols import SkillSource


@dataclass
class Elsewhere:
    """Knows a skill by what it is told of it; a read is noted, and fails."""

    label: str = "far"
    digest: str = f"sha256:{'0' * 64}"
    frontmatter: dict[str, Any] = field(default_factory=dict[str, Any])
    yields: bool = True
    remote: str = "test server"

    def __post_init__(self) -> None:
        self.reads: list[str] = []

    def scan(self) -> list[Found]:
        files = (FileStat(SKILL_FILE, 9, self.digest, self.digest),)
        return [Found("x", f"{self.label}/x", self.digest, files)]

    def manifest(self, key: str) -> Manifest:
        said = {"name": key, "description": "Use it far away."} | self.frontmatter
        return Manifest(name=key, description=said["description"], frontmatter=said)

    def files(self, key: str) -> list[FileStat]:
        raise AssertionError(key)

    def read(self, key: str, path: str, limit_bytes: int) -> bytes:
        self.reads.append(path)
        raise AssertionError(key, limit_bytes)

    def close(self) -> None: ...


def here(label: str) -> SkillSource:
    text = f"---\nname: x\ndescription: Of {label}.\n---\n"
    return sources.memory({"x": {SKILL_FILE: text}}, label=label)


def test_it_is_listed_where_nobody_else_has_the_name() -> None:
    with Satchel(Elsewhere()) as skills:
        (entry,) = skills.catalog

        assert entry.description == "[test server far] Use it far away."
        assert entry.remote == "test server"
        assert skills.conflicts == ()


def test_it_yields_to_one_in_a_conflict_it_does_not_decide() -> None:
    far = Elsewhere()
    with Satchel(far, here("one"), here("two")) as skills:
        (conflict,) = skills.conflicts
        assert [owner.source for owner in conflict.owners] == ["one", "two", "far"]
        assert conflict.preferred is None
        with pytest.raises(DuplicateSkillError, match=r"one.* two"):
            skills.load("x")

    with Satchel(
        far, here("one"), here("two"), options=Options(on_conflict="precedence")
    ) as skills:
        (conflict,) = skills.conflicts
        assert conflict.preferred is not None
        assert conflict.preferred.source == "one"
        assert sorted(held.descriptor.source for held in skills.catalog.excluded) == [
            "far",
            "two",
        ]
        assert skills.why("x").stage == "listed"


def test_it_does_not_yield_to_what_claims_nothing() -> None:
    """A skill that is switched off has no place to keep."""
    with Satchel(Elsewhere(), sources.only(here("one"), ["y"])) as skills:
        assert [entry.source for entry in skills.catalog] == ["far"]


def test_two_that_yield_are_an_ordinary_conflict() -> None:
    with Satchel(Elsewhere("a"), Elsewhere("b", f"sha256:{'1' * 64}")) as skills:
        (conflict,) = skills.conflicts
        assert conflict.preferred is None


@pytest.mark.parametrize("digest", ["", f"sha256:{'0' * 64}"], ids=["none", "known"])
def test_nothing_of_it_is_read_for_the_catalog(digest: str) -> None:
    one, two = Elsewhere("a", digest), Elsewhere("b", digest)
    with Satchel(one, two, options=Options(on_conflict="precedence")) as skills:
        skills.prompt()
        skills.find("far away")
        skills.sync()

    assert one.reads + two.reads == []


def test_a_profile_holds_for_what_is_only_told() -> None:
    odd = Elsewhere(frontmatter={"homepage": "x", "compatibility": "y" * 600})
    with Satchel(odd, profile="spec") as skills:
        found = {(f.code, f.path, f.line) for f in skills.findings}
        assert ("compatibility-length", "far/x/SKILL.md", None) in found
        assert len(skills.catalog) == 0
    with Satchel(odd) as skills:
        assert len(skills.catalog) == 1
