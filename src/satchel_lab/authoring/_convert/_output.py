"""Drafts to folders: the one place of a conversion that writes.

A pack is complete or not there; what is there and differs is replaced only if asked.
"""

import os
import stat
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError
from satchel.files import check_path, path_problem, read_confined, walk_pack, write_file
from satchel.model import SKILL_FILE, Finding, Limits
from satchel.text import first_names
from satchel_lab.authoring._convert._values import Conversion, ConversionResult, Status
from satchel_lab.authoring._packs import PackDraft, staged_folder

# What is compared was read within the usual limits, or made by another program.
_ANY_SIZE: Final = Limits(pack_files=1_000_000, pack_depth=255, pack_bytes=1 << 40)


def check_place(out: str) -> None:
    """Check that packs can be written into ``out``, which need not be there yet."""
    for folder in (Path(out), *Path(out).parents):
        if not os.path.lexists(folder):
            continue
        if not folder.is_dir():
            raise ConfigError(str(folder), "this is not a folder; give another by -o")
        if not os.access(folder, os.W_OK):
            raise ConfigError(str(folder), "you may not write here; give another by -o")
        return


def put_pack(
    conversion: Conversion, out: str, *, overwrite: bool = False, rehearse: bool = False
) -> ConversionResult:
    """Put a draft into ``out``, in a folder of its name; return what became of it.

    Equal files are ``unchanged``; others are ``refused`` unless ``overwrite``. A
    rehearsal writes nothing, and returns the same.
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
    """Put the SKILL.md of a draft into the pack that it was read from."""
    draft, shown = conversion.draft, conversion.source
    if draft is None:
        return ConversionResult(conversion, shown, "refused")
    pack = Path(shown)
    # A pack behind a link belongs to someone else, so it is not changed in place.
    if not pack.resolve().is_relative_to(Path(root).resolve()):
        outside = Finding.of(
            "link-leaves-root", shown, severity="error", sentence="conversion"
        )
        return ConversionResult(conversion.refused(outside), shown, "refused")
    file = pack / SKILL_FILE
    if file.read_bytes() == draft.skill_md:
        return ConversionResult(conversion, shown, "unchanged")
    if not rehearse:
        write_file(file, draft.skill_md, stat.S_IMODE(file.stat().st_mode))
    return ConversionResult(conversion, shown, "updated")


def _refusal(
    draft: PackDraft, out: Path, source: str, *, overwrite: bool
) -> Finding | tuple[Status, list[Finding]]:
    """Return why a draft cannot be placed; else what it will be, and the warnings."""
    if path_problem(draft.name) or "/" in draft.name:
        about = {"sentence": "conversion", "name": draft.name}
        return Finding.of("unsafe-file-name", source, severity="error", **about)
    # A draft may be made by other code: no path is trusted here.
    for path in draft.files:
        check_path(path, draft.name)
    folder = out / draft.name
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return _unwritable(folder, "a file or a link is there")
    if _is_inside(folder, Path(source)):
        return _is_source(folder, "that is inside of the source")
    if not folder.exists():
        return "installed", []
    return _compared(draft, folder, Path(source), overwrite=overwrite)


def _compared(
    draft: PackDraft, folder: Path, source: Path, *, overwrite: bool
) -> Finding | tuple[Status, list[Finding]]:
    """Return the same for a folder that is there."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    )
    if not names:
        return "installed", []  # an empty folder: nothing is lost
    new = sorted(draft.files)
    if names == new and all(_is_there(folder, path, draft) for path in new):
        return "unchanged", []
    # To replace the folder would delete what the pack is made of.
    if source.resolve().is_relative_to(folder.resolve()):
        return _is_source(folder, "that is the source itself")
    if not overwrite:
        return Finding.of("place-taken", str(folder))
    return _replacing(folder, names, new)


def _is_inside(folder: Path, pack: Path) -> bool:
    """Return whether a folder would be listed in the pack that it is made of."""
    if not (pack / SKILL_FILE).is_file():
        return False
    place, source = folder.resolve(), pack.resolve()
    below = place != source and place.is_relative_to(source)
    return below and place.relative_to(source).parts[0][0] != "."


def _replacing(
    folder: Path, names: list[str], new: list[str]
) -> Finding | tuple[Status, list[Finding]]:
    listed = {file.path for file in walk_pack(str(folder), limits=_ANY_SIZE).files}
    if SKILL_FILE not in listed:
        return _unwritable(folder, f"what is there has no {SKILL_FILE}")
    # Files that no pack lists are the user's own, and a replacement deletes them.
    if unlisted := [name for name in names if name not in listed]:
        return _unwritable(folder, f"{unlisted[0]} is there, which no pack lists")
    gone = [name for name in names if name not in new]
    if not gone:
        return "updated", []
    removed = Finding.of(
        "not-carried", str(folder), sentence="files-gone", shown=first_names(gone)
    )
    return "updated", [removed]


def _is_there(folder: Path, path: str, draft: PackDraft) -> bool:
    """Return whether a file is there, with its bytes, and executable if need be."""
    try:
        data = read_confined(str(folder), path, _ANY_SIZE.pack_bytes)
    except SkillError:
        return False
    runs = path not in draft.programs or os.access(folder / path, os.X_OK)
    return data == draft.files[path] and runs


def _write(draft: PackDraft, out: Path) -> None:
    folder = out / draft.name
    with staged_folder(out, draft.files, draft.programs) as new:
        if not folder.exists():
            new.rename(folder)
            return
        # In the staging folder, which is deleted at the end.
        old = new.with_name("old")
        try:
            folder.rename(old)
            new.rename(folder)
        except BaseException:  # an interrupt, too, must not cost what was there
            if old.exists() and not folder.exists():
                old.rename(folder)
            raise


def _unwritable(folder: Path, reason: str) -> Finding:
    return Finding.of("place-taken", str(folder), sentence="unwritable", reason=reason)


def _is_source(folder: Path, what: str) -> Finding:
    return Finding.of("place-taken", str(folder), sentence="reason", what=what)
