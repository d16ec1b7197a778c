"""Any expression: what Fraction says, or an error that is a result."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from satchel.skills import calc
from satchel.skills.calc import evaluate, write_number

pytestmark = [pytest.mark.property, pytest.mark.row("B20", "B23")]

numbers = st.decimals(-(10**9), 10**9, places=4, allow_nan=False).map(
    lambda number: (f"({number:f})", Fraction(number))
)


def both(left: tuple[str, Fraction], op: str, right: tuple[str, Fraction]) -> object:
    """Return an expression and its value; a division by zero becomes a sum."""
    (a, x), (b, y) = left, right
    if op == "-":
        return f"({a} - {b})", x - y
    if op == "*":
        return f"({a} * {b})", x * y
    if op == "/" and y:
        return f"({a} / {b})", x / y
    if op == "%" and y:
        cut = abs(x) // abs(y) * abs(y)
        return f"({a} % {b})", x - (cut if x >= 0 else -cut)
    if op == "^":
        whole = int(abs(y)) % 4
        return f"({a} ^ {whole})", x**whole
    return f"({a} + {b})", x + y


expressions = st.recursive(
    numbers,
    lambda inner: st.builds(both, inner, st.sampled_from("+-*/%^"), inner),
    max_leaves=6,
)


@given(expressions)
def test_the_value_is_that_of_fractions(case: tuple[str, Fraction]) -> None:
    text, value = case

    try:
        assert evaluate(text) == value
    except ValueError as error:
        assert "more than 5,000 digits" in str(error)  # noqa: PT017


@given(st.fractions(max_denominator=10**12))
def test_what_is_written_reads_back(value: Fraction) -> None:
    """The exact part of a result is an expression with that very value."""
    text = write_number(value)
    exact, _, about = text.partition(" (about ")

    assert evaluate(exact) == value
    if about:
        near = Fraction(about.removesuffix(")"))
        assert abs(near - value) <= abs(value) / 10**11


@pytest.mark.row("F30", "T16")
@given(st.integers(-(10**4), 10**4), st.integers(1, 10**4), st.integers(0, 2_000))
def test_a_power_is_exact_or_about_or_over_a_limit(
    numerator: int, denominator: int, power: int
) -> None:
    """What is about has more than 100 digits, and twelve of its own are right."""
    value = Fraction(numerator, denominator) ** power
    try:
        text = write_number(value)
    except ValueError as error:
        assert "fewer than 5,000" in str(error)  # noqa: PT017
        return
    if text.startswith("about "):
        near = Fraction(Decimal(text.removeprefix("about ")))
        assert abs(near - value) <= abs(value) / 10**11
        # The shortest of these in figures is a decimal that ends after 100 places.
        assert max(abs(value.numerator), value.denominator) >= 2**100
    else:
        assert evaluate(text.partition(" (about ")[0]) == value


@pytest.mark.slow
@pytest.mark.row("F30", "T16")
@given(expressions)
def test_what_people_write_means_the_same(case: tuple[str, Fraction]) -> None:
    text, _ = case
    written = text
    for plain, sign in (("^", "**"), ("*", "×"), ("/", "÷"), ("-", "−")):
        if plain != "*" or "**" not in written:
            written = written.replace(plain, sign)

    assert outcome(written) == outcome(text)


def outcome(text: str) -> object:
    try:
        return evaluate(text)
    except ValueError as error:
        return str(error)


@given(st.text("0123456789.eE+-*/%^()×÷− ", max_size=80) | st.text(max_size=80))
def test_any_text_ends_in_a_result(text: str) -> None:
    """Nothing is raised, and a failure of ours would be an internal error."""
    tools = calc().tools
    assert tools is not None
    result = tools.call("calculate", {"expression": text})

    if isinstance(result, dict):
        assert result["error"]["code"] == "bad-tool-call"
    else:
        assert isinstance(result, str)
