"""Lint: findings on packs that can be read, for their authors; a file for each rule."""

from typing import TYPE_CHECKING

from satchel._lazy import lazy_door
from satchel.lint._context import LintContext, LintRule, Neighbour as Neighbour
from satchel.lint._markdown import read_markdown as read_markdown
from satchel.lint._report import (
    CheckReport,
    LibraryChange as LibraryChange,
    Likeness as Likeness,
    NewExecutable as NewExecutable,
    SimilarPacks as SimilarPacks,
    SkillFix as SkillFix,
    fingerprint,
    without_repeats as without_repeats,
)
from satchel.lint._reporters._formats import (
    FORMATS,
    Format,
    TextOptions as TextOptions,
    as_json as as_json,
    line_reader as line_reader,
    render_report,
    safe_in_log as safe_in_log,
)
from satchel.lint._reporters.json import SCHEMA_VERSION as SCHEMA_VERSION
from satchel.lint._rules._all import RULES, lint_pack, rules_for as rules_for
from satchel.lint._settings import (
    NEVER_IGNORED as NEVER_IGNORED,
    InlineIgnores as InlineIgnores,
    LintSettings,
    aliases as aliases,
    codes_named as codes_named,
    read_inline_ignores as read_inline_ignores,
    settings_of,
)

if TYPE_CHECKING:
    from satchel.lint._fixers import FIXABLE as FIXABLE
    from satchel.lint._fixes import fix_skill as fix_skill
    from satchel.lint._reporters.text import (
        lines_of as lines_of,
        render_statistics as render_statistics,
    )

__all__ = [
    "FORMATS",
    "RULES",
    "CheckReport",
    "Format",
    "LintContext",
    "LintRule",
    "LintSettings",
    "fingerprint",
    "lint_pack",
    "render_report",
    "settings_of",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_fixers": "FIXABLE",
        "_fixes": "fix_skill",
        "_reporters.text": "lines_of render_statistics",
    },
)
