"""A pack made of what another format held, in any dialect."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from satchel.authoring.convert.describing import describe, told
from satchel.authoring.convert.draft import Conversion, Dialect, Draft, File
from satchel.model import SKILL_FILE, Finding, Json
from satchel.spec import portable_name, render_frontmatter, to_spec
from satchel.spec.misspelled import near_key
from satchel.text.decoding import decode

__all__ = ["Material", "as_text", "body_text", "make"]

_BUCKETS: Final = ("references", "scripts", "assets")
_OF_SPEC: Final = frozenset(["license", "compatibility", "allowed-tools"])
# What Satchel itself reads in metadata: another format's key is not to be taken for it.
_READ: Final = frozenset(
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
    files: tuple[File, ...] = ()
    findings: tuple[Finding, ...] = ()
    line: int | None = None


def make(material: Material, dialect: Dialect | None) -> Conversion:
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
        findings.append(told(shown, source, material.line))
    description = _joined(description, material.when)
    lost = _Lost(source)
    fields: dict[str, Json] = {"name": name, "description": description}
    fields |= lost.placed(material, dialect)
    fields |= _listed(material.files)
    if dialect != "strict":
        fields = to_spec(fields)
    head = render_frontmatter(fields)
    if "\r\n" in material.body:
        head = head.replace("\n", "\r\n")
    text = head + _body(material)
    skill = File(SKILL_FILE, text.encode("utf-8", "replace"))
    files = sorted((skill, *material.files), key=lambda file: file.path)
    findings += lost.findings
    return Conversion(source, Draft(name, tuple(files)), tuple(findings))


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


class _Lost:
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
                    f"from:{key}" if _is_read(key) else key: as_text(value)
                    for key, value in inner.items()
                },
            }
        return top

    def _no_place(self, key: str, value: Json) -> Finding:
        return Finding(
            "not-carried",
            "warning",
            f"dialect strict has no place for {key}: {as_text(value)[:80]!r}",
            self.source,
            fix="say it in the body where it matters, or convert --to spec",
        )


def _is_read(key: str) -> bool:
    """Tell whether Satchel would take a key of metadata for one of its own."""
    return key in _READ or near_key(key, _READ) is not None


def _joined(sentence: str, more: str) -> str:
    """Return two sentences; the first is ended where its author did not."""
    if not more:
        return sentence
    stop = "" if sentence.endswith((".", "!", "?")) else "."
    return f"{sentence}{stop} {more}"


def _listed(files: Iterable[File]) -> dict[str, Json]:
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
    return Finding(
        "missing-name",
        "error",
        "no name can be made of the file's own",
        source,
        line,
        "rename it with letters a-z; or convert it alone, with --name NAME",
    )


def _no_description(source: str, line: int | None) -> Finding:
    return Finding(
        "missing-description",
        "error",
        "there is no text to take a description from",
        source,
        line,
        "write a sentence that says what it is for, and convert again",
    )
