"""An id that several packs claim costs that id, and nothing else."""

import pytest

from satchel.catalog import CatalogRules, ParseOptions, Registry
from satchel.errors import DuplicateSkillError
from satchel.load import load
from satchel.model import Catalog, Request
from tests.fakes import FakeClock, FakeSource, pack

OTHER = "# Other\n"


def registry(*sources: FakeSource) -> Registry:
    return Registry(
        sources,
        accept=ParseOptions(),
        rules=CatalogRules(),
        clock=FakeClock(),
    )


def one(label: str, name: str, **more: str) -> FakeSource:
    return FakeSource(label, {name: {"SKILL.md": pack(name, **more)}})


def ids(catalog: Catalog) -> list[str]:
    return [entry.id for entry in catalog]


@pytest.mark.row("F03", "T02")
def test_a_conflict_from_the_start_excludes_its_claimants_only() -> None:
    second = one("second", "a", body=OTHER)
    second.packs["b"] = {"SKILL.md": pack("b")}
    kept = registry(one("first", "a"), second)
    kept.sync()

    assert ids(kept.catalog) == ["b"]
    assert load(kept.catalog, Request("b")).id == "b"
    with pytest.raises(DuplicateSkillError):
        load(kept.catalog, Request("a"))


@pytest.mark.row("F03", "T02")
def test_syncs_go_on_while_a_conflict_stands() -> None:
    """Edits are seen, new packs appear, gone ones go: of every source."""
    first, second = one("first", "a"), one("second", "edited")
    second.packs["gone"] = {"SKILL.md": pack("gone")}
    kept = registry(first, second)
    kept.sync()
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
    kept.sync()
    second.packs["a"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()
    first.packs["a"]["SKILL.md"] = pack("a", body="# Edited\n")

    assert kept.sync().updated == ("a",)
    assert kept.catalog.entries[0].source == "first"
    assert load(kept.catalog, Request("a")).body == "# Edited\n"


@pytest.mark.row("F03", "T02")
def test_who_goes_away_gives_the_id_up() -> None:
    first, second = one("first", "a"), one("second", "b")
    kept = registry(first, second)
    kept.sync()
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
    kept.sync()
    second.packs["a"] = {"SKILL.md": pack("a", body=OTHER)}
    kept.sync()
    fresh = registry(first, second)
    fresh.sync()

    assert ids(kept.catalog) == ["a"]
    assert kept.latest == fresh.latest == fresh.catalog
    assert ids(kept.latest) == []


@pytest.mark.row("T02")
def test_two_newcomers_of_one_name_are_excluded_both() -> None:
    kept = registry(first := one("first", "a"))
    kept.sync()
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
    kept.sync()
    with pytest.raises(DuplicateSkillError) as caught:
        load(kept.catalog, Request("a"))

    bare = prefix.strip('"')
    for line in (
        "rename one",
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
def test_two_sources_laid_out_alike_are_told_apart_by_a_prefix_for_one() -> None:
    kept = registry(
        FakeSource("s", {"p/a": {"SKILL.md": pack("a")}}),
        FakeSource("t", {"p/a": {"SKILL.md": pack("a", body=OTHER)}}),
    )
    kept.sync()

    (conflict,) = kept.catalog.unresolved
    assert 'prefix={"t": "other-"}' in conflict.fix
    assert "--prefix 't=other-'" in conflict.fix
    assert conflict.places == "s/p/a and t/p/a"


def test_many_owners_are_counted() -> None:
    packs: dict[str, dict[str, str | bytes]] = {
        f"{n}/a": {"SKILL.md": pack("a", body=f"# {n}\n")} for n in range(5)
    }
    kept = registry(FakeSource("s", packs))
    kept.sync()

    assert kept.catalog.unresolved[0].places == "s/0/a and s/1/a and s/2/a and 2 more"
