"""Tools from plain functions."""

from collections.abc import Callable
from typing import Any

from satchel.errors import ExtraMissingError
from satchel.tools.tool import Tool

__all__ = ["tool_from_function"]


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
) -> Tool:
    """Return a tool that calls ``function``, which itself stays as it is."""
    del function, name, description
    raise ExtraMissingError("a tool from a function", "tools")
