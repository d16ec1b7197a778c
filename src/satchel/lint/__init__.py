"""Lint: what is worth telling an author about a pack that can be read.

Whether a pack can be read at all is found out before: by its source, by ``spec`` and
by ``catalog``. The rules here look further, one rule a file, and know neither where a
pack came from nor how a report is printed.
"""

from satchel.lint.baseline import Baseline, read_baseline
from satchel.lint.context import Context, Rule
from satchel.lint.pages import UnknownCodeError, codes, read_page, title_of
from satchel.lint.report import FailOn, Report, fingerprint
from satchel.lint.reporters import FORMATS, Format, render_report
from satchel.lint.rules import RULES, lint_pack, rules_for

__all__ = [
    "FORMATS",
    "RULES",
    "Baseline",
    "Context",
    "FailOn",
    "Format",
    "Report",
    "Rule",
    "UnknownCodeError",
    "codes",
    "fingerprint",
    "lint_pack",
    "read_baseline",
    "read_page",
    "render_report",
    "rules_for",
    "title_of",
]
