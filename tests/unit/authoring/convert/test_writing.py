"""Packs are written whole, and nothing that is there is lost unless that was asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from satchel.authoring import Conversion
from satchel.authoring._convert._output import put_pack, replace_skill_md
from satchel.authoring._convert._packs import into_dialect, read_packs
from satchel.authoring._convert._values import PackDraft, PackFile
from satchel.errors import ReferenceEscapesError
from satchel.model import SKILL_FILE, Finding

if TYPE_CHECKING:
    from pathlib import Path

SKILL = b"---\nname: a\ndescription: b\n---\nBody.\n"
PACK = PackDraft(
    "a", (PackFile(SKILL_FILE, SKILL), PackFile("scripts/x.sh", b"#!/bin/sh\n", True))
)
MADE = Conversion("from", PACK)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def codes(placed_findings: tuple[Finding, ...]) -> list[str]:
    return [each.code for each in placed_findings]


@pytest.mark.row("E13")
def test_a_pack_is_installed_then_unchanged_then_updated(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "skills"

    first = put_pack(MADE, str(out))
    again = put_pack(MADE, str(out))
    other = Conversion("from", PACK.with_skill_md(SKILL + b"More.\n"))
    refused = put_pack(other, str(out))
    updated = put_pack(other, str(out), overwrite=True)

    assert [each.status for each in (first, again, refused, updated)] == [
        *("installed", "unchanged", "refused", "updated")
    ]
    assert first.path == f"{out}/a"
    assert codes(refused.conversion.findings) == ["place-taken"]
    assert not refused.conversion.lossless
    assert updated.conversion.lossless
    assert tree(out) == {
        "a/SKILL.md": SKILL + b"More.\n",
        "a/scripts/x.sh": b"#!/bin/sh\n",
    }
    assert os.access(out / "a/scripts/x.sh", os.X_OK)
    assert not os.access(out / "a/SKILL.md", os.X_OK)


def test_a_rehearsal_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    placed = put_pack(MADE, str(tmp_path / "out"), rehearse=True)

    assert placed.status == "installed"
    assert list(tmp_path.iterdir()) == []


def test_what_was_refused_is_placed_nowhere(tmp_path: Path) -> None:
    placed = put_pack(Conversion("from", None), str(tmp_path))

    assert (placed.status, placed.path) == ("refused", "")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("there", "kept"),
    [
        pytest.param({"a": b"a file"}, True, id="a file"),
        pytest.param({"a/notes.md": b"mine"}, True, id="no pack"),
        pytest.param(
            {"a/SKILL.md": SKILL, "a/.env": b"key"},
            True,
            id="a file that is not listed",
        ),
        pytest.param({"a/SKILL.md": SKILL, "a/more.md": b""}, False, id="another pack"),
        pytest.param({"a/SKILL.md": b"edited by hand"}, False, id="edited by hand"),
    ],
)
def test_what_is_there_stays(
    there: dict[str, bytes], kept: bool, overwrite: bool, tmp_path: Path
) -> None:
    for path, data in there.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)

    placed = put_pack(MADE, str(tmp_path), overwrite=overwrite)

    stays = kept or not overwrite
    assert placed.status == ("refused" if stays else "updated")
    assert (tree(tmp_path) == there) is stays
    assert not any(path.name.startswith(".satchel") for path in tmp_path.iterdir())


def test_files_that_go_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in (SKILL_FILE, "1.md", "2.md", "3.md", "4.md", "5.md", "6.md"):
        (tmp_path / "a" / name).write_bytes(b"---\n")

    (found,) = put_pack(MADE, str(tmp_path), overwrite=True).conversion.findings

    assert (found.code, found.severity) == ("not-carried", "warning")
    assert found.message.endswith("gone: 1.md, 2.md, 3.md, 4.md, 5.md, ...")


def test_an_empty_folder_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)

    assert put_pack(MADE, str(tmp_path)).status == "installed"
    assert (tmp_path / "a" / SKILL_FILE).read_bytes() == SKILL


@pytest.mark.parametrize("inner", [False, True])
def test_a_link_is_never_written_through(inner: bool, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / SKILL_FILE).write_bytes(b"mine")
    out = tmp_path / "out"
    out.mkdir()
    if inner:
        (out / "a").mkdir()
        (out / "a" / SKILL_FILE).symlink_to(elsewhere / SKILL_FILE)
    else:
        (out / "a").symlink_to(elsewhere)

    placed = put_pack(MADE, str(out), overwrite=True)

    assert placed.status == "refused"
    assert (elsewhere / SKILL_FILE).read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["..", "a/b", "", "con", "a\0", "\ud800"])
def test_a_name_that_is_none_of_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    placed = put_pack(Conversion("from", PackDraft(name, PACK.files)), str(tmp_path))

    assert placed.status == "refused"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_leave_the_pack_is_an_error(tmp_path: Path) -> None:
    draft = PackDraft("a", (*PACK.files, PackFile("../b", b"")))

    with pytest.raises(ReferenceEscapesError):
        put_pack(Conversion("from", draft), str(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_where_renaming_fails_the_old_pack_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_pack(MADE, str(tmp_path))
    before = tree(tmp_path)
    whole = type(tmp_path).rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return whole(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", fail)
    with pytest.raises(OSError, match="No space"):
        put_pack(
            Conversion("f", PACK.with_skill_md(b"x")), str(tmp_path), overwrite=True
        )

    assert tree(tmp_path) == before


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "packs" / "a"
    folder.mkdir(parents=True)
    (folder / SKILL_FILE).write_bytes(SKILL)
    (folder / SKILL_FILE).chmod(0o640)
    return folder


def test_in_place_only_the_bytes_change(pack: Path) -> None:
    (read,) = read_packs("packs")
    assert read.draft is not None
    new = Conversion(read.source, read.draft.with_skill_md(SKILL + b"!"))

    rehearsed = replace_skill_md(new, root="packs", rehearse=True)
    assert (pack / SKILL_FILE).read_bytes() == SKILL
    placed = replace_skill_md(new, root="packs")

    assert rehearsed == placed
    assert (placed.status, placed.path) == ("updated", "packs/a")
    assert (pack / SKILL_FILE).read_bytes() == SKILL + b"!"
    assert (pack / SKILL_FILE).stat().st_mode & 0o777 == 0o640
    assert replace_skill_md(new, root="packs").status == "unchanged"
    assert [path.name for path in pack.iterdir()] == [SKILL_FILE]


def test_in_place_nothing_outside_of_the_folder_is_touched(
    pack: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    pack.parent.rename(other)
    pack.parent.mkdir()
    pack.symlink_to(other / "a")
    (read,) = (each for each in read_packs("packs") if each.draft)
    assert read.draft is not None

    placed = replace_skill_md(
        Conversion(read.source, read.draft.with_skill_md(b"x")), root="packs"
    )

    assert placed.status == "refused"
    assert (other / "a" / SKILL_FILE).read_bytes() == SKILL


def test_in_place_what_was_refused_is_left_alone(pack: Path) -> None:
    placed = replace_skill_md(Conversion("packs/a", None), root="packs")

    assert placed.status == "refused"
    assert (pack / SKILL_FILE).read_bytes() == SKILL


def test_packs_are_read_whole(pack: Path) -> None:
    (pack / "scripts").mkdir()
    script = pack / "scripts" / "x.sh"
    script.write_bytes(b"\0\xff")
    script.chmod(0o755)
    (pack / ".env").write_bytes(b"key")
    (pack / "link.md").symlink_to("/etc/passwd")
    (pack.parent / "skill").mkdir()
    (pack.parent / "skill" / "skill.md").write_bytes(SKILL)

    read, stray = read_packs("packs")

    assert read.draft == PackDraft(
        "a",
        (
            PackFile(SKILL_FILE, SKILL),
            PackFile("scripts/x.sh", b"\0\xff", executable=True),
        ),
    )
    assert sorted(codes(read.findings)) == ["files-left-out", "link-in-pack"]
    assert not read.lossless
    assert (stray.draft, codes(stray.findings)) == (None, ["wrong-case-skill-file"])


def test_a_pack_with_a_file_that_is_too_large_is_refused(pack: Path) -> None:
    from satchel.model import Limits

    (pack / "big.md").write_bytes(b"x" * 101)

    (read,) = read_packs("packs", limits=Limits(file_bytes=100))

    assert read.draft is None
    assert codes(read.findings) == ["limit-exceeded"]


def test_what_cannot_be_read_back_counts_as_different(tmp_path: Path) -> None:
    """A link of the right name is not the file, whatever it leads to."""
    put_pack(MADE, str(tmp_path))
    (tmp_path / "skill").write_bytes(SKILL)
    (tmp_path / "a" / SKILL_FILE).unlink()
    (tmp_path / "a" / SKILL_FILE).symlink_to(tmp_path / "skill")

    assert put_pack(MADE, str(tmp_path)).status == "refused"


def test_a_rewrite_that_is_given_up_is_refused(
    pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "satchel.authoring._convert._dialect.to_spec", lambda _: {"name": "x"}
    )
    (pack / SKILL_FILE).write_bytes(SKILL.replace(b"---\nB", b"version: '1'\n---\nB"))
    (read,) = read_packs("packs")

    made = into_dialect(read, "spec", rename=True)

    assert made.draft is None
    assert codes(made.findings) == ["not-carried"]


def test_a_name_that_no_folder_can_have_is_refused(pack: Path) -> None:
    (pack / SKILL_FILE).write_bytes(SKILL.replace(b"name: a", b"name: a/b"))
    (read,) = read_packs("packs")

    made = into_dialect(read, None, rename=True)

    assert made.draft is None
    assert codes(made.findings) == ["unsafe-file-name"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_what_was_there_is_there_after_an_interrupt(
    failure: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even between the two renames of an update."""
    put_pack(MADE, str(tmp_path))
    rename = type(tmp_path).rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise failure
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", interrupted)
    other = Conversion("from", PACK.with_skill_md(SKILL + b"More.\n"))

    with pytest.raises(failure):
        put_pack(other, str(tmp_path), overwrite=True)

    assert tree(tmp_path) == {
        "a/SKILL.md": SKILL,
        "a/scripts/x.sh": b"#!/bin/sh\n",
    }


