"""Skills as MCP's skills extension has them: URIs, entries.

And the skills it excludes.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from satchel.errors import SkillError
from satchel.files import IdentityCache, LruCache
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Catalog,
    Descriptor,
    Finding,
    Json,
    Limits,
)
from satchel.runtime import CallerView
from satchel.server._library import ServedLibrary
from satchel.server._mcp._portability import (
    FRONTMATTER,
    FRONTMATTER_FIX,
    PortabilityCheck,
    has_unindented_text,
    not_carried_finding,
    not_listed_finding,
)
from satchel.skill_md import READ_DIFFERENTLY, nonstandard_fields, parse, span_of_text
from satchel.text import clean_line

SCHEME: Final = "skill://"

MAX_URI_CHARS: Final = 8_192
"""Far above an id and a path of 1,024 bytes, each of their bytes escaped."""


def skill_path(entry: Descriptor) -> str:
    """Return a skill's path, escaped: its name, behind the id where that differs."""
    name = _escaped(entry.name)
    return name if entry.id == entry.name else f"{_escaped(entry.id)}/{name}"


def uri_of(entry: Descriptor, path: str = SKILL_FILE) -> str:
    """Return the URI of a file or folder of a skill; of its own folder if empty."""
    folder = SCHEME + skill_path(entry)
    return f"{folder}/{'/'.join(map(_escaped, path.split('/')))}" if path else folder


def parts_of(uri: str) -> tuple[str, ...] | None:
    """Return the parts of a skill URI, unescaped; None where it is none.

    No part is empty. What they name, and whether it is served, is not looked at.
    """
    if not uri.startswith(SCHEME) or len(uri) > MAX_URI_CHARS:
        return None
    try:
        parts = tuple(
            unquote(part, errors="strict")
            for part in uri.removeprefix(SCHEME).split("/")
        )
    except UnicodeDecodeError:
        return None
    return parts if all(parts) else None


def _escaped(part: str) -> str:
    return quote(part, safe="", errors="replace")


_LOG: Final = logging.getLogger("satchel.server")

_T = TypeVar("_T")

_LISTS: Final = 64
_FRONTMATTERS: Final = 4_096


class NotPortableError(Exception):
    """A SKILL.md that no other reader of YAML 1.2 reads as it is read here."""

    def __init__(self, skill_id: str, why: str) -> None:
        """Keep the skill and the reason."""
        super().__init__(skill_id, why)
        self.skill_id = skill_id
        self.why = why


@dataclass(frozen=True, slots=True)
class UriTarget:
    """What a URI names: a skill, and a path below its folder, empty for the folder.

    ``above`` is the part before the name of a skill whose id is another.
    """

    entry: Descriptor
    path: str
    above: bool = False


class ExtensionCatalog:
    """Finds and describes skills; reads no file before it is asked. Thread-safe."""

    def __init__(self, library: ServedLibrary) -> None:
        self.library = library
        self.fitness = PortabilityCheck(library.settings, library.skills.limits)
        self._lists: IdentityCache[Catalog, tuple[Descriptor, ...]] = IdentityCache(
            _LISTS, lambda: library.catalog
        )
        self._frontmatters: LruCache[tuple[str, str], Mapping[str, Json]] = LruCache(
            _FRONTMATTERS
        )

    def listed(self, view: CallerView) -> tuple[Descriptor, ...]:
        """Return the skills to list for a caller that fit the extension, by id."""
        catalog = view.catalog
        return self._lists.get(
            catalog,
            lambda: tuple(each for each in catalog.entries if self.fits(catalog, each)),
        )

    def listable(self, view: CallerView) -> tuple[Descriptor, ...]:
        """Return those of them that no client refuses the list of skills for."""
        return tuple(e for e in self.listed(view) if not self.fitness.unlisted(e))

    def fits(self, catalog: Catalog, entry: Descriptor) -> bool:
        """Tell whether the extension can carry a skill, by what the catalog knows."""
        return self.fitness.problem(catalog, entry) is None

    def place(self, view: CallerView, uri: str) -> UriTarget | None:
        """Return what a URI names among the skills of this caller, listed or not.

        None where it names none of them. A path is not looked at.
        """
        first, *rest = parts_of(uri) or ("",)
        try:
            entry = view.descriptor(first)
        except SkillError:
            return None
        if not self.fits(view.catalog, entry):
            return None
        if entry.id != entry.name:
            if not rest:
                return UriTarget(entry, "", above=True)
            if rest.pop(0) != entry.name:
                return None
        return UriTarget(entry, "/".join(rest))

    def why_not(self, view: CallerView, uri: str) -> str:
        """Return why a URI names nothing, where the extension cannot carry a skill.

        Else empty. A client that knows the skill by a tool would look in vain for it.
        """
        try:
            skill = view.descriptor((parts_of(uri) or ("",))[0])
        except SkillError:
            return ""
        found = self.fitness.problem(view.catalog, skill)
        return clean_line(found.message) if found else ""

    def entry(self, view: CallerView, skill: Descriptor) -> dict[str, Any]:
        """Return a skill's entry: URI, frontmatter, and every file with its digest.

        Digests are those that the library remembers; it reads files that it has not
        read before. It is no event.

        Raises:
            SkillError: A file cannot be read now.
            UnfitError: Only the file itself shows that the extension cannot carry it.
        """
        return {
            "uri": uri_of(skill),
            "frontmatter": self.frontmatter(view, skill),
            "resources": [
                {
                    "uri": uri_of(skill, each.path),
                    "digest": each.digest,
                    "size": each.size,
                }
                for each in view.resources(skill.id)
            ],
        }

    def listed_entry(self, view: CallerView, skill: Descriptor) -> dict[str, Any]:
        """Return a skill's entry, if no client refuses the whole list for it.

        Raises:
            SkillError: As for `entry`.
            UnfitError: As for `entry`; or a field is not as the specification wants it.
        """
        entry = self.entry(view, skill)
        if odd := nonstandard_fields(entry["frontmatter"]):
            raise NotPortableError(
                skill.id, f"{odd[0]} is not as the specification wants it"
            )
        return entry

    def or_none(
        self,
        tell: "Callable[[ExtensionCatalog, CallerView, Descriptor], _T]",
        view: CallerView,
        skill: Descriptor,
    ) -> _T | None:
        """Return what is told of a skill in a list; None where that cannot be now.

        One pack that cannot be read hides no other.
        """
        try:
            return tell(self, view.without_waiting, skill)
        except (SkillError, NotPortableError, OSError) as error:
            _LOG.info("not listed over MCP: %s (%s)", skill.id, type(error).__name__)
            return None

    def frontmatter(self, view: CallerView, skill: Descriptor) -> Mapping[str, Json]:
        """Return a skill's frontmatter as it was written, as JSON.

        Raises:
            SkillError: The file cannot be read now.
            UnfitError: It is not what other readers would read.
        """
        return self._frontmatters.get(
            (skill.id, skill.digest),
            lambda: _read_frontmatter(view.peek(skill.id).data, skill),
        )


