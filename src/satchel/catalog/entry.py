"""One pack, read: its descriptor, or why there is none."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from satchel.catalog.allowlist import allow
from satchel.errors import LimitExceededError, SkillError
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileStat,
    Finding,
    Found,
    Limits,
    Manifest,
    Origin,
)
from satchel.protocols import SkillSource
from satchel.spec import Profile, parse
from satchel.text import breaks_out, find_hidden, may_hide

__all__ = ["RETIRED", "Acceptance", "Entry", "Identify", "Intake", "identity"]

RETIRED: Final = frozenset({"deprecated", "retired"})
"""Values of ``metadata.status`` that take a pack out of the catalog."""

Identify = Callable[[Manifest], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a registry takes in: the profile, the limits, and D's empty description."""

    profile: Profile = "auto"
    limits: Limits = DEFAULT_LIMITS
    allow_empty_description: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A pack as it was last read; ``refused`` and ``filtered`` ones have no place."""

    descriptor: Descriptor
    findings: tuple[Finding, ...] = ()
    refused: bool = False
    filtered: bool = False


def identity(manifest: Manifest) -> str:
    """Return the manifest's own name: what a source without renaming goes by."""
    return manifest.name


@dataclass(frozen=True, slots=True)
class Intake:
    """Reads the packs of one source; whatever goes wrong with one stays with it."""

    source: SkillSource
    label: str
    accept: Acceptance
    identify: Identify

    def read(self, found: Found) -> Entry:
        """Read and parse one pack."""
        origin = Origin(self.label, found.key, found.location)
        try:
            return self._read(found, origin)
        except SkillError as error:
            return _refused(found, origin, error.code, str(error))
        except Exception as error:  # noqa: BLE001 - a source is a plug-in: R33
            message = f"the source raised {type(error).__name__}: {error}"
            return _refused(found, origin, "source-error", message)

    def _read(self, found: Found, origin: Origin) -> Entry:
        raw = self.source.manifest(found.key)
        accept = self.accept
        if isinstance(raw, Manifest):
            limit = accept.limits.skill_md_bytes
            data = self.source.read(found.key, SKILL_FILE, limit)
            return self._entry(found, origin, raw, data, ())
        parsed = parse(
            raw,
            profile=accept.profile,
            directory=_folder(found),
            limits=accept.limits,
            allow_empty_description=accept.allow_empty_description,
        )
        if parsed.manifest is None:
            descriptor = Descriptor(_folder(found), "", origins=(origin,))
            return Entry(descriptor, _placed(parsed.findings, found), refused=True)
        return self._entry(found, origin, parsed.manifest, raw, parsed.findings)

    def _entry(
        self,
        found: Found,
        origin: Origin,
        manifest: Manifest,
        data: bytes,
        findings: tuple[Finding, ...],
    ) -> Entry:
        files = found.files
        if files is None:
            files = tuple(self.source.files(found.key))
        _check_size(files, self.accept.limits, found)
        listed = allow(manifest, files, closed=self.accept.profile == "strict")
        skill_id = self.identify(manifest)
        descriptor = Descriptor(
            manifest.name if skill_id is None else skill_id,
            manifest.description,
            manifest.name,
            listed.references,
            listed.scripts,
            listed.assets,
            listed.others,
            (origin,),
            f"sha256:{hashlib.sha256(data).hexdigest()}",
            len(data),
            manifest.status,
            manifest.replaced_by,
            manifest.client.model_invocable,
            manifest.client.user_invocable,
            files,
        )
        findings += listed.findings
        if may_hide(data):
            findings += _hidden(data)
        if breaks_out(data):
            findings += (_BREAKS_OUT,)
        placed = _placed(findings, found) if findings else ()
        return Entry(descriptor, placed, filtered=skill_id is None)


_BREAKS_OUT: Final = Finding(
    "envelope-breakout",
    "warning",
    "the text contains a tag of the envelope that it is handed out in",
    SKILL_FILE,
    fix="write the tag with &lt; in place of <, or in other words",
)


def _hidden(data: bytes) -> tuple[Finding, ...]:
    text = data.decode("utf-8", "replace")
    return tuple(
        Finding(
            "hidden-text",
            "warning",
            f"{hidden}, the first in this line",
            SKILL_FILE,
            hidden.line,
            fix="remove them, unless a script needs them to be read",
        )
        for hidden in find_hidden(text)
    )


def _check_size(files: tuple[FileStat, ...], limits: Limits, found: Found) -> None:
    if len(files) > limits.pack_files:
        raise LimitExceededError(
            "pack_files", limits.pack_files, len(files), "files", found.location
        )
    total = sum(file.size for file in files)
    if total > limits.pack_bytes:
        raise LimitExceededError(
            "pack_bytes", limits.pack_bytes, total, "bytes", found.location
        )


def _refused(found: Found, origin: Origin, code: str, message: str) -> Entry:
    finding = Finding(code, "error", message, SKILL_FILE)
    descriptor = Descriptor(_folder(found), "", origins=(origin,))
    return Entry(descriptor, _placed((finding,), found), refused=True)


def _folder(found: Found) -> str:
    return found.key.rpartition("/")[2]


def _placed(findings: tuple[Finding, ...], found: Found) -> tuple[Finding, ...]:
    """Put the pack's location in front of each path."""
    return tuple(
        replace(finding, path=f"{found.location}/{finding.path}".rstrip("/"))
        for finding in findings
    )
