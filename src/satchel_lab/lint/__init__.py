"""Lint: findings on packs that can be read, for their authors."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel_lab.lint._context import (
    DEFAULT_THRESHOLDS as DEFAULT_THRESHOLDS,
    LintContext as LintContext,
    LintRule as LintRule,
    Neighbour as Neighbour,
)
from satchel_lab.lint._english import is_english as is_english
from satchel_lab.lint._markdown import read_markdown as read_markdown
from satchel_lab.lint._programs import PythonReader as PythonReader
from satchel_lab.lint._report import (
    SCHEMA_VERSION as SCHEMA_VERSION,
    CheckReport as CheckReport,
    LibraryChange as LibraryChange,
    Likeness as Likeness,
    NewExecutable as NewExecutable,
    SimilarPacks as SimilarPacks,
    SkillFix as SkillFix,
    any_fails as any_fails,
    fingerprint as fingerprint,
    without_repeats as without_repeats,
)
from satchel_lab.lint._reporters._formats import (
    FORMATS as FORMATS,
    Format as Format,
    TextOptions as TextOptions,
    as_json as as_json,
    line_reader as line_reader,
    render_report as render_report,
)
from satchel_lab.lint._rules._all import (
    RULES as RULES,
    lint_pack as lint_pack,
    rules_for as rules_for,
)
from satchel_lab.lint._rules.syntax import sound_in as sound_in
from satchel_lab.lint._settings import (
    DECEIVING as DECEIVING,
    NEVER_IGNORED as NEVER_IGNORED,
    ON_REQUEST as ON_REQUEST,
    REVIEWED as REVIEWED,
    InlineIgnores as InlineIgnores,
    LintSettings as LintSettings,
    aliases as aliases,
    codes_named as codes_named,
    read_inline_ignores as read_inline_ignores,
    settings_of as settings_of,
)

if TYPE_CHECKING:
    from satchel_lab.lint._fixes import FIXABLE as FIXABLE, fix_skill as fix_skill
    from satchel_lab.lint._reporters.text import lines_of as lines_of

__getattr__ = lazy_door(
    __name__,
    {
        "_fixes": "FIXABLE fix_skill",
        "_reporters.text": "lines_of",
    },
)
