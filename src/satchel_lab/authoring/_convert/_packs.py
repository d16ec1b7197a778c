"""Packs of a folder, each file confined, from one dialect to the other.

The frontmatter is edited, not rewritten, wherever that works; the body keeps its bytes.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final, cast

from satchel.errors import SkillError
from satchel.files import escape_name, is_excluded_file, path_problem
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    FileStat,
    Finding,
    Found,
    Json,
    Manifest,
    portable_name,
)
from satchel.skill_md import (
    FENCE_REPAIRS,
    SCHEMA_FIELD,
    SET_ASIDE,
    Frontmatter,
    Node,
    YamlTree,
    before_frontmatter,
    body_of,
    find_span,
    from_spec,
    parse,
    read_frontmatter,
    spec_name_violations,
    strict_name_violations,
    to_spec,
)
from satchel.sources import LocalSource, folder
from satchel.text import decode, first_names, plural
from satchel_lab._frontmatter_editor import edit_fields, same_values
from satchel_lab.authoring._convert._builder import listed_files, spec_tools
from satchel_lab.authoring._convert._values import Conversion, Dialect
from satchel_lab.authoring._packs import PackDraft, found_in, is_of

_LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
_TEXTS: Final = ("version", "author")
_READ_AS_TEXT: Final = (*_TEXTS, "name", "description", "license", "compatibility")
_MEANING: Final = (
    *("name", "description", "version", "author", "license", "compatibility"),
    *("allowed_tools", "trigger_keywords", "references", "scripts", "assets"),
    *("declares_files", "client", "status", "replaced_by"),
)
_INVISIBLE: Final = " \t\r\n\ufeff\u200b*_-"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A SKILL.md in another dialect; None, and an error, where it could not be made."""

    data: bytes | None
    findings: tuple[Finding, ...] = ()


def rewrite(  # noqa: PLR0913 - keywords, each with a default
    data: bytes,
    dialect: Dialect | None,
    *,
    name: str = "",
    directory: str = "",
    path: str = SKILL_FILE,
    files: Iterable[str] = (),
) -> Rewritten:
    """Return the file in a dialect; its own bytes where nothing has to change.

    What the fields mean, and every byte of the body, stay as they were. Frontmatter
    that every parser but ours refuses is repaired, with a finding for each repair. In
    ``strict`` no file can be loaded that is not listed: ``files`` are, where none is.
    """
    parsed = parse(data, profile="lenient", path=path, directory=directory)
    file = read_frontmatter(data, DEFAULT_LIMITS)
    if parsed.manifest is None or isinstance(file, Finding):
        return Rewritten(None, parsed.findings)
    before = _fields(file.tree.root)
    after = _new_fields(file.tree, parsed.manifest, dialect, name)
    listed: dict[str, Json] = {}
    if dialect == "strict" and not parsed.manifest.declares_files:
        listed = {k: v for k, v in listed_files(files).items() if k not in before}
        after |= listed
    if not file.repairs and same_values(before, after):
        return Rewritten(data, parsed.findings)
    text = file.head.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n")
    edited = edit_fields(lines, before, after, _as_read(file.tree, after))
    findings: list[Finding] = []
    if edited.lost:
        comments, first = plural(len(edited.lost), "comment"), edited.lost[0][:80]
        findings.append(
            Finding.of("comments-dropped", path, comments=comments, first=first)
        )
    new, lost = _assembled(data, edited.lines, file)
    if lost:
        sentence = "before-frontmatter"
        findings.append(
            Finding.of("not-carried", path, 1, sentence=sentence, before=lost[:300])
        )
    reread = parse(new, profile="lenient", directory=directory)
    expected = replace(parsed.manifest, name=name or parsed.manifest.name)
    if listed:
        files_of = {key: getattr(reread.manifest, key) for key in listed}
        expected = replace(expected, declares_files=True, **files_of)
    if reread.manifest is None or any(
        getattr(reread.manifest, field) != getattr(expected, field)
        for field in _MEANING
    ):
        given_up = Finding.of(
            "not-carried", path, severity="error", sentence="frontmatter"
        )
        return Rewritten(None, (*parsed.findings, given_up))
    return Rewritten(new, (*parsed.findings, *findings))


def _fields(root: dict[str, Node]) -> dict[str, Json]:
    return cast("dict[str, Json]", dict(root))


