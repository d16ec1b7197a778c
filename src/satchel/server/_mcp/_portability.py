"""Which skills MCP's skills extension can carry; decided without reading a file."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileStat,
    Finding,
    Json,
    Limits,
)
from satchel.server._library import ServerSettings
from satchel.skill_md import READ_DIFFERENTLY, spec_name_violations

_CLOSERS: Final = ("]", "}")


def has_unindented_text(head: str, root: Mapping[str, Json]) -> bool:
    """Tell whether some line at the margin belongs to the text of a field above it.

    ``head`` is what stands between the fences and ``root`` what was read of it. At the
    margin there may be a field, a comment, an item of a list, or the end of one.
    """
    keys = iter(root)
    key = next(keys, None)
    above: Json = None
    for line in head.splitlines():
        if not line.strip() or line[0] in " \t":
            continue
        if key is not None and _begins(line, key):
            above = root[key]
            key = next(keys, None)
        elif line[0] == "#":
            if isinstance(above, str) and line.strip(" \t\"'") in above:
                return True
        elif isinstance(above, str) or not line.startswith(("-", *_CLOSERS)):
            return True
    return False


def _begins(line: str, key: str) -> bool:
    """Tell whether this line begins the field of this name."""
    name, colon, _ = line.partition(":")
    return bool(colon) and name.strip().strip("\"'") == key


MAX_REMEMBERED: Final = 65_536
"""Packs that are known to be sound, so that they are not judged at each request."""

_MOST_FIELDS: Final = 3
FRONTMATTER: Final = "mcp-frontmatter"
FRONTMATTER_FIX: Final = "mend the frontmatter: satchel check says where"


class PortabilityCheck:
    """Judges packs by what the catalog knows of them. Thread-safe."""

    def __init__(self, settings: ServerSettings, limits: Limits) -> None:
        self._settings = settings
        self._most_bytes = limits.file_bytes
        self._sound: dict[int, Descriptor] = {}
        self._last: tuple[tuple[Finding, ...], Mapping[str, str]] = (), {}

    def problem(self, catalog: Catalog, entry: Descriptor) -> Finding | None:
        """Return why the extension cannot carry a skill of ``catalog``, or None."""
        repairs = self._mended(catalog.findings)
        if self._sound.get(id(entry)) is entry:
            return None
        found = next(self._problems(entry, repairs.get(_manifest_path(entry))), None)
        if found is not None:
            return not_carried_finding(entry, *found)
        if len(self._sound) < MAX_REMEMBERED:
            self._sound[id(entry)] = entry
        return None

    def unlisted(self, entry: Descriptor) -> Finding | None:
        """Return why the extension answers for a skill, and does not list it, or None.

        Clients that hold a frontmatter against the specification refuse the whole list
        for one that breaks it.
        """
        return not_listed_finding(entry, entry.odd_fields) if entry.odd_fields else None

    def _mended(self, findings: tuple[Finding, ...]) -> Mapping[str, str]:
        """Return the repairs by file; those of the last catalog are remembered."""
        of, mended = self._last
        if of is not findings:
            mended = _repairs_by_path(findings)
            self._last = findings, mended
            self._sound = {}
        return mended

    def _problems(
        self, entry: Descriptor, mended: str | None
    ) -> Iterator[tuple[str, str, str]]:
        if entry.remote:  # its frontmatter would have to be fetched, and be ours then
            yield (
                "mcp-remote",
                f"it lies on a {entry.remote} of somebody else's",
                "let clients ask that server, or copy it into a folder of yours",
            )
        if mended is not None:
            why = f"a plain reader of YAML 1.2 would not read it so ({mended})"
            yield FRONTMATTER, why, FRONTMATTER_FIX
        breach = next(spec_name_violations(entry.name), None)
        if breach is not None:
            yield "mcp-name", breach.message, breach.fix
        if not 1 <= len(entry.description) <= MAX_DESCRIPTION_CHARS:
            have, want = len(entry.description), MAX_DESCRIPTION_CHARS
            yield (
                "mcp-description",
                f"the description has {have:,} characters, want 1 to {want:,}",
                "say what the skill does and when to use it, in a few sentences",
            )
        count, most = 1 + len(entry.present), self._settings.max_resources
        if count > most:
            yield (
                "mcp-files",
                f"it has {count:,} files, clients take {most:,}",
                "take out files that no agent needs, or make several skills of it",
            )
        large = _too_large(entry, self._most_bytes)
        if large is not None:
            yield (
                "mcp-file-size",
                f"of {large.path} no more than {self._most_bytes:,} bytes are read",
                "take it out of the pack, or make it smaller",
            )
        size, limit = _size(entry), self._settings.max_skill_bytes
        if size > limit:
            yield (
                "mcp-size",
                f"its files have {size:,} bytes, clients take {limit:,}",
                "take out files that no agent needs, or make several skills of it",
            )


def not_carried_finding(entry: Descriptor, code: str, why: str, fix: str) -> Finding:
    """Return the finding of a skill that the extension does not carry."""
    message = f"MCP's skills extension leaves it out, tools serve it: {why}"
    return Finding(code, "warning", message, _manifest_path(entry), fix=fix)


def not_listed_finding(entry: Descriptor, fields: tuple[str, ...]) -> Finding:
    """Return the finding of a skill that the extension does not list."""
    names = ", ".join(fields[:_MOST_FIELDS]) + (", ..." * (len(fields) > _MOST_FIELDS))
    return Finding(
        "mcp-fields",
        "warning",
        "MCP's skills extension does not list it, tools serve it: clients refuse a "
        f"whole list for a value that is not as the specification wants it ({names})",
        _manifest_path(entry),
        fix='write it as text: `version: "1.0"`, `allowed-tools: Read Grep`',
    )


def _manifest_path(entry: Descriptor) -> str:
    return f"{entry.origin.location}/{SKILL_FILE}"


def _too_large(entry: Descriptor, most_bytes: int) -> FileStat | None:
    """Return the first listed file of more bytes than are handed out."""
    large = [stat for stat in entry.files if stat.size > most_bytes]
    return next((stat for stat in large if stat.path in entry.resources), None)


def _size(entry: Descriptor) -> int:
    listed = set(entry.resources)
    beside = sum(stat.size for stat in entry.files if stat.path in listed)
    return entry.size + beside


def _repairs_by_path(findings: Iterable[Finding]) -> Mapping[str, str]:
    """Return the code of the first repair of each file that needed one."""
    mended: dict[str, str] = {}
    for finding in findings:
        if finding.code in READ_DIFFERENTLY:
            mended.setdefault(finding.path, finding.code)
    return mended
