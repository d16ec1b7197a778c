"""Which skills MCP's skills extension can carry; decided without reading a file.

Tools and prompts serve the others all the same.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Catalog,
    Descriptor,
    Finding,
    Limits,
    findings_of,
)
from satchel.skill_md import FENCE_REPAIRS, YAML_REPAIRS, spec_name_violations
from satchel_server._library import ServerSettings

# Packs without a problem that are remembered, so that each is checked once.
MAX_REMEMBERED: Final = 65_536
# Findings of a frontmatter that no reader of plain YAML 1.2 would read as it is read
# here: a host that compares field by field would call its skill forged.
READ_DIFFERENTLY: Final = (
    FENCE_REPAIRS
    | YAML_REPAIRS
    | {"not-utf8", "duplicate-key", "missing-name", "missing-description"}
)
_SHOWN_FIELDS: Final = 3
FRONTMATTER: Final = "mcp-frontmatter"
_FEWER: Final = "take out files that no agent needs, or make several skills of it"
FRONTMATTER_FIX: Final = "fix the frontmatter: satchel check says where"


class PortabilityCheck:
    """Checks packs by what the catalog knows of them. Thread-safe."""

    def __init__(self, settings: ServerSettings, limits: Limits) -> None:
        self._settings = settings
        self._max_bytes = limits.file_bytes
        self._portable: dict[int, Descriptor] = {}
        self._repairs: tuple[tuple[Finding, ...], dict[str, str]] = (), {}

    def problem(self, catalog: Catalog, entry: Descriptor) -> Finding | None:
        """Return why the extension cannot carry a skill of ``catalog``, or None."""
        repairs = self._repairs_in(catalog.findings)
        # By identity: comparing descriptors costs more than checking one.
        if self._portable.get(id(entry)) is entry:
            return None
        problem = next(self._problems(entry, repairs.get(_manifest_path(entry))), None)
        if problem is not None:
            return not_carried_finding(entry, *problem)
        if len(self._portable) < MAX_REMEMBERED:
            self._portable[id(entry)] = entry
        return None

    def unlisted(self, entry: Descriptor) -> Finding | None:
        """Return why the extension answers for a skill without listing it, or None."""
        # Clients that check the frontmatter refuse the whole list for one such skill.
        return not_listed_finding(entry, entry.odd_fields) if entry.odd_fields else None

    def _repairs_in(self, findings: tuple[Finding, ...]) -> Mapping[str, str]:
        """Return the code of the first repair by file; cached for the last catalog."""
        cached_for, repairs = self._repairs
        if cached_for is not findings:
            repairs = dict[str, str]()
            for finding in findings_of(findings, READ_DIFFERENTLY):
                repairs.setdefault(finding.path, finding.code)
            # One tuple, so that no thread sees the repairs of another catalog.
            self._repairs = findings, repairs
            # Which entries are portable depends on the repairs, and those are new.
            self._portable = {}
        return repairs

    def _problems(
        self, entry: Descriptor, repair: str | None
    ) -> Iterator[tuple[str, str, str]]:
        if entry.remote:  # it would have to be fetched, and be served as this server's
            why = f"it is on a {entry.remote} of someone else"
            fix = "let clients ask that server, or copy it into a folder of yours"
            yield "mcp-remote", why, fix
        if repair is not None:
            why = f"a plain reader of YAML 1.2 would not read it so ({repair})"
            yield FRONTMATTER, why, FRONTMATTER_FIX
        violation = next(spec_name_violations(entry.name), None)
        if violation is not None:
            yield "mcp-name", violation.message, violation.fix
        chars, max_chars = len(entry.description), MAX_DESCRIPTION_CHARS
        if not 1 <= chars <= max_chars:
            why = f"the description has {chars:,} characters, not 1 to {max_chars:,}"
            fix = "say what the skill does and when to use it, in a few sentences"
            yield "mcp-description", why, fix
        count, max_files = 1 + len(entry.present), self._settings.max_resources
        if count > max_files:
            why = f"it has {count:,} files, clients take {max_files:,}"
            yield "mcp-files", why, _FEWER
        listed = {*entry.resources}
        files = [stat for stat in entry.files if stat.path in listed]
        large = next((stat for stat in files if stat.size > self._max_bytes), None)
        if large is not None:
            why = f"of {large.path} no more than {self._max_bytes:,} bytes are read"
            yield "mcp-file-size", why, "take it out of the pack, or make it smaller"
        size = entry.size + sum(stat.size for stat in files)
        max_bytes = self._settings.max_skill_bytes
        if size > max_bytes:
            why = f"its files have {size:,} bytes, clients take {max_bytes:,}"
            yield "mcp-size", why, _FEWER


def not_carried_finding(entry: Descriptor, code: str, why: str, fix: str) -> Finding:
    message = f"MCP's skills extension leaves it out, tools serve it: {why}"
    return Finding(code, "warning", message, _manifest_path(entry), fix=fix)


def not_listed_finding(entry: Descriptor, fields: tuple[str, ...]) -> Finding:
    more = ", ..." if len(fields) > _SHOWN_FIELDS else ""
    names = ", ".join(fields[:_SHOWN_FIELDS]) + more
    return Finding(
        "mcp-fields",
        "warning",
        "MCP's skills extension does not list it, tools serve it: clients refuse a "
        f"whole list for a value that breaks the specification ({names})",
        _manifest_path(entry),
        fix='write it as text: `version: "1.0"`, `allowed-tools: Read Grep`',
    )


def _manifest_path(entry: Descriptor) -> str:
    return f"{entry.origin.location}/{SKILL_FILE}"


# PyYAML accepts it; YAML 1.2, section 7.3, requires every line of a text to be indented
# below its field. Without, there may be a field, a comment, an item or end of a list.
def has_unindented_text(head: str, root: Mapping[str, object]) -> bool:
    """Return whether a line without indentation belongs to the text of a field above.

    ``head`` is the text between the fences, ``root`` the fields that it has.
    """
    keys = iter(root)
    key = next(keys, None)
    above: object = None
    for line in head.splitlines():
        if not line.strip() or line[0] in " \t":
            continue
        name, colon, _ = line.partition(":")
        if key is not None and colon and name.strip().strip("\"'") == key:
            above = root[key]
            key = next(keys, None)
        elif line[0] == "#":
            if isinstance(above, str) and line.strip(" \t\"'") in above:
                return True
        elif isinstance(above, str) or not line.startswith(("-", "]", "}")):
            return True
    return False
