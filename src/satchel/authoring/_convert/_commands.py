"""Claude Code's commands to packs: ``.claude/commands/**/*.md``.

Source: code.claude.com/docs/en/skills, November 2026: commands have become skills, and
a command's fields are a skill's: ``description``, ``argument-hint``, ``allowed-tools``,
``model``, ``disable-model-invocation``.
"""

from collections.abc import Iterator
from typing import Final

from satchel.authoring._convert._builder import Material, build_pack
from satchel.authoring._convert._page import ForeignPage, links_out, pages_at
from satchel.authoring._convert._values import Conversion, Dialect
from satchel.model import DEFAULT_LIMITS, Limits

COMMANDS: Final = ".claude/commands"
_ENDING: Final = ".md"


def read_commands(
    path: str,
    dialect: Dialect | None,
    *,
    name: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Conversion]:
    """Yield a pack for each command: of one file, or of a folder of them.

    Raises:
        ConfigError: The folder holds none.
    """
    for page in pages_at(path, _ENDING, limits, name):
        made = (
            page
            if isinstance(page, Conversion)
            else build_pack(_material(page), dialect)
        )
        yield made


def _material(page: ForeignPage) -> Material:
    fields = page.others([*page.read_as_text("description"), "name"])
    known = fields.keys() | {"description"}
    name = page.others([*known, *page.generic_name_key()])
    # A list is no description, and the pack has one of its own at that place.
    odd = {key: fields.pop(key) for key in ["description"] if key in fields}
    return Material(
        source=page.path,
        name=page.name,
        body=page.body,
        description=page.description,
        fields=fields,
        metadata={**name, **odd},
        findings=(*page.findings, *links_out(page.body, page.path)),
    )
