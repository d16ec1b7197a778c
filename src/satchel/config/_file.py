"""satchel.toml, or the table tool.satchel of pyproject.toml, as a value.

A project's file was written by others, as the project was. So it says what is inside
of the project, and sets nothing looser than the user did; the rest is for the user's
own file. docs/explanation/cloned-repositories.md lists what that comes to.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, get_args

from satchel.config._owner import doubt_of, is_inside
from satchel.config._values import (
    BUDGET_TOKENS,
    CHOICES,
    NAME_SKILLS,
    Config,
    did_you_mean,
)
from satchel.errors import ConfigError, echo
from satchel.model import (
    CONFIG_FILE,
    FailOn,
    Level,
    Limits,
    LintConfig,
    OnConflict,
    Style,
    Thresholds,
)

if TYPE_CHECKING:  # it costs start-up time
    from pathlib import Path

    from satchel.skill_md import Profile


def _check_keys(
    table: Mapping[str, object], allowed: Collection[str], path: str, kind: str = "key"
) -> None:
    for key in table:
        if key not in allowed:
            names = sorted(allowed)
            detail = f"unknown {kind} {echo(key)!r}; {did_you_mean(key, names)}known: "
            raise ConfigError(path, detail + ", ".join(names))


def _expect(kind: str, value: object, path: str, shown: str, *, ok: bool) -> None:
    """Raise unless a value is of the kind that is expected."""
    if not ok:
        detail = f"{echo(shown)}: expected {kind}; got {echo(repr(value))}"
        raise ConfigError(path, detail)


def _strings(
    table: Mapping[str, object], key: str, path: str, *, shown: str = ""
) -> tuple[str, ...]:
    value: object = table.get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = tuple(item for item in items if isinstance(item, str))
    is_whole = len(texts) == len(items)
    _expect("a list of strings", table.get(key), path, shown or key, ok=is_whole)
    return texts


def _flag(table: Mapping[str, object], key: str, path: str) -> bool:
    value = table.get(key, False)
    _expect("true or false", value, path, key, ok=isinstance(value, bool))
    return value is True


def _choice(value: object, choices: Collection[str], path: str, shown: str) -> str:
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, [*choices]) if isinstance(value, str) else ""
        detail = f"{echo(shown)} = {echo(repr(value))}; {hint}expected one of "
        raise ConfigError(path, detail + ", ".join(choices))
    return value


def _count(value: object, path: str, shown: str, kind: str = "a count") -> int:
    # To Python a bool is an int.
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    _expect(kind, value, path, shown, ok=is_count)
    return cast("int", value)


def _table_of(table: Mapping[str, object], key: str, path: str) -> dict[str, Any]:
    value = table.get(key, {})
    _expect("a table", value, path, key, ok=isinstance(value, dict))
    return cast("dict[str, Any]", value)


_LINT_KEYS: Final = tuple(field.name for field in fields(LintConfig))
_LINT_PROFILES: Final = ("dialect", "strict", "spec", "lenient", "auto")
_LINT_THRESHOLDS: Final = frozenset(field.name for field in fields(Thresholds))


def _lint_config(table: Mapping[str, object], path: str) -> LintConfig:
    """Return the table as a value; whether a code exists is not asked here."""
    _check_keys(table, _LINT_KEYS, path, "key in lint")
    words: dict[str, str] = {}
    for key, choices in (("profile", _LINT_PROFILES), ("fail_on", get_args(FailOn))):
        if key in table:
            words[key] = _choice(table[key], choices, path, f"lint.{key}")
    severity = _table_of(table, "severity", path)
    globs = _table_of(table, "per_path", path)
    thresholds = _table_of(table, "thresholds", path)
    _check_keys(thresholds, _LINT_THRESHOLDS, path, "key in lint.thresholds")
    levels = get_args(Level)
    return LintConfig(
        **words,
        select=_strings(table, "select", path, shown="lint.select"),
        ignore=_strings(table, "ignore", path, shown="lint.ignore"),
        severity=tuple(
            (code, cast("Level", _choice(level, levels, path, f"lint.severity.{code}")))
            for code, level in severity.items()
        ),
        per_path=tuple(
            (glob, _strings(globs, glob, path, shown=f"lint.per_path.{glob!r}"))
            for glob in globs
        ),
        thresholds=tuple(
            (key, _count(value, path, f"lint.thresholds.{key}"))
            for key, value in thresholds.items()
        ),
    )


_ADDRESSES: Final = ("https://", "http://", "oci://")
_KEYS: Final = frozenset(field.name for field in fields(Config)) - {"path"}
_SIGNING: Final = ("signers", "root", "revoked")
_SIGNER: Final = ("skills", "issuer", "identity", "certificate", "key")
_SIGNER_PATHS: Final = frozenset({"certificate", "key"})
# Where `satchel sync` puts the skills of a table ``[skills]``, next to the file.
_INSTALLED: Final = "./skills"


def _flattened(table: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return a table with ``[skills]`` as their folder, and ``[trust]`` as keys."""
    flat = {**table}
    if isinstance(flat.get("skills"), dict):
        flat["skills"] = [_INSTALLED]
    if isinstance(flat.get("trust"), dict):
        trust: dict[str, Any] = flat.pop("trust")
        names = ("project", "verify", "withdrawn", *_SIGNING)
        _check_keys(trust, names, path, "key in trust")
        flat |= {"trust" if key == "project" else key: trust[key] for key in trust}
    return flat


