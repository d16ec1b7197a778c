"""Which packs are listed: conflicts, sources that yield, replacements."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from satchel import Options, Satchel, sources
from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.errors import DuplicateSkillError
from satchel.load import load
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    Excluded,
    FileStat,
    Found,
    Manifest,
    Request,
)
from satchel.protocols import SkillSource
from tests.fakes import FakeClock, FakeSource, pack

OTHER = "# Other\n"


def registry(*sources: FakeSource) -> Registry:
    """Return a registry that was synced once."""
    rules, clock = CatalogRules(), FakeClock()
    kept = Registry(sources, accept=ParseOptions(), rules=rules, clock=clock)
    kept.sync()
    return kept


def one(label: str, name: str, **more: str) -> FakeSource:
    return FakeSource(label, {name: {"SKILL.md": pack(name, **more)}})


def ids(catalog: Catalog) -> list[str]:
    return [entry.id for entry in catalog]


@pytest.mark.row("F03", "T02")
def test_syncs_go_on_while_a_conflict_stands() -> None:
    """Edits are seen, new packs appear, gone ones go: of every source."""
    first, second = one("first", "a"), one("second", "edited")
    second.packs["gone"] = {"SKILL.md": pack("gone")}
    kept = registry(first, second)
    second.packs["a"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()

    second.packs["edited"]["SKILL.md"] = pack("edited", body="# Edited\n")
    second.packs["new"] = {"SKILL.md": pack("new")}
    del second.packs["gone"]
    report = kept.sync()

    assert (report.added, report.updated, report.removed) == (
        ("new",),
        ("edited",),
        ("gone",),
    )
    assert load(kept.catalog, Request("edited")).body == "# Edited\n"


@pytest.mark.row("F03", "T02")
def test_who_had_the_id_first_keeps_it_and_its_edits_are_seen() -> None:
    first, second = one("first", "a"), FakeSource("second", {})
    kept = registry(second, first)
    second.packs["a"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()
    first.packs["a"]["SKILL.md"] = pack("a", body="# Edited\n")

    assert kept.sync().updated == ("a",)
    assert kept.catalog.entries[0].source == "first"
    assert load(kept.catalog, Request("a")).body == "# Edited\n"
    assert len(kept.latest.unresolved) == 1
    assert "duplicate skill 'a'" in kept.health().problems[0]


@pytest.mark.row("F03", "T02")
def test_who_goes_away_gives_the_id_up() -> None:
    first, second = one("first", "a"), one("second", "b")
    kept = registry(first, second)
    second.packs["x"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()
    del first.packs["a"]

    kept.sync()

    assert kept.catalog.entries[0].source == "second"
    assert kept.catalog.unresolved == ()


@pytest.mark.row("T02")
def test_what_a_fresh_process_would_have_never_holds_the_one_that_stayed() -> None:
    """Releases and indexes are made of `latest`."""
    first, second = one("first", "a"), FakeSource("second", {})
    kept = registry(first, second)
    second.packs["a"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()
    fresh = registry(first, second)

    assert ids(kept.catalog) == ["a"]
    assert kept.latest == fresh.latest == fresh.catalog
    assert ids(kept.latest) == []


@pytest.mark.row("T02", "F03")
def test_two_newcomers_of_one_name_are_excluded_both() -> None:
    kept = registry(first := one("first", "a"))
    first.packs["x"] = {"SKILL.md": pack("b")}
    first.packs["y"] = {"SKILL.md": pack("b", body=OTHER)}
    kept.sync()

    assert ids(kept.catalog) == ["a"]
    with pytest.raises(DuplicateSkillError, match=r"first/x and first/y"):
        kept.descriptor("b")


@pytest.mark.row("T02", "F06")
@pytest.mark.parametrize(
    ("keys", "prefix"),
    [
        (("one/a", "two/a"), '"{parent}"'),
        (("one/skills/a", "two/skills/a"), '"{path}"'),
        (("skills/x", "skills/y"), '"{folder}"'),
    ],
)
def test_the_error_gives_each_way_out_for_code_command_line_and_settings(
    keys: tuple[str, str], prefix: str
) -> None:
    """And the prefix is one that tells the two apart."""
    one, two = keys
    source = FakeSource(
        "s",
        {one: {"SKILL.md": pack("a")}, two: {"SKILL.md": pack("a", body=OTHER)}},
    )
    kept = registry(source)
    with pytest.raises(DuplicateSkillError) as caught:
        load(kept.catalog, Request("a"))

    bare = prefix.strip('"')
    for line in (
        "rename all but one",
        f"prefix={prefix}",
        f"--prefix '{bare}'",
        f"prefix = {prefix}",
        'on_conflict="precedence"',
        "--on-conflict precedence",
        'on_conflict = "precedence"',
    ):
        assert line in caught.value.fix
    assert (caught.value.first_origin, caught.value.second_origin) == (
        f"s/{one}",
        f"s/{two}",
    )


@pytest.mark.row("T02")
def test_two_sources_laid_out_alike_are_told_apart_and_many_owners_counted() -> None:
    kept = registry(
        FakeSource("s", {"p/a": {"SKILL.md": pack("a")}}),
        FakeSource("t", {"p/a": {"SKILL.md": pack("a", body=OTHER)}}),
    )

    (conflict,) = kept.catalog.unresolved
    assert 'prefix={"t": "other-"}' in conflict.fix
    assert "--prefix 't=other-'" in conflict.fix
    assert conflict.places == "s/p/a and t/p/a"

    packs: dict[str, dict[str, str | bytes]] = {
        f"{n}/a": {"SKILL.md": pack("a", body=f"# {n}\n")} for n in range(5)
    }
    kept = registry(FakeSource("s", packs))

    assert kept.catalog.unresolved[0].places == "s/0/a and s/1/a and s/2/a and 2 more"


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


def test_it_is_listed_where_nobody_else_claims_the_name() -> None:
    with Satchel(Elsewhere()) as skills:
        (entry,) = skills.catalog

        assert entry.description == "[test server far] Use it far away."
        assert entry.remote == "test server"
        assert skills.conflicts == ()

    with Satchel(Elsewhere(), sources.only(here("one"), ["y"])) as skills:
        assert [entry.source for entry in skills.catalog] == ["far"]

    with Satchel(Elsewhere("a"), Elsewhere("b", f"sha256:{'1' * 64}")) as skills:
        (conflict,) = skills.conflicts
        assert conflict.preferred is None


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


LISTED = Descriptor(id="new", description="d", replaces=("old", "older"))


def deprecated(id: str, replacement: str, *replaces: str) -> Excluded:
    entry = Descriptor(
        id=id, description="d", replaced_by=replacement, replaces=replaces
    )
    return Excluded(entry, "deprecated")


@pytest.mark.parametrize(
    ("id", "excluded", "replacement"),
    [
        ("old", (), "new"),
        ("older", (), "new"),
        ("new", (), ""),
        ("other", (), ""),
        ("gone", (deprecated("old", "new", "gone"),), "new"),
        ("gone", (deprecated("mid", "old", "gone"),), "new"),
        ("mid", (deprecated("mid", "new"),), "new"),
        ("mid", (deprecated("mid", "mid"),), ""),
        ("a", (deprecated("a", "b"), deprecated("b", "a")), ""),
        ("gone", (Excluded(LISTED, "disabled"),), ""),
    ],
)
def test_replacement_of(
    id: str, excluded: tuple[Excluded, ...], replacement: str
) -> None:
    assert Catalog((LISTED,), excluded).replacement_of(id) == replacement


def test_of_several_replacements_the_first_is_named_and_no_long_line_followed() -> None:
    others = tuple(
        Descriptor(id=id, description="d", replaces=("old",)) for id in ("b", "a")
    )

    assert Catalog(others).replacement_of("old") == "a"

    line = tuple(deprecated(f"s{n}", f"s{n + 1}") for n in range(20))

    assert (
        Catalog((Descriptor(id="s20", description="d"),), line).replacement_of("s0")
        == ""
    )
