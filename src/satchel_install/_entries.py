"""What a project wants: entries of ``[skills]``, and what users write for them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Literal, cast

from satchel.errors import ConfigError, echo
from satchel.files import folder_problem, is_archive_name, path_problem
from satchel.text import printable

Kind = Literal["git", "archive", "site", "folder", "oci"]
KINDS: Final[tuple[Kind, ...]] = ("git", "archive", "site", "folder", "oci")
_WITH_PATH: Final = ("git", "archive", "folder")
_KEYS: Final = frozenset({*KINDS, "path", "rev", "skills"})
# What `owner/repo` is short for, as with the other tools that install skills.
FORGE: Final = "https://github.com"
_SHORT: Final = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[\w.-]+)(?P<path>(?:/[^@/]+)*)(?:@(?P<rev>[^@]+))?"
)
_SCP: Final = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9.-]+:(?!/)[^\s@]+")
_GIT_ADDRESS: Final = re.compile(r"(?:git\+)?(?:https|http|ssh|git|file)://\S+")
# What an address may have that is nobody else's, before the host and behind it.
_USER: Final = re.compile(r"[^/\s]+@")
_SECRET: Final = re.compile(r"(?i)[?&][\w-]*(token|secret|password|signature|sig)=")
# As git's own rules for names, and none that it could take for an option.
_REV: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+-]*")


@dataclass(frozen=True, slots=True, order=True)
class Upstream:
    """Where skills come from: a kind, its place, and for git a path and a revision.

    ``place`` is an address, or a path as the project's file writes it. ``path`` is a
    folder in it, of which the packs at or below it are meant, or ``.`` for the one at
    its top alone. ``rev`` is a branch, a tag or a commit; empty is what the repository
    shows first.
    """

    kind: Kind
    place: str
    path: str = ""
    rev: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.place, self.path, self.rev)))

    def has(self, path: str) -> bool:
        """Tell whether the pack at a path of the place is meant."""
        return not path if self.path == "." else is_below(path, self.path)


@dataclass(frozen=True, slots=True)
class SkillsEntry:
    """One entry of ``[skills]``: a name, an upstream, patterns of ids; none is all."""

    name: str
    upstream: Upstream
    skills: tuple[str, ...] = ()

    def __str__(self) -> str:
        of = f" ({', '.join(self.skills)})" if self.skills else ""
        return f"{self.upstream}{of}"

    def takes(self, skill_id: str) -> bool:
        """Tell whether the entry wants the skill of an id."""
        return any(fnmatchcase(skill_id, pattern) for pattern in self.skills or ("*",))

    def to_toml(self) -> dict[str, Any]:
        """Return the entry as a table of TOML."""
        of = self.upstream
        table: dict[str, Any] = {of.kind: of.place}
        table |= {key: getattr(of, key) for key in ("path", "rev") if getattr(of, key)}
        return table | ({"skills": [*self.skills]} if self.skills else {})


def parse_entries(table: Mapping[str, object], path: str) -> dict[str, SkillsEntry]:
    """Return the entries of a table ``[skills]``, by name.

    Raises:
        ConfigError: An entry cannot be used; names it.
    """
    return {name: _entry(name, value, path) for name, value in table.items()}


def name_problem(name: str) -> str:
    """Return why an entry cannot be called so; empty if it can."""
    hides = printable(name, keep="") != name
    return folder_problem(name) or "it has hidden characters; delete them" * hides


def _entry(name: str, value: object, file: str) -> SkillsEntry:
    shown = f"skills.{printable(echo(name))}"
    if problem := name_problem(name):
        # It may be written with escapes, which nobody looks for here.
        before, is_there, _ = Path(file).read_text("utf-8-sig").partition(name)
        line = before.count("\n") + 1 if is_there else None
        raise ConfigError(file, f"{shown}: {problem}", line)
    if not isinstance(value, dict):
        detail = 'expected a table such as { git = "https://...", path = "..." }'
        raise ConfigError(file, f"{shown}: {detail}")
    entry = cast("dict[str, object]", value)
    if unknown := sorted(entry.keys() - _KEYS):
        names = ", ".join(sorted(_KEYS))
        raise ConfigError(file, f"{shown}: unknown key {unknown[0]!r}; known: {names}")
    kinds: list[Kind] = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        raise ConfigError(file, f"{shown}: expected one of {', '.join(KINDS)}")
    texts: list[str] = []
    for key in (kinds[0], "path", "rev"):
        text = entry.get(key, "")
        if not isinstance(text, str) or (key == kinds[0] and not text):
            raise ConfigError(file, f"{shown}.{key}: expected a text")
        texts.append(text.removeprefix("oci://") if kinds[0] == "oci" else text)
    patterns = entry.get("skills", [])
    items = cast("list[object]", patterns) if isinstance(patterns, list) else [None]
    skills = tuple(item for item in items if isinstance(item, str))
    if len(skills) != len(items):
        raise ConfigError(file, f"{shown}.skills: expected a list of texts")
    upstream = checked(Upstream(kinds[0], *texts), file, shown)
    return SkillsEntry(name, upstream, skills)


def checked(upstream: Upstream, where: str, shown: str = "") -> Upstream:
    """Return an upstream that can be asked for, or raise what is wrong with it."""
    at = f"{shown}: " if shown else ""
    is_git, place = upstream.kind == "git", upstream.place
    # A name alone is how ssh is addressed; a token would end up in files and logs.
    user, mark, _ = place.partition("://")[2].partition("/")[0].rpartition("@")
    has_user = mark and (":" in user or not place.startswith("ssh://"))
    if has_user or _SECRET.search(place):
        detail = "an address has no user, password or token here; git's own credential "
        detail += "helper, or a .netrc, is where they belong"
        raise ConfigError(where, f"{at}{detail}")
    if upstream.kind == "oci":
        from satchel_install.oci import parse_reference

        parse_reference(f"oci://{upstream.place}")
    if not is_git and upstream.rev:
        raise ConfigError(where, f"{at}rev is for git only")
    if upstream.path and upstream.kind not in _WITH_PATH:
        raise ConfigError(where, f"{at}path is for {', '.join(_WITH_PATH)} only")
    if not place or place.startswith("-") or not place.isprintable():
        raise ConfigError(where, f"{at}{_shown(place)} is no address or path")
    if upstream.path not in {"", "."} and (problem := path_problem(upstream.path)):
        raise ConfigError(where, f"{at}path {echo(upstream.path)!r}: {problem}")
    if upstream.rev and (not _REV.fullmatch(upstream.rev) or ".." in upstream.rev):
        raise ConfigError(where, f"{at}rev {echo(upstream.rev)!r} is no name of git's")
    # Of no other form: what opens no address is taken for a path.
    if "://" in place and not is_git and not place.startswith(("https://", "http://")):
        raise ConfigError(where, f"{at}{_shown(place)}: expected https://... or a path")
    if is_git and not (_GIT_ADDRESS.fullmatch(place) or is_scp(place)):
        detail = "expected https://..., ssh://..., file:///... or user@host:path"
        raise ConfigError(where, f"{at}git {_shown(place)}: {detail}")
    return upstream


def is_below(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or below it; all are below the empty one."""
    return not folder or f"{path}/".startswith(f"{folder}/")