def _parse_config(table: Mapping[str, object], file: "Path") -> Config:
    """Return a table as a value; paths are joined to the folder of the file."""
    path = str(file)
    _check_keys(table, _KEYS, path)
    for key, choices in CHOICES.items():
        if key in table:
            _choice(table[key], choices, path, key)
    limits = _table_of(table, "limits", path)
    _check_keys(limits, {field.name for field in fields(Limits)}, path, "limit")
    return Config(
        path=path,
        skills=tuple(_joined_path(at, file) for at in _strings(table, "skills", path)),
        prefix=_prefix(table, file),
        packages=(
            table["packages"] is True
            if isinstance(table.get("packages"), bool)
            else _strings(table, "packages", path)
        ),
        layers=_layers(table, file),
        usual=_flag(table, "usual", path),
        trust=_flag(table, "trust", path),
        verify=cast("str", table.get("verify", "")),
        signers=_signers(table, file),
        root=_path(table, "root", file),
        revoked=_strings(table, "revoked", path),
        withdrawn=tuple((one, path) for one in _withdrawn(table, file)),
        allow_private=_flag(table, "allow_private", path),
        disabled=_strings(table, "disabled", path),
        profile=cast("Profile", table.get("profile", "auto")),
        on_conflict=cast("OnConflict", table.get("on_conflict", "error")),
        style=cast("Style", table.get("style", "lean")),
        budget_tokens=_budget(table, path),
        limits=Limits(
            **{key: _count(size, path, f"limits.{key}") for key, size in limits.items()}
        ),
        index=_index(table, file),
        check=cast("str | None", table.get("check")),
        lint=_lint_config(_table_of(table, "lint", path), path),
    )


def _joined_path(written: str, file: "Path") -> str:
    # As a path it would lose a slash.
    if written.startswith(_ADDRESSES):
        return written
    return os.path.normpath(file.parent / os.path.expanduser(written))  # noqa: PTH111 - as above


def _prefix(table: Mapping[str, object], file: "Path") -> str | Mapping[str, str]:
    value = table.get("prefix", "")
    if isinstance(value, str):
        return value
    prefixes: dict[str, str] = {}
    for place, prefix in _table_of(table, "prefix", str(file)).items():
        shown = f"prefix.{echo(place)!r}"
        _expect("a text", prefix, str(file), shown, ok=isinstance(prefix, str))
        prefixes[_joined_path(place, file)] = prefix
    return prefixes


