"""What ``satchel verify`` does, for projects, signed packs and releases."""

import os
from collections.abc import Collection
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, cast

from satchel.cli import echo, echo_error, echo_json, echo_rows, one_line
from satchel.config import Config, load_config, own_config
from satchel.errors import ConfigError, MissingPathError, NotInstalledError, SkillError
from satchel.model import SKILL_FILE, Catalog
from satchel.protocols import with_abilities
from satchel.runtime import open_inputs
from satchel.sources import CLIENT_FOLDERS
from satchel.text import nearest, plural, slug
from satchel_install._lock import LOCK_FILE, Lock, parse_lock
from satchel_install._project import Project, files_below
from satchel_install._resolve import catalog_of
from satchel_install._signatures import SignatureReader
from satchel_install._trust import NOT_APPROVED, is_approved, lock_digest
from satchel_install._verifiers import NO_SIGNATURE, RefusalVerifier, SignatureVerifier
from satchel_store.release import ReleaseSource, is_release

_STATES: Final = {"": "signed", NO_SIGNATURE: "unsigned"}
# What asks for signatures.
_SIGNED: Final = ("signed", "both")
# What it says of one pack, or of a release: id, state, and who or why as detail.
_Row: TypeAlias = dict[str, str]


def _row(skill_id: str, state: str, detail: str) -> _Row:
    return {"id": skill_id, "state": state, "detail": detail}


def verify(place: str, client: str, *, as_json: bool) -> int:
    """Verify a project, packs, a release or a registry; see ``satchel verify``."""
    if place.startswith("oci://") and not client:
        return _shown(place, _registry_rows(place), as_json=as_json)
    folder = Path(os.path.abspath(place))  # noqa: PTH100 - without any ".."
    if not folder.is_dir():
        raise MissingPathError(place)
    project, own = Project.nearest(folder), own_config(os.environ)
    if client:
        project = _of_client(project, client)
    elif is_release(str(folder)):
        return _shown(folder, _release_rows(folder, own), as_json=as_json)
    has_lock = project.lock_file.is_file()
    whole = folder in {project.folder, project.skills}
    if own.signers and not client and not (has_lock and whole):
        rows = _signature_rows(folder, own)
        if rows or not has_lock:
            return _shown(folder, rows, as_json=as_json)
    if not has_lock:
        detail = f"there is no {LOCK_FILE}; make one: satchel sync; or, for signed "
        detail += "packs, name who may sign them: signers in [trust] of your own file"
        raise NotInstalledError(str(folder), detail)
    file = project.config_file
    config = load_config(file) if file.is_file() else own
    asks = config.verify in _SIGNED
    signed = _signature_rows(project.skills, config) if asks else None
    return _against_lock(project, signed, as_json=as_json, whole=not client)


def _signature_rows(folder: Path, config: Config) -> list[_Row]:
    """Return what the signatures of a folder of packs say."""
    sources = open_inputs((str(folder),), limits=config.limits).sources
    verifier = SignatureVerifier(SignatureReader(config), sources)
    catalog = catalog_of(sources, RefusalVerifier(sources, None, config.withdrawn))
    packs = [*catalog.entries]
    packs += (one.descriptor for one in catalog.excluded)
    packs += (owner for conflict in catalog.conflicts for owner in conflict.owners)
    rows: dict[str, _Row] = {}
    for pack in packs:
        who, reason = verifier.check(pack)
        state = _STATES.get(reason, "failed")
        rows[pack.origin.location] = _row(pack.id, state, who or reason)
    rows |= _refused(catalog)
    # What cannot be read as a pack has no signature that anybody could check.
    places = tuple(f"{place}/" for place in rows)
    for finding in catalog.findings:
        if finding.severity == "error" and not f"{finding.path}/".startswith(places):
            rows[finding.path] = _row(finding.path, "failed", finding.message)
    return sorted(rows.values(), key=lambda row: row["id"])


def _refused(catalog: Catalog) -> dict[str, _Row]:
    """Return what is withdrawn of a catalog, by the place of each."""
    return {
        one.descriptor.origin.location: _row(one.id, "failed", one.detail)
        for one in catalog.excluded
        if one.reason == "unverified"
    }


def _registry_rows(address: str) -> list[_Row]:
    """Return what each skill of a registry is: every file of it is read."""
    own = own_config(os.environ)
    # The user names the registry here, so it may be in a network of theirs.
    (source,) = sources = open_inputs((address,), allow_private=True).sources
    signed = SignatureVerifier(SignatureReader(own), sources) if own.signers else None
    catalog = catalog_of(sources, RefusalVerifier(sources, None, own.withdrawn))
    rows = [*_refused(catalog).values()]
    for pack in catalog.entries:
        state, detail = "as released", with_abilities(source).release or ""
        try:
            for path in (SKILL_FILE, *pack.resources):
                source.read(pack.origin.key, path, own.limits.file_bytes)
            if signed is not None:
                detail, reason = signed.check(pack)
                state, detail = _STATES.get(reason, "failed"), detail or reason
        except SkillError as error:
            state, detail = "failed", str(error)
        rows.append(_row(pack.id, state, detail))
    return rows


