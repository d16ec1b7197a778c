"""Which packs a user means, which fixes are planned, and which lines are shown."""

import shutil
from pathlib import Path

import pytest

from satchel.errors import ConfigError, MissingPathError, SourceUnavailableError
from satchel.model import LintConfig
from satchel.sources import LocalSource
from satchel_lab.checking import check, write_fixes
from satchel_lab.checking._library import named_folders
from satchel_lab.lint import LintRule, LintSettings, line_reader, rules_for, settings_of
from tests.functional.library import write_pack

GOOD = (
    "---\nname: {}\ndescription: Use it when testing the check.\n---\n"
    "# Title\n\nRead references/deep/r.md when in doubt.\n"
)
BROKEN = GOOD.replace("Use it when", "Use it: when")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"a": GOOD, "b": BROKEN}.items():
        files = {"references/deep/r.md": "# R\n"}
        write_pack(tmp_path / "skills" / name, text.format(name), files)
    (tmp_path / "README.md").write_text("# Hello\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "place"),
    [
        ("skills", "skills"),
        ("skills/", "skills/"),
        (".", "."),
        ("skills/a", "skills/a"),
        ("skills/a/SKILL.md skills/a/references/deep/r.md skills/a", "skills/a"),
        ("./skills/a/SKILL.md", "./skills/a"),
        ("{}/skills/a/references/deep/r.md", "{}/skills/a"),
    ],
)
def test_a_file_means_its_pack(paths: str, place: str, folder: Path) -> None:
    [found] = named_folders(paths.format(folder).split())

    assert found.shown == place.format(folder)


def test_a_file_in_no_pack_is_refused_or_skipped(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"README\.md: expected a pack"):
        named_folders(["README.md"])
    with pytest.raises(MissingPathError):
        named_folders(["nowhere.md"], skip_others=True)

    assert named_folders(["README.md"], skip_others=True) == []
    assert check(["README.md"], skip_others=True).packs == 0


def test_a_search_for_the_pack_ends_with_the_repository(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder above a repository is not part of it."""
    (folder / "SKILL.md").write_text("x", "utf-8")
    (folder / "skills" / ".git").mkdir()
    (folder / "skills" / "notes.md").write_text("x", "utf-8")

    assert named_folders(["skills/notes.md"], skip_others=True) == []
    assert named_folders(["README.md"])[0].shown == "."
    for inside, file, shown in (
        ("skills/a/references/deep", "r.md", "../.."),
        ("skills/a", "SKILL.md", "."),
        ("skills/a", "references/deep/r.md", "."),
    ):
        monkeypatch.chdir(folder / inside)
        assert named_folders([file])[0].shown == shown


def test_fixes_are_planned_and_written(folder: Path) -> None:
    report = check(["skills"])
    [fix] = report.fixes

    assert fix.path == "skills/b/SKILL.md"
    assert report.fixable == 1
    assert list(write_fixes(report.fixes)) == []
    assert '"Use it: when testing the check."' in (folder / fix.path).read_text("utf-8")
    assert check(["skills"]).fixes == ()


def test_a_pack_that_a_link_leads_to_is_not_fixed(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "skills" / "b").rename(folder / "other" / "b")
    (folder / "skills" / "b").symlink_to("../other/b")
    report = check(["skills"])

    assert "unquoted-colon" in {finding.code for finding in report.findings}
    assert report.fixes == ()
    assert len(check(["other", "skills"]).fixes) == 2


def test_a_file_that_cannot_be_written_is_reported(folder: Path) -> None:
    report = check(["skills"])
    (folder / "skills" / "b" / "SKILL.md").unlink()

    [error] = write_fixes(report.fixes)

    assert error.path == "skills/b/SKILL.md"
    assert "No such file" in error.detail


@pytest.mark.row("E02")
def test_what_is_turned_off_is_counted() -> None:
    config = LintConfig(per_path=(("skills/b", ("unquoted-colon",)),))
    report = check(["skills"], settings=settings_of(config, "satchel.toml"))

    assert (report.findings, report.fixes) == ((), ())
    assert report.summary == (
        "2 packs checked: no findings (1 turned off by satchel.toml)"
    )


def test_a_pack_turns_off_what_it_may(folder: Path) -> None:
    skill = folder / "skills" / "a" / "SKILL.md"
    text = GOOD.format("a").replace("# Title\n\n", "## One\n\n## Two\n\n")
    skill.write_text(text, "utf-8")
    loud = check(["skills/a"])
    skill.write_text(text.replace("name:", "# satchel: ignore missing-h1\nname:"))
    silent = check(["skills/a"])

    assert [finding.code for finding in loud.findings] == ["missing-h1"]
    assert silent.findings == ()
    assert "(1 turned off in the packs)" in silent.summary


def test_lines_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line_at = line_reader()
    (folder / "binary").write_bytes(b"a\0\nb")
    (folder / "large").write_bytes(b"a\n" * 600_000)

    assert line_at("README.md", 1) == "# Hello"
    assert line_at("README.md", 3) is None
    assert line_at("README.md", 0) is None
    assert line_at("skills/a/SKILL.md", 2) == "name: a"
    for path in ("no", "skills", "binary", "large", "\0"):
        assert line_at(path, 1) is None

    def fail(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", fail)
    assert line_reader()("README.md", 1) is None


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_pack_that_is_deleted_meanwhile_is_reported(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read, and is not there when rules look: that is not clean."""

    def asked(settings: LintSettings) -> tuple[LintRule, ...]:
        shutil.rmtree(folder / "skills" / name)
        return rules_for(settings.needs)

    monkeypatch.setattr(
        "satchel_lab.checking._check.rules_for", lambda _: asked(settings_of())
    )
    found = check(["skills/" + name]).findings

    assert "source-unavailable" in {finding.code for finding in found}
    assert {finding.severity for finding in found} == {"error"}


def test_a_folder_that_gives_no_answer_is_reported_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(source: LocalSource) -> tuple[()]:
        raise SourceUnavailableError(source.label, "the disk is gone")

    monkeypatch.setattr(LocalSource, "scan", gone)
    with pytest.raises(SourceUnavailableError) as caught:
        check(["skills"])

    assert str(caught.value) == "source 'skills' did not answer: the disk is gone"