def _budget(table: Mapping[str, object], path: str) -> int | None:
    value = table.get("budget_tokens", BUDGET_TOKENS)
    # TOML has no null.
    if value == "none":
        return None
    kind = 'a count from 1 or "none"'
    _expect(kind, value, path, "budget_tokens", ok=bool(value))
    return _count(value, path, "budget_tokens", kind)


def _index(table: Mapping[str, object], file: "Path") -> str | bool | None:
    value = table.get("index")
    if value == "none":
        return False
    if value is None or isinstance(value, bool):
        return value
    is_path = isinstance(value, str) and value != ""
    _expect('a path, "none", true or false', value, str(file), "index", ok=is_path)
    return _joined_path(str(value), file)


def _path(table: Mapping[str, object], key: str, file: "Path") -> str:
    value = table.get(key, "")
    _expect("a path", value, str(file), key, ok=isinstance(value, str))
    return _joined_path(str(value), file) if value else ""


def _is_digest(text: str) -> bool:
    return text.lower().startswith("sha256")  # else it is the path of a list


def _withdrawn(table: Mapping[str, object], file: "Path") -> tuple[str, ...]:
    try:
        texts = _strings(table, "withdrawn", str(file))
    except ConfigError as error:
        line = _line(file.read_text("utf-8-sig"), "withdrawn", "")
        raise ConfigError(str(file), error.detail, line) from None
    return tuple(one if _is_digest(one) else _joined_path(one, file) for one in texts)


def _signers(
    table: Mapping[str, object], file: "Path"
) -> tuple[Mapping[str, Any], ...]:
    rows = table.get("signers", [])
    signers: list[Mapping[str, Any]] = []
    path = str(file)
    for row in cast("list[object]", rows) if isinstance(rows, list) else [rows]:
        signer = _table_of({"signers": row}, "signers", path)
        _check_keys(signer, _SIGNER, path, "key in signers")
        texts = {key: signer[key] for key in signer if key != "skills"}
        for key, text in texts.items():
            _expect("a text", text, path, f"signers.{key}", ok=isinstance(text, str))
        texts |= {key: _path(texts, key, file) for key in _SIGNER_PATHS & texts.keys()}
        signers.append(texts | {"skills": _strings(signer, "skills", path)})
    return tuple(signers)


def _layers(
    table: Mapping[str, object], file: "Path"
) -> tuple[tuple[str, str], ...] | None:
    if "layers" not in table:
        return None
    named = _table_of(table, "layers", str(file))
    _check_keys(named, ("base", "team", "user"), str(file), "layer")
    for layer, folder in named.items():
        is_path = isinstance(folder, str) and folder != ""
        _expect("a folder", folder, str(file), f"layers.{layer}", ok=is_path)
    return tuple((layer, _joined_path(folder, file)) for layer, folder in named.items())


# --- Which files configure Satchel, and what each of them may say ---------------------

_VARIABLE: Final = "SATCHEL_CONFIG"
_PROJECT_FILE: Final = "pyproject.toml"
# Only the user's own file says these; a project's may switch them off. An index is
# believed, so its place is among them, and not whether there is one.
_USERS: Final = ("trust", "allow_private", "packages", "index")
# How loose a value is. Where the user's file says it, a project's may be no looser.
_LOOSENESS: Final[Mapping[str, Callable[[Any], int]]] = {
    "index": lambda value: value is not False,
    "check": lambda value: CHOICES["check"].index(value or "files"),
    "verify": (*CHOICES["verify"], "").index,
    "budget_tokens": lambda value: value or sys.maxsize,
    "on_conflict": ("error", "precedence").index,
    "profile": ("strict", "spec", "auto", "lenient").index,
}


class _File(NamedTuple):
    """A file; ``table`` is None where nothing is about Satchel.

    ``doubt`` says why it may not be from those who made the project.
    """

    path: "Path"
    text: str
    table: Mapping[str, Any] | None
    doubt: str


