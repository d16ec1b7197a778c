"""What a configuration says, as a value, and the words that its settings take."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from satchel.errors import ConfigError, echo
from satchel.model import DEFAULT_LIMITS, Limits, OnConflict, Style

if TYPE_CHECKING:  # it costs start-up time
    from satchel.model import LintConfig
    from satchel.skill_md import Profile

NAME_SKILLS: Final = ("skills", "packages", "layers", "usual")
# The default budget of a catalog section: 2 % of a window of 200,000 tokens, which is
# what Codex gives its list of skills.
BUDGET_TOKENS: Final = 4000
# The words that a setting takes, in a file as in code.
CHOICES: Final = {
    "profile": ("strict", "spec", "lenient", "auto"),
    "on_conflict": get_args(OnConflict),
    "style": get_args(Style),
    "check": ("files", "folders", "trust"),
    "verify": ("both", "signed", "locked", "warn"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the configuration says; defaults where it is silent.

    ``skills`` are folders, already joined to the folder of the file. ``packages`` is
    True for every installed package that offers skills, else a tuple of names.
    ``prefix`` goes in front of the ids of ``skills``: of all, or by folder.
    ``budget_tokens`` is None for no budget. ``allow_private`` lets addresses among
    ``skills`` lead to this machine and its network. ``layers`` are the folders of the
    layers that are named, by layer; None where there are no layers. ``index`` is the
    file of the index, whether there is one, or None where the program decides, as of
    ``check``: what is looked at when it is opened. ``verify`` is what each byte is
    compared with: with a lock, a signature, or ``both``; ``warn`` only observes, and
    empty is nothing. ``signers`` are tables of who may sign which skills, ``root`` is
    the file of Sigstore's trusted root, and ``revoked`` are certificates that count no
    more. ``withdrawn`` are digests that must not be used, or files that list such, each
    with the file that says so. ``lint`` is for `satchel check` alone; None where there
    is no file.
    """

    path: str = ""
    skills: tuple[str, ...] = ()
    prefix: str | Mapping[str, str] = ""
    packages: tuple[str, ...] | bool = ()
    layers: tuple[tuple[str, str], ...] | None = None
    usual: bool = False
    trust: bool = False
    verify: str = ""
    signers: tuple[Mapping[str, Any], ...] = ()
    root: str = ""
    revoked: tuple[str, ...] = ()
    withdrawn: tuple[tuple[str, str], ...] = ()
    allow_private: bool = False
    disabled: tuple[str, ...] = ()
    profile: "Profile" = "auto"
    on_conflict: OnConflict = "error"
    style: Style = "lean"
    budget_tokens: int | None = BUDGET_TOKENS
    limits: Limits = DEFAULT_LIMITS
    index: str | bool | None = None
    check: str | None = None
    lint: "LintConfig | None" = None

    @property
    def names_skills(self) -> bool:
        """Whether it says where skills are, so that nobody has to look for them."""
        return any(getattr(self, key) for key in NAME_SKILLS)


def did_you_mean(word: object, names: Sequence[str]) -> str:
    """Return the name that is close to a word as a question; empty if there is none."""
    from satchel.text import nearest

    close = nearest(echo(word), names, 1)
    return f"did you mean {close[0]!r}? " if close else ""


def names_in(environ: Mapping[str, str], variable: str) -> tuple[str, ...]:
    """Return the names that a variable holds: a JSON array, or separated by commas."""
    text = environ.get(variable, "").strip()
    if not text.startswith("["):
        return tuple(name for part in text.split(",") if (name := part.strip()))
    try:
        given = cast("list[object]", json.loads(text))
    # Deeply nested JSON ends in a RecursionError.
    except (ValueError, RecursionError):
        given = [None]
    names = tuple(part for part in given if isinstance(part, str))
    if len(names) != len(given):
        detail = f"expected a JSON array of strings; got {text[:80]!r}"
        raise ConfigError(variable, detail)
    return tuple(name for part in names if (name := part.strip()))
