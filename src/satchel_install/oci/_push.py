"""What the commands for registries do: push, withdraw, and take an older release."""

import random
import tempfile
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from satchel import cli
from satchel.errors import ConfigError, NotWrittenError
from satchel.files import is_digest
from satchel.model import DEFAULT_LIMITS, RELEASE_FILE, Resource
from satchel.text import plural
from satchel_install.oci._artifact import (
    EMPTY_TYPE,
    NUMBER,
    PREVIOUS,
    RELEASE_TYPE,
    TITLE,
    WITHDRAWN_TYPE,
    fetch_artifact,
    open_artifact,
)
from satchel_install.oci._channel import (
    WITHDRAWN_TAG,
    fetch_withdrawn,
    note_number,
    noted_number,
    render_withdrawn,
)
from satchel_install.oci._reference import OciReference, parse_reference
from satchel_install.oci._registry import MANIFEST, OciRepository
from satchel_store.release import (
    ReleaseSource,
    build_folder,
    canonical_json,
    release_folder,
)

_EMPTY: Final = b"{}"
_AT_ONCE: Final = 8
# So often the list is written again if another one got between.
_ATTEMPTS: Final = 20
# So often it is there before it counts as looks.
_LOOKS: Final = 2


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a tag names now; ``number`` only grows, and ``new`` is whether it did."""

    digest: str
    number: int
    skills: int
    files: int
    new: bool


def push_release(
    source: ReleaseSource, reference: OciReference, repository: OciRepository
) -> Pushed:
    """Send what the registry has not yet, and move the tag last of all.

    Whatever ends this before leaves the tag as it was.

    Raises:
        SkillError: A file of the release is damaged, or the registry refuses.
    """
    problem = "name a tag: what a digest names cannot change" * bool(reference.digest)
    if reference.tag == WITHDRAWN_TAG:
        problem = "the tag `withdrawn` is for the list that satchel withdraw writes"
    if problem:
        raise ConfigError(str(reference), problem)
    release = source.open()
    there = repository.digest_of(reference.tag, missing_ok=True)
    before = fetch_artifact(repository, there) if there else None
    counts = len(release.skills), len(release.files)
    if before is not None and before.type == RELEASE_TYPE:
        same = (layer.digest for layer in before.layers if layer.path == RELEASE_FILE)
        if release.document.digest in same:
            return Pushed(before.digest, before.number, *counts, new=False)
    # Above what this user has seen there, too, or others would refuse it.
    last = max(before.number if before else 0, noted_number(reference))

    def send(file: Resource) -> dict[str, object]:
        repository.keep_blob(source.read_file(file))
        return _descriptor(file.digest, file.size, file.path)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        layers = list(pool.map(send, release.files))
    notes = {NUMBER: str(last + 1)} | ({PREVIOUS: there} if there else {})
    digest = _put(repository, reference.tag, RELEASE_TYPE, layers, notes)
    note_number(reference, last + 1)
    if repository.digest_of(reference.tag) != digest:
        detail = "somebody else has pushed at the same time, and theirs is used"
        raise NotWrittenError(str(reference), detail)
    return Pushed(digest, last + 1, *counts, new=True)


def withdraw_from(
    names: Collection[str],
    reason: str,
    reference: OciReference,
    repository: OciRepository,
) -> dict[str, str]:
    """Add digests to the list of a repository, and return all that is withdrawn.

    A name that is no digest is that of a skill of the release that ``reference`` names.

    Raises:
        ConfigError: A name is neither.
    """
    digests = [_digest_of(name, reference, repository) for name in names]
    looks = 0
    for attempt in range(_ATTEMPTS):
        # Another one may write at the same time, and not know of this one.
        time.sleep(random.uniform(0.2, 0.8) if attempt else 0)  # noqa: S311
        listed = repository.digest_of(WITHDRAWN_TAG, missing_ok=True)
        reasons = fetch_withdrawn(repository, listed) if listed else {}
        lacks = [one for one in digests if one not in reasons]
        lacks += [one for one in digests if reason and not reasons.get(one)]
        if not lacks:
            looks += 1
            if looks == _LOOKS:
                return reasons
            continue
        looks, missing = 0, dict.fromkeys(lacks, reason)
        data = render_withdrawn(reasons | missing)
        layer = _descriptor(repository.keep_blob(data), len(data), "withdrawn.json")
        _put(repository, WITHDRAWN_TAG, WITHDRAWN_TYPE, [layer], {})
    detail = "others write its list all the time; try it again"
    raise NotWrittenError(repository.label, detail)


def _digest_of(name: str, of: OciReference, repository: OciRepository) -> str:
    # One that is cut off would keep nothing from anybody.
    if is_digest(name.replace("sha256-tree-v1:", "sha256:", 1)):
        return name
    artifact = fetch_artifact(repository, of.which)
    packs = open_artifact(artifact, repository.blob, str(of), DEFAULT_LIMITS)
    skills = packs.open().skills if isinstance(packs, ReleaseSource) else ()
    digest = next((skill.digest for skill in skills if skill.id == name), "")
    if not digest:
        raise ConfigError("withdraw", f"{name!r} is no digest, and no skill of {of}")
    return digest


def _descriptor(digest: str, size: int, title: str) -> dict[str, object]:
    # No media type that a tool would unpack: each layer is one file.
    fields: dict[str, object] = {"mediaType": "application/octet-stream"}
    return fields | {"digest": digest, "size": size, "annotations": {TITLE: title}}


def _put(
    repository: OciRepository,
    tag: str,
    kind: str,
    layers: list[dict[str, object]],
    notes: dict[str, str],
) -> str:
    """Put a manifest under a tag; equal parts give equal bytes."""
    config = repository.keep_blob(_EMPTY)
    document: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": kind,
        "config": {"mediaType": EMPTY_TYPE, "digest": config, "size": len(_EMPTY)},
        "layers": layers,
    }
    if notes:
        document["annotations"] = notes
    return repository.put_manifest(tag, canonical_json(document))


def _named(text: str) -> tuple[OciReference, OciRepository]:
    """Return what the user named, which may be in a network of theirs."""
    reference = parse_reference(text)
    return reference, OciRepository(reference, allow_private=True)


def push(
    text: str, folder: str, paths: tuple[str, ...], *, skip_bad: bool, as_json: bool
) -> int:
    """Put a release into a registry; see ``satchel push --help``."""
    reference, repository = _named(text)
    with tempfile.TemporaryDirectory(prefix="satchel-") as made:
        if not folder:
            folder = f"{made}/release"
            with cli.open_named_skills(paths) as skills:
                build_folder(skills, Path(folder), allow_findings=skip_bad)
        with cli.progress(f"sending to {reference.host}"):
            source = release_folder(folder, None, None, DEFAULT_LIMITS)
            pushed = push_release(source, reference, repository)
    counts = f"{plural(pushed.skills, 'skill')}, {plural(pushed.files, 'file')}"
    state = "" if pushed.new else ", there already"
    cli.echo_error(f"{reference}: release {pushed.number}, {counts}{state}")
    if as_json:
        cli.echo_json(asdict(pushed) | {"reference": str(reference)})
    else:
        cli.echo(pushed.digest)
    return 0


def accept(text: str) -> int:
    """Take the release that a tag has now, also after a later one."""
    reference, repository = _named(text)
    artifact = fetch_artifact(repository, reference.which)
    note_number(reference, artifact.number)
    release = f"release {artifact.number}, {artifact.digest}"
    cli.echo_error(f"{reference}: {release}, is taken")
    return 0


def withdraw(text: str, names: tuple[str, ...], reason: str, *, as_json: bool) -> int:
    """Withdraw skills or releases; see ``satchel withdraw --help``."""
    reference, repository = _named(text)
    reasons = withdraw_from(names, cli.one_line(reason), reference, repository)
    rows = sorted(reasons.items())
    if as_json:
        cli.echo_json({"withdrawn": [{"digest": k, "reason": v} for k, v in rows]})
    else:
        place = f"{reference.host}/{reference.repository}"
        cli.echo_rows([(one, cli.one_line(why)) for one, why in rows], cli.width())
        cli.echo_error(f"{place}: {len(rows)} withdrawn")
    return 0
