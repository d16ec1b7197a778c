"""A pack built of what another format has; without a description, of its own words."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from satchel.model import (
    SKILL_FILE,
    STRICT_DESCRIPTION_CHARS,
    Finding,
    Json,
    portable_name,
)
from satchel.skill_md import nearest_key, render_frontmatter, split_tools, to_spec
from satchel.text import decode
from satchel_lab.authoring._convert._values import Conversion, Dialect
from satchel_lab.authoring._packs import PackDraft

_SHORTEST, _LONGEST = STRICT_DESCRIPTION_CHARS
_LOOKED_AT_CHARS: Final = 20_000
_ASIDE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*|\Z)|\{\{[#/][^}\n]*\}\}",
    re.DOTALL | re.MULTILINE,
)
_PARAGRAPHS: Final = re.compile(
    r"\n[ \t]*\n|^#{1,6}[ \t][^\n]*$|^[^\n]+\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_NO_PROSE: Final = re.compile(r"[-=*_+|>!<\[]|\d+[.)][ \t]")
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_STRESS: Final = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d+[.)])[ \t]+(\S.*)")
_LIST: Final = re.compile(r"^(?= {0,3}(?:[-*+]|\d+[.)])[ \t])", re.MULTILINE)
# Items of a list that a description gives.
_ITEMS: Final = 6
_HEADING: Final = re.compile(
    r"^#{1,6}[ \t]+(\S[^\n]*?)[ \t#]*$|^(\S[^\n]*)\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|\Z)|[。！？]|\Z)", re.DOTALL)  # noqa: RUF001
# A description cannot be filled in, and no tag may be in it.
_SET_LATER: Final = re.compile(r"\{\{|!`|\$ARGUMENTS|\$\{|\$\d|</?[A-Za-z]")
# What a user types after a command ends many a sentence, and says nothing.
_ARGUMENT: Final = re.compile(r"[\s:]*[\"'`(]?\$(?:ARGUMENTS|\d+)[\"'`)]?([.!?]?)$")
_LOAD: Final = "(?:use|load|read|activate|apply|consult|follow|invoke|run|trigger)"
_WHEN: Final = re.compile(
    rf"(?:always )?{_LOAD}(?: (?:this|it|the|these)(?: \w+)?)? (?:when|whenever|if)\b"
    rf"|(?:always )?{_LOAD} (?:this|it)(?: \w+)? (?:for|before|after|to)\b",
    re.IGNORECASE,
)
_WHEN_HEADING: Final = re.compile(
    r"^#{1,6}[ \t]+(when (?:to|should) (?:use|apply|load|activate|run)\b[^\n]*?"
    r"|use (?:this|it)? ?when|use cases)[ \t#:]*$",
    re.IGNORECASE | re.MULTILINE,
)


def describe(text: str, title: str = "") -> str:
    """Return the first sentences of running text that make a description, on one line.

    As many as give 20 characters, and at most 500. A sentence with a placeholder is
    skipped; one that ends in a colon continues with the list after it, or is skipped
    where there is none. Where there is no prose it is the heading, or the ``title`` of
    the section, with the first items of a list, or these alone; empty where there is
    nothing. What the text says on when to use it follows.
    """
    shown = _ASIDE.sub("", text[:_LOOKED_AT_CHARS].replace("\r\n", "\n"))
    description = _first_sentences(shown)
    if not description:
        heading = _HEADING.search(shown)
        description = title or ((heading[1] or heading[2]) if heading else "")
        items = _items(shown)
        if items and len(description) < _SHORTEST:
            description = f"{description}: {items}" if description else items
    when = _when_to_use(shown) if description else ""
    if when and when not in description:
        both = _joined(description, when)
        description = both if len(both) <= _LONGEST else description
    return _fitting(description)


def _first_sentences(page: str) -> str:
    sentences = ""
    for text in _sentences(page):
        if len(sentences) >= _SHORTEST:
            break
        sentences = f"{sentences} {text}".strip()
    return sentences


def _when_to_use(page: str) -> str:
    """Return the sentence or the section on when to use it; empty where none is."""
    heading = _WHEN_HEADING.search(page)
    if heading:
        section = _HEADING.split(page[heading.end() :], maxsplit=1)[0]
        text = _first_sentences(section)
        if _WHEN.match(text):
            return text
        text = text or _items(section)
        if text:
            return f"{heading[1].strip()}: {text}"
    return next((text for text in _sentences(page) if _WHEN.match(text)), "")


def _sentences(page: str) -> Iterator[str]:
    """Yield the sentences of running text that a description can have."""
    parts = [part for part in _PARAGRAPHS.split(page) if part and part.strip()]
    for at, paragraph in enumerate(parts):
        if _NO_PROSE.match(paragraph.strip()):
            continue
        lead, *rest = _LIST.split(paragraph, maxsplit=1)
        for sentence in _SENTENCE.findall(" ".join(_plain(lead).split())):
            text = _ARGUMENT.sub(r"\1", sentence.strip())
            if text.endswith(":"):
                items = _items("\n".join(rest or parts[at + 1 : at + 2]))
                text = f"{text} {items}" if items else ""
            if text and not _SET_LATER.search(text):
                yield text


def _plain(text: str) -> str:
    """Return Markdown with the text of links in their place, and nothing in bold."""
    return _STRESS.sub(r"\2", _LINK.sub(r"\1", text))


def _items(text: str) -> str:
    """Return the first items of the first list of a text, as one sentence."""
    items: list[str] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if item:
            items.append(item[1])
        elif items and line.strip():
            if not line.startswith((" ", "\t")):
                break
            if not _ITEM.match(line.strip()):
                items[-1] += f" {line.strip()}"
    firsts = (_SENTENCE.findall(_plain(item))[0] for item in items)
    shown = [item.strip().rstrip(".:;,") for item in firsts]
    shown = [item for item in shown if item and not _SET_LATER.search(item)][:_ITEMS]
    return f"{', '.join(shown)}." if shown else ""


def _fitting(text: str) -> str:
    """Cut at the last sentence that fits, else at the last word."""
    if len(text) <= _LONGEST:
        return text
    cut = text[:_LONGEST]
    ends = [end.end() for end in re.finditer(r"[.!?](?= )", cut)]
    return cut[: ends[-1]] if ends else cut.rpartition(" ")[0] or cut


_MOST_PATTERNS: Final = 6


def for_files(patterns: Sequence[str], description: str) -> str:
    """Return a sentence that says for which files; empty if the description does."""
    unnamed = [pattern for pattern in patterns if pattern not in description]
    if not unnamed:
        return ""
    more = " and others" if len(unnamed) > _MOST_PATTERNS else ""
    return f"Use for files that match {', '.join(unnamed[:_MOST_PATTERNS])}{more}."


_BUCKETS: Final = ("references", "scripts", "assets")
_OF_SPEC: Final = frozenset(["license", "compatibility", "allowed-tools"])
# Satchel reads these in metadata: a key of another format must not pass for one.
_RESERVED_KEYS: Final = frozenset(
    [
        *("version", "author", "license", "compatibility", "trigger_keywords"),
        *("status", "replaced-by", "replaces", "short-description", "internal"),
        *("tools", "adk_additional_tools", "include_tools", "category"),
        *("openclaw", "clawdbot", *_BUCKETS),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a pack is made of, as another format has it.

    ``name`` is made portable. ``description`` is taken from ``body`` where it is empty,
    and ``when`` is a sentence added to it. ``title`` is the heading of a section.
    Some client honours ``fields`` at the top of a manifest, none honours ``metadata``.
    ``files`` are listed in the manifest by their folder; one that nothing mentions is
    mentioned at the end of the body. ``line`` is where the source has it, for findings.
    """

    source: str
    name: str
    body: str
    description: str = ""
    title: str = ""
    when: str = ""
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    programs: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()
    line: int | None = None


