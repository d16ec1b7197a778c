"""A pack as loaders find it, and a property of it by which loaders differ."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from satchel.model import Limits
from satchel.skill_md import (
    HEADING,
    FrontmatterEntry,
    Node,
    Parsed,
    Span,
    YamlProblem,
    YamlTree,
    find_span,
    parse,
    read_tree,
    split_entries,
    tolerant_span,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pack, as a loader finds it before it reads anything."""

    # `data` is the whole skill file; `folder` the name of its folder, empty where it
    # has none; `file` the file's name on disk. `depth` counts the folders from the
    # library down to the pack: 1 is directly in it. `is_link` says that the folder is a
    # symbolic link. `files` are the pack's other files, relative, with `/`.

    data: bytes
    folder: str
    file: str = "SKILL.md"
    depth: int = 1
    is_link: bool = False
    files: tuple[str, ...] = ()


# Characters of a frontmatter that are read; the largest seen has 5,100.
_MAX_HEAD: Final = 1 << 20
_LIMITS: Final = Limits(skill_md_bytes=1 << 30, frontmatter_bytes=_MAX_HEAD)
# No limit of ours: what other loaders make of a large file is a property.
_HIDING: Final = frozenset(
    ["no-opening-fence", "no-closing-fence", "frontmatter-in-code-block"]
)
_LINE_END: Final = re.compile(r"\r\n?")


class PackReader:
    """What can be read of a candidate, exactly as written and as Satchel repairs it."""

    def __init__(self, candidate: Candidate) -> None:
        self.candidate = candidate

    @cached_property
    def text(self) -> str:
        return self.candidate.data.decode("utf-8", "replace")

    @cached_property
    def parsed(self) -> Parsed:
        """What Satchel reads in the profile ``lenient``."""
        data, folder = self.candidate.data, self.candidate.folder
        return parse(data, profile="lenient", directory=folder, limits=_LIMITS)

    @cached_property
    def codes(self) -> frozenset[str]:
        return frozenset(finding.code for finding in self.parsed.findings)

    @cached_property
    def description(self) -> str:
        return self.parsed.manifest.description if self.parsed.manifest else ""

    @cached_property
    def span(self) -> Span | None:
        """Where the frontmatter is, as written; else where it was meant to be."""
        if self._exact_span is not None:
            return self._exact_span
        loose = tolerant_span(self.text)
        return loose[0] if loose else None

    @cached_property
    def _exact_span(self) -> Span | None:
        """Where it is, as written; None where a body is between the fences."""
        span = find_span(self.text)
        # A heading inside may be a comment of YAML, or of a body between two rules.
        if span is None or not HEADING.search(self.text, span.head, span.end):
            return span
        head = self.text[span.head : span.end].encode("utf-8", "replace")
        return span if isinstance(read_tree(head, _LIMITS), YamlTree) else None

    @property
    def is_fenced(self) -> bool:
        return self._exact_span is not None

    @cached_property
    def head(self) -> str:
        """The text of the frontmatter, with plain line ends; empty if there is none."""
        if self.span is None:
            return ""
        end = min(self.span.end, self.span.head + _MAX_HEAD)
        return _LINE_END.sub("\n", self.text[self.span.head : end])

    @cached_property
    def body(self) -> str:
        return self.text if self.span is None else self.text[self.span.body :]

    @cached_property
    def read(self) -> YamlTree | YamlProblem:
        """The frontmatter as YAML, as it is written; else why it is not valid."""
        return read_tree(self.head.encode("utf-8", "replace"), _LIMITS)

    @cached_property
    def is_hidden(self) -> bool:
        """Whether other loaders see no frontmatter at all, for its fences."""
        return bool(self.codes & _HIDING) and not self.is_fenced

    @cached_property
    def root(self) -> dict[str, Node]:
        """The fields, where they are valid YAML that others could see; else empty."""
        read = self.read
        return read.root if isinstance(read, YamlTree) and not self.is_hidden else {}

    @cached_property
    def problem(self) -> str:
        return self.read.code if isinstance(self.read, YamlProblem) else ""

    @cached_property
    def is_broken(self) -> bool:
        """Whether the frontmatter is there and is not valid YAML."""
        if self.is_hidden:
            return False
        # A text that our reader repairs into fields is broken; a list is what it is.
        if self.problem == "frontmatter-not-mapping":
            return self.parsed.manifest is not None
        return self.span is not None and self.problem == "invalid-yaml"

    @cached_property
    def entries(self) -> tuple[FrontmatterEntry, ...]:
        lines = self.head.removesuffix("\n").split("\n")
        return tuple(split_entries(lines)) if self.head else ()

    def entry(self, key: str) -> FrontmatterEntry | None:
        return next((e for e in reversed(self.entries) if e.key == key), None)

    def source(self, key: str) -> str | None:
        """Return a scalar as its author wrote it, without quotes; None for null."""
        read = self.read
        return read.text(key) if isinstance(read, YamlTree) and self.root else None


@dataclass(frozen=True, slots=True)
class PackProperty:
    """What a pack may be like, by which loaders differ; ``key`` is stable.

    ``makes`` is the property that it has instead once ``fix`` was followed.
    """

    key: str
    about: str
    fix: str
    detect: "Detector"
    makes: str = ""


# Whether a pack has a property: what is true counts as yes.
Detector: TypeAlias = Callable[[PackReader], object]
