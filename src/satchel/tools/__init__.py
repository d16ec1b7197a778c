"""Tools that a model can call, and boxes of them."""

from satchel.tools.from_function import tool_from_function
from satchel.tools.result import result_text
from satchel.tools.run import Run, Turn
from satchel.tools.tool import Tool
from satchel.tools.toolbox import Toolbox

__all__ = ["Run", "Tool", "Toolbox", "Turn", "result_text", "tool_from_function"]