def _new_fields(
    tree: YamlTree, manifest: Manifest, dialect: Dialect | None, name: str
) -> dict[str, Json]:
    """Return the frontmatter as it is to be.

    A name and a description that the file has only in another form are written out: no
    other reader would find them.
    """
    fields = _fields(tree.root)
    if name or tree.text("name") != manifest.name:
        fields["name"] = name or manifest.name
    if tree.text("description") is None:
        fields["description"] = manifest.description
    if dialect == "spec":
        tools = spec_tools(manifest.allowed_tools)
        if tools and "allowed-tools" in fields:
            fields["allowed-tools"] = tools
        moved = to_spec(_as_texts(tree, fields))
        return {key: fields.get(key, value) for key, value in moved.items()} | (
            {"metadata": moved["metadata"]} if "metadata" in moved else {}
        )
    metadata = tree.root.get("metadata")
    if dialect == "strict" and isinstance(metadata, dict):
        inner = _fields(metadata)
        moved = from_spec({**fields, "metadata": _moving(tree, metadata, inner)})
        if isinstance(left := moved.get("metadata"), Mapping):
            moved["metadata"] = {key: inner[key] for key in left}
        return moved
    return fields


def _as_texts(tree: YamlTree, fields: dict[str, Json]) -> dict[str, Json]:
    """Return the fields with those that move as texts: `1.10` is "1.10" to all."""
    texts = dict(fields)
    for key in (*_TEXTS, *_LISTS):
        value = tree.root.get(key)
        if isinstance(value, list):
            items = tree.items(value)
            if key in _LISTS and None not in items:
                texts[key] = [*items]
        elif (text := tree.text(key)) is not None:
            texts[key] = text
    return texts


def _moving(
    tree: YamlTree, metadata: dict[str, Node], inner: dict[str, Json]
) -> dict[str, Json]:
    """Return the metadata with each scalar that may move as its text."""
    texts = dict(inner)
    for key in (*_TEXTS, *_LISTS, SCHEMA_FIELD):
        for place in (key, f"{SET_ASIDE}{key}"):
            if (text := tree.text(place, metadata)) is not None:
                texts[place] = text
    return texts


def _as_read(tree: YamlTree, after: dict[str, Json]) -> dict[str, Json]:
    """Return fields to render: what is read as text is one, `1.10` "1.10"."""
    texts: dict[str, Json] = {
        key: text
        for key in _READ_AS_TEXT
        if key in after and after[key] == tree.root.get(key)
        if (text := tree.text(key)) is not None
    }
    return {**after, **texts}


def _assembled(data: bytes, head: list[str], file: Frontmatter) -> tuple[bytes, str]:
    """Return the whole file with another frontmatter, and the text that it loses.

    Fences that are out of place, and an encoding that is not UTF-8, are corrected.
    """
    fences = FENCE_REPAIRS.isdisjoint(finding.code for finding in file.repairs)
    span = find_span(data) if fences else None
    decoded = decode(data)
    if span is None or decoded.encoding != "utf-8":
        text = decoded.text
        whole = "".join(f"{line}\n" for line in ("---", *head, "---")) + body_of(text)
        lost = before_frontmatter(text).strip(_INVISIBLE)
        return whole.encode("utf-8", "replace"), lost
    end = "\r\n" if b"\r\n" in data[: span.body] else "\n"
    lines = "".join(f"{line}{end}" for line in head)
    return data[: span.head] + lines.encode() + data[span.end :], ""


_NAME_RULES: Final = {"spec": spec_name_violations, "strict": strict_name_violations}


def read_packs(root: str) -> Iterator[Conversion]:
    """Yield each pack below a folder as it is, in the order of their paths.

    What no pack lists, dot-files and keys for instance, is left out with a finding, and
    so is a link. What is there and is not a pack comes last, without a draft.
    """
    source = folder(root)
    packs, findings = found_in(source)
    places = [str(pack.location) for pack in packs]
    # A note on the folder refuses nothing.
    notes = [f for f in findings if packs and f.severity == "note"]
    notes = [f for f in notes if not any(is_of(f.path, place) for place in places)]
    findings = [finding for finding in findings if finding not in notes]
    for pack, place in zip(packs, places, strict=True):
        own = [finding for finding in findings if is_of(finding.path, place)]
        findings = [finding for finding in findings if finding not in own]
        yield _read(source, pack, place).with_findings(own + notes)
        notes = []
    for finding in findings:
        yield Conversion(finding.path, None, (finding,))


