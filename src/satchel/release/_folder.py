"""A release as a folder: written next to its place, and renamed into it whole."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel.errors import ConfigError, SkillError
from satchel.files import parse_release, parse_release_file
from satchel.model import RELEASE_FILE, Release
from satchel.protocols import with_abilities
from satchel.release._build import BuiltRelease, WriteFile, build_release

if TYPE_CHECKING:
    from satchel.runtime import Satchel


FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; folders that exist keep their mode."""
    folders = [folder, *folder.parents]
    missing = folders[: next(n for n, one in enumerate(folders) if one.is_dir())]
    for path in reversed(missing):
        try:
            path.mkdir()
        except FileExistsError:
            continue  # another process was faster
        # `mkdir` obeys the umask, so the mode would depend on the machine.
        path.chmod(_FOLDER_MODE)


def build_folder(
    skills: "Satchel", out: Path, *, allow_findings: bool = False
) -> BuiltRelease:
    """Build a release and put it at ``out``; if it is refused, nothing changes.

    It replaces a release that is there. That takes two renames: a crash between them
    leaves the old one next to ``out``, in a folder ``.satchel-…``.

    Raises:
        ConfigError: ``out`` exists and is not a release; or it is in a folder that the
            skills come from, where they would be found twice; or in another release.
        RefusedReleaseError: As for `build_release`.
        OSError: It cannot be written.
    """
    _check_target(out, skills)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Next to `out`, since a rename cannot lead to another file system.
    making = Path(tempfile.mkdtemp(prefix=".satchel-", dir=out.parent))
    try:
        new = making / "new"
        make_folder(new)
        built = build_release(skills, folder_writer(new), allow_findings=allow_findings)
        _check_target(out, skills)  # another process may have written there
        _swap_folders(new, out, making / "old")
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return built


def folder_writer(folder: Path) -> WriteFile:
    """Return a function that writes files into a folder of its own."""

    def put(path: str, data: bytes) -> None:
        file = folder / path
        make_folder(file.parent)
        with file.open("xb") as out:
            out.write(data)
        file.chmod(FILE_MODE)

    return put


def _swap_folders(new: Path, out: Path, old: Path) -> None:
    if not out.exists():
        new.rename(out)
        return
    # A folder with files in it cannot be replaced by one rename.
    out.rename(old)
    try:
        new.rename(out)
    except OSError:
        # What was there may be in use: without this nothing would be in its place.
        old.rename(out)
        raise


def check_not_in_sources(out: Path, skills: "Satchel") -> None:
    """Raise `ConfigError` if ``out`` is in a folder that the skills come from."""
    # The next sync would find the skills there as well.
    whole = out.resolve()
    for source in skills.registry.sources.values():
        root = with_abilities(source).root
        if root and whole.is_relative_to(Path(root).resolve()):
            detail = f"it is in {source.label}, where the skills come from"
            raise ConfigError(str(out), f"{detail}; choose a folder outside of it")


def check_not_in_release(out: Path) -> None:
    """Raise `ConfigError` if ``out`` is in a release, whose digest would be wrong."""
    for folder in out.resolve().parents:
        try:
            data = (folder / RELEASE_FILE).read_bytes()
            release = parse_release_file(data, str(folder))
        except (OSError, SkillError):  # not there, or of another program
            continue
        if isinstance(release, Release):
            detail = f"it is in the release {folder.name!r}"
            raise ConfigError(str(out), f"{detail}; choose a folder outside of it")


def _check_target(out: Path, skills: "Satchel") -> None:
    check_not_in_sources(out, skills)
    check_not_in_release(out)
    # A rename would replace the link, not the folder that it leads to.
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ConfigError(str(out), "it exists, and is not a folder")
    if out.is_dir() and any(out.iterdir()):
        _check_only_release_files(out)


def _check_only_release_files(out: Path) -> None:
    """Raise `ConfigError` if ``out`` has files that are not of its release."""
    document = out / RELEASE_FILE
    try:
        release = parse_release(document.read_bytes(), str(document))
    except FileNotFoundError:
        raise ConfigError(str(out), "it exists, and is not a release") from None
    except SkillError as error:
        detail = f"it exists, and is not a release: {error}"
        raise ConfigError(str(out), detail) from error
    released = {file.path for file in release.files}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in released:
            detail = f"{name} is not a file of the release that is there; move it away"
            raise ConfigError(str(out), detail)
