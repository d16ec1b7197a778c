"""Cursor's rules to packs: ``.cursor/rules/**/*.mdc``, and the legacy ``.cursorrules``.

Source: cursor.com/docs/context/rules, November 2026: ``description`` lets the agent
choose, ``globs`` (commas between, no quotes needed) attaches a rule to files, and
``alwaysApply`` puts it into every prompt.
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
from satchel.skill_md import boolean

RULES: Final = ".cursor/rules"
LEGACY: Final = ".cursorrules"
ENDING: Final = ".mdc"


def read_cursor(
    path: str,
    dialect: Dialect | None,
    *,
    name: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Conversion]:
    """Yield a pack for each rule: of one file, or of a folder of them.

    Raises:
        ConfigError: The folder holds no rule.
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
    patterns = globs(tree, "globs")
    always = boolean(tree, "alwaysApply")
    known = page.read_as_text("description") + page.generic_name_key()
    known += ["globs"] if patterns else page.read_as_text("globs")
    known += [] if always is None else ["alwaysApply"]
    body, left = as_text_only(page.body, page.path, page.line)
    fields: dict[str, Json] = {"paths": list[Json](patterns)} if patterns else {}
    findings = [*page.findings, *left, *links_out(body, page.path)]
    if always:
        findings.append(always_applied(page.path, page.name))
    return Material(
        source=page.path,
        name=page.name,
        body=body,
        description=page.description,
        when=for_files(patterns, page.description),
        fields=fields,
        metadata={
            **({"alwaysApply": "true"} if always else {}),
            **page.others(known),
        },
        findings=tuple(findings),
    )
