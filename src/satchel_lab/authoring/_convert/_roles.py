"""Role templates to packs: ``roles/<role>/{system_prompt.md, task_prompt.md, ...}``.

The prompt is the body, word for word; every other file of the role goes along.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError
from satchel.files import list_folder, locate_findings, read_confined, walk_pack
from satchel.model import DEFAULT_LIMITS, Finding, Json
from satchel.skill_md import YamlTree, read_tree, split_entries
from satchel.text import decode, is_text, plural
from satchel_lab._frontmatter_editor import comments_in
from satchel_lab.authoring._convert._builder import Material, body_text, build_pack
from satchel_lab.authoring._convert._markup import render_known
from satchel_lab.authoring._convert._packs import is_executable
from satchel_lab.authoring._convert._values import Conversion, Dialect
from satchel_lab.authoring._role_format import SYSTEM_PROMPT, role_problem

_TASK_PROMPT: Final = "task_prompt.md"
_REFERENCE: Final = "task-prompt.md"
_CONFIG: Final = "config.yaml"


def roles_folder(path: str) -> str:
    """Return the folder of all roles, for ``templates``, itself, or one role in it."""
    if _is_role(path):
        return folder_above(path)
    inner = os.path.join(path, "roles")  # noqa: PTH118 - as the user writes it
    return inner if _has_roles(inner) else path


def folder_above(path: str) -> str:
    """Return the folder that a path is in, also of one that ends in dots."""
    plain = os.path.normpath(path)
    if os.path.basename(plain) in {os.curdir, os.pardir}:  # noqa: PTH119
        return os.path.normpath(os.path.join(plain, os.pardir))  # noqa: PTH118
    return os.path.dirname(plain) or os.curdir  # noqa: PTH120


def holds_roles(path: str) -> bool:
    """Return whether a folder is a role, has roles, or has a folder of roles."""
    inner = os.path.join(path, "roles")  # noqa: PTH118 - as the user writes it
    return _is_role(path) or _has_roles(path) or _has_roles(inner)


def _is_role(path: str) -> bool:
    return os.path.isfile(os.path.join(path, SYSTEM_PROMPT))  # noqa: PTH113, PTH118


def _has_roles(path: str) -> bool:
    return next(Path(path).glob(f"*/{SYSTEM_PROMPT}"), None) is not None


def read_roles(
    path: str, dialect: Dialect | None, values: Mapping[str, str]
) -> Iterator[Conversion]:
    """Yield a pack for each role, sorted by name."""
    root = roles_folder(path)
    entries = [
        entry
        for entry in list_folder(root, DEFAULT_LIMITS.scan_entries)
        if entry.is_dir() and not entry.name.startswith(".")
    ]
    roles = [entry.name for entry in entries]
    links = {entry.name for entry in entries if entry.is_symlink()}
    if _is_role(path):
        plain = os.path.normpath(path)
        role = os.path.basename(plain)  # noqa: PTH119
        dots = role in {os.curdir, os.pardir}
        roles, links = [Path(path).resolve().name if dots else role], set[str]()
    if not roles:
        detail = f"expected folders of roles, each with a {SYSTEM_PROMPT}"
        raise ConfigError(path, detail)
    for role in sorted(roles):
        # A link may lead out of the templates.
        if role in links:
            place = os.path.join(root, role)  # noqa: PTH118 - as the user writes it
            linked = Finding.of("link-in-pack", place, sentence="role")
            yield Conversion(place, None, (linked,))
            continue
        yield _read(root, role, dialect, values)


def _read(
    root: str, role: str, dialect: Dialect | None, values: Mapping[str, str]
) -> Conversion:
    place = os.path.join(root, role)  # noqa: PTH118 - as the user writes it
    try:
        walked = walk_pack(place)
        programs = {f.path for f in walked.files if is_executable(place, f)}
        most = DEFAULT_LIMITS.file_bytes
        files = {
            file.path: read_confined(root, file.path, most, folder=role)
            for file in walked.files
        }
    except SkillError as error:
        fix = "see that every file of the role can be read, and convert again"
        return Conversion(place, None, (Finding.of_error(error, place, fix=fix),))
    findings = [*locate_findings(walked.findings, place)]
    if SYSTEM_PROMPT not in files:
        no_prompt = Finding.of("missing-prompt", place)
        return Conversion(place, None, (*findings, no_prompt))
    body = _rendered(files.pop(SYSTEM_PROMPT), place, SYSTEM_PROMPT, values, findings)
    metadata = _config(files, place, dialect, findings)
    packed = _other_files(files, place, values, findings)
    material = Material(
        source=place,
        name=role,
        body=body,
        metadata=metadata,
        files=dict(packed.values()),
        programs=frozenset(packed[path][0] for path in programs & packed.keys()),
        findings=tuple(findings),
    )
    pack = build_pack(material, dialect)
    if pack.draft is not None and role_problem(role):
        renamed = Finding.of(
            "pack-renamed", place, sentence="role", role=role, name=pack.draft.name
        )
        return pack.with_findings([renamed])
    return pack


def _rendered(
    data: bytes,
    place: str,
    name: str,
    values: Mapping[str, str],
    findings: list[Finding],
) -> str:
    path = f"{place}/{name}"
    text, repairs = body_text(data, path)
    rendered = render_known(text, values, path)
    findings += [*repairs, *rendered.findings]
    return rendered.text


def _config(
    files: dict[str, bytes],
    place: str,
    dialect: Dialect | None,
    findings: list[Finding],
) -> dict[str, Json]:
    """Return the configuration as metadata.

    ``strict`` has none, and there the file goes along as an asset, as does one that
    is not a mapping.
    """
    data = files.get(_CONFIG)
    if data is None:
        return {}
    path = f"{place}/{_CONFIG}"
    tree = read_tree(data, DEFAULT_LIMITS)
    if dialect == "strict" or not isinstance(tree, YamlTree):
        findings.append(Finding.of("kept-as-asset", path))
        return {}
    # Its values are in the manifest; all other files go along.
    del files[_CONFIG]
    lost = [
        comment
        for entry in split_entries(decode(data).text.splitlines())
        for comment in comments_in([entry.first, *entry.more])
    ]
    if lost:
        comments, first = plural(len(lost), "comment"), lost[0][:80]
        dropped = partial(Finding.of, "comments-dropped", path, sentence="role")
        findings.append(dropped(comments=comments, first=first))
    return {
        key: text if (text := tree.text(key)) is not None else json.dumps(value)
        for key, value in tree.root.items()
    }


def _other_files(
    files: Mapping[str, bytes],
    place: str,
    values: Mapping[str, str],
    findings: list[Finding],
) -> dict[str, tuple[str, bytes]]:
    """Return of every other file where a pack has it, and its data.

    Texts are references.
    """
    packed: dict[str, tuple[str, bytes]] = {}
    names = {path.lower() for path in files}
    for path, data in files.items():
        renamed = path == _TASK_PROMPT and _REFERENCE not in names
        name = _REFERENCE if renamed else path
        folder, new = "assets", data
        if path.endswith((".md", ".txt")) and is_text(data):
            text = _rendered(data, place, path, values, findings)
            folder, new = "references", text.encode("utf-8", "replace")
        packed[path] = f"{folder}/{name}", new
    return packed
