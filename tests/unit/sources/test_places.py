"""Where a SKILL.md is a pack of its own, and what is said of one that is none."""

import os
from pathlib import Path

import pytest

from satchel.model import Finding, Found, Limits
from satchel.sources import LocalSource
from tests.unit.sources.trees import keys, pack, told

NESTED = "it is inside of the pack s/r"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, so that paths are shown as they were written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.row("U01", "F61")
@pytest.mark.parametrize(
    "inner",
    [
        "skills/inner",
        "skills/group/inner",
        "skills/.curated/inner",
        "plugins/p/skills/inner",
        ".claude/skills/inner",
        ".agents/skills/inner",
        ".github/plugins/p/skills/inner",
        ".opencode/skill/inner",
        "packages/web/.claude/skills/inner",
    ],
)
def test_a_pack_in_a_place_for_skills_is_one_of_its_own(here: Path, inner: str) -> None:
    """Its files are not those of the pack around it, whichever folder was named."""
    pack(here, "s/r", "notes.md", "skills/list.md", "skills.md")
    pack(here, f"s/r/{inner}", "references/x.md")
    own = ["SKILL.md", "notes.md", "skills.md", "skills/list.md"]

    for root, outer in (("s", "r"), ("s/r", "r")):
        source = LocalSource(root)
        start = "r/" if root == "s" else ""
        assert keys(source) == sorted([outer, f"{start}{inner}"])
        assert [file.path for file in source.files(outer)] == own
        listed = [file.path for file in source.files(f"{start}{inner}")]
        assert listed == ["SKILL.md", "references/x.md"]
        assert source.read(f"{start}{inner}", "references/x.md", 99)


@pytest.mark.row("U01", "F61")
@pytest.mark.parametrize(
    ("inner", "reason", "place"),
    [
        ("examples/inner", NESTED, "s/r"),
        ("references/inner", NESTED, "s/r"),
        ("examples/skills/inner", NESTED, "s/r"),
        ("plugins/p", NESTED, "s/r"),
        ("skills", NESTED, "s/r"),
        (".hidden/inner", "it is in .hidden, of which only", "s/r/.hidden"),
        ("references/.hidden", "it is in .hidden, of which", "s/r/references/.hidden"),
        ("__pycache__/inner", "it is in __pycache__, and nothing", "s/r"),
        ("odd./inner", "it is in odd., and nothing", "s/r"),
        ("keys.env/inner", "it is in keys.env, and nothing", "s/r"),
    ],
)
def test_any_other_is_named_with_the_reason(
    here: Path, inner: str, reason: str, place: str
) -> None:
    """And the advice helps: in that place it is listed."""
    outer = pack(here, "s/r", "notes.md")
    pack(here, f"s/r/{inner}")
    source = LocalSource("s")
    findings = [item for item in source.scan() if isinstance(item, Finding)]
    (named,) = [item for item in findings if item.path == f"s/r/{inner}/SKILL.md"]

    assert keys(source) == ["r"]
    assert (named.code, named.severity) == ("unlisted-skill", "note")
    assert named.message.startswith(f"not listed: {reason}")
    assert named.fix == f"name its folder, or move it to {place}/skills"

    (here / place / "skills").mkdir(exist_ok=True)
    moved = here / place / "skills" / "moved"
    skill = outer / inner / "SKILL.md"
    moved.mkdir()
    skill.rename(moved / "SKILL.md")
    assert f"{place}/skills/moved".removeprefix("s/") in keys(source)


@pytest.mark.row("U01", "F61")
@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("node_modules", "folders of this name never are"),
        (".git", "folders of this name never are"),
        ("lib/.venv", "folders of this name never are"),
        ("lib/env", "it is an environment"),
        (".env-3.12", "it is an environment"),
        (".hidden/env", "it is an environment"),
        ("r/node_modules", "folders of this name never are"),
        ("r/.svn", "folders of this name never are"),
    ],
)
def test_what_is_not_searched_is_named_as_a_folder(
    here: Path, folder: str, reason: str
) -> None:
    pack(here, "s/r", "notes.md")
    pack(here, f"s/{folder}/x/skills/lost")
    if "environment" in reason:
        (here / "s" / folder / "pyvenv.cfg").touch()
    source = LocalSource("s")
    (named,) = [
        item
        for item in source.scan()
        if isinstance(item, Finding) and item.code == "unsearched-folder"
    ]

    assert keys(source) == ["r"]
    assert (named.path, named.severity) == (f"s/{folder}", "note")
    assert named.message == f"not searched: {reason}"
    assert keys(LocalSource(f"s/{folder}")) == ["x/skills/lost"]


