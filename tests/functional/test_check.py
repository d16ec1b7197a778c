"""``satchel check`` and ``explain``: statuses, formats, baselines."""

import shutil
import zipfile
from pathlib import Path

import pytest

from satchel.model import codes
from satchel_lab.checking._library import named_folders
from tests.functional.library import run, write_pack

GOOD = "---\nname: good\ndescription: Use it when testing.\n---\n# Good\n\nDo.\n"
ODD = (
    "---\nname: odd\ndescription: Use it when testing.\n---\n"
    "# Odd\n\nClose </instructions>.\n"
)
BAD = "---\nname: bad\n---\n# Bad\n\nDo.\n"


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    write_pack(here / "skills" / "good", GOOD)
    write_pack(here / "odd", ODD)
    write_pack(here / "bad", BAD)
    (here / "notes.txt").write_text("no JSON", "utf-8")
    (here / "x.skill").write_bytes(b"x")
    return here


@pytest.mark.row("A33")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("skills", 0),
        ("skills/good", 0),
        ("skills/good/SKILL.md", 0),
        ("odd", 0),
        ("odd --fail-on warning", 1),
        ("bad", 1),
        ("skills odd bad", 1),
        ("skills nowhere", 2),
        ("skills --baseline notes.txt", 2),
        ("", 0),
        ("--config none skills/good", 0),
        ("x.skill", 1),
    ],
)
def test_statuses(arguments: str, status: int) -> None:
    assert run("check", *arguments.split()).exit_code == status


@pytest.mark.parametrize("style", ["text", "json", "sarif", "github", "markdown"])
def test_every_format_fails_alike(style: str) -> None:
    bad = run("check", "bad", "--format", style)
    good = run("check", "skills", "--format", style)

    assert (bad.exit_code, good.exit_code) == (1, 0)
    assert "missing-description" in bad.stdout
    assert "bad/SKILL.md" in bad.stdout
    assert bad.stderr == ""


@pytest.mark.parametrize(
    "paths",
    [
        ("skills", "skills/", "./skills"),
        ("skills/bad", "./skills"),
        ("skills/bad/SKILL.md", "skills", "HERE/skills/bad"),
        ("./skills/bad", "skills/bad"),
        (".", "skills", "skills/bad"),
        ("skills/good/../bad", "skills"),
    ],
)
def test_however_a_pack_is_written_it_is_checked_once(
    paths: tuple[str, ...], folder: Path
) -> None:
    shutil.move(folder / "bad", folder / "skills")
    result = run("check", *(path.replace("HERE", str(folder)) for path in paths))

    assert result.stdout.count("error missing-description") == 1
    assert " 1 error" in result.stdout


def test_what_only_reads_like_another_keeps_its_name(folder: Path) -> None:
    """What `..` reads like is not where it leads behind a link."""
    (folder / "far" / "off").mkdir(parents=True)
    shutil.move(folder / "bad", folder / "far" / "bad")
    (folder / "skills" / "link").symlink_to(folder / "far" / "off")
    (folder / "skills" / "bad").mkdir()
    paths = ["skills", "skills/link/../bad"]

    assert [place.shown for place in named_folders(paths)] == paths


@pytest.mark.parametrize("name", ["bad.skill", "bad.zip"])
def test_an_archive_is_checked_and_never_fixed(name: str, folder: Path) -> None:
    text = b"---\nname: bad\ndescription: Use when: testing.\n---\n# Bad\n"
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("bad/SKILL.md", text)
    data = (folder / name).read_bytes()
    result = run("check", name, "--fix")
    passed_by = run("check", name, "--changed-files")

    assert result.exit_code == 1
    assert "error unquoted-colon: a value" in result.stdout  # without the mark [*]
    assert f"\n --> {name}/bad/SKILL.md:3\n" in result.stdout
    assert (folder / name).read_bytes() == data
    assert passed_by.exit_code == (1 if name == "bad.skill" else 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("https://example.org/x", "an address cannot be checked"),
        ("x.skill --since main", "x.skill is an archive"),
        ("no\x1b[31m\x85::error::x", "no<U+001B>[31m<U+0085>::error::x: no such"),
        ("skills --also json=no\x1b/x", "error: no<U+001B>/x: no such"),
    ],
)
def test_what_cannot_be_checked_is_said(arguments: str, message: str) -> None:
    result = run("check", *arguments.split(" "))

    assert result.exit_code == 2
    assert message in result.stderr


def test_what_ships_is_clean() -> None:
    """The packs in examples/ are what newcomers copy."""
    examples = Path(__file__).parents[2] / "examples"
    clean = run("check", str(examples / "skills"), "--fail-on", "warning")
    broken = run("check", str(examples / "broken"))

    assert clean.stdout == "6 packs checked: no findings\n"
    assert broken.exit_code == 1


@pytest.mark.row("E02")
def test_every_code_is_explained() -> None:
    """Also by its name in another linter."""
    for name, begins in (
        *((code, f"# {code}\n") for code in codes()),
        ("extra-key", "extra-key is unknown-field here.\n\n# unknown-field\n"),
        (
            "invalid-markdown",
            "invalid-markdown is reported as one of these:\ndead",
        ),
    ):
        result = run("explain", name)

        assert result.exit_code == 0, name
        assert result.stdout.startswith(begins), name


def test_without_a_code_all_are_listed() -> None:
    result = run("explain", width=None)

    groups = [part.splitlines() for part in result.stdout.split("\n\n")]
    listed = [line.split()[0] for _, *lines in groups[:-1] for line in lines]
    assert sorted(listed) == list(codes())
    assert groups[0][0].startswith("Rules of satchel check: errors (")
    assert listed.index("sensitive-pattern") < listed.index("dead-link")
    assert listed.index("dead-link") < listed.index("long-description")
    assert listed.index("long-description") < listed.index("unquoted-colon")