def test_a_script_that_cannot_be_executed_is_not_the_same(tmp_path: Path) -> None:
    put_pack(MADE, str(tmp_path))
    (tmp_path / "a/scripts/x.sh").chmod(0o644)

    assert put_pack(MADE, str(tmp_path)).status == "refused"
    assert put_pack(MADE, str(tmp_path), overwrite=True).status == "updated"
    assert os.access(tmp_path / "a/scripts/x.sh", os.X_OK)


@pytest.mark.parametrize("source", ["a", "a/rules/x.mdc"])
def test_a_source_never_gives_way(source: str, tmp_path: Path) -> None:
    put_pack(MADE, str(tmp_path))
    other = Conversion(str(tmp_path / source), PACK.with_skill_md(SKILL + b"More.\n"))

    placed = put_pack(other, str(tmp_path), overwrite=True)

    assert placed.status == "refused"
    assert "--in-place" in placed.conversion.findings[-1].fix
    assert (tmp_path / "a" / SKILL_FILE).read_bytes() == SKILL


def test_a_name_that_no_folder_can_have_says_so(tmp_path: Path) -> None:
    placed = put_pack(Conversion("from", PackDraft("aux", PACK.files)), str(tmp_path))

    (found,) = placed.conversion.findings
    assert (found.code, found.path) == ("unsafe-file-name", "from")


@pytest.mark.parametrize(("out", "status"), [("", "refused"), (".x", "installed")])
def test_a_source_does_not_grow_by_its_own_copy(
    out: str, status: str, tmp_path: Path
) -> None:
    """A folder with a dot is no part of a pack: clients look there."""
    (tmp_path / SKILL_FILE).write_bytes(SKILL)

    placed = put_pack(Conversion(str(tmp_path), PACK), str(tmp_path / out))

    assert placed.status == status
