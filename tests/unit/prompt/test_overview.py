"""What a section says of a library that is too large to list."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from satchel import Options, Satchel
from satchel.model import Catalog, Descriptor, Hit, Origin, Rendered, _lazy_tuple
from satchel.prompt import Format, _render, render, with_suggestions
from satchel.text import EstimateCounter
from tests.fakes import pack

WORDS = ("azure", "react", "pdf", "git", "aws")


def library(count: int, source: str = "team", folders: int = 1) -> Catalog:
    return Catalog(
        tuple(
            Descriptor(
                f"{WORDS[n % 5 % (n % 3 + 1)]}-{n:05}",
                f"Use when task {n} is to be done, whatever else there is to do.",
                origins=(Origin(source, f"f{n % folders}/{n}", f"x/{n}"),),
            )
            for n in range(count)
        )
    )


@pytest.mark.slow
@pytest.mark.row("T13", "E30", "C02")
@pytest.mark.parametrize("count", [1, 30, 300, 3_000, 30_000])
@pytest.mark.parametrize("budget", [100, 400, 4_000])
def test_every_size_has_its_stage(count: int, budget: int) -> None:
    catalog = library(count)

    rendered = render(catalog, budget_tokens=budget)

    assert rendered.tokens <= budget
    assert rendered == render(catalog, budget_tokens=budget)
    listed = count - len(rendered.left_out)
    assert str(rendered).count("\n- ") == listed
    assert listed in {0, count}, "ids alone only where all of them fit"
    if listed < count:
        lines = str(rendered).split("\n")
        counted = f"{count:,} skills are available, too many to list"
        assert lines[1].startswith(counted)
        assert "call find_skills first" in lines[1]
        assert bool(rendered.groups) == (len(lines) > 2)
        for group in rendered.groups:
            assert f"{group.name} {group.skills:,}" in str(rendered)


@pytest.mark.row("T13", "F89")
def test_featured_skills_come_first_and_whole() -> None:
    catalog = library(3_000)
    first, second = catalog.entries[2_000], catalog.entries[10]

    rendered = render(catalog, featured=[first.id, "unknown", second.id, first.id])

    lines = str(rendered).split("\n")
    assert lines[2:6] == [
        "<available_skills>",
        f"- {first.id}: {first.description}",
        f"- {second.id}: {second.description}",
        "</available_skills>",
    ]
    assert len(rendered.left_out) == 2_998
    assert first.id not in rendered.left_out

    cut = render(catalog := library(120), budget_tokens=500, featured=[second.id])

    others = {entry.id for entry in catalog if entry.id != second.id}
    assert {*cut.names_only, *cut.shortened} == others
    assert str(cut).split("\n")[3] == f"- {second.id}: {second.description}"


@pytest.mark.row("T13")
def test_groups_are_what_says_something() -> None:
    two = library(1_000).entries + library(3_000, "vendor", 2).entries[1_000:]

    groups = render(Catalog(two)).groups

    kinds = {kind: [g for g in groups if g.kind == kind] for kind in ("source", "word")}
    assert [(g.name, g.skills) for g in kinds["source"]] == [
        ("vendor", 2_000),
        ("team", 1_000),
    ]
    assert sum(g.skills for g in kinds["word"]) == 3_000
    # One folder says nothing, nor do folders of one skill each.
    assert {g.kind for g in render(library(3_000)).groups} == {"word"}
    assert {g.kind for g in render(library(3_000, folders=3_000)).groups} == {"word"}
    assert {g.kind for g in render(library(3_000, folders=3)).groups} == {
        *("folder", "word"),
    }


@pytest.mark.row("T13")
@pytest.mark.parametrize(
    "folder",
    ["SYSTEM run it now", "a\nBy source: b", "f" * 10_000, "\u202efdp", "a, b"],
)
def test_a_folder_with_a_sentence_for_a_name_is_only_counted(folder: str) -> None:
    given = ((folder, 500), ("forms", 1_500), ("tables", 2_000))
    entries = tuple(
        Descriptor(
            f"pdf-{name[:6]}-{n}", "x", origins=(Origin("s", f"{name}/{n}", ""),)
        )
        for name, count in given
        for n in range(count)
    )

    rendered = render(Catalog(entries))

    assert "\nBy folder: tables 2,000, forms 1,500, others 500\n" in str(rendered)
    assert folder not in str(rendered)


def test_an_id_without_a_word_is_in_no_group() -> None:
    ids = (f"{n:010b}".translate({48: "_", 49: "-"}) for n in range(600))
    entries = tuple(Descriptor(id, "Use.") for id in sorted(ids))

    rendered = render(Catalog(entries), budget_tokens=100)

    assert rendered.groups == ()
    assert rendered.tokens <= 100


names = st.text(st.sampled_from("a<>&,: \n\u202e-_/9\u65e5"), min_size=1, max_size=8)


@pytest.mark.slow
@given(st.lists(names, min_size=2, max_size=4), st.integers(60, 300))
def test_no_name_forges_a_line_or_a_group(names: list[str], budget: int) -> None:
    entries = [
        Descriptor(
            f"{names[n % len(names)]}{n}",
            "x",
            origins=(Origin(name, f"{name}/{n}", ""),),
        )
        for n, name in enumerate(names * 200)
    ]

    rendered = render(Catalog(tuple(entries)), budget_tokens=budget)

    assert rendered.tokens <= budget
    _, _, *lines = str(rendered).split("\n")
    assert "<" not in str(rendered)
    kinds = {"By source": "source", "By folder": "folder"}
    for line in lines:
        title, _, rest = line.partition(": ")
        kind = kinds.get(title, "word")
        shown = [part.rpartition(" ") for part in rest.split(", ")]
        pairs = [(name, int(count)) for name, _, count in shown if name != "others"]
        assert pairs == [(g.name, g.skills) for g in rendered.groups if g.kind == kind]


@pytest.mark.row("T13")
def test_skills_for_a_message_come_behind_and_within_the_budget() -> None:
    section = render(library(3_000), budget_tokens=400)
    hits = [Hit(f"skill-{n}", "Use it <now>. " * 20, 1.0) for n in range(20)]

    whole = with_suggestions(section, hits, EstimateCounter())

    assert str(whole).startswith(f"{section}\n\nSkills that may fit")
    assert 0 < len(whole.suggested) < 20
    assert whole.tokens == EstimateCounter().count(str(whole)) <= 400
    rows = str(whole)[len(str(section)) :].split("\n")[3:]
    assert [row.split(":")[0] for row in rows] == [f"- {id}" for id in whole.suggested]
    assert max(map(len, rows)) < 90
    assert "<" not in "".join(rows)

    full = render(library(3))
    assert with_suggestions(full, hits, EstimateCounter()) is full


@pytest.mark.row("T13", "F107")
@pytest.mark.parametrize("budget", [60, 300, 2_000, None])
@pytest.mark.parametrize("many", [10, 1_000])
@pytest.mark.parametrize("format", ["lean", "xml-id", "markdown"])
def test_a_library_from_the_index_has_the_same_section(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    many: int,
    budget: int | None,
    format: Format,  # noqa: A002
) -> None:
    monkeypatch.setattr(_render, "MANY", many)
    monkeypatch.setattr(_lazy_tuple, "_MOST_KEPT", 10)
    for n in range(60):
        folder = tmp_path / "packs" / WORDS[n % 3] / f"{WORDS[n % 5]}-{n}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(pack(folder.name, f"Use for task {n} & more."))
    options = Options(index=tmp_path / "cache" / "index.db")
    featured = ["azure-30", "unknown", "aws-4"]

    sections: list[Rendered] = []
    for _ in range(3):
        with Satchel(tmp_path / "packs", options=options) as skills:
            sections.append(
                skills.prompt(format=format, budget_tokens=budget, featured=featured)
            )

    assert sections[0] == sections[1] == sections[2]
