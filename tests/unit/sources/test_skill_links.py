"""A SKILL.md that is a link: good ones are copies, dead ones are called dead."""

import subprocess
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ReferenceEscapesError, SkillError
from satchel.model import Finding
from satchel.sources import LocalSource
from tests.unit.sources.trees import keys, pack, told


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, so that paths are shown as they were written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def link(here: Path, place: str, target: str) -> Path:
    """Make a SKILL.md that is a link; return it."""
    skill = here / place / "SKILL.md"
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.symlink_to(target)
    return skill


def message(source: LocalSource) -> str:
    """Return what the one finding on an irregular SKILL.md says."""
    (finding,) = (
        item
        for item in source.scan()
        if isinstance(item, Finding) and item.code == "irregular-skill-file"
    )
    return finding.message


@pytest.mark.row("U01", "F63")
@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("s/copy", "../real/SKILL.md"),
        ("s/a/b/copy", "../../../real/SKILL.md"),
        ("s/.claude/skills/real", "../../../real/SKILL.md"),
        ("s/copy", "../chain/SKILL.md"),
    ],
)
def test_a_link_to_the_file_of_a_pack_is_a_copy_of_that_pack(
    here: Path, place: str, target: str
) -> None:
    """With its references; so it is no conflict, and one skill with two places."""
    real = pack(here, "s/real", "references/x.md")
    link(here, "s/chain", "../real/SKILL.md") if "chain" in target else None
    link(here, place, target)
    source = LocalSource("s")
    key = place.removeprefix("s/")
    source.scan()

    assert source.manifest(key) == (real / "SKILL.md").read_bytes()
    assert source.read(key, "references/x.md", 99)
    assert source.files(key) == source.files("real")
    assert all(source.is_unchanged(key, file) for file in source.files(key))
    assert ("note", "linked-pack", f"{place}/SKILL.md") in told(source)
    with Satchel("s") as skills:
        (entry,) = skills.catalog
        assert f"{place}" in [origin.location for origin in entry.origins]
        assert [f.severity for f in skills.findings if f.severity == "error"] == []


@pytest.mark.row("U01", "F63")
@pytest.mark.parametrize("target", ["../../docs/guide.md", "AGENTS.md", "../x.txt"])
def test_a_link_to_any_other_file_is_the_skill_md_of_its_own_folder(
    here: Path, target: str
) -> None:
    text = "---\nname: one\ndescription: Does it. Use it when asked.\n---\nText.\n"
    skill = link(here, "s/g/one", target)
    (skill.parent / "references").mkdir()
    (skill.parent / "references/own.md").write_text("Own.\n")
    file = skill.parent / target
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    source = LocalSource("s")

    assert keys(source) == ["g/one"]
    listed = [file.path for file in source.files("g/one")]
    own = ["AGENTS.md"] if target == "AGENTS.md" else []
    assert listed == [*own, "SKILL.md", "references/own.md"]
    assert source.manifest("g/one") == source.read("g/one", "SKILL.md", 999)
    with Satchel("s") as skills:
        assert skills.load("one").body == "Text.\n"
        file.write_text(text.replace("Text", "More"))
        assert skills.load("one").body == "More.\n"
        report = skills.sync()
        # The sync in the background that an edit starts may have been first.
        assert "one" in {*report.updated, *report.unchanged}
    stat = source.files("g/one")[len(own)]
    assert source.is_unchanged("g/one", stat)
    file.write_text("shorter")
    assert not source.is_unchanged("g/one", stat)
    file.unlink()
    assert not source.is_unchanged("g/one", stat)
    with pytest.raises(SkillError):
        source.manifest("g/one")


@pytest.mark.row("U01", "E29", "F63")
def test_a_link_may_lead_to_elsewhere_in_the_same_repository(here: Path) -> None:
    subprocess.run(["git", "init", "-q", here / "repo"], check=True)
    pack(here, "repo/skills/real", "references/x.md")
    link(here, "repo/.claude/skills/real", "../../../skills/real/SKILL.md")
    pack(here, "outside/evil")
    link(here, "repo/.claude/skills/evil", "../../../../outside/evil/SKILL.md")
    source = LocalSource("repo/.claude/skills")

    assert keys(source) == ["real"]
    assert source.read("real", "references/x.md", 99)
    assert "a link that leads out" in message(source)
    (here / "repo/.git").rename(here / "git")
    assert keys(LocalSource("repo/.claude/skills")) == []


