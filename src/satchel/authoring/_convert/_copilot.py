"""GitHub Copilot's instructions to packs.

``.github/copilot-instructions.md`` is read as AGENTS.md is; the files
``.github/instructions/**/*.instructions.md`` have fields.

Source: docs.github.com, "Adding repository custom instructions for GitHub Copilot",
and code.visualstudio.com/docs/copilot/customization/custom-instructions, November 2026:
``applyTo`` has patterns with commas between, ``excludeAgent`` keeps one agent off, and
VS Code shows ``name`` and ``description``.
"""

from collections.abc import Iterator
from typing import Final

from satchel.authoring._convert._builder import (
    Material,
    always_applied,
    build_pack,
    for_files,
)
from satchel.authoring._convert._markup import as_text_only
from satchel.authoring._convert._page import ForeignPage, globs, links_out, pages_at
from satchel.authoring._convert._values import Conversion, Dialect
from satchel.model import DEFAULT_LIMITS, Json, Limits

WHOLE: Final = ".github/copilot-instructions.md"
INSTRUCTIONS: Final = ".github/instructions"
ENDING: Final = ".instructions.md"
_EVERY_FILE: Final = ("**", "**/*", "*")


def read_copilot(
    path: str,
    dialect: Dialect | None,
    *,
    name: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Conversion]:
    """Yield a pack for each file of instructions: of one file, or of a folder of them.

    Raises:
        ConfigError: The folder holds none.
    """
    for page in pages_at(path, ENDING, limits, name):
        made = (
            page
            if isinstance(page, Conversion)
            else build_pack(_material(page), dialect)
        )
        yield made


def _material(page: ForeignPage) -> Material:
    tree = page.fields
    patterns = globs(tree, "applyTo")
    always = any(pattern in _EVERY_FILE for pattern in patterns)
    description = page.description
    known = page.read_as_text("description") + page.generic_name_key()
    known += ["applyTo"] if patterns else page.read_as_text("applyTo")
    body, left = as_text_only(page.body, page.path, page.line)
    findings = [*page.findings, *left, *links_out(body, page.path)]
    if always:
        findings.append(always_applied(page.path, page.name))
    fields: dict[str, Json] = {}
    if patterns and not always:
        fields["paths"] = list[Json](patterns)
    return Material(
        source=page.path,
        name=page.name,
        body=body,
        description=description,
        when="" if always else for_files(patterns, description),
        fields=fields,
        metadata={
            **({"applyTo": ", ".join(patterns)} if always else {}),
            **page.others(known),
        },
        findings=tuple(findings),
    )
