"""A pack's files as text and as Markdown, each read once for all rules."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.errors import SkillError
from satchel.lint.context import Context
from satchel.lint.markdown import Document, read_markdown
from satchel.model import SKILL_FILE, bucket_of
from satchel.spec import body_of
from satchel.text.decoding import decode, is_text

__all__ = [
    "Body",
    "body",
    "bytes_of",
    "document",
    "documents",
    "files_ending",
    "is_template",
    "listed",
    "text_of",
]

_MARKDOWN: Final = (".md", ".markdown")
_TEMPLATES: Final = re.compile(r"(?:\A|/)(?:assets|templates?)/|\.(?:tmpl|template)\b")


class Body(NamedTuple):
    """What stands behind the frontmatter, and the file's line that it begins on."""

    text: str
    line: int

    def line_at(self, at: int) -> int:
        """Return the file's line of a character of the body."""
        return self.line + self.text.count("\n", 0, at)


def body(pack: Context) -> Body:
    """Return the body of SKILL.md."""
    return pack.once(_body)


def _body(pack: Context) -> Body:
    return _behind_frontmatter(pack.text)


def _behind_frontmatter(text: str) -> Body:
    behind = body_of(text)
    return Body(behind, 1 + text.count("\n", 0, len(text) - len(behind)))


def listed(pack: Context) -> frozenset[str]:
    """Return the paths that a load may ask for."""
    return pack.once(_listed)


def _listed(pack: Context) -> frozenset[str]:
    return frozenset((SKILL_FILE, *pack.descriptor.resources))


def bytes_of(pack: Context, path: str) -> bytes:
    """Return a listed file; nothing where it cannot be read, which `readable` says."""
    return pack.once(_bytes_of, path)


def _bytes_of(pack: Context, path: str) -> bytes:
    try:
        return pack.read(path)
    except SkillError:
        return b""


def text_of(pack: Context, path: str) -> str:
    """Return a listed file as text; nothing where it is none, or cannot be read."""
    return pack.text if path == SKILL_FILE else pack.once(_text_of, path)


def _text_of(pack: Context, path: str) -> str:
    data = bytes_of(pack, path)
    return decode(data).text.removeprefix("\ufeff") if is_text(data) else ""


def document(pack: Context, path: str) -> Document:
    """Return a listed file as Markdown, without its frontmatter."""
    return pack.once(_document, path)


def _document(pack: Context, path: str) -> Document:
    if path == SKILL_FILE:
        return read_markdown(*body(pack))
    text = text_of(pack, path)
    if text.startswith("---"):
        return read_markdown(*_behind_frontmatter(text))
    return read_markdown(text)


def documents(pack: Context) -> Iterator[tuple[str, Document]]:
    """Yield SKILL.md and every listed Markdown file, but for templates."""
    yield SKILL_FILE, document(pack, SKILL_FILE)
    for path in files_ending(pack, _MARKDOWN):
        yield path, document(pack, path)


def files_ending(pack: Context, endings: tuple[str, ...]) -> Iterator[str]:
    """Yield the listed files with one of these endings, but for templates."""
    for path in pack.descriptor.resources:
        if path.lower().endswith(endings) and not is_template(path):
            yield path


def is_template(path: str) -> bool:
    """Tell whether a file is to become another: its links and code are not yet true.

    That is what lies below ``assets/`` or a folder of templates.
    """
    return bucket_of(path) == "assets" or _TEMPLATES.search(path) is not None
