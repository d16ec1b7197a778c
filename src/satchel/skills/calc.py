"""`calc`: exact arithmetic as a skill.

An example to copy, too: functions that know nothing of skills and raise `ValueError`;
handlers that make a result or a `ToolError` of that; and one function, named in
``__all__``, that boxes them with instructions as a `satchel.Skill`.
"""

import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final, NoReturn

from satchel.agent import Skill
from satchel.errors import ToolError
from satchel.model import Json
from satchel.tools import Tool

__all__ = ["calc"]

# Characters of an expression: far more than a person would write on one line.
MAX_CHARS: Final = 1_000
# Parentheses, signs and powers inside one another. Each costs at most five calls, so
# that little more than a quarter of Python's usual 1,000 is ever in use.
MAX_DEPTH: Final = 50
# Digits of a value on the way to the result, above or below the fraction line. A
# product of two such numbers takes less than a millisecond.
MAX_WORKING_DIGITS: Final = 5_000

_TOO_LONG: Final = 10**MAX_WORKING_DIGITS
_MAX_BITS: Final = _TOO_LONG.bit_length()
_LEXEME: Final = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-−]?[0-9]+)?|\*\*|\S"  # noqa: RUF001
_PLAIN: Final = str.maketrans("×÷−", "*/-")  # noqa: RUF001 - as print has them
_END: Final = ""


def evaluate(expression: str) -> Fraction:
    if len(expression) > MAX_CHARS:
        raise ValueError(f"the expression is longer than {MAX_CHARS:,} characters")
    return _ExpressionParser(expression).result()


class _ExpressionParser:
    """One pass over one expression; each method takes what its rule names."""

    def __init__(self, expression: str) -> None:
        matches = [*re.finditer(_LEXEME, expression)]
        self._written = [(match[0], match.start() + 1) for match in matches]
        # As the grammar has them.
        plain = (match[0].replace("**", "^").translate(_PLAIN) for match in matches)
        self._tokens = [*plain, _END]
        self._next = 0
        self._depth = 0

    def result(self) -> Fraction:
        value = self._expr()
        if self._token != _END:
            self._unexpected()
        return value

    @property
    def _token(self) -> str:
        return self._tokens[self._next]

    def _take(self, choices: str) -> str:
        token = self._token
        if token == _END or token not in choices:
            return _END
        self._next += 1
        return token

    def _unexpected(self) -> NoReturn:
        if self._token == _END:
            raise ValueError("the expression ends too early")
        token, place = self._written[self._next]
        raise ValueError(f"unexpected {token!r} at character {place}")

    def _expr(self) -> Fraction:
        value = self._term()
        while sign := self._take("+-"):
            right = self._term()
            value = _bounded(value + right if sign == "+" else value - right)
        return value

    def _term(self) -> Fraction:
        value = self._unary()
        while sign := self._take("*/%"):
            right = self._unary()
            if sign == "*":
                value = _bounded(value * right)
            elif not right:
                raise ValueError("division by zero")
            elif sign == "/":
                value = _bounded(value / right)
            else:  # cut to a whole number, so that the remainder has value's sign
                value = _bounded(value - right * int(value / right))
        return value

    def _unary(self) -> Fraction:
        self._depth += 1
        if self._depth > MAX_DEPTH + 1:  # the outermost is inside nothing
            raise ValueError(f"the expression is nested more than {MAX_DEPTH} deep")
        sign = self._take("+-")
        value = self._unary() if sign else self._power()
        self._depth -= 1
        return -value if sign == "-" else value

    def _power(self) -> Fraction:
        base = self._primary()
        return _raised(base, self._unary()) if self._take("^") else base

    def _primary(self) -> Fraction:
        if self._take("("):
            value = self._expr()
            if not self._take(")"):
                self._unexpected()
            return value
        token = self._token
        if token[-1:] not in {*"0123456789"}:
            self._unexpected()
        self._next += 1
        return _number(token)


def _number(text: str) -> Fraction:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    power = int(exponent or "0") - len(decimals)
    # Before the power is made: `1e999999999` would take all memory.
    if abs(power) > MAX_WORKING_DIGITS:
        _too_long()
    value = Fraction(int(whole + decimals))
    scale = 10 ** abs(power)
    return _bounded(value * scale if power >= 0 else value / scale)


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise ValueError("an exponent must be a whole number")
    power = exponent.numerator
    if not base and power < 0:
        raise ValueError("division by zero")
    # A number of n bits is at least 2^(n - 1): whatever does not pass here is too long,
    # and what passes has at most twice the bits that are accepted. 0 and 1 always pass.
    bits = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if abs(power) * bits > _MAX_BITS:
        _too_long()
    return _bounded(base**power)


def _bounded(value: Fraction) -> Fraction:
    if max(abs(value.numerator), value.denominator) >= _TOO_LONG:
        _too_long()
    return value


def _too_long() -> NoReturn:
    raise ValueError(f"a number on the way has more than {MAX_WORKING_DIGITS:,} digits")


# Digits that are written out; a reader has no use for more, so a longer result is given
# to twelve digits.
MAX_DIGITS: Final = 100
# A result of fewer digits is given; one of as many or more is an error.
EXACT_BELOW_DIGITS: Final = 5_000
_ABOUT: Final = Context(prec=12)


def write_number(value: Fraction) -> str:
    """Return ``value`` as a decimal where it has an end, else as a fraction."""
    # A fraction comes with its value to twelve digits: `1/3 (about 0.333333333333)`; a
    # value of more than `MAX_DIGITS` digits is only given to twelve. ValueError from
    # `EXACT_BELOW_DIGITS` digits on.
    places = _decimals(value.denominator)
    above, below = abs(value.numerator), value.denominator
    if places is not None:
        above, below = above * 10**places // below, 1
    digits = max(_digits(above), _digits(below), (places or 0) + 1)
    if digits >= EXACT_BELOW_DIGITS:
        raise ValueError(
            f"the exact result has {digits:,} digits, and fewer than "
            f"{EXACT_BELOW_DIGITS:,} are wanted; it is about {_about(value)}"
        )
    if digits > MAX_DIGITS:
        return f"about {_about(value)}"
    if places is None:
        return f"{value} (about {_about(value)})"
    text = str(above)
    if places:
        text = text.rjust(places + 1, "0")
        text = f"{text[:-places]}.{text[-places:]}"
    return f"-{text}" if value < 0 else text


def _decimals(denominator: int) -> int | None:
    """Return how many decimals end the number; None where it has no end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _digits(number: int) -> int:
    # Not by its text: Python refuses to write out a number of some 4,000 digits.
    return Decimal(number).adjusted() + 1


def _about(value: Fraction) -> str:
    quotient = _ABOUT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(quotient)


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
    try:
        return write_number(evaluate(expression))
    except ValueError as error:
        raise ToolError("calculate", str(error)) from error
