"""Copies of a skill's files: just those that load hands out, whole, or none."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from satchel.errors import NotStagedError, ReferenceUnreadableError
from satchel.load import load
from satchel.model import Descriptor, Loaded, Request
from satchel.runtime import LocalStager, UploadStager
from satchel.runtime._staging import Staged, stage_files, stage_pack
from tests.fakes import in_threads
from tests.unit.load.fake_pack import SKILL_MD, FakePack

FILES = {
    "SKILL.md": SKILL_MD.encode(),
    "scripts/fill.py": b"print('done')\n",
    "assets/deep/logo.png": b"\x89PNG\x00",
}
POSIX = pytest.mark.skipif(os.name == "nt", reason="modes are of POSIX")


@pytest.fixture
def stager(tmp_path: Path) -> Iterator[LocalStager]:
    with LocalStager(tmp_path / "copies") as stager:
        yield stager


def open_skills() -> FakePack:
    return FakePack(dict(FILES))


def staged(one: FakePack, stager: object) -> Staged:
    catalog = one.catalog()
    entry = catalog.entries[0]
    return stage_pack(stager, lambda *asked: load(catalog, Request(*asked)), entry)  # type: ignore[arg-type]


def held(folder: str | Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    root = Path(folder)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.row("E23")
def test_the_copy_holds_the_listed_files_and_no_other(stager: LocalStager) -> None:
    """Its scripts can be run by their interpreter, as an agent's own shell does."""
    assert not Path(str(stager._root)).exists()  # nothing is written before that
    one = open_skills()
    catalog = one.catalog()
    one.files_["scripts/later.py"] = b"not listed"
    entry = catalog.entries[0]

    found = stage_pack(stager, lambda *asked: load(catalog, Request(*asked)), entry)

    assert found.notes == ()
    assert Path(found.folder).is_absolute()
    assert held(found.folder) == FILES

    command = [sys.executable, f"{found.folder}/scripts/fill.py"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout == "done\n"


@POSIX
def test_the_copy_is_private_readable_and_cannot_be_run(stager: LocalStager) -> None:
    folder = Path(staged(open_skills(), stager).folder)

    def modes(*paths: Path) -> list[int]:
        return [stat.S_IMODE(path.stat().st_mode) for path in paths]

    assert modes(folder.parent) == [0o700]
    assert modes(folder, folder / "assets", folder / "assets/deep") == [0o555] * 3
    assert modes(*(folder / path for path in FILES)) == [0o444] * 3


def test_equal_files_are_copied_once_and_any_that_changes_to_another_folder(
    stager: LocalStager,
) -> None:
    first = staged(open_skills(), stager).folder
    inode = Path(first, "SKILL.md").stat().st_ino

    assert staged(open_skills(), stager).folder == first
    assert Path(first, "SKILL.md").stat().st_ino == inode

    changed = open_skills()
    changed.files_["scripts/fill.py"] = b"print('new')\n"

    second = staged(changed, stager).folder

    assert first != second
    assert held(first) == FILES
    assert held(second)["scripts/fill.py"] == b"print('new')\n"


def damage_file(folder: Path) -> None:
    file = folder / "scripts/fill.py"
    file.chmod(0o644)
    file.write_bytes(b"print('evil')\n")


def damage_more(folder: Path) -> None:
    (folder / "scripts").chmod(0o755)
    (folder / "scripts/os.py").write_bytes(b"")


def damage_less(folder: Path) -> None:
    (folder / "scripts").chmod(0o755)
    (folder / "scripts/fill.py").unlink()


def damage_link(folder: Path) -> None:
    (folder / "scripts").chmod(0o755)
    aside = folder.parent / "aside.py"
    aside.write_bytes(FILES["scripts/fill.py"])
    (folder / "scripts/fill.py").unlink()
    (folder / "scripts/fill.py").symlink_to(aside)


def damage_all(folder: Path) -> None:
    aside = folder.parent / "aside"
    folder.rename(aside)
    folder.symlink_to(aside)


@POSIX
@pytest.mark.parametrize(
    "damage", [damage_file, damage_more, damage_less, damage_link, damage_all]
)
def test_a_copy_that_was_changed_is_made_again(
    stager: LocalStager, damage: object
) -> None:
    """An agent's tools run as the same user and can change modes."""
    folder = Path(staged(open_skills(), stager).folder)
    damage(folder)  # type: ignore[operator]

    again = Path(staged(open_skills(), stager).folder)

    assert again == folder
    assert not again.is_symlink()
    assert held(again) == FILES
    assert [path.name for path in again.parent.glob(".new-*")] == []


@pytest.mark.row("E23")
@pytest.mark.parametrize("path", ["SKILL.md", "scripts/fill.py"])
def test_a_file_that_cannot_be_read_leaves_nothing_behind(
    stager: LocalStager, tmp_path: Path, path: str
) -> None:
    """The skill is listed with its files as before, and a note says why."""
    one = open_skills()
    one.broken[path] = ReferenceUnreadableError("pdf", path, detail="Permission denied")

    found = staged(one, stager)

    reason = f"{path!r} of skill 'pdf' cannot be read: Permission denied"
    assert found == Staged("", (f"The files of this skill were not staged: {reason}.",))
    assert not (tmp_path / "copies").exists()


class Failing:
    """A stager that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def stage(self, skill_id: str, digest: str, files: Mapping[str, bytes]) -> str:
        del skill_id, digest, files
        raise self.error


@pytest.mark.row("E23")
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            OSError(28, "No space left on device", "/srv/secret"),
            "No space left on device",
        ),
        (OSError("/srv/secret"), "OSError"),
        (RuntimeError("/srv/secret"), "RuntimeError"),
        (NotStagedError("pdf", "the sandbox is gone"), "the sandbox is gone"),
    ],
)
def test_a_stager_that_fails_is_a_note_without_paths(
    error: Exception, reason: str
) -> None:
    found = staged(open_skills(), Failing(error))

    assert found.folder == ""
    assert found.notes == (f"The files of this skill were not staged: {reason}.",)

    catalog = open_skills().catalog()
    with pytest.raises(NotStagedError, match=f"'pdf' were not staged: {reason}"):
        # Who asks for the folder itself gets the error.
        stage_files(
            Failing(error),
            lambda *asked: load(catalog, Request(*asked)),
            catalog.entries[0],
        )


@pytest.mark.row("E29")
@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\\b", "C:x", "a//b"])
def test_no_path_leaves_the_folder(
    stager: LocalStager, tmp_path: Path, path: str
) -> None:
    """Whatever a catalog lists and a source hands over; nothing is written then."""
    entry = Descriptor("pdf", "Use it.", others=(path,))

    def anything(*asked: str) -> Loaded:
        file = asked[1] if asked[1:] else "SKILL.md"
        return Loaded(entry, file, b"x", "x", "")

    found = stage_pack(stager, anything, entry)

    assert found.folder == ""
    assert "does not stay inside" in found.notes[0]
    assert list(tmp_path.rglob("*")) == []
    with pytest.raises(Exception, match="does not stay inside"):
        stager.stage("pdf", "", {path: b"x"})


@POSIX
@pytest.mark.row("E29")
def test_a_link_that_leaves_the_pack_is_not_staged(tmp_path: Path) -> None:
    from satchel import Satchel

    pack = tmp_path / "skills/pdf"
    (pack / "references").mkdir(parents=True)
    (pack / "SKILL.md").write_text(SKILL_MD)
    (tmp_path / "secret.md").write_text("secret")
    (pack / "references/out.md").symlink_to(tmp_path / "secret.md")
    skills = Satchel(tmp_path / "skills")

    with LocalStager() as stager:
        found = stage_pack(stager, skills.load, skills.catalog.entries[0])
        files = held(found.folder)

    assert b"secret" not in b"".join(files.values())


def test_a_file_in_the_way_of_a_folder_is_an_error(stager: LocalStager) -> None:
    with pytest.raises(OSError, match=r"exists|directory"):
        stager.stage("x", "1", {"a": b"1", "a/b": b"2"})
    root = Path(stager.stage("x", "2", {})).parent
    assert [path.name for path in root.iterdir()] == ["x-2"]


@pytest.mark.parametrize(
    ("skill_id", "expected"),
    [
        ("pdf", "pdf-0123456789ab"),
        ("acme:pdf/forms v2", "acme-pdf-forms-v2-0123456789ab"),
        ("..", "skill-0123456789ab"),
        ("技能", "skill-0123456789ab"),
        ("x" * 300, f"{'x' * 64}-0123456789ab"),
    ],
)
def test_a_folders_name_is_good_on_every_system(
    stager: LocalStager, skill_id: str, expected: str
) -> None:
    digest = "sha256-tree-v1:0123456789abcdef"

    assert Path(stager.stage(skill_id, digest, {"a": b""})).name == expected


def test_a_temporary_root_goes_with_close_and_a_named_one_stays(tmp_path: Path) -> None:
    stager = LocalStager()
    root = Path(staged(open_skills(), stager).folder).parent

    stager.close()
    stager.close()

    assert not root.exists()
    again = staged(open_skills(), stager).folder
    assert held(again) == FILES
    stager.close()

    named = LocalStager(str(tmp_path / "a/b"))
    folder = staged(open_skills(), named).folder
    named.close()
    assert held(folder) == FILES

    root = Path(staged(open_skills(), stager).folder).parent
    root.rename(tmp_path / "aside")

    stager.close()

    assert not root.exists()


END = """
import os, sys
from satchel.runtime import LocalStager
folder = LocalStager().stage("x", "1", {"a/b": b"1"})
child = os.fork() if hasattr(os, "fork") else None
if child == 0:
    sys.exit()
if child:
    os.waitpid(child, 0)
print(os.path.exists(folder), folder)
"""


def test_a_temporary_root_goes_with_the_program_and_not_with_its_children() -> None:
    done = subprocess.run(
        [sys.executable, "-c", END], capture_output=True, check=True, text=True
    )
    here, folder = done.stdout.split(maxsplit=1)

    assert here == "True"
    assert not Path(folder.strip()).parent.exists()


def test_another_process_may_be_quicker(tmp_path: Path) -> None:
    """Its copy is as good, and stays."""

    class Racing(dict[str, bytes]):
        """Lets the other one in while it is being written."""

        def items(self):  # type: ignore[no-untyped-def]  # noqa: ANN202
            LocalStager(tmp_path).stage("x", "1", FILES)
            self.inode = (tmp_path / "x-1/SKILL.md").stat().st_ino
            return super().items()

    files = Racing(FILES)
    folder = Path(LocalStager(tmp_path).stage("x", "1", files))

    assert held(folder) == FILES
    assert (folder / "SKILL.md").stat().st_ino == files.inode
    assert [path.name for path in tmp_path.iterdir()] == ["x-1"]


def test_many_threads_get_one_whole_copy(tmp_path: Path) -> None:
    """Two stagers on one root stand for two processes."""
    stagers = LocalStager(tmp_path), LocalStager(tmp_path)
    folders: list[str] = []

    def stage(number: int) -> None:
        folders.append(stagers[number % 2].stage("x", "1", FILES))

    in_threads(stage, range(16))

    assert len(folders) == 16
    assert len(set(folders)) == 1
    assert held(folders[0]) == FILES


def test_an_upload_is_made_once_for_equal_files() -> None:
    uploads: list[tuple[str, list[str]]] = []

    def upload(name: str, files: Mapping[str, bytes]) -> str:
        uploads.append((name, sorted(files)))
        return f"/workspace/{name}"

    stager = UploadStager(upload)
    first = staged(open_skills(), stager).folder

    assert staged(open_skills(), stager).folder == first
    assert uploads == [(first.rpartition("/")[2], sorted(FILES))]
    assert first.startswith("/workspace/pdf-")
