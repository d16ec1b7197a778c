"""Read one pack: its descriptor, with what it declares, or why there is none.

A module of its own, because it brings the YAML parser: programs that have no pack do
not wait for that.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from satchel.catalog._packs import TOOL_KEYS, ParseOptions, ScannedPack
from satchel.errors import LimitExceededError, SkillError
from satchel.files import is_excluded_file, path_problem
from satchel.model import (
    EVALS_FOLDER,
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Descriptor,
    FileStat,
    Finding,
    Found,
    Json,
    Limits,
    Manifest,
    Origin,
    bucket_of,
)
from satchel.protocols import FullSource
from satchel.skill_md import Parsed, nonstandard_fields, parse
from satchel.text import content_warnings, find_hidden

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
            # Who vouches for files has not seen a list, unless that is pinned.
            counts = self.accept.lists or getattr(self.source, "pin", None)
            if pack.descriptor is not None and counts:
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
        files = self._files(pack)
        _check_size(files, self.accept.limits, pack)
        allowed = allow(manifest, files, closed=self.accept.profile == "strict")
        skill_id = self.source.identify_at(manifest, pack.key)
        path = f"{pack.location}/{SKILL_FILE}"
        tools: tuple[str, ...] = ()
        metadata = manifest.metadata
        category = str(metadata.get("category", ""))
        if not metadata.keys().isdisjoint(TOOL_KEYS):
            from satchel.catalog._tool_names import tool_names

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
            # Any spelling of it counts: a mistake must not open tools.
            "raw" if category.strip().casefold() == "raw" else "standard",
            _owner(metadata["owner"]) if "owner" in metadata else "",
            files,
            remote,
            manifest.replaces,
            keywords_of(manifest),
            nonstandard_fields(manifest.frontmatter),
            manifest.requires,
        )
        findings += tuple(replace(finding, path=path) for finding in allowed.findings)
        findings += content_warnings(data, path) if data else ()
        # YAML escapes need a backslash, and hide what no byte of the file shows.
        if b"\\" in data:
            findings += tuple(_escaped(manifest, findings, path))
        return ScannedPack(descriptor, pack.stamp, findings, filtered=skill_id is None)


def _check_size(files: tuple[FileStat, ...], limits: Limits, pack: Found) -> None:
    for name, unit, limit, actual in (
        ("pack_files", "files", limits.pack_files, len(files)),
        ("pack_bytes", "bytes", limits.pack_bytes, sum(map(_SIZE, files))),
    ):
        if actual > limit:
            raise LimitExceededError(name, limit, actual, unit, pack.location)


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
    manifest: Manifest, findings: tuple[Finding, ...], path: str
) -> Iterable[Finding]:
    """Yield what fields hide by escapes of YAML, which no byte shows."""
    if any(finding.code == "hidden-text" for finding in findings):
        return
    for field, text in (*manifest.frontmatter.items(), *manifest.metadata.items()):
        for hidden in find_hidden(text) if isinstance(text, str) else ():
            yield Finding.of(
                "hidden-text",
                path,
                severity=hidden.severity,
                sentence="field",
                field=field,
                hidden=hidden,
            )


_BUCKETS = ("references", "scripts", "assets")


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The readable files by bucket, and what was wrong with the declared ones."""

    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def allow(
    manifest: Manifest, files: tuple[FileStat, ...], *, closed: bool = False
) -> Allowlist:
    """Return the allowlist of a pack.

    A pack that declares any of references, scripts and assets is closed to just these;
    one that declares none is open to the files it held when it was scanned, but for its
    evals. ``closed`` closes every pack, as profile ``strict`` does.
    """
    # What an author lists is all that may be read: a secret that lies in the folder by
    # accident must not become readable.
    if manifest.declares_files:
        return _declared_files(manifest, {file.path for file in files})
    if closed or not files or (len(files) == 1 and files[0].path == SKILL_FILE):
        return Allowlist()
    buckets: dict[str, list[str]] = {name: [] for name in (*_BUCKETS, "other")}
    for file in files:
        if file.path != SKILL_FILE and not file.path.startswith(EVALS_FOLDER):
            buckets[bucket_of(file.path)].append(file.path)
    references, scripts, assets, others = map(tuple, buckets.values())
    return Allowlist(references, scripts, assets, others)


def _declared_files(manifest: Manifest, present: set[str]) -> Allowlist:
    findings: list[Finding] = []
    lists: list[tuple[str, ...]] = []
    for bucket in _BUCKETS:
        names: tuple[str, ...] = getattr(manifest, bucket)
        paths = (_resolve(bucket, name, present, findings) for name in names)
        lists.append(tuple(sorted({path for path in paths if path})))
    references, scripts, assets = lists
    return Allowlist(references, scripts, assets, (), tuple(findings))


def _resolve(
    bucket: str, name: str, present: set[str], findings: list[Finding]
) -> str | None:
    """Return the path that a declared name means: in its bucket, else from the root."""
    in_bucket = name if name.startswith(f"{bucket}/") else f"{bucket}/{name}"
    path = name if name in present and in_bucket not in present else in_bucket
    if path_problem(name):
        code = "unsafe-declared-file"
    elif path in present:
        return path
    elif is_excluded_file(path):
        # Not listed, or it could be asked for as soon as it appears: `.env`, say.
        code = "left-out-file-declared"
    else:
        code = "listed-file-missing"
    findings.append(
        Finding.of(code, SKILL_FILE, bucket=bucket, name=name, in_bucket=in_bucket)
    )
    # A missing one stays listed, so that asking for it says what is wrong.
    return path if code == "listed-file-missing" else None


# As much as the public specification allows a description; the rest is not searched.
#
# A pack is untrusted: without a bound its keywords could outweigh the text of all
# others.
MAX_KEYWORD_CHARS: Final = MAX_DESCRIPTION_CHARS

_KEYWORD_KEYS: Final = frozenset(["keywords", "trigger_keywords", "triggers", "tags"])


def keywords_of(manifest: Manifest) -> tuple[str, ...]:
    """Return the author's words for when to use a skill, each once, in order.

    Read are ``trigger_keywords`` (or ``triggers``), ``when_to_use``, and ``keywords``
    and ``tags``, at the top level or in ``metadata``; a list, or text with commas.
    """
    phrases = list(manifest.trigger_keywords)
    if manifest.client.when_to_use:
        phrases.append(" ".join(manifest.client.when_to_use.split()))
    for table in (manifest.frontmatter, manifest.metadata):
        for key, value in table.items():
            if key.replace("-", "_") in _KEYWORD_KEYS:
                phrases.extend(_texts(value))
    keywords: list[str] = []
    left = MAX_KEYWORD_CHARS
    for phrase in dict.fromkeys(phrases):
        left -= len(phrase)
        if left < 0:
            break
        keywords.append(phrase)
    return tuple(keywords)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from (text for part in value.split(",") if (text := part.strip()))
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str) and (text := item.strip()):
                yield text
