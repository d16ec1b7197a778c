"""Satchel on the agents of others: one module for each framework.

Each has one verb, ``attach(skills, ...)``, which returns what goes into the framework's
own slot, or, given ``to=agent``, a copy of the agent where there is no slot::

    from satchel.adapters import langchain

    agent = create_agent(model, tools=[mine], middleware=[langchain.attach(skills)])

A module is imported when it is asked for, and only then its framework. One that is
not installed, or is too old, is an `ExtraMissingError` that names the extra to install.
What each was tried with is in ``satchel doctor`` and in docs/reference/adapters.md.
"""

from typing import TYPE_CHECKING, Final

from satchel._lazy import lazy_door

if TYPE_CHECKING:
    from satchel.adapters._base import Conversation, SessionFactory, framework, is_error

__all__ = [
    "Conversation",
    "SessionFactory",
    "framework",
    "is_error",
]

_LAZY: Final = {
    "Conversation": "satchel.adapters._base",
    "SessionFactory": "satchel.adapters._base",
    "framework": "satchel.adapters._base",
    "is_error": "satchel.adapters._base",
}

__getattr__ = lazy_door(__name__, _LAZY)
