"""Satchel on the agents of others: one module for each framework.

Each has one verb, ``attach(skills, ...)``, which returns what goes into the framework's
own slot, or, given ``to=agent``, a copy of the agent where there is no slot::

    from satchel.adapters import langchain

    agent = create_agent(model, tools=[mine], middleware=[langchain.attach(skills)])

A module is imported when it is asked for, and only then its framework. One that is
not installed, or is too old, is an `ExtraMissingError` that names the extra to install.
What each was tried with is in ``satchel doctor`` and in docs/reference/adapters.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["framework"]


@contextmanager
def framework(title: str, extra: str) -> Iterator[None]:
    """Turn a failing import of a framework into the error that names its extra.

    For adapters, around the imports of their framework, below all others.

    Args:
        title: What the framework is called.
        extra: The extra of Satchel that installs it.

    Raises:
        ExtraMissingError: An import failed; its cause says which.
    """
    try:
        yield
    except ImportError as error:
        from satchel.errors import ExtraMissingError

        raise ExtraMissingError(title, extra) from error
