"""The table ``lint`` of a configuration file."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final, cast, get_args

from satchel.config._values import choice, count, keys, strings, table_of
from satchel.model.lint import FailOn, Level, LintConfig, Thresholds

__all__ = ["lint_config"]

_KEYS: Final = tuple(field.name for field in fields(LintConfig))
_PROFILES: Final = ("dialect", "strict", "spec", "lenient", "auto")
_THRESHOLDS: Final = frozenset(field.name for field in fields(Thresholds))


def lint_config(table: Mapping[str, object], path: str) -> LintConfig:
    """Return the table as a value; whether a code exists is not asked here.

    Raises:
        ConfigError: A key or the kind of a value is not known; names the key.
    """
    keys(table, _KEYS, path, "key in lint")
    words: dict[str, str] = {}
    for key, choices in (("profile", _PROFILES), ("fail_on", get_args(FailOn))):
        if key in table:
            words[key] = choice(table[key], choices, path, f"lint.{key}")
    return LintConfig(
        **words,
        select=strings(table, "select", path, shown="lint.select"),
        ignore=strings(table, "ignore", path, shown="lint.ignore"),
        severity=_severity(table, path),
        per_path=_per_path(table, path),
        thresholds=_thresholds(table, path),
    )


def _severity(table: Mapping[str, object], path: str) -> tuple[tuple[str, Level], ...]:
    levels = get_args(Level)
    return tuple(
        (code, cast("Level", choice(level, levels, path, f"lint.severity.{code}")))
        for code, level in table_of(table, "severity", path).items()
    )


def _per_path(
    table: Mapping[str, object], path: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    globs = table_of(table, "per_path", path)
    return tuple(
        (glob, strings(globs, glob, path, shown=f"lint.per_path.{glob!r}"))
        for glob in globs
    )


def _thresholds(table: Mapping[str, object], path: str) -> tuple[tuple[str, int], ...]:
    given = table_of(table, "thresholds", path)
    keys(given, _THRESHOLDS, path, "key in lint.thresholds")
    return tuple(
        (key, count(value, path, f"lint.thresholds.{key}"))
        for key, value in given.items()
    )
