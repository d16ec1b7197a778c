"""Options of a Satchel and of a session: each is checked.

And an unknown value fails with the known ones.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from satchel.catalog import DisabledPattern, is_pattern
from satchel.config import CHOICES, names_in
from satchel.errors import ConfigError, SkillNotFoundError

if TYPE_CHECKING:
    from satchel.model import Catalog, Finding


_DISABLED_SKILLS: Final = "SATCHEL_DISABLED"
_DISABLED_SOURCES: Final = "SATCHEL_DISABLED_SOURCES"


def disabled_patterns(
    disabled: Iterable[str], environ: Mapping[str, str]
) -> tuple[DisabledPattern, ...]:
    """Return what is off: what was named, and what the environment adds.

    The environment can only switch off more, so that an operator can without a change
    of the program.

    Raises:
        ConfigError: A variable is neither a JSON array of strings nor names parted by
            commas.
    """
    return (
        *(DisabledPattern(pattern) for pattern in disabled),
        *(
            DisabledPattern(pattern, where=_DISABLED_SKILLS)
            for pattern in names_in(environ, _DISABLED_SKILLS)
        ),
        *(
            DisabledPattern(pattern, "source", _DISABLED_SOURCES)
            for pattern in names_in(environ, _DISABLED_SOURCES)
        ),
    )


def patterns_of(given: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns that were given; a mere text is one pattern.

    Letter by letter it would fit everything wherever there is a ``*`` in it.
    """
    return (given,) if isinstance(given, str) else tuple(given)


def check_choice(option: str, value: object, known: Sequence[str]) -> None:
    """Refuse a value that is not one of a few words; None is always one.

    Raises:
        ConfigError: It is not; says what was meant, and what there is.
    """
    if value is None or value in known:
        return
    from satchel.text import nearest

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
            from satchel.text import nearest

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


def unknown_disabled_error(
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
