"""Fields other than name and description."""

import re
from typing import Final

from satchel.clients._pack import Detector, PackReader
from satchel.model import MAX_COMPATIBILITY_CHARS
from satchel.skill_md import SPEC_FIELDS, Node

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


DETECTORS: Final[dict[str, Detector]] = {
    "unknown-field": lambda r: any(key not in SPEC_FIELDS for key in r.root),
    "metadata-number": lambda r: any(_is_number(v) for v in _metadata(r).values()),
    "metadata-boolean": lambda r: any(
        isinstance(v, bool) for v in _metadata(r).values()
    ),
    "metadata-date": _has_date,
    "metadata-null": lambda r: any(v is None for v in _metadata(r).values()),
    "metadata-list": lambda r: any(isinstance(v, list) for v in _metadata(r).values()),
    "metadata-mapping": lambda r: any(
        isinstance(v, dict) for v in _metadata(r).values()
    ),
    "metadata-text": lambda r: _is_said(r, "metadata", (str, int, float)),
    "metadata-is-list": lambda r: _is_said(r, "metadata", list),
    "metadata-empty": lambda r: "metadata" in r.root and r.root["metadata"] is None,
    "tools-list": lambda r: _is_said(r, "allowed-tools", list),
    "tools-text": lambda r: bool((r.source("allowed-tools") or "").strip()),
    "tools-commas": lambda r: "," in str(r.source("allowed-tools") or ""),
    "tools-underscore-list": lambda r: _is_said(r, "allowed_tools", list),
    "tools-underscore-text": lambda r: _is_said(r, "allowed_tools", str),
    "tools-mapping": lambda r: _is_said(r, "allowed-tools", dict),
    "tools-empty": lambda r: (
        "allowed-tools" in r.root and r.root["allowed-tools"] is None
    ),
    "compatibility-empty": lambda r: (
        "compatibility" in r.root
        and not (r.source("compatibility") or "").strip()
        and not _is_said(r, "compatibility", (list, dict))
    ),
    "compatibility-text": lambda r: bool((r.source("compatibility") or "").strip()),
    "compatibility-over-500": lambda r: (
        len(r.source("compatibility") or "") > MAX_COMPATIBILITY_CHARS
    ),
    "compatibility-list": lambda r: _is_said(r, "compatibility", list),
    "compatibility-mapping": lambda r: _is_said(r, "compatibility", dict),
    "license-not-text": lambda r: _is_said(r, "license", (list, dict)),
    "license-number": lambda r: _is_number(r.root.get("license")),
    "license-empty": lambda r: "license" in r.root and r.root["license"] is None,
    "triggers-list": lambda r: _is_said(r, "triggers", list),
    "triggers-of-mappings": lambda r: any(
        isinstance(item, dict) for item in _items(r, "triggers")
    ),
    "triggers-not-list": lambda r: (
        "triggers" in r.root and not _is_said(r, "triggers", list)
    ),
    "version-number": lambda r: _is_number(r.root.get("version")),
    "version-not-semantic": lambda r: (
        bool(r.source("version")) and not _SEMANTIC.fullmatch(r.source("version") or "")
    ),
    "tags-text": lambda r: _is_said(r, "tags", str),
    "hooks": lambda r: "hooks" in r.root,
    "no-model-invocation": lambda r: r.root.get("disable-model-invocation") is True,
    "not-user-invocable": lambda r: r.root.get("user-invocable") is False,
}
