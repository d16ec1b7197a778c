"""Skills as MCP's skills extension has them: URIs, entries, and what it excludes.

Source: MCP's skills extension (SEP-2640), "Skill URIs".
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar
from urllib.parse import quote, unquote

from satchel.errors import SkillError
from satchel.files import LruCache
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Descriptor,
    Finding,
    Json,
    Limits,
)
from satchel.runtime import View
from satchel.skill_md import find_span, nonstandard_fields, parse
from satchel.text import clean_line
from satchel_server._cache import IdentityCache
from satchel_server._library import ServedLibrary
from satchel_server._mcp._portability import (
    FRONTMATTER,
    FRONTMATTER_FIX,
    READ_DIFFERENTLY,
    PortabilityCheck,
    has_unindented_text,
    not_carried_finding,
    not_listed_finding,
)

_T = TypeVar("_T")

SCHEME: Final = "skill://"
# Far above an id and a path of 1,024 bytes, with each byte escaped.
MAX_URI_CHARS: Final = 8_192

_log = logging.getLogger("satchel.server")


# The name in the frontmatter ends a skill's path. If its id is another, as with a
# prefix, that comes first, as one part. Ids are unique, so a URI needs no table.
def skill_path(entry: Descriptor) -> str:
    """Return a skill's path, escaped: its name, after the id if that is another."""
    name = _escaped(entry.name)
    return name if entry.id == entry.name else f"{_escaped(entry.id)}/{name}"


def uri_of(entry: Descriptor, path: str = SKILL_FILE) -> str:
    """Return the URI of a file or folder of a skill; of its own folder if empty."""
    folder = SCHEME + skill_path(entry)
    return f"{folder}/{'/'.join(map(_escaped, path.split('/')))}" if path else folder


def parts_of(uri: str) -> tuple[str, ...] | None:
    """Return the parts of a skill URI, unescaped, none empty; None if it is not one."""
    if not uri.startswith(SCHEME) or len(uri) > MAX_URI_CHARS:
        return None
    # Split first, decoded then: an escaped slash belongs to an id.
    escaped = uri.removeprefix(SCHEME).split("/")
    try:
        parts = tuple(unquote(part, errors="strict") for part in escaped)
    except UnicodeDecodeError:
        return None
    return parts if all(parts) else None


def skill_in(uri: str) -> str:
    """Return the id of the skill that a URI names; empty where it is no skill URI."""
    return (parts_of(uri) or ("",))[0]


def _escaped(part: str) -> str:
    return quote(part, safe="", errors="replace")


class NotPortableError(Exception):
    """Other readers of YAML 1.2 read this SKILL.md differently."""

    def __init__(self, skill_id: str, why: str) -> None:
        super().__init__(skill_id, why)
        self.why = why


@dataclass(frozen=True, slots=True)
class UriTarget:
    """What a URI names: a skill, and a path below its folder, empty for the folder."""

    entry: Descriptor
    path: str
    # Whether the URI ends before the name of a skill whose id is another.
    above: bool = False


