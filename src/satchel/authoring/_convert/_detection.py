"""What lies at a path: packs, role templates, or the files of another program."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from satchel.authoring._convert._formats import AGENTS_MD, FORMATS, ForeignFormat
from satchel.authoring._convert._roles import holds_roles
from satchel.compat import SYSTEM_PROMPT
from satchel.errors import ConfigError, MissingPathError
from satchel.model import SKILL_FILE

Kind: TypeAlias = Literal[
    "packs",
    "roles",
    "agents-md",
    "cursor",
    "copilot",
    "commands",
    "subagents",
    "windsurf",
    "cline",
]

# Files that name the folder they are in.
_OF_A_FOLDER: Final[dict[str, Kind]] = {SKILL_FILE: "packs", SYSTEM_PROMPT: "roles"}
# Endings that many files have: they do not tell a format by themselves.
_COMMON_SUFFIXES: Final = ("", ".md")
# Formats of a kind whose files may have any name where the user names the kind.
_OF_ANY_NAME: Final = (AGENTS_MD[0], ".github/instructions")


class Detected(NamedTuple):
    """What something is, the path to read, and the format where there is one."""

    kind: Kind
    path: str
    form: ForeignFormat | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is one file for all, which is read as AGENTS.md is."""
        return self.form is not None and self.form.whole


def detect(path: str, kind: str = "") -> list[Detected]:
    """Return what to convert at a path: several where one kind has two places.

    Without a ``kind`` it is the only one that is there.
    """
    if not os.path.lexists(path):
        raise MissingPathError(path)
    if Path(path).is_dir():
        things = [thing for thing in _in_folder(path) if kind in ("", thing.kind)]
    else:
        things = [thing for thing in _as_file(path, kind) if kind in ("", thing.kind)]
    kinds = sorted({thing.kind for thing in things})
    if not things:
        things = list(_named_by_user(path, kind))
    if not things:
        raise nothing_there(path, kind)
    if len(kinds) > 1:
        several = ", ".join(kinds)
        raise ConfigError(
            path, f"there is more than one kind: {several}; choose one by --from"
        )
    return things


def nothing_there(path: str, kind: str = "") -> ConfigError:
    what = kind or "a pack, role templates, AGENTS.md, rules, prompts or agents"
    return ConfigError(path, f"expected {what}; nothing of that kind is there")


def _named_by_user(path: str, kind: str) -> Iterator[Detected]:
    """Yield a folder of any name whose Markdown files are what the user says."""
    forms = [form for form in FORMATS if form.kind == kind and form.suffix == ".md"]
    if forms and any(next(Path(path).glob(files), "") for files in _MARKDOWN):
        yield _detected(forms[0], path)


_MARKDOWN: Final = ("*.md", "*/*.md")


def _as_file(path: str, kind: str) -> Iterator[Detected]:
    """Yield what a file is by its name, else by its place, else what the user says."""
    name = path.rpartition("/")[2]
    if name in _OF_A_FOLDER:
        folder = path.removesuffix(name).rstrip("/") or os.curdir
        yield Detected(_OF_A_FOLDER[name], folder)
        return
    inside = f"/{path}".rpartition("/")[0] + "/"
    for form in FORMATS:
        named = form.suffix not in _COMMON_SUFFIXES and name.endswith(form.suffix)
        if form.whole:
            named = name == form.place.rpartition("/")[2]
        if named or f"/{form.place}/" in inside:
            yield _detected(form, path)
            return
    # Any name will do for a kind that the user names, unless its files have an suffix
    # of their own.
    for form in FORMATS:
        plain = form.suffix == ".md" or form.place in _OF_ANY_NAME
        if form.kind == kind and plain:
            yield _detected(form, path)
            return


def _detected(form: ForeignFormat, path: str) -> Detected:
    return Detected(cast("Kind", form.kind), path, form)


def _in_folder(path: str) -> Iterator[Detected]:
    nothing = True
    if holds_roles(path):
        nothing = False
        yield Detected("roles", path)
    # Projects often have AGENTS.md and CLAUDE.md with the same text: one is enough.
    agents_md = False
    for form in FORMATS:
        if form.kind == "agents-md" and agents_md:
            continue
        place = _place_in(path, form)
        if place is not None:
            nothing, agents_md = False, agents_md or form.kind == "agents-md"
            yield _detected(form, place)
    # A project is searched for packs only where it is nothing else.
    packs = Path(path, SKILL_FILE).is_file() or any(Path(path).glob(f"*/{SKILL_FILE}"))
    if nothing or packs:
        yield Detected("packs", path)


def _place_in(path: str, form: ForeignFormat) -> str | None:
    """Return where a project has files of a format: at the path itself, or below it."""
    whole = path.rstrip("/") or "/"
    inner = f"{whole}/{form.place}" if whole != os.curdir else form.place
    if form.whole:
        return inner if os.path.lexists(inner) and not Path(inner).is_dir() else None
    if Path(inner).is_dir():
        return inner
    own = f"/{Path(path).absolute().as_posix()}"
    ended = form.suffix not in _COMMON_SUFFIXES and any(
        Path(path).glob(f"*{form.suffix}")
    )
    return path if own.endswith(f"/{form.place}") or ended else None
