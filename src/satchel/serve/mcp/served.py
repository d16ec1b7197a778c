"""What the skills extension holds for one caller: skills by URI, and their entries."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from satchel.errors import SkillError
from satchel.model import DEFAULT_LIMITS, Catalog, Descriptor, Json, Limits
from satchel.runtime.view import View
from satchel.serve.library import Library
from satchel.serve.mcp.fitness import REPAIRS, Fitness
from satchel.serve.mcp.margin import runs_on_at_margin
from satchel.serve.mcp.memory import ByIdentity, Memory
from satchel.serve.mcp.uris import parts_of, uri_of
from satchel.spec import parse
from satchel.spec.fences import span_of_text
from satchel.spec.odd_fields import odd_fields
from satchel.text import clean_line

__all__ = ["Place", "Served", "UnfitError"]

_LOG: Final = logging.getLogger("satchel.serve.mcp")

_T = TypeVar("_T")

_LISTS: Final = 64
_FRONTMATTERS: Final = 4_096


class UnfitError(Exception):
    """A SKILL.md that no other reader of YAML 1.2 reads as it is read here."""

    def __init__(self, skill_id: str, why: str) -> None:
        """Keep the skill and the reason."""
        super().__init__(skill_id, why)
        self.skill_id = skill_id
        self.why = why


@dataclass(frozen=True, slots=True)
class Place:
    """What a URI names: a skill, and a path below its folder, empty for the folder.

    ``above`` is the part before the name of a skill whose id is another.
    """

    entry: Descriptor
    path: str
    above: bool = False


class Served:
    """Finds and describes skills; reads no file before it is asked. Thread-safe."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.fitness = Fitness(library.settings, library.skills.limits)
        self._lists: ByIdentity[Catalog, tuple[Descriptor, ...]] = ByIdentity(
            _LISTS, lambda: library.catalog
        )
        self._frontmatters: Memory[tuple[str, str], Mapping[str, Json]] = Memory(
            _FRONTMATTERS
        )

    def listed(self, view: View) -> tuple[Descriptor, ...]:
        """Return the skills to list for a caller that fit the extension, by id."""
        catalog = view.catalog
        return self._lists.get(
            catalog,
            lambda: tuple(each for each in catalog.entries if self.fits(catalog, each)),
        )

    def listable(self, view: View) -> tuple[Descriptor, ...]:
        """Return those of them that no client refuses the list of skills for."""
        return tuple(e for e in self.listed(view) if not self.fitness.unlisted(e))

    def fits(self, catalog: Catalog, entry: Descriptor) -> bool:
        """Tell whether the extension can carry a skill, by what the catalog knows."""
        return self.fitness.problem(catalog, entry) is None

    def place(self, view: View, uri: str) -> Place | None:
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
                return Place(entry, "", above=True)
            if rest.pop(0) != entry.name:
                return None
        return Place(entry, "/".join(rest))

    def why_not(self, view: View, uri: str) -> str:
        """Return why a URI names nothing, where the extension cannot carry a skill.

        Else empty. A client that knows the skill by a tool would look in vain for it.
        """
        try:
            skill = view.descriptor((parts_of(uri) or ("",))[0])
        except SkillError:
            return ""
        found = self.fitness.problem(view.catalog, skill)
        return clean_line(found.message) if found else ""

    def entry(self, view: View, skill: Descriptor) -> dict[str, Any]:
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

    def listed_entry(self, view: View, skill: Descriptor) -> dict[str, Any]:
        """Return a skill's entry, if no client refuses the whole list for it.

        Raises:
            SkillError: As for `entry`.
            UnfitError: As for `entry`; or a field is not as the specification wants it.
        """
        entry = self.entry(view, skill)
        if odd := odd_fields(entry["frontmatter"]):
            raise UnfitError(skill.id, f"{odd[0]} is not as the specification wants it")
        return entry

    def or_none(
        self,
        tell: "Callable[[Served, View, Descriptor], _T]",
        view: View,
        skill: Descriptor,
    ) -> _T | None:
        """Return what is told of a skill in a list; None where that cannot be now.

        One pack that cannot be read hides no other.
        """
        try:
            return tell(self, view.hurried, skill)
        except (SkillError, UnfitError, OSError) as error:
            _LOG.info("not listed over MCP: %s (%s)", skill.id, type(error).__name__)
            return None

    def frontmatter(self, view: View, skill: Descriptor) -> Mapping[str, Json]:
        """Return a skill's frontmatter as it was written, as JSON.

        Raises:
            SkillError: The file cannot be read now.
            UnfitError: It is not what other readers would read.
        """
        return self._frontmatters.get(
            (skill.id, skill.digest), lambda: _read(view.peek(skill.id).data, skill)
        )


def _read(data: bytes, skill: Descriptor) -> Mapping[str, Json]:
    """Return the frontmatter, where every reader of YAML 1.2 gets the same."""
    room = len(data) + 1
    limits = Limits(
        skill_md_bytes=max(room, DEFAULT_LIMITS.skill_md_bytes),
        frontmatter_bytes=max(room, DEFAULT_LIMITS.frontmatter_bytes),
    )
    parsed = parse(data, profile="auto", limits=limits)
    code = next((f.code for f in parsed.findings if f.code in REPAIRS), None)
    if parsed.manifest is None or code is not None:
        raise UnfitError(skill.id, f"it is not read as it stands ({code})")
    found = parsed.manifest.frontmatter
    why = _doubt(data, found, skill.name)
    if why:
        raise UnfitError(skill.id, why)
    return found


def _doubt(data: bytes, found: Mapping[str, Json], name: str) -> str:
    """Return what another reader would stumble over; empty where that is nothing."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    span = span_of_text(text)
    if span is None or text[span.end : span.body].strip() != "---":
        return "it does not end in a line of three hyphens"
    if runs_on_at_margin(text[span.head : span.end], found):
        return "a text in quotes runs on at the margin"
    if found.get("name") != name or not isinstance(found.get("description"), str):
        return "name or description is no text in YAML 1.2"
    return ""
