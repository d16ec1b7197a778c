"""What a check was told: which codes count, how much each weighs, and thresholds."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import ConfigError
from satchel.lint.aliases import codes_named
from satchel.lint.globs import glob_pattern
from satchel.lint.pages import UnknownCodeError
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.model.lint import (
    DEFAULT_LINT,
    DEFAULT_THRESHOLDS,
    STRICT_BODY_BYTES,
    FailOn,
    Level,
    LintConfig,
    Thresholds,
)

if TYPE_CHECKING:
    from satchel.lint.context import Rule
    from satchel.model import Finding, Severity
    from satchel.spec import Profile

__all__ = [
    "COMMAND_LINE",
    "DEFAULT_SETTINGS",
    "DEFAULT_THRESHOLDS",
    "Settings",
    "Thresholds",
    "settings_of",
    "thresholds_for",
]

COMMAND_LINE: Final = "the command line"


def thresholds_for(profile: str, given: Mapping[str, int] | None = None) -> Thresholds:
    """Return the thresholds of a profile, with those that were given in their place."""
    base = DEFAULT_THRESHOLDS
    if profile == "strict":
        base = replace(base, body_bytes=STRICT_BODY_BYTES)
    return replace(base, **given) if given else base


STRICT_THRESHOLDS: Final = thresholds_for("strict")


def _no_levels() -> "Mapping[str, Level]":
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How findings are judged, every code by the name that it has here.

    ``select`` is None for every code. ``per_path`` holds patterns that match a whole
    path, relative to the folder ``base``, with the codes that are off there.
    ``strict_thresholds`` are those of packs of the strict dialect, where each is judged
    by its own. ``limits`` are those of the same file: what a check reads, a run reads
    too. ``told_by`` says who turned anything off, for people.
    """

    profile: "Profile" = "dialect"
    fail_on: FailOn = "error"
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: "Mapping[str, Level]" = field(default_factory=_no_levels)
    per_path: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = ()
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    strict_thresholds: Thresholds = STRICT_THRESHOLDS
    limits: Limits = DEFAULT_LIMITS
    base: str = ""
    told_by: str = ""

    def wants(self, code: str) -> bool:
        """Tell whether findings of this code count anywhere."""
        if self.severity.get(code) == "off" or code in self.ignore:
            return False
        return self.select is None or code in self.select

    def asks(self, rule: "Rule") -> bool:
        """Tell whether a rule may say anything that counts."""
        return not rule.codes or any(self.wants(code) for code in rule.codes)

    def judge(self, finding: "Finding") -> "Finding | None":
        """Return a finding as it counts, None where it was turned off."""
        if not self.wants(finding.code) or self._is_off_at(finding):
            return None
        level = self.severity.get(finding.code, finding.severity)
        same = level in {"off", finding.severity}
        return finding if same else replace(finding, severity=cast("Severity", level))

    def _is_off_at(self, finding: "Finding") -> bool:
        if not any(finding.code in codes for _, codes in self.per_path):
            return False
        # Strings, since this is asked of every finding of a large library.
        path = os.path.relpath(finding.path, self.base)
        path = path.replace(os.sep, "/")
        return any(
            finding.code in codes and pattern.fullmatch(path)
            for pattern, codes in self.per_path
        )


DEFAULT_SETTINGS: Final = Settings()


def settings_of(  # noqa: PLR0913 - what a file says, and what a command line may add
    config: LintConfig = DEFAULT_LINT,
    path: str = "",
    *,
    profile: "Profile | None" = None,
    fail_on: FailOn | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Settings:
    """Return settings from the file at ``path`` and from what was said beside it.

    What was said beside it goes before the file: a profile, a severity that fails, a
    selection in place of the file's. A code that is selected beside it counts even
    where the file turns it off; what is ignored beside it is ignored as well.

    Raises:
        ConfigError: A code is not known; it names close ones.
    """
    wanted = _named(select, COMMAND_LINE)
    unwanted = _named(ignore, COMMAND_LINE)
    off = _named(config.ignore, path) - wanted
    levels: dict[str, Level] = {
        code: level
        for name, level in config.severity
        for code in _named((name,), path)
        if level != "off" or code not in wanted
    }
    chosen = wanted or _named(config.select, path)
    kind = cast("Profile", profile or config.profile or "dialect")
    by_file = off or config.per_path or config.select or "off" in levels.values()
    told = [os.path.basename(path)] if by_file else []  # noqa: PTH119
    told += [COMMAND_LINE] if wanted or unwanted else []
    return Settings(
        profile=kind,
        fail_on=fail_on or cast("FailOn", config.fail_on or "error"),
        select=chosen or None,
        ignore=off | unwanted,
        severity=levels,
        per_path=tuple(
            (glob_pattern(glob), _named(names, path)) for glob, names in config.per_path
        ),
        thresholds=thresholds_for(kind, dict(config.thresholds)),
        strict_thresholds=thresholds_for("strict", dict(config.thresholds)),
        limits=limits,
        base=os.path.dirname(os.path.abspath(path)) if path else "",  # noqa: PTH100, PTH120
        told_by=" and ".join(told),
    )


def _named(names: Iterable[str], where: str) -> frozenset[str]:
    """Return the codes that names mean; several may stand in one, between commas."""
    try:
        return frozenset(
            code
            for text in names
            for name in text.split(",")
            if name.strip()
            for code in codes_named(name.strip())
        )
    except UnknownCodeError as error:
        raise ConfigError(where, str(error)) from error
