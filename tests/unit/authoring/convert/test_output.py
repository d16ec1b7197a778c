"""Packs are written whole, and nothing that is there is lost unless that was asked."""

import os
from pathlib import Path

import pytest

from satchel.errors import ReferenceEscapesError
from satchel.model import DEFAULT_LIMITS, SKILL_FILE
from satchel_lab.authoring import Conversion, ConversionResult
from satchel_lab.authoring._convert._output import put_pack, replace_skill_md
from satchel_lab.authoring._convert._packs import into_dialect, read_packs
from satchel_lab.authoring._packs import PackDraft
from tests.functional.library import tree

SKILL = b"---\nname: a\ndescription: b\n---\nBody.\n"
PACK = PackDraft(
    "a",
    {SKILL_FILE: SKILL, "scripts/x.sh": b"#!/bin/sh\n"},
    frozenset({"scripts/x.sh"}),
)
NEW = Conversion("from", PACK)
OTHER = Conversion("from", PACK.with_skill_md(SKILL + b"More.\n"))
FILES = {"a/SKILL.md": SKILL, "a/scripts/x.sh": b"#!/bin/sh\n"}


def codes(conversion: Conversion) -> list[str]:
    return [finding.code for finding in conversion.findings]


def put(
    out: Path, conversion: Conversion = NEW, *, overwrite: bool = False
) -> ConversionResult:
    return put_pack(conversion, str(out), overwrite=overwrite)


@pytest.mark.row("E13")
def test_a_pack_is_installed_then_unchanged_then_updated(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "skills"

    assert put_pack(NEW, str(out), rehearse=True).status == "installed"
    assert list(tmp_path.iterdir()) == []
    (out / "a" / "inner").mkdir(parents=True)  # an empty folder is no loss
    first, same, refused = put(out), put(out), put(out, OTHER)
    updated = put(out, OTHER, overwrite=True)

    assert [result.status for result in (first, same, refused, updated)] == [
        *("installed", "unchanged", "refused", "updated")
    ]
    assert first.path == f"{out}/a"
    assert codes(refused.conversion) == ["place-taken"]
    assert (refused.conversion.lossless, updated.conversion.lossless) == (False, True)
    assert tree(out) == {**FILES, "a/SKILL.md": SKILL + b"More.\n"}
    assert os.access(out / "a/scripts/x.sh", os.X_OK)
    assert not os.access(out / "a/SKILL.md", os.X_OK)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    ("there", "stays"),
    [
        pytest.param({"a": b"a file"}, True, id="a file"),
        pytest.param({"a/notes.md": b"mine"}, True, id="not a pack"),
        pytest.param({"a/SKILL.md": SKILL, "a/.env": b"key"}, True, id="unlisted file"),
        pytest.param({"a/SKILL.md": SKILL, "a/more.md": b""}, False, id="another pack"),
        pytest.param({"a/SKILL.md": b"edited by hand"}, False, id="edited by hand"),
    ],
)
def test_what_is_there_stays(
    there: dict[str, bytes], stays: bool, overwrite: bool, tmp_path: Path
) -> None:
    for path, data in there.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)

    result = put(tmp_path, overwrite=overwrite)

    stays = stays or not overwrite
    assert result.status == ("refused" if stays else "updated")
    assert (tree(tmp_path) == there) is stays
    assert not any(path.name.startswith(".satchel") for path in tmp_path.iterdir())


def test_files_that_go_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in (SKILL_FILE, "1.md", "2.md", "3.md", "4.md", "5.md", "6.md"):
        (tmp_path / "a" / name).write_bytes(b"---\n")

    (finding,) = put(tmp_path, overwrite=True).conversion.findings

    assert (finding.code, finding.severity) == ("not-carried", "warning")
    assert finding.message.endswith("gone: 1.md, 2.md, 3.md, 4.md, 5.md, 6.md")


@pytest.mark.parametrize("inner", [False, True])
def test_a_link_is_never_written_through(inner: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    theirs = tmp_path / "elsewhere" / SKILL_FILE
    theirs.write_bytes(b"mine")
    out = tmp_path / "out"
    link = out / "a" / SKILL_FILE if inner else out / "a"
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs if inner else theirs.parent)

    assert put(out, overwrite=True).status == "refused"
    assert theirs.read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["..", "a/b", "", "con", "aux", "a\0", "\ud800"])
