"""One skill as the page shows it: its text, files, panels, and earlier releases."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from markupsafe import Markup

from satchel.errors import DeniedError, ProductMissingError, SkillError
from satchel.files import LruCache
from satchel.model import SKILL_FILE, Descriptor, FileStat
from satchel.products import PANELS, import_product
from satchel.runtime import View
from satchel.text import printable, unified_lines
from satchel_server._library import ServedLibrary
from satchel_server._page._body import body_html
from satchel_server._page._facts import LibraryFacts, Row
from satchel_server._page._templates import page_url
from satchel_store.release import ReleaseSource

if TYPE_CHECKING:
    from satchel.protocols import Panel, PanelRow

# Characters of a file that a page shows, releases that are looked through, and lines
# of a difference.
_MAX_CHARS: Final = 256 * 1024
_MAX_RELEASES: Final = 50
_MAX_LINES: Final = 2_000
NEEDS_APPROVAL: Final = "somebody has to approve each load"
# Skills of a library whose releases are looked through for each page.
_QUICK_SKILLS: Final = 1_000


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it is shown: rendered, as text, or only named where it is neither."""

    path: str
    digest: str
    size: int
    media_type: str
    html: Markup | None = None
    text: str = ""
    cut: bool = False
    notes: tuple[str, ...] = ()
    vouched: str = ""


@dataclass(frozen=True, slots=True)
class ShownSkill:
    """What the page of one skill shows. ``problem`` says why its text is not there."""

    row: Row
    file: FileText | None
    files: tuple[FileStat, ...]
    release: str
    excluded: str = ""
    detail: str = ""
    fix: str = ""
    problem: str = ""


def skill_page(facts: LibraryFacts, view: View, entry: Descriptor) -> ShownSkill:
    """Return what there is to show. Reading it is no load, and no event."""
    problem, file = "", None
    try:
        file = file_text(view, entry, SKILL_FILE, plain=False)
    except SkillError as error:
        asks = view.needs_approval(entry.id)
        problem = NEEDS_APPROVAL if asks else facts.public(str(error))
    exclusion = facts.exclusion(entry.id) if entry.id not in facts.catalog else None
    return ShownSkill(
        facts.row(entry),
        file,
        tuple(
            stat for stat in entry.files if stat.path in (*entry.present, SKILL_FILE)
        ),
        facts.catalog.release_of(entry.source),
        exclusion.reason if exclusion else "",
        facts.public(exclusion.detail) if exclusion else "",
        facts.public(exclusion.fix) if exclusion else "",
        problem,
    )


def file_text(view: View, entry: Descriptor, path: str, *, plain: bool) -> FileText:
    """Return one file: Markdown as HTML unless ``plain``, any other text as text.

    Raises:
        SkillError: As for a load.
    """
    if view.needs_approval(entry.id):
        raise DeniedError("load", entry.id)  # nobody is asked here
    loaded = view.load(entry.id, None if path == SKILL_FILE else path, as_="look")
    file = FileText(
        loaded.file,
        loaded.digest,
        len(loaded.data),
        loaded.media_type,
        notes=loaded.notes,
        vouched=loaded.vouched,
    )
    is_markdown = loaded.is_instructions or path.lower().endswith((".md", ".markdown"))
    if is_markdown and not plain:
        url_of = partial(_file_url, loaded.descriptor)
        text = loaded.body if loaded.is_instructions else loaded.text
        html = body_html(text, url_of, loaded.file)
        if html is not None:
            return replace(file, html=html)
    text = loaded.text
    return replace(file, text=text[:_MAX_CHARS], cut=len(text) > _MAX_CHARS)


def _file_url(entry: Descriptor, path: str) -> str | None:
    if path == SKILL_FILE:
        return page_url("skills", entry.id)
    there = path in entry.resources
    return page_url("skills", entry.id, "files", *path.split("/")) if there else None


@dataclass(frozen=True, slots=True)
class PanelText:
    """A panel of another product, by its key; ``absent`` says why it has no rows."""

    key: str
    title: str
    rows: "Sequence[PanelRow]" = ()
    absent: str = ""


def panel_text(
    key: str, library: ServedLibrary, facts: LibraryFacts, entry: Descriptor
) -> PanelText:
    """Return what another product says of a skill; it reads the pack."""
    title, module = PANELS[key]
    try:
        panel: Panel = import_product(module, title).PANELS[key]
        rows = panel.rows(entry, facts.catalog, library.skills.limits)
    except ProductMissingError as error:
        return PanelText(key, title, absent=str(error))
    except SkillError as error:
        return PanelText(key, title, absent=facts.public(str(error)))
    return PanelText(key, title, rows)


@dataclass(frozen=True, slots=True)
class Version:
    """A release in which a skill is another one than in the release before."""

    release: str
    current: bool
    changes: str


