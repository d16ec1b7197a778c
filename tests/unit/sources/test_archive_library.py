"""An archive of several packs, or of a repository, is a library as its folder is."""

import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.model import Finding, Found, Limits
from satchel.sources import LocalSource, archive
from tests.functional.library import run
from tests.unit.sources.trees import keys, pack, told

TREES = {
    "several packs": ["a", "b", "group/c"],
    "a folder of packs": ["skills/a", "skills/b"],
    "places in a pack": ["", "skills/inner", ".claude/skills/dev", "examples/sample"],
    "dots and caches": [".hidden/x", ".claude/skills/a", "__pycache__/y", "a/.x/z"],
    "pruned": ["a", "node_modules/m", "b/node_modules/n", ".git/g"],
    "curated": ["skills/.curated/a", "skills/.system/b"],
    "deep": ["1/2/3/4/5/6/seven", "1/skills/x"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, so that paths are shown as they were written."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True)


@pytest.mark.row("U01", "F64")
@pytest.mark.parametrize("kind", ["zip", "gztar"])
@pytest.mark.parametrize("top", ["", "repo-main/"])
@pytest.mark.parametrize("tree", TREES)
def test_the_same_packs_and_findings_as_its_folder(
    here: Path, tree: str, top: str, kind: str
) -> None:
    root = here / "lib"
    for key in TREES[tree]:
        pack(root / top, key, "notes.md", "references/x.md")
    (root / top / "README.md").write_text("A library.\n")
    place = Path(shutil.make_archive("made", kind, root)).name
    name = top.strip("/") or "lib"
    shown = f"{place}/{name}" if "" in TREES[tree] else place
    folder, source = LocalSource(root / top, shown=shown), archive(place)

    found = {item.key: item for item in source.scan() if isinstance(item, Found)}
    expected = {item.key: item for item in folder.scan() if isinstance(item, Found)}
    assert found.keys() == expected.keys()
    for key, item in expected.items():
        listed = [file.path for file in item.files or ()]
        assert [file.path for file in found[key].files or ()] == listed
        assert source.read(key, "references/x.md", 99)
    codes = {"unlisted-skill", "unsearched-folder", "limit-exceeded"}
    named = [f for f in told(source) if f[1] in codes]
    assert named == [f for f in told(folder) if f[1] in codes]


@pytest.mark.row("U01", "F64")
@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_forges_archive_of_a_repository(here: Path, form: str) -> None:
    """With a folder for the commit, links, a comment, many files and deep folders."""
    root = here / "repo"
    pack(root, "skills/pdf", "references/x.md")
    pack(root, ".claude/skills/dev")
    (root / "skills/pdf/link.md").symlink_to("references/x.md")
    (root / "docs").symlink_to("skills")
    (root / "skills/linked").mkdir()
    (root / "skills/linked/SKILL.md").symlink_to("../pdf/SKILL.md")
    deep = root / "src/a/b/c/d/e/f/g/h/i/j/k/l"
    deep.mkdir(parents=True)
    for number in range(700):
        (deep / f"{number}.txt").write_text("x")
    (root / ".gitignore").write_text("*.pyc\n")
    git(here, "init", "-q", "repo")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    git(
        root, "archive", "--prefix=repo-main/", f"--format={form}", "-o", "../x", "HEAD"
    )
    place = (here / "x").rename(here / f"repo.{form}")
    source = archive(place, label="repo")

    assert keys(source) == [".claude/skills/dev", "skills/pdf"]
    assert told(source) == [
        ("error", "irregular-skill-file", f"{place}/skills/linked/SKILL.md"),
        ("warning", "link-in-pack", f"{place}/skills/pdf/link.md"),
    ]
    assert [file.path for file in source.files("skills/pdf")] == [
        *("SKILL.md", "references/x.md"),
    ]
    with Satchel(place) as skills:
        assert [entry.id for entry in skills.catalog] == ["dev", "pdf"]
        assert skills.load("pdf", "x.md").text


@pytest.mark.row("U01", "F64")
def test_each_command_takes_it(here: Path) -> None:
    for key in ("a", "b"):
        pack(here, f"lib/{key}", "notes.md")
    place = Path(shutil.make_archive("lib", "zip", here / "lib")).name

    assert run("list", place).stdout.count("About") == 2
    assert "2 packs checked" in run("check", place).stdout
    assert "2 skills" in run("eval", place).output
    assert "2 skills" in run("build", "out", place).output
    assert run("show", "b", place).exit_code == 0


@pytest.mark.row("U01", "R04")
def test_one_pack_over_a_limit_costs_no_other(here: Path) -> None:
    pack(here, "lib/small")
    pack(here, "lib/large", *(f"{number}.md" for number in range(20)))
    place = Path(shutil.make_archive("lib", "zip", here / "lib")).name
    source = archive(place, limits=Limits(archive_files=10))

    assert keys(source) == ["small"]
    assert told(source) == [("error", "limit-exceeded", "lib.zip/large")]


@pytest.mark.row("U01", "R04")
def test_a_library_has_limits_as_well(here: Path) -> None:
    """Those of sixteen packs; what is over them is refused as a whole."""
    for number in range(40):
        pack(here, f"lib/p{number}")
    place = shutil.make_archive("lib", "zip", here / "lib")
    source = archive(place, label="lib", limits=Limits(archive_files=2))

    assert keys(source) == []
    (finding,) = source.scan()
    assert isinstance(finding, Finding)
    assert (finding.code, finding.path) == ("limit-exceeded", place)
    assert "unpack it" in finding.fix


@pytest.mark.row("R04")
@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_nothing_is_below_a_link(here: Path, form: str) -> None:
    """Who unpacks it elsewhere would write through the link."""
    place = here / f"bad.{form}"
    if form == "zip":
        with zipfile.ZipFile(place, "w") as made:
            link = zipfile.ZipInfo("a/link")
            link.external_attr = 0o120777 << 16
            made.writestr(link, "/etc")
            made.writestr("a/link/SKILL.md", "---\nname: x\n---\n")
    else:
        with tarfile.open(place, "w:gz") as made_tar:
            member = tarfile.TarInfo("a/link")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
            made_tar.addfile(member)
            made_tar.addfile(tarfile.TarInfo("a/link/SKILL.md"))
    (finding,) = archive(place).scan()

    assert isinstance(finding, Finding)
    assert finding.code == "unsafe-archive"


@pytest.mark.parametrize("kind", ["zip", "gztar"])
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("readme.txt", "unsafe-archive"),
        ("skill.md", "wrong-case-skill-file"),
    ],
)
def test_one_file_at_the_root_that_is_no_skill_file(
    here: Path, name: str, code: str, kind: str
) -> None:
    """It is the only entry at the root, but no folder that all is in."""
    (here / "lib").mkdir()
    (here / "lib" / name).write_text("x")
    place = Path(shutil.make_archive("made", kind, here / "lib")).name

    findings = [
        item.code for item in archive(place).scan() if isinstance(item, Finding)
    ]

    assert findings == [code]
    assert "IndexError" not in run("list", place).output


@pytest.mark.row("U01")
def test_a_folder_and_its_archive_give_one_digest(here: Path) -> None:
    pack(here, "lib", "notes.md")
    pack(here, "lib/skills/inner", "x.md")
    os.chdir(here)
    shutil.make_archive("lib", "zip", here, "lib")

    with Satchel("lib") as one, Satchel("lib.zip") as other:
        assert [entry.id for entry in one.catalog] == ["inner", "lib"]
        for skill_id in ("inner", "lib"):
            first, second = one.registry.descriptor(skill_id), other[skill_id]
            assert one.registry.digest(first) == other.registry.digest(second)
