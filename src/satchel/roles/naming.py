"""What a role may be called, by its text alone."""

import re
from typing import Final

from satchel.errors import InvalidRoleError
from satchel.files import path_problem

__all__ = ["check_role", "is_role"]

MAX_ROLE_CHARS: Final = 64
"""As long as a skill's name may be by the public specification."""

_ROLE: Final = re.compile(r"[a-z][a-z0-9-]*")


def check_role(role: str) -> None:
    """Let the name of a role pass: a-z, 0-9 and hyphens, a letter first.

    Those are the rules of a pack's name (C08), for a role is the name of its pack's
    folder. So no role leads out of a folder, and none is a device on Windows.

    Raises:
        InvalidRoleError: It is no such name.
    """
    problem = _problem(role)
    if problem:
        raise InvalidRoleError(role, problem)


def is_role(name: str) -> bool:
    """Tell whether `check_role` lets this name pass."""
    return not _problem(name)


def _problem(role: str) -> str:
    if not role:
        return "it is empty"
    if len(role) > MAX_ROLE_CHARS:
        return f"it has {len(role):,} characters, more than {MAX_ROLE_CHARS}"
    if not _ROLE.fullmatch(role):
        return "want a-z, 0-9 and hyphens, and a letter first"
    return path_problem(role)
