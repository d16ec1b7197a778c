"""Expressions to exact values, by recursive descent.

    expr    = term {("+" | "-") term}
    term    = unary {("*" | "/" | "%") unary}
    unary   = ("+" | "-") unary | power
    power   = primary ["^" unary]
    primary = number | "(" expr ")"
    number  = (digits ["." digits] | "." digits) [("e" | "E") ["+" | "-"] digits]

So ``^`` binds to the right and tighter than a sign: ``-2^2`` is -4. ``**`` is ``^``,
and the signs of print for times, divided by and minus are those of the keyboard. Every
value is a fraction of whole numbers. What bounds the work is checked before it is done:
the length of the text, how deep it is nested, and how long a number may become on the
way.
"""

import re
from fractions import Fraction
from typing import Final, NoReturn

__all__ = ["MAX_CHARS", "MAX_DEPTH", "MAX_WORKING_DIGITS", "evaluate"]

MAX_CHARS: Final = 1_000
"""Characters of an expression: far more than a person would write on one line."""
MAX_DEPTH: Final = 50
"""Parentheses, signs and powers inside one another. Each costs at most five calls, so
that little more than a quarter of Python's usual 1,000 is ever in use."""
MAX_WORKING_DIGITS: Final = 5_000
"""Digits of a value on the way to the result, above or below the fraction line. A
product of two such numbers takes less than a millisecond."""

_TOO_LONG: Final = 10**MAX_WORKING_DIGITS
_MAX_BITS: Final = _TOO_LONG.bit_length()
_LEXEME: Final = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+\-−]?[0-9]+)?|\*\*|\S"  # noqa: RUF001
_PLAIN: Final = str.maketrans("×÷−", "*/-")  # noqa: RUF001 - as print has them
_END: Final = ""


def evaluate(expression: str) -> Fraction:
    """Return the exact value of ``expression``.

    Raises:
        ValueError: It breaks the grammar, divides by zero, has an exponent that is no
            whole number, or goes over a limit.
    """
    if len(expression) > MAX_CHARS:
        raise ValueError(f"the expression is longer than {MAX_CHARS:,} characters")
    return _Parser(expression).result()


class _Parser:
    """One pass over one expression; each method takes what its rule names."""

    def __init__(self, expression: str) -> None:
        found = [*re.finditer(_LEXEME, expression)]
        self._written = [(each[0], each.start() + 1) for each in found]
        self._tokens = [*map(_plain, (each[0] for each in found)), _END]
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

    def _take(self, wanted: str) -> str:
        """Return the next token and step over it, if it is one of ``wanted``."""
        token = self._token
        if token == _END or token not in wanted:
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


def _plain(token: str) -> str:
    """Return a token as the grammar has it."""
    return token.replace("**", "^").translate(_PLAIN)


def _number(text: str) -> Fraction:
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    power = int(exponent or "0") - len(decimals)
    if abs(power) > MAX_WORKING_DIGITS:
        _too_long()
    value = Fraction(int(whole + decimals))
    scale = 10 ** abs(power)
    return _bounded(value * scale if power >= 0 else value / scale)


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise ValueError("an exponent is to be a whole number")
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
