"""Read one pack: its descriptor and findings, or why there is none."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from satchel.catalog._declarations import TOOL_KEYS, allow, keywords_of, tool_names
from satchel.catalog._packs import Identify, ParseOptions, ScannedPack
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
from satchel.protocols import SkillSource
from satchel.skill_md import Parsed, nonstandard_fields, parse
from satchel.text import content_warnings, find_hidden


@dataclass(frozen=True, slots=True)
class DescriptorBuilder:
    """Reads the packs of one source; whatever goes wrong with one stays with it."""

    source: SkillSource
    label: str
    accept: ParseOptions
    identify: Identify

    def read(self, found: Found) -> ScannedPack:
        """Read and parse one pack."""
        origin = Origin(self.label, found.key, found.location)
        try:
            return self._read(found, origin)
        except SkillError as error:
            code, message = error.code, str(error)
        except Exception as error:  # noqa: BLE001 - a source is a plug-in: R33
            code = "source-error"
            message = f"the source raised {type(error).__name__}: {error}"
        path = f"{found.location}/{SKILL_FILE}"
        return _refused_pack(found, origin, (Finding(code, "error", message, path),))

    def _read(self, found: Found, origin: Origin) -> ScannedPack:
        if found.descriptor is not None:
            return self._catalogued(found, found.descriptor, origin)
        raw = self.source.manifest(found.key)
        accept = self.accept
        if isinstance(raw, Manifest):
            return self._listed(found, origin, raw)
        parsed = parse(
            raw,
            profile=accept.profile,
            path=f"{found.location}/{SKILL_FILE}",
            directory=_folder_name(found),
            limits=accept.limits,
            allow_empty_description=accept.allow_empty_description,
        )
        if parsed.manifest is None:
            return _refused_pack(found, origin, parsed.findings)
        pack = self._entry(found, origin, parsed.manifest, raw, parsed.findings)
        return pack._replace(manifest=parsed.manifest)

    def _catalogued(
        self, found: Found, known: Descriptor, origin: Origin
    ) -> ScannedPack:
        """Take in what an earlier catalog made of the pack; nothing is read."""
        _check_size(known.files, self.accept.limits, found)
        manifest = Manifest(name=known.id, description=known.description)
        skill_id = self.identify(manifest, found.key)
        entry = replace(known, id=skill_id or known.id, origins=(origin,))
        return ScannedPack(entry, found.stamp, filtered=skill_id is None)

    def _listed(self, found: Found, origin: Origin, manifest: Manifest) -> ScannedPack:
        """Take in what the source has parsed; read it only if its digest is unknown.

        Of a pack that lies elsewhere nothing is fetched before somebody loads it. The
        profile's rules hold for what its frontmatter is said to be.
        """
        findings: tuple[Finding, ...] = ()
        if manifest.frontmatter:
            parsed = self._parsed(found, manifest)
            findings = tuple(replace(each, line=None) for each in parsed.findings)
            if parsed.manifest is None:
                return _refused_pack(found, origin, findings)
        files = self._files(found)
        own = next((stat for stat in files if stat.path == SKILL_FILE), None)
        if own is not None and (own.digest or self._remote):
            return self._entry(found, origin, manifest, own, findings)
        limit = self.accept.limits.skill_md_bytes
        data = self.source.read(found.key, SKILL_FILE, limit)
        return self._entry(found, origin, manifest, data, findings)

    def _parsed(self, found: Found, manifest: Manifest) -> Parsed:
        """Parse the frontmatter that a source tells of, as if it were in a file."""
        from satchel.skill_md import render_frontmatter  # no folder needs it

        head = render_frontmatter(manifest.frontmatter)
        return parse(
            head.encode("utf-8", "surrogatepass"),
            profile=self.accept.profile,
            path=f"{found.location}/{SKILL_FILE}",
            directory=_folder_name(found),
            limits=self.accept.limits,
            allow_empty_description=self.accept.allow_empty_description,
        )

    @property
    def _remote(self) -> str:
        """What kind of place the source fetches from; empty for this machine."""
        remote: str = getattr(self.source, "remote", "")
        return remote

    def _files(self, found: Found) -> tuple[FileStat, ...]:
        if found.files is not None:
            return found.files
        return tuple(self.source.files(found.key))

    def _entry(
        self,
        found: Found,
        origin: Origin,
        manifest: Manifest,
        skill_md: bytes | FileStat,
        findings: tuple[Finding, ...] = (),
    ) -> ScannedPack:
        files = self._files(found)
        _check_size(files, self.accept.limits, found)
        listed = allow(manifest, files, closed=self.accept.profile == "strict")
        skill_id = self.identify(manifest, found.key)
        path = f"{found.location}/{SKILL_FILE}"
        tools: tuple[str, ...] = ()
        metadata = manifest.metadata
        if metadata and not _TOOL_KEYS.isdisjoint(metadata):
            tools, noted = tool_names(metadata, manifest.allowed_tools, path)
            findings += noted
        if isinstance(skill_md, FileStat):
            data, digest, size = b"", skill_md.digest, skill_md.size
        else:
            data, size = skill_md, len(skill_md)
            digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        remote = self._remote
        description = manifest.description
        if remote:  # a model is never to take it for one of this machine
            description = f"[{remote} {self.label}] {description}"
        descriptor = Descriptor(
            manifest.name if skill_id is None else skill_id,
            description,
            manifest.name,
            listed.references,
            listed.scripts,
            listed.assets,
            listed.others,
            (origin,),
            digest,
            size,
            manifest.status,
            manifest.replaced_by,
            manifest.client.model_invocable,
            manifest.client.user_invocable,
            tools,
            manifest.allowed_tools,
            _category(metadata.get("category")),
            _owner(metadata.get("owner")),
            files,
            remote,
            manifest.replaces,
            keywords_of(manifest),
            nonstandard_fields(manifest.frontmatter),
        )
        if listed.findings:
            findings += tuple(replace(each, path=path) for each in listed.findings)
        findings += content_warnings(data, path) if data else ()
        if b"\\" in data and not _is_plain(manifest.description):
            findings += tuple(_escaped(manifest.description, findings, path))
        return ScannedPack(descriptor, found.stamp, findings, filtered=skill_id is None)


_TOOL_KEYS: Final = frozenset(TOOL_KEYS)
_SIZE: Final = attrgetter("size")


def _check_size(files: tuple[FileStat, ...], limits: Limits, found: Found) -> None:
    if len(files) > limits.pack_files:
        raise LimitExceededError(
            "pack_files", limits.pack_files, len(files), "files", found.location
        )
    total = sum(map(_SIZE, files))
    if total > limits.pack_bytes:
        raise LimitExceededError(
            "pack_bytes", limits.pack_bytes, total, "bytes", found.location
        )


def _category(given: Json) -> Category:
    """Return ``raw`` in any spelling of it: what is mistaken should not open tools."""
    raw = isinstance(given, str) and given.strip().casefold() == "raw"
    return "raw" if raw else "standard"


def _owner(given: Json) -> str:
    """Return the manifest's owner as one line; several are parted by commas."""
    owners = given if isinstance(given, list) else [given]
    return " ".join(", ".join(o for o in owners if isinstance(o, str)).split())


def _refused_pack(
    found: Found, origin: Origin, findings: tuple[Finding, ...]
) -> ScannedPack:
    descriptor = Descriptor(_folder_name(found), "", origins=(origin,))
    return ScannedPack(descriptor, found.stamp, findings, refused=True)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _escaped(
    description: str, findings: tuple[Finding, ...], path: str
) -> Iterator[Finding]:
    """Yield what a description hides by escapes of YAML, which no byte shows."""
    if any(finding.code == "hidden-text" for finding in findings):
        return
    for hidden in find_hidden(description):
        yield Finding.of(
            "hidden-text",
            path,
            severity=hidden.severity,
            sentence="description",
            hidden=hidden,
        )


def _folder_name(found: Found) -> str:
    return found.key.rpartition("/")[2]