def test_a_name_that_no_folder_can_have_is_refused(name: str, tmp_path: Path) -> None:
    result = put(tmp_path, Conversion("from", PackDraft(name, PACK.files)))

    assert result.status == "refused"
    (finding,) = result.conversion.findings
    assert (finding.code, finding.path) == ("unsafe-file-name", "from")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_leave_the_pack_is_an_error(tmp_path: Path) -> None:
    draft = PackDraft("a", {**PACK.files, "../b": b""})

    with pytest.raises(ReferenceEscapesError):
        put(tmp_path, Conversion("from", draft))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_what_was_there_is_there_after_an_interrupt(
    failure: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even between the two renames of an update."""
    put(tmp_path)
    rename = type(tmp_path).rename

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise failure
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", interrupted)

    with pytest.raises(failure):
        put(tmp_path, OTHER, overwrite=True)

    assert tree(tmp_path) == FILES


def test_a_script_that_cannot_be_executed_is_not_the_same(tmp_path: Path) -> None:
    """Nor is a link of the right name, whatever it leads to."""
    put(tmp_path)
    (tmp_path / "a/scripts/x.sh").chmod(0o644)

    assert put(tmp_path).status == "refused"
    assert put(tmp_path, overwrite=True).status == "updated"
    assert os.access(tmp_path / "a/scripts/x.sh", os.X_OK)
    (tmp_path / "a" / SKILL_FILE).rename(tmp_path / "skill")
    (tmp_path / "a" / SKILL_FILE).symlink_to(tmp_path / "skill")
    assert put(tmp_path).status == "refused"


@pytest.mark.parametrize("source", ["a", "a/rules/x.mdc"])
def test_a_source_is_never_replaced(source: str, tmp_path: Path) -> None:
    put(tmp_path)

    result = put(
        tmp_path, Conversion(str(tmp_path / source), OTHER.draft), overwrite=True
    )

    assert result.status == "refused"
    assert "--in-place" in result.conversion.findings[-1].fix
    assert (tmp_path / "a" / SKILL_FILE).read_bytes() == SKILL


@pytest.mark.parametrize(("out", "status"), [("", "refused"), (".x", "installed")])
def test_a_source_does_not_grow_by_its_own_copy(
    out: str, status: str, tmp_path: Path
) -> None:
    """A folder with a dot is not part of a pack: clients look there."""
    (tmp_path / SKILL_FILE).write_bytes(SKILL)

    assert put(tmp_path / out, Conversion(str(tmp_path), PACK)).status == status


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "packs" / "a"
    folder.mkdir(parents=True)
    (folder / SKILL_FILE).write_bytes(SKILL)
    (folder / SKILL_FILE).chmod(0o640)
    return folder


def read_with(data: bytes) -> Conversion:
    """Return the one pack, with another SKILL.md."""
    (read,) = (conversion for conversion in read_packs("packs") if conversion.draft)
    assert read.draft is not None
    return Conversion(read.source, read.draft.with_skill_md(data))


def test_in_place_only_the_bytes_change(pack: Path) -> None:
    new = read_with(SKILL + b"!")

    rehearsed = replace_skill_md(new, root="packs", rehearse=True)
    assert (pack / SKILL_FILE).read_bytes() == SKILL
    result = replace_skill_md(new, root="packs")

    assert rehearsed == result
    assert (result.status, result.path) == ("updated", "packs/a")
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

    assert replace_skill_md(read_with(b"x"), root="packs").status == "refused"
    assert (other / "a" / SKILL_FILE).read_bytes() == SKILL


def test_what_was_refused_is_written_nowhere(pack: Path) -> None:
    nowhere = put(pack, Conversion("from", None))
    in_place = replace_skill_md(Conversion("packs/a", None), root="packs")

    assert (nowhere.status, nowhere.path) == ("refused", "")
    assert in_place.status == "refused"
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

    files = {SKILL_FILE: SKILL, "scripts/x.sh": b"\0\xff"}
    assert read.draft == PackDraft("a", files, frozenset({"scripts/x.sh"}))
    assert sorted(codes(read)) == ["files-left-out", "link-in-pack"]
    assert not read.lossless
    assert (stray.draft, codes(stray)) == (None, ["wrong-case-skill-file"])


def test_a_pack_with_a_file_that_is_too_large_is_refused(pack: Path) -> None:
    (pack / "big.md").write_bytes(b"x" * (DEFAULT_LIMITS.file_bytes + 1))

    (read,) = read_packs("packs")

    assert (read.draft, codes(read)) == (None, ["limit-exceeded"])


@pytest.mark.parametrize(
    ("old", "new", "dialect", "code"),
    [
        (b"---\nB", b"version: '1'\n---\nB", "spec", "not-carried"),
        (b"name: a", b"name: a/b", None, "unsafe-file-name"),
    ],
    ids=["given up", "not a folder's name"],
)
def test_what_cannot_be_rewritten_is_refused(  # noqa: PLR0913, PLR0917 - a table
    old: bytes,
    new: bytes,
    dialect: None,
    code: str,
    pack: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The result is read back; one that means something else is never handed out."""
    monkeypatch.setattr(
        "satchel_lab.authoring._convert._packs.to_spec", lambda _: {"name": "x"}
    )
    (pack / SKILL_FILE).write_bytes(SKILL.replace(old, new))
    (read,) = read_packs("packs")

    converted = into_dialect(read, dialect, rename=True)

    assert (converted.draft, codes(converted)) == (None, [code])
