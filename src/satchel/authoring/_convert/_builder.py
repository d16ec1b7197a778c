"""A pack built of what another format has, in any dialect.

With a description taken from the text where there is none.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from satchel.authoring._convert._values import Conversion, Dialect, PackDraft, PackFile
from satchel.model import SKILL_FILE, Finding, Json, portable_name
from satchel.skill_md import nearest_key, render_frontmatter, to_spec
from satchel.text import decode

SHORTEST: Final = 20
LONGEST: Final = 500
"""Characters, as profile ``strict`` has them; the specification takes more."""

_LOOKED_AT_CHARS: Final = 20_000
_ASIDE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|^(```|~~~).*?(?:^\1[^\n]*|\Z)|\{\{[#/][^}\n]*\}\}",
    re.DOTALL | re.MULTILINE,
)
_PARAGRAPHS: Final = re.compile(
    r"\n[ \t]*\n|^#{1,6}[ \t][^\n]*$|^[^\n]+\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_NO_PROSE: Final = re.compile(r"[-=*_+|>!<\[]|\d+[.)][ \t]")
_LINK: Final = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d+[.)])[ \t]+(\S.*)")
_ITEMS: Final = 6
"""Items of a list that a description gives."""
_HEADING: Final = re.compile(
    r"^#{1,6}[ \t]+(\S[^\n]*?)[ \t#]*$|^(\S[^\n]*)\n(?:=+|-+)[ \t]*$", re.MULTILINE
)
_SENTENCE: Final = re.compile(r".+?(?:[.!?](?=\s|\Z)|[。！？]|\Z)", re.DOTALL)  # noqa: RUF001
_SET_LATER: Final = re.compile(r"\{\{|!`|\$ARGUMENTS|\$\{?\d")


def describe(text: str, title: str = "") -> str:
    """Return the first sentences of running text that make a description, on one line.

    As many as give 20 characters, and at most 500. A sentence with a placeholder is
    passed by; one that ends in a colon goes on with the list behind it, or is passed by
    where there is none. Where there is no prose it is the heading, or the ``title`` of
    the section, with the first items of a list; empty where there is none of them.
    """
    shown = _ASIDE.sub("", text[:_LOOKED_AT_CHARS].replace("\r\n", "\n"))
    found = _first_sentences(shown)
    if found:
        return _fitting(found)
    heading = _HEADING.search(shown)
    head = title or ((heading[1] or heading[2]) if heading else "")
    items = _items(shown)
    if head and items and len(head) < SHORTEST:
        return _fitting(f"{head}: {items}")
    return _fitting(head)


def _first_sentences(text: str) -> str:
    found = ""
    parts = [part for part in _PARAGRAPHS.split(text) if part.strip()]
    for at, paragraph in enumerate(parts):
        if _NO_PROSE.match(paragraph.strip()):
            continue
        for sentence in _SENTENCE.findall(" ".join(_plain(paragraph).split())):
            if len(found) >= SHORTEST:
                return found
            told = sentence.strip()
            if told.endswith(":"):
                items = _items("\n".join(parts[at + 1 : at + 2]))
                told = f"{told} {items}" if items else ""
            if told and not _SET_LATER.search(told):
                found = f"{found} {told}".strip()
    return found


def _plain(text: str) -> str:
    """Return Markdown with the text of links in their place."""
    return _LINK.sub(r"\1", text)


def _items(text: str) -> str:
    """Return the first items of the first list of a text, as one sentence."""
    found: list[str] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        if item:
            found.append(_plain(item[1]).strip().rstrip(".;,"))
        elif found and line.strip() and not line.startswith((" ", "\t")):
            break
    kept = [each for each in found if each and not _SET_LATER.search(each)][:_ITEMS]
    return f"{', '.join(kept)}." if kept else ""


def _fitting(text: str) -> str:
    """Cut at the last sentence that fits, else at the last word."""
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    ends = [end.end() for end in re.finditer(r"[.!?](?= )", cut)]
    return cut[: ends[-1]] if ends else cut.rpartition(" ")[0] or cut


def description_finding(
    description: str, path: str, line: int | None = None
) -> Finding:
    """Return the note that a description was taken from the text."""
    return Finding.of(
        "check-description", path, line, after=f"description: {description}"
    )


_MOST: Final = 6


def for_files(patterns: Sequence[str], description: str) -> str:
    """Return a sentence that says for which files; empty where it is said already."""
    told = [each for each in patterns if each not in description]
    if not told:
        return ""
    more = " and others" if len(told) > _MOST else ""
    return f"Use for files that match {', '.join(told[:_MOST])}{more}."


def always_applied(path: str, name: str) -> Finding:
    """Return the warning that a rule of every prompt is a pack on demand now."""
    return Finding.of("now-on-demand", path, sentence="rule", name=name)


_BUCKETS: Final = ("references", "scripts", "assets")
_OF_SPEC: Final = frozenset(["license", "compatibility", "allowed-tools"])
# What Satchel itself reads in metadata: another format's key is not to be taken for it.
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
    ``fields`` are honoured by some client at the top of a manifest, ``metadata`` by
    none. ``files`` are listed in the manifest by their folder; one that no mention
    leads to is mentioned at the end of the body. ``line`` is where the source has it,
    for what is told of it.
    """

    source: str
    name: str
    body: str
    description: str = ""
    title: str = ""
    when: str = ""
    fields: Mapping[str, Json] = field(default_factory=dict[str, Json])
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    files: tuple[PackFile, ...] = ()
    findings: tuple[Finding, ...] = ()
    line: int | None = None


