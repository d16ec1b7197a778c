"""What the commands for registries do: push, withdraw, and take an older release."""

import tempfile
from dataclasses import asdict
from pathlib import Path

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    echo_rows,
    one_line,
    open_named_skills,
    progress,
    width,
)
from satchel.model import DEFAULT_LIMITS
from satchel.text import plural
from satchel_install.oci._artifact import fetch_artifact
from satchel_install.oci._channel import note_number
from satchel_install.oci._push import push_release, withdraw_from
from satchel_install.oci._reference import OciReference, parse_reference
from satchel_install.oci._registry import OciRepository
from satchel_store.release import build_folder, release_folder


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
            with open_named_skills(paths) as skills:
                build_folder(skills, Path(folder), allow_findings=skip_bad)
        with progress(f"sending to {reference.host}"):
            source = release_folder(folder, None, None, DEFAULT_LIMITS)
            pushed = push_release(source, reference, repository)
    counts = f"{plural(pushed.skills, 'skill')}, {plural(pushed.files, 'file')}"
    state = "" if pushed.new else ", there already"
    echo_error(f"{reference}: release {pushed.number}, {counts}{state}")
    if as_json:
        echo_json(asdict(pushed) | {"reference": str(reference)})
    else:
        echo(pushed.digest)
    return 0


def accept(text: str) -> int:
    """Take the release that a tag has now, also after a later one."""
    reference, repository = _named(text)
    artifact = fetch_artifact(repository, reference.which)
    note_number(reference, artifact.number)
    echo_error(f"{reference}: release {artifact.number}, {artifact.digest}, is taken")
    return 0


def withdraw(text: str, names: tuple[str, ...], reason: str, *, as_json: bool) -> int:
    """Withdraw skills or releases; see ``satchel withdraw --help``."""
    reference, repository = _named(text)
    reasons = withdraw_from(names, one_line(reason), reference, repository)
    rows = sorted(reasons.items())
    if as_json:
        echo_json({"withdrawn": [{"digest": k, "reason": v} for k, v in rows]})
    else:
        echo_rows([(digest, one_line(why)) for digest, why in rows], width())
        echo_error(f"{reference.host}/{reference.repository}: {len(rows)} withdrawn")
    return 0
