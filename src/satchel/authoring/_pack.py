"""A pack as one file to hand on: a ``.skill`` archive."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from satchel.authoring._packs import WholePack, find_packs
from satchel.authoring._writer import put_file
from satchel.checking import check
from satchel.errors import ConfigError, NotWrittenError, RefusedPackError
from satchel.files import open_archive, path_problem, zip_pack
from satchel.model import DEFAULT_LIMITS, Finding, Limits
from satchel.sources import ArchiveSource

SUFFIX: Final = ".skill"
_EVALS: Final = "evals/"
"""What packagers leave out beside caches: tests of a skill are not for who uses it.

Source: the packaging of anthropics/skills, ``package_skill.py``.
"""


_UNFINISHED_CODE: Final = "left-to-fill-in"
"""A warning while a pack is written; a pack that is handed on is finished."""


@dataclass(frozen=True, slots=True)
class PackedSkill:
    """An archive that is ready to be written.

    ``pack`` is what is in it, ``data`` its bytes; the findings of ``pack`` say what is
    not. ``findings`` are what else a check says; ``left_out`` counts the files of
    ``evals/``.
    """

    pack: WholePack
    data: bytes
    findings: tuple[Finding, ...] = ()
    left_out: int = 0

    @property
    def name(self) -> str:
        """The name of the skill, and of the one folder in the archive."""
        return self.pack.name

    @property
    def digest(self) -> str:
        """The digest of the skill: whoever installs the archive has the same."""
        return self.pack.digest

    def write(self, place: Path, *, force: bool = False) -> bool:
        """Put the archive in its place; tell whether it was another one before.

        Raises:
            AlreadyThereError: Something else is there, and ``force`` is not given.
            NotWrittenError: It would lie in the pack itself; or the system says no.
        """
        inside = Path(self.pack.location).resolve()
        if place.resolve().is_relative_to(inside):  # the next one would hold this one
            beside = f"-o {inside.parent / place.name} is beside it"
            raise NotWrittenError(str(place), f"it would lie in the pack: {beside}")
        there = place.read_bytes() if place.is_file() else None
        if there == self.data:
            return False
        put_file(place, self.data, over=there if force else None)
        return True


def pack_skill(
    path: str, *, force: bool = False, limits: Limits = DEFAULT_LIMITS
) -> PackedSkill:
    """Make the archive of one pack: a .zip with one folder of the skill's name.

    Equal packs give equal bytes on any machine, and whoever unpacks them has a skill of
    the same digest. What no pack hands out (keys, caches, dot-files) is not in it, nor
    is ``evals/``.

    Args:
        path: The pack's folder, or its SKILL.md.
        force: Make it although a check finds reasons against it.
        limits: Bounds on what is accepted, and on what others would unpack.

    Raises:
        RefusedPackError: A check in profile ``spec`` finds errors, or something that is
            left to fill in.
        ConfigError: There are several packs, or none.
        LimitExceededError: It is larger than an archive may be.
        SkillError: It cannot be read.
    """
    whole = _read_one_pack(path, limits)
    report = check([path], profile="spec", limits=limits)
    reasons = () if force else tuple(_refusal_reasons(report.findings))
    pack = _without_evals(whole)
    name = pack.name
    if path_problem(name) or "/" in name or name.startswith("."):
        reasons += (f"no folder can be called {name!r}",)
        force = False
    lost = sorted(whole.listed - pack.files.keys())
    if lost and pack.manifest is not None and pack.manifest.declares_files:
        reasons += (f"it lists {lost[0]}, which is not in the archive",)
    if reasons and not force:
        raise RefusedPackError(path, reasons)
    data = zip_pack(name, pack.files, pack.programs)
    unpacked = open_archive(data, limits=limits, where=f"{name}{SUFFIX}")
    if unpacked.files != pack.files:  # nobody would install what we meant
        raise RefusedPackError(path, ("its files do not come out as they went in",))
    count = len(whole.files) - len(pack.files)
    told = tuple(each for each in report.findings if each not in whole.findings)
    return PackedSkill(replace(pack, folder=name), data, told, count)


def _read_one_pack(path: str, limits: Limits) -> WholePack:
    packs = find_packs(path, limits=limits)
    if len(packs) != 1:
        names = ", ".join(pack.location for pack in packs[:3])
        raise ConfigError(path, f"want one pack, here are {len(packs)}: {names}")
    if isinstance(packs[0].source, ArchiveSource):  # which does not say what is run
        raise ConfigError(
            path, "want a pack, or its SKILL.md; it is an archive already"
        )
    return packs[0].read()


def _without_evals(pack: WholePack) -> WholePack:
    kept = {
        path: data for path, data in pack.files.items() if not path.startswith(_EVALS)
    }
    return replace(pack, files=kept, programs=pack.programs & kept.keys())


def _refusal_reasons(findings: tuple[Finding, ...]) -> list[str]:
    return [
        str(each)
        for each in findings
        if each.severity == "error" or each.code == _UNFINISHED_CODE
    ]
