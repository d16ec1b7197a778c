"""Placeholders of a pack, filled for the client that it is made for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from satchel.authoring.convert.draft import Conversion, File
from satchel.authoring.convert.markup import run_as_before
from satchel.model import SKILL_FILE, Finding
from satchel.roles.template import fill
from satchel.spec.fences import span_of_bytes

__all__ = ["filled"]

_TEXT_ENDING: Final = ".md"


def filled(
    conversion: Conversion, values: Mapping[str, str], made_in: str = ""
) -> Conversion:
    """Return the conversion with ``{{NAME}}`` filled in the body and in Markdown files.

    A name without a value stays as it is, and so does the frontmatter: a value could
    make other fields of it. A file that is no UTF-8 is left alone.
    """
    draft = conversion.draft
    if draft is None or not values:
        return conversion
    files: list[File] = []
    findings: list[Finding] = []
    place = f"{made_in.rstrip('/')}/{draft.name}" if made_in else conversion.source
    for file in draft.files:
        shown = f"{place}/{file.path}"
        new, found = _filled(file, values, shown)
        files.append(new)
        findings += found
    made = replace(conversion, draft=replace(draft, files=tuple(files)))
    return made.telling(findings)


def _filled(
    file: File, values: Mapping[str, str], shown: str
) -> tuple[File, Sequence[Finding]]:
    if not file.path.endswith(_TEXT_ENDING):
        return file, ()
    span = span_of_bytes(file.data) if file.path == SKILL_FILE else None
    start = span.body if span else 0
    head = file.data[:start]
    try:
        text = file.data[start:].decode()
    except UnicodeDecodeError:
        return file, ()
    new = fill(text, values)
    if new == text:
        return file, ()
    done, findings = run_as_before(text, new, shown, head.count(b"\n"))
    return replace(file, data=head + done.encode("utf-8", "replace")), findings
