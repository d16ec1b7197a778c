"""Satchel on the agents of others: one module for each framework.

Each has one function, ``attach(skills, ...)``, which returns what goes into the
framework's own slot, or a copy of the agent (``to=agent``) where there is no slot::

    from satchel.adapters.langchain import attach

    agent = create_agent(model, tools=[mine], middleware=[attach(skills)])

A module imports its framework only when you import the module. A framework that is not
installed, or is too old, is an `ExtraMissingError` that names the extra to install.
``satchel doctor`` and docs/reference/adapters.md say with which releases each works.

To write an adapter of your own, start from `SessionFactory` and `Conversation`:
docs/contributing/adapter.md.
"""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel.adapters._base import Conversation, SessionFactory, framework, is_error
    from satchel.adapters._translation import (
        ResultReader,
        ToolForms,
        arguments_or_empty,
        reply_of,
        text_of,
    )

__all__ = [
    "Conversation",
    "ResultReader",
    "SessionFactory",
    "ToolForms",
    "arguments_or_empty",
    "framework",
    "is_error",
    "reply_of",
    "text_of",
]

__getattr__ = lazy_door(
    __name__,
    {
        "_base": "Conversation SessionFactory framework is_error",
        "_translation": "ResultReader ToolForms arguments_or_empty reply_of text_of",
    },
)