@pytest.mark.row("U01")
def test_a_file_of_that_name_is_no_folder(here: Path) -> None:
    """In a worktree of git `.git` is a file."""
    pack(here, "s/a")
    (here / "s/.git").write_text("gitdir: elsewhere\n")

    assert told(LocalSource("s")) == []


@pytest.mark.row("U01", "F61")
def test_below_a_folder_that_only_looks_like_a_pack_the_search_goes_on(
    here: Path,
) -> None:
    """Its SKILL.md is a folder, a link to nothing, or a FIFO."""
    for name in ("folder", "dead", "fifo"):
        pack(here, f"s/{name}/below")
    (here / "s/folder/SKILL.md").mkdir()
    pack(here, "s/folder/SKILL.md/deeper")
    (here / "s/dead/SKILL.md").symlink_to("nowhere")
    os.mkfifo(here / "s/fifo/SKILL.md")
    source = LocalSource("s")

    assert keys(source) == [
        *("dead/below", "fifo/below", "folder/SKILL.md/deeper", "folder/below"),
    ]
    assert [code for _, code, _ in told(source)] == ["irregular-skill-file"] * 3


@pytest.mark.row("U01", "F61")
@pytest.mark.parametrize(
    "limits", [Limits(pack_files=3), Limits(pack_bytes=150), Limits(pack_depth=1)]
)
def test_a_pack_over_a_limit_takes_no_other_with_it(here: Path, limits: Limits) -> None:
    pack(here, "s/r", "a/b/c.md", "d.md", "e.md")
    pack(here, "s/r/skills/inner")
    pack(here, "s/r/.claude/skills/dev")
    pack(here, "s/r/a/nested")
    source = LocalSource("s", limits=limits)

    assert keys(source) == ["r/.claude/skills/dev", "r/skills/inner"]
    assert told(source) == [
        ("error", "limit-exceeded", "s/r"),
        ("note", "unlisted-skill", "s/r/a/nested/SKILL.md"),
    ]


@pytest.mark.row("U01", "F61")
def test_a_pack_that_is_too_large_to_look_through_is_named(here: Path) -> None:
    pack(here, "s/r", *(f"many/{n}.md" for n in range(60)))
    pack(here, "s/r/skills/inner")
    source = LocalSource("s", limits=Limits(pack_files=3, scan_entries=50))

    assert keys(source) == []
    assert told(source) == [
        ("error", "limit-exceeded", "s/r"),
        ("note", "unsearched-folder", "s/r"),
    ]


@pytest.mark.row("U01", "F61")
def test_deeper_than_the_limit_each_is_named(here: Path) -> None:
    """Not their folders, and nothing where there is no SKILL.md."""
    for key in ("1/2/3/4/5/6/seven", "1/2/3/4/5/6/7/8/nine", "1/skills/x"):
        pack(here, f"s/{key}")
    (here / "s/a/b/c/d/e/f/g/h").mkdir(parents=True)
    source = LocalSource("s")
    findings = [item for item in source.scan() if isinstance(item, Finding)]

    assert keys(source) == ["1/skills/x"]
    assert [finding.path for finding in findings] == [
        "s/1/2/3/4/5/6/7/8/nine/SKILL.md",
        "s/1/2/3/4/5/6/seven/SKILL.md",
    ]
    assert "deeper than scan_depth = 6" in findings[0].message
    assert len(keys(LocalSource("s", limits=Limits(scan_depth=9)))) == 3


@pytest.mark.row("U01")
def test_the_digest_of_the_outer_pack_is_one_from_everywhere(here: Path) -> None:
    """Also where the inner pack is too deep to be listed."""
    pack(here, "a/b/c/d/e/r", "x.md")
    pack(here, "a/b/c/d/e/r/skills/inner")
    found = [
        [item.files for item in LocalSource(root).scan() if isinstance(item, Found)]
        for root in (".", "a/b", "a/b/c/d/e/r")
    ]

    assert found[0][0] == found[1][0] == found[2][0]
    assert [len(files) for files in found] == [1, 2, 2]


@pytest.mark.row("U01", "E29")
def test_a_place_for_skills_may_be_a_link_inside(here: Path) -> None:
    """It adds nothing where its target is searched; nothing outside is reached."""
    pack(here, "s/r", "x.md")
    pack(here, "s/r/skills/dev")
    pack(here, "outside/evil")
    (here / "s/r/.claude").mkdir()
    (here / "s/r/.claude/skills").symlink_to("../skills")
    (here / "s/r/.agents/skills").mkdir(parents=True)
    (here / "s/r/.agents/skills/evil").symlink_to("../../../../outside/evil")
    source = LocalSource("s")

    assert keys(source) == ["r", "r/skills/dev"]
    assert ("warning", "link-leaves-root", "s/r/.agents/skills/evil") in told(source)
