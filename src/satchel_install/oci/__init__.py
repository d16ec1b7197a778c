"""Releases in OCI registries: followed by a tag, pushed, withdrawn."""

from pathlib import Path
from typing import TYPE_CHECKING

from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from satchel_install.oci._reference import OciReference
    from satchel_install.oci._source import OciSource


def parse_reference(text: str) -> "OciReference":
    """Return what an address names; see `_reference.parse_reference`."""
    from satchel_install.oci import _reference

    return _reference.parse_reference(text)


def open_address(
    url: str, *, pin: str | None, allow_private: bool, limits: Limits
) -> "OciSource":
    """Return the source of an ``oci://`` address that `satchel.Satchel` was given."""
    from satchel_install.oci._reference import parse_reference
    from satchel_install.oci._registry import OciRepository
    from satchel_install.oci._source import OciSource

    if pin is not None:
        detail = "pin it by its digest: oci://registry/team/skills@sha256:..."
        raise ConfigError("pin", detail)
    reference = parse_reference(url)
    repository = OciRepository(reference, allow_private=allow_private)
    return OciSource(repository, reference, limits=limits)


def push(text: str, folder: str, paths: tuple[str, ...], *, as_json: bool) -> int:
    """Put a release into a registry; see ``satchel push --help``."""
    import tempfile

    from satchel.cli import echo, echo_error, echo_json, open_named_skills, progress
    from satchel.text import plural
    from satchel_install.oci._push import push_release
    from satchel_install.oci._reference import parse_reference
    from satchel_install.oci._registry import OciRepository
    from satchel_store.release import build_folder, release_folder

    reference = parse_reference(text)
    # The user names the registry here, so it may be in a network of theirs.
    repository = OciRepository(reference, allow_private=True)
    with tempfile.TemporaryDirectory(prefix="satchel-") as made:
        if not folder:
            folder = f"{made}/release"
            with open_named_skills(paths) as skills:
                build_folder(skills, Path(folder))
        with progress(f"sending to {reference.host}"):
            source = release_folder(folder, None, None, DEFAULT_LIMITS)
            pushed = push_release(source, reference, repository)
    counts = f"{plural(pushed.skills, 'skill')}, {plural(pushed.files, 'file')}"
    state = "" if pushed.is_new else ", there already"
    echo_error(f"{reference}: release {pushed.number}, {counts}{state}")
    if as_json:
        fields: dict[str, object] = {"digest": pushed.digest, "number": pushed.number}
        fields |= {"skills": pushed.skills, "files": pushed.files}
        echo_json(fields | {"reference": str(reference), "new": pushed.is_new})
    else:
        echo(pushed.digest)
    return 0


def accept(text: str) -> int:
    """Take the release that a tag has now, also after a later one."""
    from satchel.cli import echo_error
    from satchel_install.oci._artifact import fetch_artifact
    from satchel_install.oci._channel import note_number
    from satchel_install.oci._reference import parse_reference
    from satchel_install.oci._registry import OciRepository

    reference = parse_reference(text)
    repository = OciRepository(reference, allow_private=True)
    artifact = fetch_artifact(repository, reference.which)
    note_number(reference, artifact.number)
    echo_error(f"{reference}: release {artifact.number}, {artifact.digest}, is taken")
    return 0


def withdraw(text: str, names: tuple[str, ...], reason: str, *, as_json: bool) -> int:
    """Withdraw skills or releases; see ``satchel withdraw --help``."""
    from satchel.cli import echo_error, echo_json, echo_rows, one_line, width
    from satchel_install.oci import _push
    from satchel_install.oci._reference import parse_reference
    from satchel_install.oci._registry import OciRepository

    reference = parse_reference(text)
    repository = OciRepository(reference, allow_private=True)
    reasons = _push.withdraw(names, one_line(reason), reference, repository)
    if as_json:
        echo_json(
            {"withdrawn": [{"digest": k, "reason": v} for k, v in reasons.items()]}
        )
    else:
        echo_rows([(digest, reasons[digest]) for digest in sorted(reasons)], width())
        echo_error(f"{reference.host}/{reference.repository}: {len(reasons)} withdrawn")
    return 0
