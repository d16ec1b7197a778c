"""Exact values to text."""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["EXACT_BELOW_DIGITS", "MAX_DIGITS", "write_number"]

MAX_DIGITS: Final = 100
"""Digits that are written out; nobody reads more of them, so that a longer result is
told to twelve digits."""
EXACT_BELOW_DIGITS: Final = 5_000
"""A result of fewer digits is told; one of as many or more is an error."""
_ABOUT: Final = Context(prec=12)


def write_number(value: Fraction) -> str:
    """Return ``value`` as a decimal where it has an end, else as a fraction.

    A fraction comes with its value to twelve digits: ``1/3 (about 0.333333333333)``.
    There is no exponent, so that each digit stands where it counts. A value of more
    than `MAX_DIGITS` digits is only told to twelve: ``about 446.774431401``, with an
    exponent where it is far from 1.

    Raises:
        ValueError: Its exact form has `EXACT_BELOW_DIGITS` digits or more.
    """
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