def files_outside(root: str, out: str) -> list[Finding]:
    """Return a note on the files below a folder that are in none of its packs.

    A folder without packs is named instead of its files. ``out`` is where packs go.
    """
    loose: list[PurePath] = []
    with_packs = {PurePath()}
    left = DEFAULT_LIMITS.scan_entries
    for where, folders, files in os.walk(root):
        left -= len(folders) + len(files)
        if left < 0:  # as many as are ever looked at for packs
            break
        place = PurePath(where).relative_to(root)
        if SKILL_FILE in files:
            with_packs.update(place.parents)
            folders.clear()
        elif Path(where).resolve() == Path(out).resolve():
            folders.clear()
        else:
            folders[:] = [name for name in folders if not is_excluded_file(name)]
            loose += [place / name for name in files if not is_excluded_file(name)]
    named = dict[str, None]()
    for file in sorted(loose):
        above = [f for f in reversed(file.parents) if f not in with_packs]
        named[f"{above[0].as_posix()}/" if above else file.as_posix()] = None
    if not named:
        return []
    count = f"{plural(len(loose), 'file')} {'is' if len(loose) == 1 else 'are'}"
    shown = first_names([escape_name(name) for name in named])
    return [
        Finding.of("files-left-out", root, sentence="outside", files=count, shown=shown)
    ]


def into_dialect(
    conversion: Conversion, dialect: Dialect | None, *, rename: bool = False
) -> Conversion:
    """Return the conversion with its SKILL.md in a dialect.

    With ``rename`` the draft is named as its manifest is, and where the dialect refuses
    that name both get the nearest one that every client accepts. ``dialect`` None
    repairs what is broken, and changes no name. What else the dialect refuses is not
    looked at.
    """
    draft = conversion.draft
    if draft is None:
        return conversion
    path = f"{conversion.source}/{SKILL_FILE}"
    parsed = parse(draft.skill_md, profile="lenient", directory=draft.name)
    name = parsed.manifest.name if parsed.manifest else draft.name
    near = ""
    if rename and dialect is not None and any(_NAME_RULES[dialect](name)):
        near = portable_name(name)
    rewritten = rewrite(
        draft.skill_md,
        dialect,
        name=near,
        directory=draft.name,
        path=path,
        files=(path for path in draft.files if path != SKILL_FILE),
    )
    findings = [f for f in rewritten.findings if f.code not in _SETTLED]
    if near:
        file = read_frontmatter(draft.skill_md, DEFAULT_LIMITS)
        line = None if isinstance(file, Finding) else file.line_of("name")
        findings.append(Finding.of("pack-renamed", path, line, old=name, new=near))
    conversion = conversion.with_findings(findings)
    if rewritten.data is None:
        return replace(conversion, draft=None)
    folder_name = (near or name) if rename else draft.name
    if path_problem(folder_name) or "/" in folder_name:
        about = {"sentence": "pack", "name": folder_name}
        unsafe = Finding.of("unsafe-file-name", path, severity="error", **about)
        return conversion.refused(unsafe)
    renamed = replace(draft.with_skill_md(rewritten.data), name=folder_name)
    return replace(conversion, draft=renamed)


# A folder gets the name of its pack, and a missing name is written out.
_SETTLED: Final = frozenset(["name-not-folder", "missing-name"])


def _read(source: LocalSource, pack: Found, place: str) -> Conversion:
    files: dict[str, bytes] = {}
    programs: set[str] = set()
    limits = {SKILL_FILE: DEFAULT_LIMITS.skill_md_bytes}
    try:
        for stat in pack.files or source.files(pack.key):
            limit = limits.get(stat.path, DEFAULT_LIMITS.file_bytes)
            files[stat.path] = source.read(pack.key, stat.path, limit)
            if is_executable(place, stat):
                programs.add(stat.path)
    except SkillError as error:
        fix = "see that every file of the pack can be read, and convert again"
        return Conversion(place, None, (Finding.of_error(error, place, fix=fix),))
    name = pack.key.rpartition("/")[2]
    draft = PackDraft(name, dict(sorted(files.items())), frozenset(programs))
    return Conversion(place, draft)


def is_executable(place: str, stat: FileStat) -> bool:
    """Return whether the owner of a file in the folder ``place`` may execute it."""
    try:
        status = os.lstat(Path(place, stat.path))
    except OSError:
        return False
    return bool(status.st_mode & 0o100)
