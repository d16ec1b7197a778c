"""Fields other than name and description."""

import re
from typing import Final

from satchel.compat.property import Property
from satchel.compat.reading import Reading
from satchel.spec.dialects import SPEC_FIELDS
from satchel.spec.frontmatter import Node

__all__ = ["PROPERTIES"]

_MAX_COMPATIBILITY: Final = 500
# Source: semver.org, less what follows - or +.
_SEMANTIC: Final = re.compile(r"\d+\.\d+\.\d+(?:[-+].*)?")
_DATE: Final = re.compile(r"^[ \t]+[\w.-]+:[ \t]+\d{4}-\d\d-\d\d[ \t]*$", re.MULTILINE)


def _metadata(reading: Reading) -> dict[str, Node]:
    value = reading.root.get("metadata")
    return value if isinstance(value, dict) else {}


def _has_date(reading: Reading) -> bool:
    entry = reading.entry("metadata")
    lines = "\n".join(entry.more) if entry is not None else ""
    return bool(_metadata(reading)) and bool(_DATE.search(lines))


def _items(reading: Reading, key: str) -> list[Node]:
    value = reading.root.get(key)
    return value if isinstance(value, list) else []


def _is_number(value: Node) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_said(reading: Reading, key: str, kind: type | tuple[type, ...]) -> bool:
    return isinstance(reading.root.get(key), kind)


PROPERTIES: Final = (
    Property(
        "unknown-field",
        "there is a field that the specification does not have",
        "move the field into `metadata:`",
        lambda r: any(key not in SPEC_FIELDS for key in r.root),
    ),
    Property(
        "metadata-number",
        "a value in metadata is a number",
        "put the value in quotes",
        lambda r: any(_is_number(v) for v in _metadata(r).values()),
    ),
    Property(
        "metadata-boolean",
        "a value in metadata is true or false",
        "put the value in quotes",
        lambda r: any(isinstance(v, bool) for v in _metadata(r).values()),
    ),
    Property(
        "metadata-date",
        "a value in metadata is a date",
        "put the value in quotes",
        _has_date,
    ),
    Property(
        "metadata-null",
        "a value in metadata is empty",
        "fill the value, or leave it out",
        lambda r: any(v is None for v in _metadata(r).values()),
    ),
    Property(
        "metadata-list",
        "a value in metadata is a list",
        "write the value as one text, in quotes",
        lambda r: any(isinstance(v, list) for v in _metadata(r).values()),
    ),
    Property(
        "metadata-mapping",
        "a value in metadata is a mapping",
        "write the value as one text, in quotes",
        lambda r: any(isinstance(v, dict) for v in _metadata(r).values()),
    ),
    Property(
        "metadata-text",
        "metadata is a text",
        "write metadata as keys and values",
        lambda r: _is_said(r, "metadata", (str, int, float)),
    ),
    Property(
        "metadata-is-list",
        "metadata is a list",
        "write metadata as keys and values",
        lambda r: _is_said(r, "metadata", list),
    ),
    Property(
        "metadata-empty",
        "metadata is empty",
        "leave metadata out",
        lambda r: "metadata" in r.root and r.root["metadata"] is None,
    ),
    Property(
        "tools-list",
        "allowed-tools is a list",
        "write the tools on one line, with blanks between them",
        lambda r: _is_said(r, "allowed-tools", list),
    ),
    Property(
        "tools-text",
        "allowed-tools is a text",
        "write the tools as a list, one a line",
        lambda r: bool((r.source("allowed-tools") or "").strip()),
    ),
    Property(
        "tools-commas",
        "allowed-tools is a text with commas",
        "write blanks between the tools",
        lambda r: "," in str(r.source("allowed-tools") or ""),
    ),
    Property(
        "tools-underscore-list",
        "there is a field `allowed_tools` with a list",
        "write allowed-tools, with blanks between the tools",
        lambda r: _is_said(r, "allowed_tools", list),
    ),
    Property(
        "tools-underscore-text",
        "there is a field `allowed_tools` with a text",
        "write allowed-tools",
        lambda r: _is_said(r, "allowed_tools", str),
    ),
    Property(
        "tools-mapping",
        "allowed-tools is a mapping",
        "write the tools on one line, with blanks between them",
        lambda r: _is_said(r, "allowed-tools", dict),
    ),
    Property(
        "tools-empty",
        "allowed-tools is empty",
        "leave allowed-tools out",
        lambda r: "allowed-tools" in r.root and r.root["allowed-tools"] is None,
    ),
    Property(
        "compatibility-empty",
        "compatibility is empty",
        "leave compatibility out",
        lambda r: (
            "compatibility" in r.root
            and not (r.source("compatibility") or "").strip()
            and not _is_said(r, "compatibility", (list, dict))
        ),
    ),
    Property(
        "compatibility-text",
        "compatibility is a text",
        "leave compatibility out",
        lambda r: bool((r.source("compatibility") or "").strip()),
    ),
    Property(
        "compatibility-over-500",
        "compatibility has more than 500 characters",
        "shorten compatibility",
        lambda r: len(r.source("compatibility") or "") > _MAX_COMPATIBILITY,
    ),
    Property(
        "compatibility-list",
        "compatibility is a list",
        "write compatibility as one text",
        lambda r: _is_said(r, "compatibility", list),
    ),
    Property(
        "compatibility-mapping",
        "compatibility is a mapping",
        "write compatibility as one text",
        lambda r: _is_said(r, "compatibility", dict),
    ),
    Property(
        "license-not-text",
        "the license is a list or a mapping",
        "write the license as one text",
        lambda r: _is_said(r, "license", (list, dict)),
    ),
    Property(
        "license-number",
        "the license is a number",
        "put the license in quotes",
        lambda r: _is_number(r.root.get("license")),
    ),
    Property(
        "license-empty",
        "the license is empty",
        "leave the license out",
        lambda r: "license" in r.root and r.root["license"] is None,
    ),
    Property(
        "triggers-list",
        "there is a field `triggers` with a list",
        "move the field into `metadata:`",
        lambda r: _is_said(r, "triggers", list),
    ),
    Property(
        "triggers-of-mappings",
        "there is a field `triggers` with a list of mappings",
        "move the field into `metadata:`",
        lambda r: any(isinstance(item, dict) for item in _items(r, "triggers")),
    ),
    Property(
        "triggers-not-list",
        "there is a field `triggers` that is no list",
        "move the field into `metadata:`",
        lambda r: "triggers" in r.root and not _is_said(r, "triggers", list),
    ),
    Property(
        "version-number",
        "there is a field `version` with a number",
        "put the version in quotes, in `metadata:`",
        lambda r: _is_number(r.root.get("version")),
    ),
    Property(
        "version-not-semantic",
        "there is a field `version` that is no semantic version",
        "write a version such as 1.0.0, in `metadata:`",
        lambda r: (
            bool(r.source("version"))
            and not _SEMANTIC.fullmatch(r.source("version") or "")
        ),
    ),
    Property(
        "tags-text",
        "there is a field `tags` that is a text",
        "move the field into `metadata:`",
        lambda r: _is_said(r, "tags", str),
    ),
    Property(
        "hooks",
        "there is a field `hooks`",
        "leave the hooks out",
        lambda r: "hooks" in r.root,
    ),
    Property(
        "no-model-invocation",
        "disable-model-invocation is true",
        "leave disable-model-invocation out",
        lambda r: r.root.get("disable-model-invocation") is True,
    ),
    Property(
        "not-user-invocable",
        "user-invocable is false",
        "leave user-invocable out",
        lambda r: r.root.get("user-invocable") is False,
    ),
)
