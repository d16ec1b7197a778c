"""The arguments of `attach`, checked before an agent runs with them."""

import os
from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Final, cast, get_args

from satchel.agent import check_skill
from satchel.config import did_you_mean
from satchel.model import Style
from satchel.runtime import (
    Satchel,
    SessionOptions,
    check_approve,
    check_choice,
    check_only,
    check_who,
    patterns_of,
)

# Characters of a text that a message repeats.
_MAX_TEXT: Final = 80

# What `deps` of an adapter is, in words.
DEPS: Final = "a function of the run that returns what tools get as Run.deps"

# Arguments that `attach` of some adapter has besides the options of a session.
_OTHER_ARGUMENTS: Final = ("who", "deps", "state", "resume", "tools", "answers")

# What an option is, in words, and whether a value is one. The others are checked apart.
_KINDS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "agent": ("the agent's name", lambda value: isinstance(value, str)),
    "always": ("ids of skills, or skills", lambda value: isinstance(value, Iterable)),
    "only": (
        "patterns over ids",
        lambda value: (
            isinstance(value, Iterable) and all(isinstance(one, str) for one in value)
        ),
    ),
    "stage": (
        "True, False or a Stager",
        lambda value: isinstance(value, bool) or hasattr(value, "stage"),
    ),
    "reinject_tokens": (
        "a count of tokens",
        lambda value: type(value) is int and value >= 0,
    ),
    "suggest": ("True or False", lambda value: isinstance(value, bool)),
    "work": (
        "a folder, or a function of the run that returns one",
        lambda value: isinstance(value, (str, os.PathLike)) or callable(value),
    ),
    "trust_state": ("True or False", lambda value: isinstance(value, bool)),
}


def reusable(options: SessionOptions) -> SessionOptions:
    """Return the options with tuples in place of what can be read only once."""
    given: dict[str, Any] = {**options}
    for name in ("only", "always"):
        value = given.get(name)
        # What is no list stays as it is, for the check that says so.
        if isinstance(value, Iterable):
            given[name] = patterns_of(cast("Iterable[str]", value))
    return cast("SessionOptions", given)


def check_arguments(
    skills: object, who: object, deps: object, options: SessionOptions
) -> None:
    """Raise for arguments of `attach` with which no session could be opened."""
    if not isinstance(skills, Satchel):
        hint = ""
        if isinstance(skills, (str, os.PathLike)):
            hint = f"; write attach(Satchel({os.fspath(skills)!r}))"
        raise TypeError(f"attach: expected a Satchel; got {_got(skills)}{hint}")
    for name, value in options.items():
        _check_option(name, value)
    # What a function returns is checked when it is called, with each session.
    if callable(who):
        check_function("who", who)
    else:
        check_who(who)
    check_function("deps", deps, DEPS)
    check_choice("style", options.get("style"), get_args(Style))
    check_approve(options.get("approve"))
    always = [*(options.get("always") or ())]
    ids = [skill_id for skill_id in always if isinstance(skill_id, str)]
    for patterns in filter(None, (options.get("only"), ids)):
        check_only(patterns, skills.catalog, skills.registry.may_exist)


def _check_option(name: str, value: object) -> None:
    if name not in SessionOptions.__annotations__:
        raise TypeError(_unknown_option(name))
    if name in _KINDS and value is not None:
        expected, fits = _KINDS[name]
        if not fits(value):
            raise TypeError(f"{name}: expected {expected}; got {_got(value)}")
    for skill in cast("Iterable[Any]", value or ()) if name == "always" else ():
        if not isinstance(skill, str):
            check_skill(skill)


def check_function(name: str, value: object, expected: str = "a function") -> None:
    """Refuse what is no plain function; None always passes."""
    if value is not None and (not callable(value) or iscoroutinefunction(value)):
        raise TypeError(f"{name}: expected {expected}; got {_got(value)}")


def check_kind(
    name: str, value: object, kinds: type | tuple[type, ...], expected: str
) -> None:
    """Refuse what is none of these kinds; ``expected`` is one in words."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}; got {_got(value)}")


def _got(value: object) -> str:
    """Return what was given, in words: short texts as they are."""
    if iscoroutinefunction(value):
        return "an async function"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    is_short = isinstance(value, str) and len(value) <= _MAX_TEXT
    return repr(value) if is_short else type(value).__name__


def _unknown_option(name: str) -> str:
    names = [*SessionOptions.__annotations__]
    hint = did_you_mean(name, [*{*names, *_OTHER_ARGUMENTS} - {name}]).rstrip()
    hint = hint or f"known: {', '.join(names)}"
    if name == "to":
        hint = "what it returns goes where help(attach) shows"
    return f"no option of attach is called {name!r} here; {hint}"