class ExtensionCatalog:
    """Finds and describes skills; reads no file before it is needed. Thread-safe."""

    def __init__(self, library: ServedLibrary) -> None:
        self.library = library
        self.portability = PortabilityCheck(library.settings, library.skills.limits)
        self._lists: IdentityCache[Catalog, tuple[Descriptor, ...]] = IdentityCache(
            64, lambda: library.catalog
        )
        self._frontmatters: LruCache[tuple[str, str], Mapping[str, Json]] = LruCache(
            4_096
        )

    def listed(self, view: View) -> tuple[Descriptor, ...]:
        """Return the listed skills of a caller that the extension can carry, by id."""
        catalog, problem = view.catalog, self.portability.problem
        return self._lists.get(
            catalog,
            lambda: tuple(e for e in catalog.entries if problem(catalog, e) is None),
        )

    def target(self, view: View, uri: str) -> UriTarget | None:
        """Return the skill that a URI names, listed or not; its path is not checked."""
        # No skill has an empty id, so a text that is not a skill URI finds none.
        first, *rest = parts_of(uri) or ("",)
        try:
            entry = view.descriptor(first)
        except SkillError:
            return None
        if self.portability.problem(view.catalog, entry) is not None:
            return None
        if entry.id != entry.name:
            if not rest:
                return UriTarget(entry, "", above=True)
            # The name is part of the URI, so a skill has one URI and no other.
            if rest.pop(0) != entry.name:
                return None
        return UriTarget(entry, "/".join(rest))

    def why_not(self, view: View, uri: str) -> str:
        """Return why the extension cannot carry the skill of a URI, else empty."""
        # A client that knows the skill from a tool would look for it in vain.
        try:
            skill = view.descriptor(skill_in(uri))
        except SkillError:
            return ""
        problem = self.portability.problem(view.catalog, skill)
        return clean_line(problem.message) if problem else ""

    def entry(self, view: View, skill: Descriptor) -> dict[str, Any]:
        """Return a skill's entry: URI, frontmatter, and every file with its digest."""
        frontmatter = self.frontmatter(view, skill)
        # Digests come from the library's cache: few files are read, and it is no event.
        resources = [
            {"uri": uri_of(skill, file.path), "digest": file.digest, "size": file.size}
            for file in view.resources(skill.id)
        ]
        uri = uri_of(skill)
        return {"uri": uri, "frontmatter": frontmatter, "resources": resources}

    def listed_entry(self, view: View, skill: Descriptor) -> dict[str, Any]:
        """Return a skill's entry; raise if clients refuse the whole list for it."""
        entry = self.entry(view, skill)
        if fields := nonstandard_fields(entry["frontmatter"]):
            raise NotPortableError(skill.id, f"{fields[0]} breaks the specification")
        return entry

    def or_none(
        self,
        describe: "Callable[[ExtensionCatalog, View, Descriptor], _T]",
        view: View,
        skill: Descriptor,
    ) -> _T | Literal[False] | None:
        """Return what a list says of a skill; None if nothing, False if not now."""
        try:
            # A pack that is being written must not hold up a whole list.
            return describe(self, view.without_waiting, skill)
        except (SkillError, NotPortableError, OSError) as error:
            _log.info("not listed over MCP: %s (%s)", skill.id, type(error).__name__)
            return None if isinstance(error, NotPortableError) else False

    def finding(self, view: View, skill: Descriptor, *, read: bool) -> Finding | None:
        """Return why a skill is not listed; with ``read`` its SKILL.md is read."""
        problem = self.portability.problem(view.catalog, skill)
        is_listed = skill.id in view.catalog
        if problem is None and is_listed:
            problem = self.portability.unlisted(skill)
        if problem is not None or not read:
            return problem
        try:
            fields = nonstandard_fields(self.frontmatter(view, skill))
        except NotPortableError as error:
            return not_carried_finding(skill, FRONTMATTER, error.why, FRONTMATTER_FIX)
        except (SkillError, OSError):
            return None  # a file that cannot be read now is not its author's fault
        return not_listed_finding(skill, fields) if fields and is_listed else None

    def frontmatter(self, view: View, skill: Descriptor) -> Mapping[str, Json]:
        """Return a skill's frontmatter as it was written, as JSON."""
        return self._frontmatters.get(
            # By digest, so an edited file is read again without any clearing.
            (skill.id, skill.digest),
            lambda: _read_frontmatter(view.load(skill.id, as_="look").data, skill),
        )


def _read_frontmatter(data: bytes, skill: Descriptor) -> Mapping[str, Json]:
    """Return the frontmatter, if every reader of YAML 1.2 gets the same from it."""
    # The file was accepted by the sync, whatever its limits were.
    room = len(data) + 1
    limits = Limits(
        skill_md_bytes=max(room, DEFAULT_LIMITS.skill_md_bytes),
        frontmatter_bytes=max(room, DEFAULT_LIMITS.frontmatter_bytes),
    )
    parsed = parse(data, profile="auto", limits=limits)
    code = next((f.code for f in parsed.findings if f.code in READ_DIFFERENTLY), None)
    if parsed.manifest is None or code is not None:
        raise NotPortableError(skill.id, f"it had to be repaired ({code})")
    frontmatter, problem = parsed.manifest.frontmatter, ""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotPortableError(skill.id, "it is not UTF-8") from None
    span = find_span(text)
    if span is None or text[span.end : span.body].strip() != "---":
        problem = "it does not end in a line of three hyphens"
    elif has_unindented_text(text[span.head : span.end], frontmatter):
        problem = "a text in quotes goes on without indentation"
    elif frontmatter.get("name") != skill.name or not isinstance(
        frontmatter.get("description"), str
    ):
        problem = "name or description is no text in YAML 1.2"
    if problem:
        raise NotPortableError(skill.id, problem)
    return frontmatter


def excluded_from_mcp(
    library: ServedLibrary, *, read: bool = False
) -> tuple[Finding, ...]:
    """Return a finding for each served skill that the skills extension does not list.

    It cannot carry the skill, or answers for it without listing it. Sorted by id.
    Without ``read`` no file is read, and the few are missing that only their SKILL.md
    shows, such as a name that is a number in YAML; the extension excludes these when a
    client asks for them. The tools serve all of them.
    """
    extension, view = ExtensionCatalog(library), library.view()
    hidden = (
        exclusion.descriptor
        for exclusion in view.catalog.excluded
        if exclusion.reason in ("hidden", "deprecated")
    )
    entries = sorted((*view.catalog.entries, *hidden), key=lambda entry: entry.id)
    findings = (extension.finding(view, entry, read=read) for entry in entries)
    return tuple(filter(None, findings))