def _read_frontmatter(data: bytes, skill: Descriptor) -> Mapping[str, Json]:
    """Return the frontmatter, where every reader of YAML 1.2 gets the same."""
    room = len(data) + 1
    limits = Limits(
        skill_md_bytes=max(room, DEFAULT_LIMITS.skill_md_bytes),
        frontmatter_bytes=max(room, DEFAULT_LIMITS.frontmatter_bytes),
    )
    parsed = parse(data, profile="auto", limits=limits)
    code = next((f.code for f in parsed.findings if f.code in READ_DIFFERENTLY), None)
    if parsed.manifest is None or code is not None:
        raise NotPortableError(skill.id, f"it is not read as it stands ({code})")
    found = parsed.manifest.frontmatter
    why = _portability_problem(data, found, skill.name)
    if why:
        raise NotPortableError(skill.id, why)
    return found


def _portability_problem(data: bytes, found: Mapping[str, Json], name: str) -> str:
    """Return what another reader would stumble over; empty where that is nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    span = span_of_text(text)
    if span is None or text[span.end : span.body].strip() != "---":
        return "it does not end in a line of three hyphens"
    if has_unindented_text(text[span.head : span.end], found):
        return "a text in quotes runs on at the margin"
    if found.get("name") != name or not isinstance(found.get("description"), str):
        return "name or description is no text in YAML 1.2"
    return ""


def excluded_from_mcp(
    library: ServedLibrary, *, read: bool = False
) -> tuple[Finding, ...]:
    """Return a finding for each served skill that the skills extension does not list.

    It cannot carry it, or answers for it without listing it. By id. Without ``read`` no
    file is read, and the few are left out that only their SKILL.md can tell, such as a
    name that is a number in YAML; the extension leaves these out when it is asked for
    them. Whatever is left out, the tools serve.
    """
    return tuple(_findings(library, read=read))


def _findings(library: ServedLibrary, *, read: bool) -> Iterator[Finding]:
    served = ExtensionCatalog(library)
    view = library.view()
    catalog = view.catalog
    hidden = (
        held.descriptor
        for held in catalog.excluded
        if held.reason in ("hidden", "deprecated")
    )
    for entry in sorted((*catalog.entries, *hidden), key=lambda entry: entry.id):
        found = served.fitness.problem(catalog, entry)
        is_listed = entry.id in catalog
        if found is None and is_listed:
            found = served.fitness.unlisted(entry)
        if found is not None:
            yield found
        elif read:
            try:
                odd = nonstandard_fields(served.frontmatter(view, entry))
                if odd and is_listed:
                    yield not_listed_finding(entry, odd)
            except NotPortableError as error:
                yield not_carried_finding(
                    entry, FRONTMATTER, error.why, FRONTMATTER_FIX
                )
            except (SkillError, OSError):
                continue  # what cannot be read now is no matter of its author
