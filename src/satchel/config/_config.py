"""satchel.toml, or the table tool.satchel of pyproject.toml, as a value."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from satchel.errors import ConfigError
from satchel.model import (
    DEFAULT_LIMITS,
    DEFAULT_LINT,
    FailOn,
    Level,
    Limits,
    LintConfig,
    OnConflict,
    Style,
    Thresholds,
)

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.skill_md import Profile


def check_keys(
    table: Mapping[str, object], allowed: Collection[str], path: str, kind: str = "key"
) -> None:
    for key in table:
        if key not in allowed:
            from satchel.text import nearest

            close = nearest(key, sorted(allowed), 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            among = ", ".join(sorted(allowed))
            raise ConfigError(path, f"unknown {kind} {key!r}; {hint}known: {among}")


def strings(
    table: Mapping[str, object], key: str, path: str, *, shown: str = ""
) -> tuple[str, ...]:
    value = table.get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        detail = f"{shown or key}: expected a list of strings; got {value!r}"
        raise ConfigError(path, detail)
    return texts


def flag(table: Mapping[str, object], key: str, path: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(path, f"{key}: expected true or false; got {value!r}")
    return value


def choice(value: object, choices: Collection[str], path: str, shown: str) -> str:
    if not isinstance(value, str) or value not in choices:
        from satchel.text import nearest

        among = ", ".join(choices)
        close = nearest(value, [*choices], 1) if isinstance(value, str) else []
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ConfigError(path, f"{shown} = {value!r}; {hint}expected one of {among}")
    return value


def count(value: object, path: str, shown: str) -> int:
    # To Python a bool is an int.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(path, f"{shown}: expected a count; got {value!r}")
    return value


def table_of(table: Mapping[str, object], key: str, path: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(path, f"{key}: expected a table; got {value!r}")
    return cast("dict[str, Any]", value)


_LINT_KEYS: Final = tuple(field.name for field in fields(LintConfig))
_LINT_PROFILES: Final = ("dialect", "strict", "spec", "lenient", "auto")
_LINT_THRESHOLDS: Final = frozenset(field.name for field in fields(Thresholds))


def lint_config(table: Mapping[str, object], path: str) -> LintConfig:
    """Return the table as a value; whether a code exists is not asked here."""
    check_keys(table, _LINT_KEYS, path, "key in lint")
    words: dict[str, str] = {}
    for key, choices in (("profile", _LINT_PROFILES), ("fail_on", get_args(FailOn))):
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
    check_keys(given, _LINT_THRESHOLDS, path, "key in lint.thresholds")
    return tuple(
        (key, count(value, path, f"lint.thresholds.{key}"))
        for key, value in given.items()
    )


CONFIG_FILE: Final = "satchel.toml"
_PROJECT_FILE: Final = "pyproject.toml"
# The default budget of a catalog section: 2 % of a window of 200,000 tokens, which is
# what Codex gives its list of skills.
BUDGET_TOKENS: Final = 4000
# The words that a setting takes, in a file as in code.
CHOICES: Final = {
    "profile": ("strict", "spec", "lenient", "auto"),
    "on_conflict": get_args(OnConflict),
    "style": get_args(Style),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a configuration file says; defaults where it is silent.

    ``skills`` are folders, already joined to the folder of the file. ``packages`` is
    True for every installed package that offers skills, else a tuple of names.
    ``prefix`` goes in front of the ids of ``skills``: of all, or by folder.
    ``budget_tokens`` is None for no budget. ``allow_private`` lets addresses among
    ``skills`` lead to this machine and its network. ``layers`` are the folders of the
    layers that are named, by layer; None where there are no layers. ``index`` is the
    file of the index, whether there is one, or None where the program decides. ``lint``
    is for `satchel check` alone.
    """

    path: str = ""
    skills: tuple[str, ...] = ()
    prefix: str | Mapping[str, str] = ""
    packages: tuple[str, ...] | bool = ()
    layers: tuple[tuple[str, str], ...] | None = None
    usual: bool = False
    trust: bool = False
    allow_private: bool = False
    disabled: tuple[str, ...] = ()
    profile: "Profile" = "auto"
    on_conflict: OnConflict = "error"
    style: Style = "lean"
    budget_tokens: int | None = BUDGET_TOKENS
    limits: Limits = DEFAULT_LIMITS
    index: str | bool | None = None
    lint: LintConfig = DEFAULT_LINT


def names_in(environ: Mapping[str, str], variable: str) -> tuple[str, ...]:
    """Return the names that a variable holds: a JSON array, or separated by commas."""
    text = environ.get(variable, "").strip()
    if not text.startswith("["):
        return tuple(name for part in text.split(",") if (name := part.strip()))
    import json

    try:
        given = cast("list[object]", json.loads(text))
    # Deeply nested JSON ends in a RecursionError.
    except (ValueError, RecursionError):
        given = [None]
    names = tuple(part for part in given if isinstance(part, str))
    if len(names) != len(given):
        raise ConfigError(
            variable, f"expected a JSON array of strings; got {text[:80]!r}"
        )
    return tuple(name for part in names if (name := part.strip()))


