"""Drafts to folders: the one place of a conversion that writes.

A pack is made beside its place and renamed, so that it is there whole or not at all.
What is there already and differs is never touched, unless that was asked for; then
only a pack gives way, and only one that holds nothing a pack does not list.
"""

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

from satchel.authoring._convert._values import (
    Conversion,
    ConversionResult,
    PackDraft,
    PackFile,
    Status,
)
from satchel.errors import ConfigError, SkillError
from satchel.files import check_path, path_problem, read_confined, walk_pack, write_file
from satchel.model import SKILL_FILE, Finding, Limits

# What is compared was read within the usual limits, or was made by somebody else.
_ANY_SIZE: Final = Limits(pack_files=1_000_000, pack_depth=255, pack_bytes=1 << 40)


def check_place(out: str) -> None:
    """Check that packs can be written into ``out``, which need not be there yet.

    Raises:
        ConfigError: A file or a dead link is there, or the user may not write there.
    """
    for each in (Path(out), *Path(out).parents):
        if not os.path.lexists(each):
            continue
        if not each.is_dir():
            raise ConfigError(str(each), "this is no folder; give another by -o")
        if not os.access(each, os.W_OK):
            raise ConfigError(str(each), "you may not write here; give another by -o")
        return


def put_pack(
    conversion: Conversion, out: str, *, overwrite: bool = False, rehearse: bool = False
) -> ConversionResult:
    """Put a draft into ``out``, in a folder of its name; say what became of it.

    Equal files are ``unchanged``. Others are ``refused`` unless ``overwrite``, and
    then ``updated``. A rehearsal writes nothing, and says the same.

    Raises:
        OSError: It cannot be written.
    """
    draft = conversion.draft
    if draft is None:
        return ConversionResult(conversion, "", "refused")
    shown = os.path.join(out, draft.name)  # noqa: PTH118 - as the user writes it
    refusal = _refusal(draft, Path(out), conversion.source, overwrite=overwrite)
    if isinstance(refusal, Finding):
        return ConversionResult(conversion.refused(refusal), shown, "refused")
    status, findings = refusal
    if status != "unchanged" and not rehearse:
        _write(draft, Path(out))
    return ConversionResult(conversion.with_findings(findings), shown, status)


def replace_skill_md(
    conversion: Conversion, *, root: str, rehearse: bool = False
) -> ConversionResult:
    """Put the SKILL.md of a draft into the pack that it was read from.

    Raises:
        OSError: It cannot be written.
    """
    draft, shown = conversion.draft, conversion.source
    if draft is None:
        return ConversionResult(conversion, shown, "refused")
    pack = Path(shown)
    if not pack.resolve().is_relative_to(Path(root).resolve()):
        return ConversionResult(conversion.refused(_elsewhere(shown)), shown, "refused")
    file = pack / SKILL_FILE
    if file.read_bytes() == draft.skill_md:
        return ConversionResult(conversion, shown, "unchanged")
    if not rehearse:
        write_file(file, draft.skill_md, stat.S_IMODE(file.stat().st_mode))
    return ConversionResult(conversion, shown, "updated")


def _refusal(
    draft: PackDraft, out: Path, source: str, *, overwrite: bool
) -> Finding | tuple[Status, list[Finding]]:
    """Return why a draft cannot be placed; else what it will be, and what to tell."""
    if path_problem(draft.name) or "/" in draft.name:
        return _no_folder(draft.name, source)
    for file in draft.files:
        check_path(file.path, draft.name)
    folder = out / draft.name
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return _not_there(str(folder), "a file or a link is there")
    if _is_inside(folder, Path(source)):
        return _is_source(str(folder), "that is inside of the source")
    if not folder.exists():
        return "installed", []
    return _there_already(draft, folder, source, overwrite=overwrite)


def _is_inside(folder: Path, pack: Path) -> bool:
    """Tell whether a folder would be listed in the pack that it is made of."""
    if not (pack / SKILL_FILE).is_file():
        return False
    place, source = folder.resolve(), pack.resolve()
    below = place != source and place.is_relative_to(source)
    return below and place.relative_to(source).parts[0][0] != "."


def _there_already(
    draft: PackDraft, folder: Path, source: str, *, overwrite: bool
) -> Finding | tuple[Status, list[Finding]]:
    names = sorted(
        each.relative_to(folder).as_posix()
        for each in folder.rglob("*")
        if each.is_symlink() or not each.is_dir()
    )
    if not names:
        return "installed", []  # an empty folder: nothing is lost
    held = {file.path for file in draft.files}
    if names == sorted(held) and all(_is_there(folder, each) for each in draft.files):
        return "unchanged", []
    if Path(source).resolve().is_relative_to(folder.resolve()):
        return _is_source(str(folder), "that is the source itself")
    if not overwrite:
        return _place_taken(str(folder))
    return _giving_way(folder, names, held)


def _giving_way(
    folder: Path, names: list[str], held: set[str]
) -> Finding | tuple[Status, list[Finding]]:
    listed = {file.path for file in walk_pack(str(folder), limits=_ANY_SIZE).files}
    if SKILL_FILE not in listed:
        return _not_there(str(folder), f"what is there has no {SKILL_FILE}")
    if strange := [name for name in names if name not in listed]:
        return _not_there(str(folder), f"{strange[0]} is there, which no pack lists")
    gone = [name for name in names if name not in held]
    return "updated", [_removed(str(folder), gone)] if gone else []


def _is_there(folder: Path, file: PackFile) -> bool:
    """Tell whether a file is there, with its bytes, and can be executed if it is to."""
    try:
        data = read_confined(str(folder), file.path, _ANY_SIZE.pack_bytes)
    except SkillError:
        return False
    runs = not file.executable or os.access(folder / file.path, os.X_OK)
    return data == file.data and runs


def _write(draft: PackDraft, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".satchel-", dir=out))
    try:
        new, old = making / "new", making / "old"
        new.mkdir()
        for file in draft.files:
            target = new / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as handle:
                handle.write(file.data)
            if file.executable:
                target.chmod(target.stat().st_mode | _EXECUTE)
        _put_in_place(new, out / draft.name, old)
    finally:
        shutil.rmtree(making, ignore_errors=True)


_EXECUTE: Final = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def _put_in_place(new: Path, folder: Path, old: Path) -> None:
    if not folder.exists():
        new.rename(folder)
        return
    try:
        folder.rename(old)
        new.rename(folder)
    except BaseException:  # an interrupt, too, must not cost what was there
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise


_MOST_NAMED: Final = 5


def _place_taken(folder: str) -> Finding:
    return Finding.of("place-taken", folder)


def _not_there(folder: str, reason: str) -> Finding:
    return Finding.of("place-taken", folder, sentence="unwritable", reason=reason)


def _is_source(folder: str, what: str) -> Finding:
    return Finding.of("place-taken", folder, sentence="reason", what=what)


def _no_folder(name: str, source: str) -> Finding:
    return Finding.of(
        "unsafe-file-name", source, severity="error", sentence="conversion", name=name
    )


def _removed(folder: str, names: list[str]) -> Finding:
    more = ", ..." if len(names) > _MOST_NAMED else ""
    shown = ", ".join(names[:_MOST_NAMED]) + more
    return Finding.of("not-carried", folder, sentence="files-gone", shown=shown)


def _elsewhere(path: str) -> Finding:
    return Finding.of("link-leaves-root", path, severity="error", sentence="conversion")
