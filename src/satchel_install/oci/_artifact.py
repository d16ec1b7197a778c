"""What an artifact of a registry has in it: a release of ours, an archive, or files.

Ours has a layer for each file of a release, called by its path, so that one file is one
request, and `oras pull` gives the folder of `satchel build`. Of others two layouts are
read: one archive of packs, and a layer for each file of a pack.
"""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from satchel.errors import (
    LimitExceededError,
    ReferenceNotFoundError,
    SourceUnavailableError,
)
from satchel.files import is_archive_name, is_digest, path_problem
from satchel.model import DEFAULT_LIMITS, RELEASE_FILE, SKILL_FILE, Limits, Resource
from satchel.protocols import SkillSource
from satchel.text import plural
from satchel_install.oci._registry import OciRepository
from satchel_store.archives import TreeSource, archive_size_limit, open_library
from satchel_store.release import DocumentParser, ReleaseSource

RELEASE_TYPE: Final = "application/vnd.satchel.release.v1"
WITHDRAWN_TYPE: Final = "application/vnd.satchel.withdrawn.v1+json"
_BUNDLE_TYPE: Final = "application/vnd.dev.sigstore.bundle"
EMPTY_TYPE: Final = "application/vnd.oci.empty.v1+json"
TITLE: Final = "org.opencontainers.image.title"
# Of a release the number on its channel, which only grows.
NUMBER: Final = "org.opencontainers.image.version"
# Of a release the digest of the manifest that its channel had before.
PREVIOUS: Final = "vnd.satchel.previous"
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
# An archive may have the files and bytes of so many packs.
_PACKS: Final = 16
_DIGITS: Final = 18

FetchBlob: TypeAlias = Callable[[str, int], bytes]


@dataclass(frozen=True, slots=True)
class OciArtifact:
    """What a manifest lists: files by their titles, and the media type of each.

    ``number`` is 0 where a release has none; ``previous`` is the digest of the manifest
    that its channel had before, or empty.
    """

    digest: str
    type: str
    layers: tuple[Resource, ...]
    kinds: tuple[str, ...]
    number: int = 0
    previous: str = ""


def fetch_artifact(repository: OciRepository, which: str) -> OciArtifact:
    """Return the artifact of a tag or digest; an index of one leads to that one.

    Raises:
        SourceUnavailableError: The registry has none, or of another form.
    """
    digest, data = repository.manifest(which)
    parser = _ManifestParser(repository.label, DEFAULT_LIMITS, SourceUnavailableError)
    top = parser.load(data)
    if "manifests" in top:
        inner = parser.manifests(top)
        if len(inner) != 1:
            detail = f"it is an index of {len(inner)} manifests; name one by its digest"
            names = ", ".join(inner[:_PACKS]) or "none"
            raise SourceUnavailableError(repository.label, f"{detail}: {names}")
        top = parser.load(repository.manifest(inner[0])[1])
    return parser.artifact(top, digest)


def fetch_bundles(repository: OciRepository, digest: str) -> tuple[bytes, ...]:
    """Return the Sigstore bundles of a manifest, from where cosign puts them.

    Raises:
        SkillError: One of them cannot be read.
    """
    data = repository.referrers(digest)
    if not data:
        return ()
    parser = _ManifestParser(repository.label, DEFAULT_LIMITS, SourceUnavailableError)
    names = parser.manifests(parser.load(data), _BUNDLE_TYPE)[:_PACKS]
    layers = (fetch_artifact(repository, name).layers[0] for name in names)
    most = DEFAULT_LIMITS.index_bytes
    return tuple(repository.blob(one.digest, min(one.size, most)) for one in layers)