def is_scp(place: str) -> bool:
    """Tell whether this is ``user@host:path``, as ssh and git write it."""
    return _SCP.fullmatch(place) is not None


def parse_source(text: str, rev: str = "", path: str = "") -> Upstream:
    """Return the upstream that a user means by SOURCE, and by a folder of it.

    ``owner/repo[/path][@ref]`` is a repository of GitHub, unless there is such a
    folder. An address that ends like an archive is one; one that begins with
    ``git+``, ends with ``.git`` or is ssh's or GitHub's is a repository, and so is one
    of a folder, ``ADDRESS/tree/REF/PATH``; any other https address is a site with an
    index, and ``oci://`` one is a registry. Everything else is a path.

    Raises:
        ConfigError: It is none of these.
    """
    kind, place, inner, ref = _place_of(text)
    if rev and kind != "git":
        raise ConfigError("SOURCE", "--rev is for git only")
    path = "/".join(filter(None, (inner, path)))
    return checked(Upstream(kind, place, path, rev or ref), "SOURCE")


def _place_of(text: str) -> tuple[Kind, str, str, str]:
    """Return kind, place, path and ref of what a user means."""
    import os

    if os.path.exists(text):  # noqa: PTH110
        if os.path.isdir(f"{text}/.git") or os.path.isfile(f"{text}/HEAD"):  # noqa: PTH112, PTH113
            return "git", f"file://{os.path.abspath(text)}", "", ""  # noqa: PTH100
        return "archive" if is_archive_name(text) else "folder", text, "", ""
    if is_scp(text):
        return "git", *_parts(text)
    scheme, mark, rest = text.partition("://")
    if mark:
        host = rest.partition("/")[0]
        is_git = scheme in {"ssh", "git", "file"} or scheme.startswith("git+")
        of = _parts(text.removeprefix("git+").rstrip("/"))
        if is_git or host == "github.com" or "/tree/" in rest or of[0].endswith(".git"):
            return "git", *of
        if scheme not in {"https", "http", "oci"}:
            raise ConfigError("SOURCE", f"{_shown(text)} is no address that is read")
        kind: Kind = "archive" if is_archive_name(rest.partition("?")[0]) else "site"
        return ("oci", rest, "", "") if scheme == "oci" else (kind, text, "", "")
    short = _SHORT.fullmatch(text)
    if short is None or text.startswith("."):
        detail = "no such file or folder, and no owner/repo or address either"
        raise ConfigError("SOURCE", f"{_shown(text)}: {detail}")
    place = f"{FORGE}/{short['repo'].removesuffix('.git')}"
    return "git", place, short["path"].removeprefix("/"), short["rev"] or ""


def _shown(place: str) -> str:
    return repr(echo(_USER.sub("***@", place)))


def _parts(address: str) -> tuple[str, str, str]:
    """Return repository, path and ref of an address, as browsers show it, too."""
    base, mark, rest = address.partition("/tree/")
    if mark:
        ref, _, path = rest.partition("/")
        return base, path, ref * (ref != "HEAD")  # which is what no ref means
    base, mark, ref = address.rpartition("@")
    if mark and "/" in base.partition("://")[2] and "/" not in ref.partition(".git")[0]:
        return base, "", ref
    return address, "", ""
