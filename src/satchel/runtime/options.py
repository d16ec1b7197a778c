"""Options as somebody wrote them: what is not known fails there, with what is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from satchel.catalog.switches import is_pattern
from satchel.config import CHOICES
from satchel.errors import ConfigError, SkillNotFoundError

if TYPE_CHECKING:
    from satchel.model import Catalog, Finding

__all__ = [
    "check_approve",
    "check_budget",
    "check_choice",
    "check_choices",
    "check_only",
    "check_seconds",
    "check_who",
    "unknown_name",
]


def check_choice(option: str, value: object, known: Sequence[str]) -> None:
    """Refuse a value that is not one of a few words; None is always one.

    Raises:
        ConfigError: It is not; says what was meant, and what there is.
    """
    if value is None or value in known:
        return
    from satchel.text.nearest import nearest

    close = nearest(str(value), known, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ConfigError(
        option, f"{value!r} is not known; {hint}known: {', '.join(known)}"
    )


def check_choices(**given: object) -> None:
    """Refuse what satchel.toml would refuse: a profile, a style, a way with conflicts.

    Raises:
        ConfigError: As for `check_choice`.
    """
    for option, value in given.items():
        check_choice(option, value, CHOICES[option])


def check_budget(tokens: int | str | None) -> None:
    """Refuse a budget that is no count from 1, not None and not ``default``.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(tokens, str):
        check_choice("budget_tokens", tokens, ("default",))
    elif tokens is not None and (isinstance(tokens, bool) or tokens < 1):
        detail = f"want a count from 1, or None for no limit, got {tokens!r}"
        raise ConfigError("budget_tokens", detail)


def check_seconds(option: str, seconds: float) -> None:
    """Refuse a time in which nothing could be done.

    Raises:
        ConfigError: It is not above 0.
    """
    if not seconds > 0:
        raise ConfigError(option, f"want a number of seconds above 0, got {seconds!r}")


def check_who(who: object) -> None:
    """Refuse a ``who`` that no rule of a policy could ask.

    Raises:
        TypeError: It is no mapping.
    """
    if who is not None and not isinstance(who, Mapping):
        kind = type(who).__name__
        raise TypeError(f'who: want a mapping such as {{"user": "ana"}}, not {kind}')


def check_approve(approve: object) -> None:
    """Refuse an approver that cannot be asked.

    Raises:
        TypeError: It is not callable.
    """
    if approve is not None and not callable(approve):
        kind = type(approve).__name__
        raise TypeError(f"approve: want a function that answers a question, not {kind}")


def check_only(
    only: Iterable[str], catalog: "Catalog", may_exist: Callable[[str], bool]
) -> None:
    """Refuse ids that no skill has; log it where patterns leave nothing at all.

    Args:
        only: Shell patterns over ids.
        catalog: What there is to choose from.
        may_exist: Whether an id was there before, or may be in a source that is away.

    Raises:
        SkillNotFoundError: A plain id is none; carries close ones.
    """
    only = tuple(only)
    ids = {entry.id for entry in catalog.entries}
    for name in only:
        if not (name in ids or is_pattern(name) or may_exist(name)):
            from satchel.text.nearest import nearest

            raise SkillNotFoundError(name, tuple(nearest(name, sorted(ids), 3)))
    if (
        only
        and ids
        and not any(fnmatchcase(each, name) for each in ids for name in only)
    ):
        import logging

        names = ", ".join(map(repr, only))
        logger = logging.getLogger("satchel")
        logger.warning("only=: none of the %d skills fits %s", len(ids), names)


def unknown_name(
    findings: "Iterable[Finding]", latest: "Catalog"
) -> ConfigError | None:
    """Return the error for a name in ``disabled`` that no skill has; None for none.

    Where a source is away nobody knows, and the finding has to do; so it has for what
    the environment switches off, which may be meant for another program.
    """
    if latest.away is not None:
        return None
    for finding in findings:
        if (finding.code, finding.path) == ("disabled-unknown", "disabled"):
            return ConfigError("disabled", f"{finding.message}; {finding.fix}")
    return None