class _ManifestParser(DocumentParser):
    """Turns a manifest into values, each part checked for its form."""

    def manifests(self, top: Mapping[str, object], kind: str = "") -> list[str]:
        """Return the digests of an index: of a kind, without those about others."""
        return [
            self._resource({**entry, "path": "", "size": 0}, f"{at}.").digest
            for at, entry in self._objects(top, "manifests", "")
            # BuildKit adds such ones.
            if not _is_about(entry)
            and str(entry.get("artifactType", "")).startswith(kind)
        ]

    def artifact(self, top: Mapping[str, object], digest: str) -> OciArtifact:
        layers: list[Resource] = []
        kinds: list[str] = []
        for at, entry in self._objects(top, "layers", ""):
            kinds.append(self._text(entry, "mediaType", f"{at}."))
            title = self._notes(entry, at).get(TITLE, "")
            layers.append(self._resource({**entry, "path": title}, f"{at}."))
        if not layers:
            raise self._error("layers", f"{digest} has none")
        config = self._object(top.get("config", {}), "config")
        kind = str(top.get("artifactType") or config.get("mediaType", ""))
        notes = self._notes(top, "")
        number, previous = notes.get(NUMBER, ""), notes.get(PREVIOUS, "")
        is_count = kind == RELEASE_TYPE and number.isascii() and number.isdigit()
        count = int(number[:_DIGITS]) if is_count else 0
        before = previous if is_digest(previous) else ""
        return OciArtifact(digest, kind, tuple(layers), tuple(kinds), count, before)

    def _notes(self, fields: Mapping[str, object], at: str) -> dict[str, str]:
        notes = self._object(fields.get("annotations") or {}, f"{at}.annotations")
        return {key: self._text(notes, key, f"{at}.") for key in notes}


def _is_about(entry: Mapping[str, object]) -> bool:
    platform = entry.get("platform")
    return isinstance(platform, dict) and "unknown" in platform.values()


def open_artifact(
    artifact: OciArtifact, fetch: FetchBlob, label: str, limits: Limits
) -> SkillSource:
    """Return the packs of an artifact.

    Raises:
        SourceUnavailableError: It is of no layout that is read; says which it has.
        LimitExceededError: It has more than is accepted.
    """
    titled = {layer.path: layer for layer in artifact.layers if layer.path}
    if RELEASE_FILE in titled:
        return _release(titled, fetch, label, limits)
    name = label.partition("@")[0].rpartition("/")[2].partition(":")[0]
    files, size = limits.archive_files * _PACKS, limits.archive_bytes * _PACKS
    many = replace(limits, archive_files=files, archive_bytes=size)
    most = archive_size_limit(many)
    if (size := sum(layer.size for layer in artifact.layers)) > most:
        raise LimitExceededError("archive_bytes", most, size, "bytes", label)
    first = artifact.layers[0]
    is_archive = any(word in artifact.kinds[0] for word in ("tar", "zip"))
    is_archive = is_archive or is_archive_name(first.path)
    if len(artifact.layers) == 1 and is_archive:
        data = fetch(first.digest, first.size)
        if not data.startswith((_GZIP, _ZIP)):  # a layer may be a plain tar
            data = gzip.compress(data, 1, mtime=0)
        tree = open_library(data, limits=many, where=label)
        name, links = tree.folder or name, tree.links
        return TreeSource(tree.files, name, label=label, limits=limits, links=links)
    count, most_files = len(artifact.layers), limits.pack_files
    if count > most_files:
        raise LimitExceededError("pack_files", most_files, count, "files", label)
    is_pack = any(path.rpartition("/")[2] == SKILL_FILE for path in titled)
    if is_pack and len(titled) == len(artifact.layers):
        for path in titled:
            if problem := path_problem(path):
                raise SourceUnavailableError(label, f"layer {path!r}: {problem}")
        tree_of = {path: fetch(one.digest, one.size) for path, one in titled.items()}
        return TreeSource(tree_of, name, label=label, limits=limits)
    layers = plural(count, "layer")
    detail = f"{layers} of {', '.join(sorted({*artifact.kinds}))} are no skills here"
    raise SourceUnavailableError(label, f"{detail} (artifact type {artifact.type!r})")


def _release(
    titled: Mapping[str, Resource], fetch: FetchBlob, label: str, limits: Limits
) -> ReleaseSource:
    def read(path: str, limit_bytes: int) -> bytes:
        layer = titled.get(path)
        if layer is None:
            raise ReferenceNotFoundError(label, path)
        if layer.size > limit_bytes:
            of = "file_bytes", limit_bytes, layer.size, "bytes", path
            raise LimitExceededError(*of)
        return fetch(layer.digest, layer.size)

    return ReleaseSource(read, label=label, limits=limits)
