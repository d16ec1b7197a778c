"""A pack as one file for others: a ``.skill`` archive."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, NotWrittenError, RefusedPackError
from satchel.files import folder_problem
from satchel.model import DEFAULT_LIMITS, EVALS_FOLDER, Finding, Limits
from satchel_lab.authoring._packs import WholePack, find_packs, put_file
from satchel_lab.checking import check
from satchel_store.archives import ArchiveSource, open_archive, zip_pack
from satchel_store.release import is_refused

SUFFIX: Final = ".skill"


@dataclass(frozen=True, slots=True)
class PackedSkill:
    """An archive that is ready to be written.

    ``pack`` is its content, ``data`` its bytes; the findings of ``pack`` say what is
    left out. ``findings`` are the others of a check; ``left_out`` counts the files of
    each folder that is left out: ``evals/``, and packs in the pack.
    """

    pack: WholePack
    data: bytes
    findings: tuple[Finding, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def name(self) -> str:
        """The name of the skill, and of the one folder in the archive."""
        return self.pack.name

    @property
    def digest(self) -> str:
        """The digest of the skill, the same after an installation."""
        return self.pack.digest

    def write(self, place: Path, *, force: bool = False) -> bool:
        """Write the archive; return whether the file has changed.

        Raises:
            AlreadyThereError: Another file is there, and ``force`` is not given.
            NotWrittenError: It would be in the pack itself; or the system refuses.
        """
        inside = Path(self.pack.location).resolve()
        # The next archive would have this one in it.
        if place.resolve().is_relative_to(inside):
            fix = f"use -o {inside.parent / place.name}"
            raise NotWrittenError(str(place), f"it would be in the pack; {fix}")
        there = place.read_bytes() if place.is_file() else None
        if there == self.data:
            return False
        put_file(place, self.data, over=there if force else None)
        return True


def pack_skill(
    path: str, *, force: bool = False, limits: Limits = DEFAULT_LIMITS
) -> PackedSkill:
    """Make the archive of one pack: a .zip with one folder of the skill's name.

    Equal packs give equal bytes on any machine, and the unpacked skill has the same
    digest. Files that no pack hands out (keys, caches, dot-files) are not in it, and
    neither are ``evals/`` and packs in the pack.

    Args:
        path: The pack's folder, or its SKILL.md.
        force: Make it even if a check finds errors.
        limits: Limits on what is accepted, and on what others would unpack.

    Raises:
        RefusedPackError: A check in profile ``spec`` finds errors, or something that is
            left to fill in.
        ConfigError: There are several packs, or none.
        LimitExceededError: It is larger than an archive may be.
        SkillError: It cannot be read.
    """
    whole, left_out = _read_one_pack(path, limits)
    # Others read it by the public specification, whatever its own dialect is.
    report = check([path], profile="spec", limits=limits)
    reasons = tuple(
        str(finding) for finding in report.findings if not force and is_refused(finding)
    )
    files = {
        p: data for p, data in whole.files.items() if not p.startswith(EVALS_FOLDER)
    }
    pack = replace(whole, files=files, programs=whole.programs & files.keys())
    name = pack.name
    if folder_problem(name):
        reasons += (f"no folder can be called {name!r}",)
        # Not even with `force`: nobody could unpack the archive.
        force = False
    lost = sorted(whole.listed - pack.files.keys())
    if lost and pack.manifest is not None and pack.manifest.declares_files:
        reasons += (f"it lists {lost[0]}, which is not in the archive",)
    if reasons and not force:
        raise RefusedPackError(path, reasons)
    data = zip_pack(name, pack.files, pack.programs)
    # Unpacked as others will do it, so that no archive is made that they refuse.
    unpacked = open_archive(data, limits=limits, where=f"{name}{SUFFIX}")
    if unpacked.files != pack.files:
        raise RefusedPackError(path, ("unpacking it gives other files",))
    if count := len(whole.files) - len(pack.files):
        left_out = {EVALS_FOLDER: count, **left_out}
    others = tuple(item for item in report.findings if item not in whole.findings)
    return PackedSkill(replace(pack, folder=name), data, others, left_out)


def _read_one_pack(path: str, limits: Limits) -> tuple[WholePack, dict[str, int]]:
    """Return the pack, and how many files each pack in it has, by its folder."""
    packs = find_packs(path, limits=limits)
    outer = min(packs, key=lambda pack: len(pack.location))
    start = f"{outer.location.rstrip('/')}/"
    inner = [
        pack for pack in packs if pack is not outer and pack.location.startswith(start)
    ]
    packs = tuple(pack for pack in packs if pack not in inner)
    if len(packs) != 1:
        names = ", ".join(pack.location for pack in packs[:3])
        raise ConfigError(path, f"expected one pack, got {len(packs)}: {names}")
    if isinstance(packs[0].source, ArchiveSource):  # which does not say what is run
        detail = "expected a pack or its SKILL.md; it is an archive already"
        raise ConfigError(path, detail)
    return outer.read(), {
        f"{pack.location.removeprefix(start)}/": len(pack.pack.files or ())
        for pack in inner
    }