def build_pack(material: Material, dialect: Dialect | None) -> Conversion:
    """Return the pack, in a dialect; None is for clients, fields at the top.

    What the dialect has no place for is a finding. Without a description, and a body
    to take it from, there is no pack.
    """
    source, findings = material.source, list(material.findings)
    at = source, material.line
    name = portable_name(material.name)
    if not name:
        no_name = Finding.of("missing-name", *at, sentence="conversion")
        return Conversion(source, None, (*findings, no_name))
    description = " ".join(material.description.split())
    if not description:
        description = describe(material.body, material.title)
        if not description:
            no_text = Finding.of("missing-description", *at, sentence="conversion")
            return Conversion(source, None, (*findings, no_text))
        shown = _joined(description, material.when)
        text = f"description: {shown}"
        findings.append(Finding.of("check-description", *at, after=text))
    fields: dict[str, Json] = {
        "name": name,
        "description": _joined(description, material.when),
    }
    if dialect == "strict":
        findings += [
            Finding.of("not-carried", source, key=key, value=as_text(value)[:80])
            for key, value in ({**material.fields, **material.metadata}).items()
        ]
    else:
        fields |= _placed(material, dialect)
    fields |= listed_files(material.files)
    if dialect != "strict":
        fields = to_spec(fields)
    head = render_frontmatter(fields)
    # One file has one kind of line end.
    if "\r\n" in material.body:
        head = head.replace("\n", "\r\n")
    text = head + _body(material)
    files = {SKILL_FILE: text.encode("utf-8", "replace"), **material.files}
    draft = PackDraft(name, dict(sorted(files.items())), material.programs)
    return Conversion(source, draft, tuple(findings))