def _read(path: "Path") -> _File:
    import tomllib

    try:
        with path.open("rb") as file:
            # A link, and what it leads to: either can be another user's.
            owners = path.lstat().st_uid, os.fstat(file.fileno()).st_uid
            text = file.read().decode("utf-8-sig")
        table: Any = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        detail = f"it is not UTF-8: byte {error.start + 1} is no text; save it as UTF-8"
        raise ConfigError(str(path), detail) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(str(path), str(error)) from error
    for key in ("tool", "satchel") if path.name == _PROJECT_FILE else ():
        is_table = isinstance(table, dict)
        table = cast("dict[str, object]", table).get(key) if is_table else None
    doubt = doubt_of(path, *owners)
    if not isinstance(table, dict):
        return _File(path, text, None, doubt)
    flat = _flattened(cast("dict[str, Any]", table), str(path))
    return _File(path, text, flat, doubt)


class _Own(NamedTuple):
    """What the user's own file says of a project; ``project`` is by name, or None."""

    path: "Path"
    table: Mapping[str, Any]
    project: Mapping[str, Any] | None = None


def _own(environ: Mapping[str, str] | None, folder: str) -> _Own:
    from pathlib import Path

    from platformdirs import user_config_path

    named = (os.environ if environ is None else environ).get(_VARIABLE, "").strip()
    usual = user_config_path("satchel", appauthor=False) / CONFIG_FILE
    path = usual if named in {"", "none"} else Path(named).expanduser()
    if named == "none" or not (named or path.is_file()):
        return _Own(path, {})
    file = _read(path)
    if "another user" in file.doubt:
        raise ConfigError(str(path), f"{file.doubt}; name your own in {_VARIABLE}")
    table = {**(file.table or {})}
    projects = _table_of(table, "projects", str(path))
    table.pop("projects", None)
    for place in projects:
        if os.path.realpath(Path(place).expanduser()) == os.path.realpath(folder):
            project = _flattened(_table_of(projects, place, str(path)), str(path))
            # What is withdrawn everywhere, no table for one project takes back.
            lists = [*_withdrawn(table, path), *_withdrawn(project, path)]
            return _Own(path, table | project | {"withdrawn": lists}, project)
    return _Own(path, table)


def own_config(environ: Mapping[str, str] | None) -> Config:
    """Return what the user's own file says, whatever a project's does."""
    own = _own(environ, os.curdir)
    return _parse_config(own.table, own.path)


def find_config(
    start: "Path", environ: Mapping[str, str] | None = None
) -> "Path | None":
    """Return the nearest file that configures Satchel, from ``start`` upwards.

    In each folder satchel.toml goes before a pyproject.toml with a ``tool.satchel``.
    Without either it is the user's own file, where that names skills.
    """
    for folder in (start, *start.parents):
        file = folder / CONFIG_FILE
        if file.is_file():
            return file
        project = folder / _PROJECT_FILE
        # Most projects have a pyproject.toml that is not about skills.
        if project.is_file() and _read(project).table is not None:
            return project
    own = _own(environ, str(start))
    return own.path if any(own.table.get(key) for key in NAME_SKILLS) else None


