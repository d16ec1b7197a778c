"""Which files of a pack may be read: what it declares, else what it holds."""

from dataclasses import dataclass

from satchel.errors import PackFileError
from satchel.files import check_path, is_left_out
from satchel.model import (
    SKILL_FILE,
    FileStat,
    Finding,
    Manifest,
    bucket_of,
)

__all__ = ["Allowlist", "allow"]

_BUCKETS = ("references", "scripts", "assets")


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The readable files by bucket, and what was wrong with the declared ones."""

    references: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


_NOTHING = Allowlist()


def allow(
    manifest: Manifest, files: tuple[FileStat, ...], *, closed: bool = False
) -> Allowlist:
    """Return the allowlist of a pack.

    A pack that declares any of references, scripts and assets is closed to just
    these; one that declares none is open to the files it held when it was
    scanned. ``closed`` closes every pack, as profile ``strict`` does. A declared
    file that is missing stays listed, so that asking for it says so.
    """
    if manifest.declares_files:
        return _declared(manifest, {file.path for file in files})
    if closed or not files or (len(files) == 1 and files[0].path == SKILL_FILE):
        return _NOTHING
    return _held(files)


def _held(files: tuple[FileStat, ...]) -> Allowlist:
    buckets: dict[str, list[str]] = {name: [] for name in (*_BUCKETS, "other")}
    for file in files:
        if file.path != SKILL_FILE:
            buckets[bucket_of(file.path)].append(file.path)
    references, scripts, assets, others = map(tuple, buckets.values())
    return Allowlist(references, scripts, assets, others)


def _declared(manifest: Manifest, held: set[str]) -> Allowlist:
    findings: list[Finding] = []
    lists: list[tuple[str, ...]] = []
    for bucket in _BUCKETS:
        names: tuple[str, ...] = getattr(manifest, bucket)
        paths = (_resolve(bucket, name, held, findings) for name in names)
        lists.append(tuple(sorted({path for path in paths if path})))
    references, scripts, assets = lists
    return Allowlist(references, scripts, assets, (), tuple(findings))


def _resolve(
    bucket: str, name: str, held: set[str], findings: list[Finding]
) -> str | None:
    """Return the path that a declared name means: in its bucket, else from the root."""
    try:
        check_path(name)
    except PackFileError:
        findings.append(
            Finding(
                "unsafe-declared-file",
                "error",
                f"{bucket} declares {name!r}, which does not stay inside the pack",
                SKILL_FILE,
                fix="name a file inside the pack, relative to it, with / between",
            )
        )
        return None
    in_bucket = name if name.startswith(f"{bucket}/") else f"{bucket}/{name}"
    path = next((each for each in (in_bucket, name) if each in held), in_bucket)
    if path in held:
        return path
    if is_left_out(path):
        findings.append(
            Finding(
                "left-out-file-declared",
                "error",
                f"{bucket} declares {name!r}, a kind of file that is never handed out",
                SKILL_FILE,
                fix="rename the file, or take it off the list",
            )
        )
        return None
    findings.append(
        Finding(
            "listed-file-missing",
            "error",
            f"{bucket} declares {name!r}, and there is no such file",
            SKILL_FILE,
            fix=f"add {in_bucket}, or take it off the list",
        )
    )
    return path
