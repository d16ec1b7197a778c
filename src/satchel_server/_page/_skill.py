"""One skill as the page shows it: its files, and what other products say of it."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from satchel.errors import ProductMissingError, SkillError
from satchel.model import SKILL_FILE, Descriptor, Limits, Loaded
from satchel.products import PANELS, import_product
from satchel.runtime import View
from satchel_server._page._body import body_html
from satchel_server._page._facts import LibraryFacts
from satchel_server._page._templates import page_url

if TYPE_CHECKING:
    from satchel.protocols import Panel, PanelRow


class ShownFile(NamedTuple):
    """A file, and its HTML if it is Markdown that can be shown so."""

    loaded: Loaded
    html: Markup | None


def shown_file(view: View, entry: Descriptor, path: str, *, plain: bool) -> ShownFile:
    """Return a file to look at, which is no load; ``plain`` is without HTML.

    Raises:
        SkillError: As for a load.
    """
    loaded = view.load(entry.id, None if path == SKILL_FILE else path, as_="look")
    text = loaded.body if loaded.is_instructions else loaded.text
    is_markdown = loaded.is_instructions or path.lower().endswith((".md", ".markdown"))
    if plain or not is_markdown:
        return ShownFile(loaded, None)
    url_of = partial(_file_url, loaded.descriptor)
    return ShownFile(loaded, body_html(text, url_of, loaded.file))


def _file_url(entry: Descriptor, path: str) -> str | None:
    if path == SKILL_FILE:
        return page_url("skills", entry.id)
    there = path in entry.resources
    return page_url("skills", entry.id, "files", *path.split("/")) if there else None


class PanelText(NamedTuple):
    """A panel of another product, by its key; ``absent`` says why it has no rows."""

    key: str
    title: str
    rows: "Sequence[PanelRow]" = ()
    absent: str = ""


def panel_texts(
    facts: LibraryFacts, limits: Limits, entry: Descriptor
) -> Iterator[PanelText]:
    """Yield what other products say of a skill; they read the pack."""
    for key, (title, module) in PANELS.items():
        try:
            panel: Panel = import_product(module, title).PANELS[key]
            yield PanelText(key, title, panel.rows(entry, facts.catalog, limits))
        except ProductMissingError as error:
            yield PanelText(key, title, absent=str(error))
        except SkillError as error:
            yield PanelText(key, title, absent=facts.public(str(error)))