@pytest.mark.row("U01", "F63")
@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere.md", "a dead link: there is no nowhere.md"),
        ("SKILL.md", "a dead link: there is no SKILL.md"),
        ("../gone/SKILL.md", "a dead link: there is no ../gone/SKILL.md"),
        ("../real", "a link to what is no file"),
        ("/dev/null", "a link to what is no file"),
        ("/etc/hostname", "a link that leads out"),
        ("../../out.md", "a link that leads out"),
        ("../.env", "a link to what no pack lists"),
        ("../.git/config", "a link to what no pack lists"),
        ("../deploy.pem", "a link to what no pack lists"),
    ],
)
def test_a_link_that_cannot_be_used_says_why(
    here: Path, target: str, says: str
) -> None:
    pack(here, "s/real")
    (here / "s/.git").mkdir()
    for file in ("out.md", "s/.env", "s/.git/config", "s/deploy.pem"):
        (here / file).write_text("---\nname: x\ndescription: A secret.\n---\n")
    link(here, "s/bad", target)
    source = LocalSource("s")

    assert keys(source) == ["real"]
    assert says in message(source)
    with pytest.raises(SkillError):
        source.manifest("bad")


@pytest.mark.row("U01", "E29")
def test_what_is_next_to_the_link_is_listed_or_named(here: Path) -> None:
    """Files next to the link are not those of the copy, and a note says so."""
    pack(here, "s/real", "references/x.md", "skills/inner/SKILL.md")
    link(here, "s/copy", "../real/SKILL.md")
    pack(here, "s/copy/skills/own")
    pack(here, "s/copy/examples/sample")
    source = LocalSource("s")
    notes = [item for item in source.scan() if isinstance(item, Finding)]

    assert keys(source) == ["copy", "copy/skills/own", "real", "real/skills/inner"]
    assert [file.path for file in source.files("copy")] == [
        "SKILL.md",
        "references/x.md",
    ]
    assert [(note.code, note.path) for note in notes] == [
        ("linked-pack", "s/copy/SKILL.md"),
        ("unlisted-skill", "s/copy/examples/sample/SKILL.md"),
    ]
    assert "files next to it are not used" in notes[0].message


@pytest.mark.row("A09", "U01")
def test_a_link_that_is_exchanged_after_the_scan_reads_nothing_else(here: Path) -> None:
    """What it led to is fixed at the scan, and no link on the way is followed."""
    pack(here, "s/real", "x.md")
    pack(here, "secret", "x.md")
    skill = link(here, "s/copy", "../real/SKILL.md")
    (here / "s/docs").mkdir()
    (here / "s/docs/a.md").write_text("---\nname: a\ndescription: d\n---\n")
    other = link(here, "s/other", "../docs/a.md")
    source = LocalSource("s")
    source.scan()
    for path in (skill, other):
        path.unlink()
        path.symlink_to("../../secret/SKILL.md")

    assert b"secret" not in source.manifest("copy")
    assert b"secret" not in source.manifest("other")
    (here / "s/real").rename(here / "away")
    (here / "s/real").symlink_to("../secret")
    (here / "s/docs").rename(here / "docs")
    (here / "s/docs").symlink_to("../secret")
    for key in ("copy", "other"):
        with pytest.raises(SkillError):
            source.manifest(key)
    with pytest.raises(ReferenceEscapesError):
        source.read("copy", "x.md", 99)


@pytest.mark.row("U01")
def test_a_copy_of_a_pack_over_the_limits_is_refused_like_the_pack(here: Path) -> None:
    pack(here, "s/real", "references/x.md")
    (here / "s/real/references/x.md").write_text("x" * 60_000_000)
    link(here, "s/copy", "../real/SKILL.md")

    assert keys(LocalSource("s")) == []
    codes = [code for _, code, _ in told(LocalSource("s"))]
    assert codes.count("limit-exceeded") == 2
