"""One skill as the page shows it: its text, files, panels, and earlier releases."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from markupsafe import Markup

from satchel.errors import ProductMissingError, SkillError
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
_MAX_RELEASES: Final = 100
_MAX_LINES: Final = 2_000


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
        problem = facts.public(str(error))
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
    """The SKILL.md of a skill in one release, the newest first; ``digest`` is its."""

    release: str
    digest: str
    current: bool
    changes: str


def versions(library: ServedLibrary, entry: Descriptor) -> tuple[Version, ...]:
    """Return the releases of the skill's source in which it is another one."""
    made: list[Version] = []
    released = [*_released(library, entry)]
    for at, (source, skill) in enumerate(released):
        older = released[at + 1][1] if at + 1 < len(released) else None
        current = source.release == library.skills.catalog.release_of(entry.source)
        if older is not None and older.digest == skill.digest and not current:
            continue
        if older is None:
            changes = "the first release here that has it"
        else:
            changes = _changes(older, skill) or "nothing changed in this skill"
        made.append(Version(source.release, skill.digest, current, changes))
    return tuple(made)


def _released(
    library: ServedLibrary, entry: Descriptor
) -> Iterator[tuple[ReleaseSource, Any]]:
    """Yield the skill in each release of its source, the current one first."""
    source = library.skills.registry.sources.get(entry.source)
    if not isinstance(source, ReleaseSource):
        return
    for release in source.history()[:_MAX_RELEASES]:
        try:
            skills = release.open().skills
        except SkillError:
            continue  # a damaged release hides no other
        for skill in skills:
            if skill.id == entry.origin.key:
                yield release, skill


def _changes(old: Any, new: Any) -> str:  # noqa: ANN401 - a skill of a release
    before, after = ({f.path: f.digest for f in one.resources} for one in (old, new))
    words = (
        ("added", after.keys() - before.keys()),
        ("removed", before.keys() - after.keys()),
        ("changed", {p for p in after if before.get(p, after[p]) != after[p]}),
    )
    return "; ".join(f"{word} {', '.join(sorted(x))}" for word, x in words if x)


def difference(
    library: ServedLibrary, entry: Descriptor, release: str
) -> list[tuple[str, str]] | None:
    """Return the lines that a release changed, each with what it is; None for none.

    They are those of every text file that the two releases do not share.
    """
    released = [*_released(library, entry)]
    for at, (source, skill) in enumerate(released):
        if source.release == release:
            older = released[at + 1] if at + 1 < len(released) else (source, None)
            lines = list(_difference(entry.origin.key, (source, skill), older))
            return lines[:_MAX_LINES]
    return None


def _difference(
    key: str, new: tuple[ReleaseSource, Any], old: tuple[ReleaseSource, Any]
) -> Iterator[tuple[str, str]]:
    digests = [
        {f.path: f.digest for f in skill.resources} if skill else {}
        for _, skill in (old, new)
    ]
    for path in sorted({*digests[0], *digests[1]}):
        if digests[0].get(path) == digests[1].get(path):
            continue
        texts: list[str] = []
        for (source, _), files in zip((old, new), digests, strict=True):
            data = source.read(key, path, _MAX_CHARS) if path in files else b""
            texts.append(printable(data.decode("utf-8", "replace")))
        yield "file", path
        before, after = texts
        for line in unified_lines(before, after):
            yield _LINES.get(line[:1], "same"), line


_LINES: Final = {"+": "added", "-": "removed", "@": "place"}


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
