"""Tools that a model can call, and boxes of them."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door
from satchel.tools._tool import (
    ErrorText as ErrorText,
    Run as Run,
    Tool,
    Turn as Turn,
    arguments_of as arguments_of,
    result_text,
    with_text as with_text,
)
from satchel.tools._toolbox import Toolbox

if TYPE_CHECKING:
    from satchel.tools._from_function import tool_from_function
    from satchel.tools._inline_schema import inline_schema as inline_schema

__all__ = ["Tool", "Toolbox", "result_text", "tool_from_function"]

__getattr__ = lazy_door(
    __name__,
    {"_from_function": "tool_from_function", "_inline_schema": "inline_schema"},
)
