"""Tools that a model can call, and boxes of them."""

from satchel.tools._from_function import tool_from_function
from satchel.tools._tool import (
    ErrorText as ErrorText,
    Run as Run,
    Tool,
    Turn as Turn,
    arguments_of as arguments_of,
    inline_schema as inline_schema,
    result_text,
)
from satchel.tools._toolbox import Toolbox

__all__ = ["Tool", "Toolbox", "result_text", "tool_from_function"]