def load_config(path: "Path", environ: Mapping[str, str] | None = None) -> Config:
    """Read one configuration file, together with the user's own.

    Of a pyproject.toml it is the table ``tool.satchel``. A file that is not the user's
    own is a project's, however it was found or named: it names what is in its folder,
    and sets nothing looser than the user's file or the limits that Satchel has.

    Raises:
        ConfigError: It cannot be read, is no TOML, or has a key or a value that is
            not known, or not for a project's file; names the key.
    """
    file, own = _read(path), _own(environ, str(path.parent))
    if own.table and own.path.samefile(path):
        return own_config(environ)
    if file.table is None:
        raise ConfigError(str(path), "there is no table [tool.satchel]")
    section = f"[projects.{_toml(os.path.realpath(path.parent))}]"
    if file.doubt and own.project is None:
        from shlex import quote

        there, file_there = quote(str(own.path.parent)), quote(str(own.path))
        line = f"mkdir -p {there} && printf '\\n%s\\n' {quote(section)} >> {file_there}"
        detail = f"{file.doubt}, so it is not read; to have it read, type: {line}"
        raise ConfigError(str(path), detail)
    if "lint" in own.table:
        raise ConfigError(str(own.path), "lint: only a project's file says this")
    mine, theirs = _parse_config(own.table, own.path), _parse_config(file.table, path)
    for key, problem, text in _refused(file, own, mine, theirs):
        value = attrgetter(key)(_parse_config(file.table, path.absolute()))
        value = _toml(dict(value) if key == "layers" else value)
        line = echo(f"{key} = {value}", 500)  # it may be huge
        detail = f"{problem}; delete it here"
        # Nobody should copy the signers, or a list, of a stranger.
        if key not in (*_SIGNING, "withdrawn"):
            detail += f", or write {line} below {section} in {own.path}"
        raise ConfigError(str(path), f"{key}: {detail}", _line(file.text, key, text))
    values = {key: getattr(theirs, key) for key in file.table}
    values["disabled"] = mine.disabled + theirs.disabled
    values["limits"] = replace(mine.limits, **file.table.get("limits", {}))
    # Neither a signature nor a lock is worth more: the user asks for one, and the
    # project for the other, too.
    if (mine.verify, theirs.verify) == ("locked", "signed"):
        values["verify"] = "both"
    if theirs.index is True:
        values["index"] = mine.index or True
    values |= {key: getattr(mine, key) for key in own.project or ()}
    values["withdrawn"] = mine.withdrawn + theirs.withdrawn
    return replace(mine, path=str(path), **values)


def _refused(
    file: _File, own: _Own, mine: Config, theirs: Config
) -> Iterator[tuple[str, str, str]]:
    """Yield what a project's file may not say: its key, why, and the place it names."""
    table, users = file.table or {}, own.project or {}
    shared = theirs.usual or any(getattr(mine, key) for key in NAME_SKILLS)
    for key in [key for key in table if key not in users]:
        value, allowed = getattr(theirs, key), getattr(mine, key)
        is_set = key in own.table
        looseness = _LOOSENESS.get(key) if is_set or key == "check" else None
        is_looser = looseness and looseness(value) > looseness(allowed)
        is_users = key in _USERS and value and value not in (allowed, key == "index")
        # To empty one of these is no tightening, either.
        if is_users or key in _SIGNING or (is_looser and not is_set):
            yield key, "only your own settings may say this", ""
        elif is_looser:
            yield key, f"your own settings say {_toml(allowed)}, no looser", ""
        if value == "precedence" and shared and not mine.trust:
            yield key, "its skills would take the places of yours", ""
    for key, value in table.get("limits", {}).items():
        if value > (most := getattr(mine.limits, key)):
            problem = f"only your own settings may raise this limit of {most:,}"
            yield f"limits.{key}", problem, ""
    places = [("skills", text) for text in table.get("skills", ())]
    places += [("layers", text) for text in table.get("layers", {}).values()]
    lists = (text for text in table.get("withdrawn", ()) if not _is_digest(text))
    places += [("withdrawn", text) for text in lists]
    for key, text in places:
        place = _joined_path(text, file.path)
        inside = is_inside(place, file.path) and not place.startswith(_ADDRESSES)
        if not (inside or (key in users and key != "withdrawn")):
            yield key, f"{echo(text)!r} is outside of the project", text


def _line(text: str, key: str, place: str) -> int:
    """Return the line that says it, as far as the text can tell; 0 where it cannot."""
    word = re.escape(key.rpartition(".")[2])
    pattern = re.compile(rf"[^#]*(?<![\w-]){word}[\"']?\s*[=\]]")
    lines = [*enumerate(text.splitlines(), 1)]
    first = next((at for at, line in lines if pattern.match(line)), 0)
    places = (at for at, line in lines if at >= first > 0 and place in line)
    return next(places, first)


def _toml(value: object) -> str:
    """Return a value as TOML has it, a table on one line."""
    value = "none" if value is None else value
    return json.dumps(value, ensure_ascii=False, separators=(", ", " = "))
