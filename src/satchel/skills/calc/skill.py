"""The skill ``calc``: one tool, and when to use it."""

from typing import Final

from satchel.errors import ToolError
from satchel.model import Json
from satchel.skill import Skill
from satchel.skills.calc.arithmetic import MAX_CHARS, evaluate
from satchel.skills.calc.numerals import write_number
from satchel.tools import Tool

__all__ = ["calc"]

_INSTRUCTIONS: Final = (
    "Never do arithmetic in your head: call `calculate`, with one expression for the "
    "whole sum, and use its result as it stands. It is exact, so nothing is rounded "
    "on the way; round only in your answer. A result that begins with `about` is "
    "rounded to 12 digits, because the exact one is too long to read."
)
_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "expression": {
            "type": "string",
            "description": "Such as (2 + 3) * 4 / 7. Numbers are plain or scientific, "
            "without separators of thousands; ^ or ** is the power; % is the "
            f"remainder, not per cent. At most {MAX_CHARS:,} characters.",
        }
    },
    "required": ["expression"],
    "additionalProperties": False,
}


def calc() -> Skill:
    """Return a skill with exact arithmetic; its one tool is ``calculate``."""
    return Skill(
        "calc",
        description="Use when an answer depends on arithmetic, however simple.",
        instructions=_INSTRUCTIONS,
        tools=[
            Tool(
                "calculate",
                "Calculate exactly: + - * / % ^, parentheses, decimal and scientific "
                "numbers. There are no functions and no variables.",
                _SCHEMA,
                calculate,
            )
        ],
    )


def calculate(expression: str) -> str:
    """Return the value of ``expression`` as text.

    Raises:
        ToolError: It is no expression, has no value, or goes over a limit.
    """
    try:
        return write_number(evaluate(expression))
    except ValueError as error:
        raise ToolError("calculate", str(error)) from error