def body_text(data: bytes, path: str) -> tuple[str, list[Finding]]:
    """Return bytes as text without a byte order mark, and the repairs for that."""
    decoded = decode(data)
    findings = [replace(finding, path=path) for finding in decoded.findings]
    return decoded.text.removeprefix("\ufeff"), findings


def as_text(value: Json) -> str:
    """Return a value as one text: itself, items with commas, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        items = [item for item in value if isinstance(item, str) and "," not in item]
        if len(items) == len(value):
            return ", ".join(items)
    return json.dumps(value, ensure_ascii=False)


def _placed(material: Material, dialect: Dialect | None) -> dict[str, Json]:
    """Return the fields next to name and description, each at its place."""
    inner = {**material.metadata}
    top: dict[str, Json] = {}
    fields = {**material.fields}
    tools = fields.get("allowed-tools")
    if dialect == "spec" and tools:
        items = split_tools(tools) if isinstance(tools, str) else _texts(tools)
        fields["allowed-tools"] = spec_tools(items) or tools
    for key, value in fields.items():
        (inner if dialect == "spec" and key not in _OF_SPEC else top)[key] = value
    if inner:
        own = top.get("metadata")
        moved = {_metadata_key(key): as_text(value) for key, value in inner.items()}
        top["metadata"] = {**(own if isinstance(own, Mapping) else {}), **moved}
    return top


def _texts(value: Json) -> list[str]:
    """Return the items of a list of texts; none of anything else."""
    items = value if isinstance(value, list | tuple) else ()
    texts = [item for item in items if isinstance(item, str)]
    return texts if len(texts) == len(items) else []


def spec_tools(tools: Sequence[str]) -> str:
    """Return tools as one text with spaces; empty where one has a space in its name."""
    text = " ".join(tools)
    return text if split_tools(text) == list(tools) else ""


def _metadata_key(key: str) -> str:
    """Return a key of metadata that Satchel does not take for one of its own."""
    is_own = key in _RESERVED_KEYS or nearest_key(key, _RESERVED_KEYS) is not None
    return f"from:{key}" if is_own else key


def _joined(sentence: str, more: str) -> str:
    """Return two sentences; the first is ended where its author did not."""
    if not more:
        return sentence
    stop = "" if sentence.endswith((".", "!", "?")) else "."
    return f"{sentence}{stop} {more}"


def listed_files(paths: Iterable[str]) -> dict[str, Json]:
    """Return the fields by which a manifest lists files, each below its folder.

    A file elsewhere in the pack is listed by its whole path.
    """
    listed: dict[str, list[Json]] = {}
    for path in paths:
        bucket, _, rest = path.partition("/")
        if bucket not in _BUCKETS:
            bucket, rest = "references" if path.endswith(".md") else "assets", path
        listed.setdefault(bucket, []).append(rest)
    return {bucket: listed[bucket] for bucket in _BUCKETS if bucket in listed}


def _body(material: Material) -> str:
    """Return the body; files that it does not name are named at its end."""
    end = "\r\n" if "\r\n" in material.body else "\n"
    text = material.body.lstrip("\r\n")
    unnamed = [
        f"- `{path}`"
        for path in material.files
        if path.startswith("references/") and path.rpartition("/")[2] not in text
    ]
    if unnamed:
        text = text.rstrip("\r\n") + end
        text += end.join(["", "Read when the task needs it:", "", *unnamed, ""])
    return f"{end}{text}"