def find_config(start: "Path") -> "Path | None":
    """Return the nearest file that configures Satchel, from ``start`` upwards.

    In each folder satchel.toml goes before a pyproject.toml with a ``tool.satchel``.
    """
    for folder in (start, *start.parents):
        own = folder / CONFIG_FILE
        if own.is_file():
            return own
        project = folder / _PROJECT_FILE
        # Most projects have a pyproject.toml that is not about skills.
        if project.is_file() and _table(project) is not None:
            return project
    return None


def load_config(path: "Path") -> Config:
    """Read one configuration file; of a pyproject.toml its table ``tool.satchel``.

    Raises:
        ConfigError: It cannot be read, is no TOML, or has a key or a value that is
            not known; names the key.
    """
    table = _table(path)
    if table is None:
        raise ConfigError(str(path), "there is no table [tool.satchel]")
    return _config(table, path)


def _table(path: "Path") -> Mapping[str, object] | None:
    import tomllib

    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        detail = f"it is not UTF-8: byte {error.start + 1} is no text; save it as UTF-8"
        raise ConfigError(str(path), detail) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(str(path), str(error)) from error
    if path.name != _PROJECT_FILE:
        return document
    table: object = document
    for key in ("tool", "satchel"):
        if not isinstance(table, dict):
            return None
        table = cast("dict[str, object]", table).get(key)
    return cast("dict[str, object]", table) if isinstance(table, dict) else None


def _config(table: Mapping[str, object], file: "Path") -> Config:
    path = str(file)
    check_keys(table, {field.name for field in fields(Config)} - {"path"}, path)
    for key, choices in CHOICES.items():
        if key in table:
            choice(table[key], choices, path, key)
    limits = table_of(table, "limits", path)
    check_keys(limits, {field.name for field in fields(Limits)}, path, "limit")
    return Config(
        path=path,
        skills=tuple(
            _joined_path(string, file) for string in strings(table, "skills", path)
        ),
        prefix=_prefix(table, file),
        packages=(
            table["packages"] is True
            if isinstance(table.get("packages"), bool)
            else strings(table, "packages", path)
        ),
        layers=_layers(table, file),
        usual=flag(table, "usual", path),
        trust=flag(table, "trust", path),
        allow_private=flag(table, "allow_private", path),
        disabled=strings(table, "disabled", path),
        profile=cast("Profile", table.get("profile", "auto")),
        on_conflict=cast("OnConflict", table.get("on_conflict", "error")),
        style=cast("Style", table.get("style", "lean")),
        budget_tokens=_budget(table, path),
        limits=Limits(
            **{key: count(size, path, f"limits.{key}") for key, size in limits.items()}
        ),
        index=_index(table, file),
        lint=lint_config(table_of(table, "lint", path), path),
    )


def _joined_path(written: str, file: "Path") -> str:
    # As a path it would lose a slash.
    if written.startswith(("https://", "http://")):
        return written
    return os.path.normpath(file.parent / written)


def _prefix(table: Mapping[str, object], file: "Path") -> str | Mapping[str, str]:
    value = table.get("prefix", "")
    if isinstance(value, str):
        return value
    prefixes: dict[str, str] = {}
    for place, prefix in table_of(table, "prefix", str(file)).items():
        if not isinstance(prefix, str):
            detail = f"prefix.{place!r}: expected a text; got {prefix!r}"
            raise ConfigError(str(file), detail)
        prefixes[_joined_path(place, file)] = prefix
    return prefixes


def _budget(table: Mapping[str, object], path: str) -> int | None:
    value = table.get("budget_tokens", BUDGET_TOKENS)
    # TOML has no null.
    if value == "none":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        detail = f'budget_tokens: expected a count from 1 or "none"; got {value!r}'
        raise ConfigError(path, detail)
    return value


def _index(table: Mapping[str, object], file: "Path") -> str | bool | None:
    value = table.get("index")
    if value == "none":
        return False
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str) or not value:
        detail = f'index: expected a path, "none", true or false; got {value!r}'
        raise ConfigError(str(file), detail)
    return _joined_path(value, file)


def _layers(
    table: Mapping[str, object], file: "Path"
) -> tuple[tuple[str, str], ...] | None:
    if "layers" not in table:
        return None
    named = table_of(table, "layers", str(file))
    check_keys(named, ("base", "team", "user"), str(file), "layer")
    for layer, folder in named.items():
        if not isinstance(folder, str) or not folder:
            detail = f"layers.{layer}: expected a folder; got {folder!r}"
            raise ConfigError(str(file), detail)
    return tuple(
        (layer, os.path.normpath(file.parent / folder))
        for layer, folder in named.items()
    )
