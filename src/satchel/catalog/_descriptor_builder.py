"""Read one pack: its descriptor and findings, or why there is none.

A module of its own, because it brings the YAML parser: programs that have no pack do
not wait for that.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from satchel.catalog._declarations import TOOL_KEYS, allow, keywords_of, tool_names
from satchel.catalog._packs import ParseOptions, ScannedPack
from satchel.errors import LimitExceededError, SkillError
from satchel.model import (
    SKILL_FILE,
    Category,
    Descriptor,
    FileStat,
    Finding,
    Found,
    Json,
    Limits,
    Manifest,
    Origin,
)
from satchel.protocols import FullSource
from satchel.skill_md import Parsed, nonstandard_fields, parse
from satchel.text import content_warnings, find_hidden

_TOOL_KEYS: Final = frozenset(TOOL_KEYS)
_SIZE: Final = attrgetter("size")


@dataclass(frozen=True, slots=True)
class DescriptorBuilder:
    """Reads the packs of one source; whatever goes wrong with one stays with it."""

    source: FullSource
    label: str
    accept: ParseOptions

    def read(self, pack: Found) -> ScannedPack:
        origin = Origin(self.label, pack.key, pack.location)
        try:
            if pack.descriptor is not None:
                return self._from_descriptor(pack, pack.descriptor, origin)
            skill_md = self.source.manifest(pack.key)
            if isinstance(skill_md, Manifest):
                return self._from_manifest(pack, origin, skill_md)
            parsed = self._parse(pack, skill_md)
            if parsed.manifest is None:
                return _refused_pack(pack, origin, parsed.findings)
            return self._build(pack, origin, parsed.manifest, skill_md, parsed.findings)
        except SkillError as error:
            code, message = error.code, str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in
            code = "source-error"
            message = f"the source raised {type(error).__name__}: {error}"
        path = f"{pack.location}/{SKILL_FILE}"
        return _refused_pack(pack, origin, (Finding(code, "error", message, path),))

    def _parse(self, pack: Found, data: bytes) -> Parsed:
        accept = self.accept
        return parse(
            data,
            profile=accept.profile,
            path=f"{pack.location}/{SKILL_FILE}",
            directory=pack.key.rpartition("/")[2],
            limits=accept.limits,
            allow_empty_description=accept.allow_empty_description,
        )

    def _from_descriptor(
        self, pack: Found, descriptor: Descriptor, origin: Origin
    ) -> ScannedPack:
        """Take what an earlier catalog made of the pack; nothing is read."""
        _check_size(descriptor.files, self.accept.limits, pack)
        # The descriptor is that of a release; prefix and filter are of this source.
        manifest = Manifest(name=descriptor.id, description=descriptor.description)
        skill_id = self.source.identify_at(manifest, pack.key)
        entry = replace(descriptor, id=skill_id or descriptor.id, origins=(origin,))
        return ScannedPack(entry, pack.stamp, filtered=skill_id is None)

    def _from_manifest(
        self, pack: Found, origin: Origin, manifest: Manifest
    ) -> ScannedPack:
        """Take what the source has parsed; read it only if its digest is unknown.

        Nothing of a pack on another machine is fetched before somebody loads it.
        """
        findings: tuple[Finding, ...] = ()
        if manifest.frontmatter:
            from satchel.skill_md import render_frontmatter  # no folder needs it

            head = render_frontmatter(manifest.frontmatter)
            parsed = self._parse(pack, head.encode("utf-8", "surrogatepass"))
            findings = tuple(replace(finding, line=None) for finding in parsed.findings)
            if parsed.manifest is None:
                return _refused_pack(pack, origin, findings)
        files = self._files(pack)
        own = next((stat for stat in files if stat.path == SKILL_FILE), None)
        if own is not None and (own.digest or self.source.remote):
            return self._build(pack, origin, manifest, own, findings)
        # Without a digest a later edit would go unseen, so the bytes are read here.
        limit = self.accept.limits.skill_md_bytes
        data = self.source.read(pack.key, SKILL_FILE, limit)
        return self._build(pack, origin, manifest, data, findings)

    def _files(self, pack: Found) -> tuple[FileStat, ...]:
        return tuple(self.source.files(pack.key)) if pack.files is None else pack.files

    def _build(
        self,
        pack: Found,
        origin: Origin,
        manifest: Manifest,
        skill_md: bytes | FileStat,
        findings: tuple[Finding, ...],
    ) -> ScannedPack:
        files = self._files(pack) if pack.files is None else pack.files
        _check_size(files, self.accept.limits, pack)
        allowed = allow(manifest, files, closed=self.accept.profile == "strict")
        skill_id = self.source.identify_at(manifest, pack.key)
        path = f"{pack.location}/{SKILL_FILE}"
        tools: tuple[str, ...] = ()
        metadata = manifest.metadata
        if metadata and not _TOOL_KEYS.isdisjoint(metadata):
            tools, tool_findings = tool_names(metadata, manifest.allowed_tools, path)
            findings += tool_findings
        if isinstance(skill_md, FileStat):
            data, digest, size = b"", skill_md.digest, skill_md.size
        else:
            data, size = skill_md, len(skill_md)
            digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        remote = self.source.remote
        description = manifest.description
        if remote:  # a model must never take it for a skill of this machine
            description = f"[{remote} {self.label}] {description}"
        descriptor = Descriptor(
            manifest.name if skill_id is None else skill_id,
            description,
            manifest.name,
            allowed.references,
            allowed.scripts,
            allowed.assets,
            allowed.others,
            (origin,),
            digest,
            size,
            manifest.status,
            manifest.replaced_by,
            manifest.client.model_invocable,
            manifest.client.user_invocable,
            tools,
            manifest.allowed_tools,
            _category(metadata["category"]) if "category" in metadata else "standard",
            _owner(metadata["owner"]) if "owner" in metadata else "",
            files,
            remote,
            manifest.replaces,
            keywords_of(manifest),
            nonstandard_fields(manifest.frontmatter),
            manifest.requires,
        )
        if allowed.findings:
            findings += tuple(
                replace(finding, path=path) for finding in allowed.findings
            )
        findings += content_warnings(data, path) if data else ()
        # YAML escapes need a backslash, and hide what no byte of the file shows.
        if b"\\" in data:
            findings += tuple(_escaped(manifest.description, findings, path))
        return ScannedPack(descriptor, pack.stamp, findings, filtered=skill_id is None)


def _check_size(files: tuple[FileStat, ...], limits: Limits, pack: Found) -> None:
    for name, unit, limit, actual in (
        ("pack_files", "files", limits.pack_files, len(files)),
        ("pack_bytes", "bytes", limits.pack_bytes, sum(map(_SIZE, files))),
    ):
        if actual > limit:
            raise LimitExceededError(name, limit, actual, unit, pack.location)


def _category(value: Json) -> Category:
    """Return ``raw`` for any spelling of it: a mistake must not open tools."""
    raw = isinstance(value, str) and value.strip().casefold() == "raw"
    return "raw" if raw else "standard"


def _owner(value: Json) -> str:
    """Return the manifest's owner as one line; several are separated by commas."""
    owners = value if isinstance(value, list) else [value]
    return " ".join(", ".join(o for o in owners if isinstance(o, str)).split())


def _refused_pack(
    pack: Found, origin: Origin, findings: tuple[Finding, ...]
) -> ScannedPack:
    # Its name cannot be known, so it goes by that of its folder.
    folder = pack.key.rpartition("/")[2]
    descriptor = Descriptor(folder, "", origins=(origin,))
    return ScannedPack(descriptor, pack.stamp, findings, refused=True)


def _escaped(
    description: str, findings: tuple[Finding, ...], path: str
) -> Iterable[Finding]:
    """Yield what a description hides by escapes of YAML, which no byte shows."""
    plain = description.isascii() and description.isprintable()
    if plain or any(finding.code == "hidden-text" for finding in findings):
        return
    for hidden in find_hidden(description):
        yield Finding.of(
            "hidden-text",
            path,
            severity=hidden.severity,
            sentence="description",
            hidden=hidden,
        )
