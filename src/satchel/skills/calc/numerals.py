"""Exact values to text."""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

__all__ = ["MAX_DIGITS", "write_number"]

MAX_DIGITS: Final = 100
"""Digits that a result may have; a longer one is of use to nobody (R32)."""
_ABOUT: Final = Context(prec=12)


def write_number(value: Fraction) -> str:
    """Return ``value`` as a decimal where it has an end, else as a fraction.

    A fraction comes with its value to twelve digits: ``1/3 (about 0.333333333333)``.
    There is no exponent, so that each digit stands where it counts.

    Raises:
        ValueError: It has more than `MAX_DIGITS` digits.
    """
    places = _decimals(value.denominator)
    if places is None:
        return f"{_checked(str(value), value)} (about {_about(value)})"
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    if places:
        digits = digits.rjust(places + 1, "0")
        digits = f"{digits[:-places]}.{digits[-places:]}"
    return _checked(f"-{digits}" if value < 0 else digits, value)


def _decimals(denominator: int) -> int | None:
    """Return how many decimals end the number; None where it has no end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _checked(text: str, value: Fraction) -> str:
    """Return ``text`` if no number in it is too long."""
    digits = max(len(part.strip("-").replace(".", "")) for part in text.split("/"))
    if digits > MAX_DIGITS:
        raise ValueError(
            f"the exact result has {digits:,} digits, and {MAX_DIGITS} is the limit; "
            f"it is about {_about(value)}"
        )
    return text


def _about(value: Fraction) -> str:
    quotient = _ABOUT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(quotient)
