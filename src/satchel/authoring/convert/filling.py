"""Placeholders of a pack, filled for the client that it is made for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from satchel.authoring.convert.draft import Conversion, File
from satchel.model import SKILL_FILE
from satchel.roles.template import fill
from satchel.spec.fences import span_of_bytes

__all__ = ["filled"]

_TEXT_ENDING: Final = ".md"


def filled(conversion: Conversion, values: Mapping[str, str]) -> Conversion:
    """Return the conversion with ``{{NAME}}`` filled in the body and in Markdown files.

    A name without a value stays as it is, and so does the frontmatter: a value could
    make other fields of it. A file that is no UTF-8 is left alone.
    """
    draft = conversion.draft
    if draft is None or not values:
        return conversion
    files = tuple(_filled(file, values) for file in draft.files)
    return replace(conversion, draft=replace(draft, files=files))


def _filled(file: File, values: Mapping[str, str]) -> File:
    if not file.path.endswith(_TEXT_ENDING):
        return file
    span = span_of_bytes(file.data) if file.path == SKILL_FILE else None
    start = span.body if span else 0
    try:
        text = file.data[start:].decode()
    except UnicodeDecodeError:
        return file
    new = fill(text, values)
    if new == text:
        return file
    return replace(file, data=file.data[:start] + new.encode("utf-8", "replace"))
