"""Fields other than name and description."""

import re
from typing import Final

from satchel.clients._pack import PackProperty, PackReader
from satchel.skill_md import SPEC_FIELDS, Node

_MAX_COMPATIBILITY: Final = 500
# Source: semver.org, less what follows - or +.
_SEMANTIC: Final = re.compile(r"\d+\.\d+\.\d+(?:[-+].*)?")
_DATE: Final = re.compile(r"^[ \t]+[\w.-]+:[ \t]+\d{4}-\d\d-\d\d[ \t]*$", re.MULTILINE)


def _metadata(reading: PackReader) -> dict[str, Node]:
    value = reading.root.get("metadata")
    return value if isinstance(value, dict) else {}


def _has_date(reading: PackReader) -> bool:
    entry = reading.entry("metadata")
    lines = "\n".join(entry.more) if entry is not None else ""
    return bool(_metadata(reading)) and bool(_DATE.search(lines))


def _items(reading: PackReader, key: str) -> list[Node]:
    value = reading.root.get(key)
    return value if isinstance(value, list) else []


def _is_number(value: Node) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_said(reading: PackReader, key: str, kind: type | tuple[type, ...]) -> bool:
    return isinstance(reading.root.get(key), kind)


PROPERTIES: Final = (
    PackProperty(
        "unknown-field",
        "there is a field that the specification does not have",
        "move the field into `metadata:`",
        lambda r: any(key not in SPEC_FIELDS for key in r.root),
    ),
    PackProperty(
        "metadata-number",
        "a value in metadata is a number",
        "put the value in quotes",
        lambda r: any(_is_number(v) for v in _metadata(r).values()),
    ),
    PackProperty(
        "metadata-boolean",
        "a value in metadata is true or false",
        "put the value in quotes",
        lambda r: any(isinstance(v, bool) for v in _metadata(r).values()),
    ),
    PackProperty(
        "metadata-date",
        "a value in metadata is a date",
        "put the value in quotes",
        _has_date,
    ),
    PackProperty(
        "metadata-null",
        "a value in metadata is empty",
        "fill the value, or leave it out",
        lambda r: any(v is None for v in _metadata(r).values()),
    ),
    PackProperty(
        "metadata-list",
        "a value in metadata is a list",
        "write the value as one text, in quotes",
        lambda r: any(isinstance(v, list) for v in _metadata(r).values()),
    ),
    PackProperty(
        "metadata-mapping",
        "a value in metadata is a mapping",
        "write the value as one text, in quotes",
        lambda r: any(isinstance(v, dict) for v in _metadata(r).values()),
    ),
    PackProperty(
        "metadata-text",
        "metadata is a text",
        "write metadata as keys and values",
        lambda r: _is_said(r, "metadata", (str, int, float)),
    ),
    PackProperty(
        "metadata-is-list",
        "metadata is a list",
        "write metadata as keys and values",
        lambda r: _is_said(r, "metadata", list),
    ),
    PackProperty(
        "metadata-empty",
        "metadata is empty",
        "leave metadata out",
        lambda r: "metadata" in r.root and r.root["metadata"] is None,
    ),
    PackProperty(
        "tools-list",
        "allowed-tools is a list",
        "write the tools on one line, with blanks between them",
        lambda r: _is_said(r, "allowed-tools", list),
    ),
    PackProperty(
        "tools-text",
        "allowed-tools is a text",
        "write the tools as a list, one a line",
        lambda r: bool((r.source("allowed-tools") or "").strip()),
    ),
    PackProperty(
        "tools-commas",
        "allowed-tools is a text with commas",
        "write blanks between the tools",
        lambda r: "," in str(r.source("allowed-tools") or ""),
    ),
    PackProperty(
        "tools-underscore-list",
        "there is a field `allowed_tools` with a list",
        "write allowed-tools, with blanks between the tools",
        lambda r: _is_said(r, "allowed_tools", list),
    ),
    PackProperty(
        "tools-underscore-text",
        "there is a field `allowed_tools` with a text",
        "write allowed-tools",
        lambda r: _is_said(r, "allowed_tools", str),
    ),
    PackProperty(
        "tools-mapping",
        "allowed-tools is a mapping",
        "write the tools on one line, with blanks between them",
        lambda r: _is_said(r, "allowed-tools", dict),
    ),
    PackProperty(
        "tools-empty",
        "allowed-tools is empty",
        "leave allowed-tools out",
        lambda r: "allowed-tools" in r.root and r.root["allowed-tools"] is None,
    ),
    PackProperty(
        "compatibility-empty",
        "compatibility is empty",
        "leave compatibility out",
        lambda r: (
            "compatibility" in r.root
            and not (r.source("compatibility") or "").strip()
            and not _is_said(r, "compatibility", (list, dict))
        ),
    ),
    PackProperty(
        "compatibility-text",
        "compatibility is a text",
        "leave compatibility out",
        lambda r: bool((r.source("compatibility") or "").strip()),
    ),
    PackProperty(
        "compatibility-over-500",
        "compatibility has more than 500 characters",
        "shorten compatibility",
        lambda r: len(r.source("compatibility") or "") > _MAX_COMPATIBILITY,
    ),
    PackProperty(
        "compatibility-list",
        "compatibility is a list",
        "write compatibility as one text",
        lambda r: _is_said(r, "compatibility", list),
    ),
    PackProperty(
        "compatibility-mapping",
        "compatibility is a mapping",
        "write compatibility as one text",
        lambda r: _is_said(r, "compatibility", dict),
    ),
    PackProperty(
        "license-not-text",
        "the license is a list or a mapping",
        "write the license as one text",
        lambda r: _is_said(r, "license", (list, dict)),
    ),
    PackProperty(
        "license-number",
        "the license is a number",
        "put the license in quotes",
        lambda r: _is_number(r.root.get("license")),
    ),
    PackProperty(
        "license-empty",
        "the license is empty",
        "leave the license out",
        lambda r: "license" in r.root and r.root["license"] is None,
    ),
    PackProperty(
        "triggers-list",
        "there is a field `triggers` with a list",
        "move the field into `metadata:`",
        lambda r: _is_said(r, "triggers", list),
    ),
    PackProperty(
        "triggers-of-mappings",
        "there is a field `triggers` with a list of mappings",
        "move the field into `metadata:`",
        lambda r: any(isinstance(item, dict) for item in _items(r, "triggers")),
    ),
    PackProperty(
        "triggers-not-list",
        "there is a field `triggers` that is no list",
        "move the field into `metadata:`",
        lambda r: "triggers" in r.root and not _is_said(r, "triggers", list),
    ),
    PackProperty(
        "version-number",
        "there is a field `version` with a number",
        "put the version in quotes, in `metadata:`",
        lambda r: _is_number(r.root.get("version")),
    ),
    PackProperty(
        "version-not-semantic",
        "there is a field `version` that is no semantic version",
        "write a version such as 1.0.0, in `metadata:`",
        lambda r: (
            bool(r.source("version"))
            and not _SEMANTIC.fullmatch(r.source("version") or "")
        ),
    ),
    PackProperty(
        "tags-text",
        "there is a field `tags` that is a text",
        "move the field into `metadata:`",
        lambda r: _is_said(r, "tags", str),
    ),
    PackProperty(
        "hooks",
        "there is a field `hooks`",
        "leave the hooks out",
        lambda r: "hooks" in r.root,
    ),
    PackProperty(
        "no-model-invocation",
        "disable-model-invocation is true",
        "leave disable-model-invocation out",
        lambda r: r.root.get("disable-model-invocation") is True,
    ),
    PackProperty(
        "not-user-invocable",
        "user-invocable is false",
        "leave user-invocable out",
        lambda r: r.root.get("user-invocable") is False,
    ),
)
