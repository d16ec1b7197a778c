"""What a conversion makes, as values: nothing here touches a file system."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from satchel.model import SKILL_FILE, Finding, worst

Dialect: TypeAlias = Literal["strict", "spec"]
DIALECTS: Final[dict[str, Dialect]] = {"strict": "strict", "spec": "spec"}
Status: TypeAlias = Literal["installed", "updated", "unchanged", "refused"]


@dataclass(frozen=True, slots=True)
class PackFile:
    """One file of a pack: ``path`` is relative to it, with ``/`` between."""

    path: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True)
class PackDraft:
    """A pack that is ready to be written into a folder called ``name``.

    ``files`` are sorted by path, and SKILL.md is one of them.
    """

    name: str
    files: tuple[PackFile, ...]

    @property
    def skill_md(self) -> bytes:
        """The bytes of SKILL.md."""
        return next(file.data for file in self.files if file.path == SKILL_FILE)

    def with_skill_md(self, data: bytes) -> "PackDraft":
        """Return the draft with another SKILL.md."""
        files = (
            replace(file, data=data) if file.path == SKILL_FILE else file
            for file in self.files
        )
        return replace(self, files=tuple(files))


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of one thing that was converted.

    ``source`` is its place as the user wrote it. ``draft`` is None where it was
    refused, and then a finding says why. Errors are about what was refused, warnings
    about what was lost or changed; with notes only nothing was. ``dialect`` is what
    the draft was made for; None for a client.
    """

    source: str
    draft: PackDraft | None
    findings: tuple[Finding, ...] = ()
    dialect: Dialect | None = None

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost, changed or refused."""
        return self.draft is not None and worst(self.findings) in {None, "note"}

    def with_findings(self, findings: Iterable[Finding]) -> "Conversion":
        """Return the conversion with more findings after those that it has."""
        return replace(self, findings=(*self.findings, *findings))

    def refused(self, finding: Finding) -> "Conversion":
        """Return the conversion without a draft, and why there is none."""
        return replace(self, draft=None, findings=(*self.findings, finding))


@dataclass(frozen=True, slots=True)
class ConversionResult:
    """A conversion, and what became of its draft on disk.

    ``path`` is where the pack is, as the user would write it; empty where there is no
    draft. In a rehearsal ``status`` says what would be done.
    """

    conversion: Conversion
    path: str
    status: Status