def build_pack(material: Material, dialect: Dialect | None) -> Conversion:
    """Return the pack, in a dialect; None is for clients, fields at the top.

    What the dialect has no place for is told. Without a description, and a body to
    take it from, there is no pack.
    """
    source, findings = material.source, list(material.findings)
    name = portable_name(material.name)
    if not name:
        return Conversion(source, None, (*findings, _no_name(source, material.line)))
    description = " ".join(material.description.split())
    if not description:
        description = describe(material.body, material.title)
        if not description:
            none = _no_description(source, material.line)
            return Conversion(source, None, (*findings, none))
        shown = _joined(description, material.when)
        findings.append(description_finding(shown, source, material.line))
    description = _joined(description, material.when)
    lost = _FieldPlacement(source)
    fields: dict[str, Json] = {"name": name, "description": description}
    fields |= lost.placed(material, dialect)
    fields |= _listed(material.files)
    if dialect != "strict":
        fields = to_spec(fields)
    head = render_frontmatter(fields)
    if "\r\n" in material.body:
        head = head.replace("\n", "\r\n")
    text = head + _body(material)
    skill = PackFile(SKILL_FILE, text.encode("utf-8", "replace"))
    files = sorted((skill, *material.files), key=lambda file: file.path)
    findings += lost.findings
    return Conversion(source, PackDraft(name, tuple(files)), tuple(findings))


def body_text(data: bytes, path: str) -> tuple[str, list[Finding]]:
    """Return bytes as text without a byte order mark, and the repairs for that."""
    decoded = decode(data)
    findings = [replace(each, path=path) for each in decoded.findings]
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


class _FieldPlacement:
    """Where each field of another format goes, and what is told of the others."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.findings: list[Finding] = []

    def placed(self, material: Material, dialect: Dialect | None) -> dict[str, Json]:
        """Return the fields beside name and description."""
        if dialect == "strict":
            every = {**material.fields, **material.metadata}
            self.findings += [self._no_place(*each) for each in every.items()]
            return {}
        inner = {**material.metadata}
        top: dict[str, Json] = {}
        for key, value in material.fields.items():
            (inner if dialect == "spec" and key not in _OF_SPEC else top)[key] = value
        if inner:
            own = top.get("metadata")
            top["metadata"] = {
                **(own if isinstance(own, Mapping) else {}),
                **{
                    f"from:{key}" if _is_reserved(key) else key: as_text(value)
                    for key, value in inner.items()
                },
            }
        return top

    def _no_place(self, key: str, value: Json) -> Finding:
        return Finding.of(
            "not-carried", self.source, key=key, value=as_text(value)[:80]
        )


def _is_reserved(key: str) -> bool:
    """Tell whether Satchel would take a key of metadata for one of its own."""
    return key in _RESERVED_KEYS or nearest_key(key, _RESERVED_KEYS) is not None


def _joined(sentence: str, more: str) -> str:
    """Return two sentences; the first is ended where its author did not."""
    if not more:
        return sentence
    stop = "" if sentence.endswith((".", "!", "?")) else "."
    return f"{sentence}{stop} {more}"


def _listed(files: Iterable[PackFile]) -> dict[str, Json]:
    listed: dict[str, list[Json]] = {}
    for file in files:
        bucket, _, rest = file.path.partition("/")
        listed.setdefault(bucket, []).append(rest)
    return {bucket: listed[bucket] for bucket in _BUCKETS if bucket in listed}


def _body(material: Material) -> str:
    """Return the body; files that it does not name are named at its end."""
    end = "\r\n" if "\r\n" in material.body else "\n"
    text = material.body.lstrip("\r\n")
    unnamed = [
        f"- `{file.path}`"
        for file in material.files
        if file.path.startswith("references/")
        and file.path.rpartition("/")[2] not in text
    ]
    if unnamed:
        text = text.rstrip("\r\n") + end
        text += end.join(["", "Read when the task needs it:", "", *unnamed, ""])
    return f"{end}{text}"


def _no_name(source: str, line: int | None) -> Finding:
    return Finding.of("missing-name", source, line, sentence="conversion")


def _no_description(source: str, line: int | None) -> Finding:
    return Finding.of("missing-description", source, line, sentence="conversion")