def _release_rows(folder: Path, own: Config) -> list[_Row]:
    """Return what is wrong with a release, as its release.json has it."""
    sources = open_inputs((str(folder),)).sources
    source = cast("ReleaseSource", sources[0])
    rows = [_row(one.path, "failed", one.message) for one in source.damage()]
    if not rows:
        verifier = RefusalVerifier(sources, None, own.withdrawn)
        rows += _refused(catalog_of(sources, verifier)).values()
    listed = {file.path for file in source.open().files}
    for path, _ in files_below(folder):
        if path not in listed:
            rows.append(_row(path, "failed", "it is not a file of this release"))
    rows += _signature_rows(folder, own) if own.verify in _SIGNED else ()
    return rows or [_row(source.label, "as released", source.open().id)]


def _shown(folder: Path | str, rows: Collection[_Row], *, as_json: bool) -> int:
    """Print what is said of packs; return the status."""
    bad = [row for row in rows if row["state"] in {"failed", "unsigned"}]
    if as_json:
        echo_json({"skills": len(rows), "failed": len(bad), "packs": rows})
    else:
        rows = sorted(rows, key=lambda row: row not in bad)
        echo_rows([(*row.values(),) for row in rows], None)
        state = f"{len(bad)} failed or unsigned" if bad else "all verified"
        echo_error(f"{folder}: {plural(len(rows), 'pack')}, {state}")
    return 1 if bad or not rows else 0


def _of_client(project: Project, client: str) -> Project:
    """Return a project whose skills are the copies in a client's folder."""
    folders = {slug(one.name): one.project for one in CLIENT_FOLDERS if one.project}
    if client not in folders:
        close = ", ".join(nearest(client, [*folders], 3) or [*folders][:5])
        detail = f"no client is called {client!r}; did you mean {close}?"
        raise ConfigError("--for", detail)
    there = [one for one in folders[client] if (project.folder / one).is_dir()]
    if not (there and project.lock_file.is_file()):
        lack = f"no {LOCK_FILE}" if there else f"no folder {folders[client][0]}"
        raise NotInstalledError(str(project.folder), f"there is {lack}")
    return Project(project.folder, there[0])


def _against_lock(
    project: Project, rows: list[_Row] | None, *, as_json: bool, whole: bool = True
) -> int:
    """Compare a project with its lock, next to what its signatures say.

    Of a copy that is not ``whole``, the skills that are there count.
    """
    lock = parse_lock(project.lock_file.read_bytes(), str(project.lock_file))
    names = sorted(os.listdir(project.skills)) if project.skills.is_dir() else []  # noqa: PTH208 - names
    if not whole:
        skills = {name: lock.skills[name] for name in names if name in lock.skills}
        lock = Lock(skills, lock.entries)
    withdrawn = project.withdrawn()
    differences = {i: project.differences(one) for i, one in lock.skills.items()}
    for skill_id, skill in lock.skills.items():
        if why := skill.withdrawal(withdrawn):
            differences[skill_id].append(f"{skill_id}: {why}")
    differences = {i: texts for i, texts in differences.items() if texts}
    extra = [n for n in names if n not in lock.skills and not n.startswith(".")]
    approved = is_approved(project.folder, lock_digest(project.folder))
    lines = [*chain(*differences.values())]
    lines += (f"{name} is not in {LOCK_FILE}" for name in extra)
    bad = len(lines) + sum(row["state"] != "signed" for row in rows or ())
    if as_json:
        changed = [{"id": i, "differences": texts} for i, texts in differences.items()]
        fields: dict[str, object] = {"skills": len(lock.skills), "differences": changed}
        fields |= {"not_locked": extra, "approved": approved}
        echo_json(fields | ({} if rows is None else {"packs": rows}))
        return 1 if bad or not approved else 0
    for line in lines:
        echo(one_line(line))
    if not approved:
        echo(NOT_APPROVED)
    echo_rows([(*row.values(),) for row in rows or ()], None)
    count = plural(len(lock.skills), "skill")
    state = "all as locked" + (" and signed" if rows else "")
    state = plural(bad, "difference") if bad else state
    echo_error(f"{project.skills}: {count}, {state}")
    return 1 if bad or not approved else 0
