"""A SKILL.md from one dialect to the other: the body keeps its bytes.

The frontmatter is edited, not written anew, wherever that works; then the result is
read back, and is given up unless it means what the file meant.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from satchel.authoring._convert._values import Dialect
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Finding, Json, Limits, Manifest
from satchel.skill_md import (
    FENCE_REPAIRS,
    SCHEMA_FIELD,
    SET_ASIDE,
    Frontmatter,
    Node,
    YamlTree,
    body_of,
    comments_in,
    edit_entries,
    equal_values,
    from_spec,
    parse,
    read_frontmatter,
    read_tree,
    render_frontmatter,
    span_of_bytes,
    to_spec,
    tolerant_span,
)
from satchel.text import decode

_MARK: Final = b"\xef\xbb\xbf"
_LISTS: Final = ("trigger_keywords", "references", "scripts", "assets")
_TEXTS: Final = ("version", "author")
_READ_AS_TEXT: Final = (*_TEXTS, "name", "description", "license", "compatibility")


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
    limits: Limits = DEFAULT_LIMITS,
) -> Rewritten:
    """Return the file in a dialect; its own bytes where nothing has to change.

    What the fields mean, and every byte of the body, stay as they were. Frontmatter
    that every parser but ours refuses comes out mended, with a finding for each
    repair.

    Args:
        data: The whole file.
        dialect: The dialect wanted; None mends what is broken, and no more.
        name: The name to give it; empty keeps its own.
        directory: The pack's folder, whose name stands in for a missing one.
        path: What findings call the file.
        limits: Bounds on what is read.
    """
    parsed = parse(
        data, profile="lenient", path=path, directory=directory, limits=limits
    )
    opened = read_frontmatter(data, limits)
    if parsed.manifest is None or isinstance(opened, Finding):
        return Rewritten(None, parsed.findings)
    before = _fields(opened.tree.root)
    after = _wanted(opened.tree, parsed.manifest, dialect, name)
    if not opened.repairs and equal_values(before, after):
        return Rewritten(data, parsed.findings)
    head, lost = _head(opened, after)
    new, findings = _assembled(data, head, opened)
    found = [replace(each, path=path) for each in (*lost, *findings)]
    read = parse(new, profile="lenient", directory=directory, limits=limits)
    meant = replace(parsed.manifest, name=name or parsed.manifest.name)
    if read.manifest is None or not _means(read.manifest, meant):
        return Rewritten(None, (*parsed.findings, _not_rewritten(path)))
    return Rewritten(new, (*parsed.findings, *found))


def breaches(
    data: bytes,
    dialect: Dialect,
    *,
    directory: str = "",
    path: str = SKILL_FILE,
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Finding, ...]:
    """Return what a dialect refuses in a file, each with its line and what to do."""
    parsed = parse(data, profile=dialect, path=path, directory=directory, limits=limits)
    return parsed.findings


def _fields(root: dict[str, Node]) -> dict[str, Json]:
    """Return a copy of a mapping, as JSON."""
    return cast("dict[str, Json]", dict(root))


def _wanted(
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


def _head(
    opened: Frontmatter, after: dict[str, Json]
) -> tuple[list[str], list[Finding]]:
    """Return the lines of the new frontmatter, and what was lost of the old one's."""
    text = opened.head.decode("utf-8", "replace").replace("\r\n", "\n")
    old = text.removesuffix("\n").split("\n")
    before = _fields(opened.tree.root)
    if equal_values(before, after):
        return old, []
    new = edit_entries(old, before, after)
    if new is not None and _reads_as(new, after):
        return new, []
    lost = comments_in(old)
    findings = [_comments_dropped(len(lost), lost[0])] if lost else []
    return render_frontmatter(_quoted(opened.tree, after)).split("\n")[1:-2], findings


def _quoted(tree: YamlTree, after: dict[str, Json]) -> dict[str, Json]:
    """Return fields to be written anew: what is read as text is one, `1.10` "1.10"."""
    texts: dict[str, Json] = {
        key: text
        for key in _READ_AS_TEXT
        if key in after and after[key] == tree.root.get(key)
        if (text := tree.text(key)) is not None
    }
    return {**after, **texts}


def _reads_as(lines: list[str], wanted: Mapping[str, Json]) -> bool:
    head = "".join(f"{line}\n" for line in lines)
    limits = Limits(yaml_depth=1_000_000, yaml_nodes=1_000_000)  # it was read already
    tree = read_tree(head.encode("utf-8", "surrogatepass"), limits)
    return isinstance(tree, YamlTree) and equal_values(_fields(tree.root), wanted)


def _assembled(
    data: bytes, head: list[str], opened: Frontmatter
) -> tuple[bytes, list[Finding]]:
    """Return the whole file with another frontmatter.

    Fences that are out of place, and an encoding that is not UTF-8, are set right.
    """
    fences = FENCE_REPAIRS.isdisjoint(finding.code for finding in opened.repairs)
    span = span_of_bytes(data) if fences else None
    if span is None or not _is_utf8(data):
        text = decode(data).text
        before = _before(text)
        findings = [_not_carried(before)] if before else []
        whole = "".join(f"{line}\n" for line in ("---", *head, "---"))
        return (whole + body_of(text)).encode("utf-8", "replace"), findings
    end = "\r\n" if b"\r\n" in data[: span.body] else "\n"
    lines = "".join(f"{line}{end}" for line in head)
    return data[: span.head] + lines.encode() + data[span.end :], []


def _is_utf8(data: bytes) -> bool:
    return decode(data).encoding == "utf-8"


def _before(text: str) -> str:
    """Return what stands before the opening fence, where that is more than blanks."""
    loose = tolerant_span(text)
    if loose is None or all(
        each.code != "text-before-frontmatter" for each in loose[1]
    ):
        return ""
    return _FENCE.sub("", text[: loose[0].head]).strip(" \t\r\n\ufeff\u200b*_-")


_FENCE: Final = re.compile(
    r"(?:^(?:`{3,}|~{3,})[\w-]*[ \t]*\r?\n)?(?:^-{3,}[^\n]*\n)?\Z", re.MULTILINE
)

_MEANING: Final = (
    *("name", "description", "version", "author", "license", "compatibility"),
    *("allowed_tools", "trigger_keywords", "references", "scripts", "assets"),
    *("declares_files", "client", "status", "replaced_by"),
)


def _means(read: Manifest, meant: Manifest) -> bool:
    def fields(manifest: Manifest) -> list[Any]:
        return [getattr(manifest, field) for field in _MEANING]

    return fields(read) == fields(meant)


def _comments_dropped(count: int, first: str) -> Finding:
    comments = "1 comment" if count == 1 else f"{count} comments"
    return Finding.of("comments-dropped", comments=comments, first=first[:80])


def _not_carried(text: str) -> Finding:
    return Finding.of(
        "not-carried", "", 1, sentence="before-frontmatter", before=text[:300]
    )


def _not_rewritten(path: str) -> Finding:
    return Finding.of("not-carried", path, severity="error", sentence="frontmatter")