class History:
    """The releases of a skill's source, where it is a site that has several.

    To read one takes time with its number of skills, so what each has is cached.
    """

    def __init__(self, library: ServedLibrary) -> None:
        self._library = library
        self._digests: LruCache[str, dict[str, str]] = LruCache(_MAX_RELEASES)
        self._lines: LruCache[object, list[tuple[str, str]]] = LruCache(_MAX_RELEASES)

    @property
    def is_quick(self) -> bool:
        """Whether all releases can be looked through for each skill that is shown."""
        return len(self._library.catalog) <= _QUICK_SKILLS

    def versions(self, entry: Descriptor) -> tuple[Version, ...]:
        """Return the releases that changed the skill, the latest first."""
        made: list[Version] = []
        current = self._library.catalog.release_of(entry.source)
        having = self._having(entry)
        for at, source in enumerate(having):
            older = having[at + 1] if at + 1 < len(having) else None
            changes = "the first release here that has it"
            if older is not None:
                changes = _changes(entry, older, source)
            made.append(Version(_id(source), _id(source) == current, changes))
        return tuple(made)

    def difference(
        self, entry: Descriptor, release: str
    ) -> list[tuple[str, str]] | None:
        """Return the lines that a release changed, each with what it is.

        They are those of every file that it does not share with the release before.
        None is for a release that changed nothing.
        """
        having = self._having(entry)
        for at, source in enumerate(having):
            if _id(source) == release:
                older = having[at + 1] if at + 1 < len(having) else None
                make = partial(_lines, entry.origin.key, older, source)
                # To compare two texts may take a second.
                return self._lines.get((entry.source, entry.origin.key, release), make)
        return None

    def _having(self, entry: Descriptor) -> list[ReleaseSource]:
        """Return the releases in which the skill is another one than before."""
        source = self._library.skills.registry.sources.get(entry.source)
        if not isinstance(source, ReleaseSource):
            return []
        having: list[tuple[str, ReleaseSource]] = []
        for release in source.history()[:_MAX_RELEASES]:
            with suppress(SkillError):  # a damaged release hides no other
                digest = self._digests_of(release).get(entry.origin.key)
                if digest and having and having[-1][0] == digest:
                    having[-1] = digest, release  # it came with the earlier one
                elif digest:
                    having.append((digest, release))
        return [release for _, release in having]

    def _digests_of(self, release: ReleaseSource) -> dict[str, str]:
        def read() -> dict[str, str]:
            return {skill.id: skill.digest for skill in release.open().skills}

        return self._digests.get(_id(release), read)


def _id(release: ReleaseSource) -> str:
    return release.pin or release.release


def _files(release: ReleaseSource | None, key: str) -> dict[str, str]:
    skills = release.open().skills if release else ()
    resources = (skill.resources for skill in skills if skill.id == key)
    return {file.path: file.digest for files in resources for file in files}


def _changes(entry: Descriptor, older: ReleaseSource, newer: ReleaseSource) -> str:
    before, after = (_files(one, entry.origin.key) for one in (older, newer))
    words = (
        ("added", after.keys() - before.keys()),
        ("removed", before.keys() - after.keys()),
        ("changed", {p for p in after if before.get(p, after[p]) != after[p]}),
    )
    return "; ".join(f"{word} {', '.join(sorted(x))}" for word, x in words if x)


def _lines(
    key: str, older: ReleaseSource | None, newer: ReleaseSource
) -> list[tuple[str, str]]:
    return [*islice(_difference(key, older, newer), _MAX_LINES)]


def _difference(
    key: str, older: ReleaseSource | None, newer: ReleaseSource
) -> Iterator[tuple[str, str]]:
    files = _files(older, key), _files(newer, key)
    for path in sorted({*files[0], *files[1]}):
        if files[0].get(path) == files[1].get(path):
            continue
        texts: list[str] = []
        for source, paths in zip((older, newer), files, strict=True):
            data = (
                source.read(key, path, _MAX_CHARS) if source and path in paths else b""
            )
            texts.append(printable(data.decode("utf-8", "replace")))
        yield "file", path
        for line in unified_lines(texts[0], texts[1]):
            yield _KINDS.get(line[:1], "same"), line


_KINDS: Final = {"+": "added", "-": "removed", "@": "place"}


def lines_to_use(base: str, entry: Descriptor, *, asks: bool) -> list[tuple[str, str]]:
    """Return how to connect or load it, each with what it is for."""
    url = f"{base}/v1/skills/{quote(entry.id, safe='', errors='replace')}"
    token = " --token-env SATCHEL_TOKEN" if asks else ""
    header = ' -H "Authorization: Bearer $SATCHEL_TOKEN"' if asks else ""
    return [
        (
            "Connect a client",
            f"satchel connect claude-code --url {base}/mcp{token} --write",
        ),
        ("Load it over HTTP", f"curl{header} {shlex.quote(url)}"),
        ("A model calls", f"load_skill(skill_id={_quoted(entry.id)})"),
    ]


def _quoted(text: str) -> str:
    return repr(printable(text, keep=""))
