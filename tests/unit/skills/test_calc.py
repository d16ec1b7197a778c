"""calc: exact, bounded, and nothing but its own arithmetic."""

import ast
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import satchel.skills
from satchel.skills import calc
from satchel.skills.calc import evaluate, write_number
from tests.unit.skills.loops import ask

SOURCE = Path(satchel.skills.__path__[0]) / "calc.py"
CALCULATE = calc().tools


def calculate(expression: str) -> object:
    assert CALCULATE is not None
    return CALCULATE.call("calculate", {"expression": expression})


def refusal(expression: str) -> str:
    result = calculate(expression)
    assert isinstance(result, dict)
    assert result["error"]["code"] == "bad-tool-call"
    return str(result["error"]["message"])


@pytest.mark.row("B20", "B23", "R32")
@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2+3*4", "14"),
        ("(2+3)*4", "20"),
        ("8-3-2", "3"),
        ("7/2", "3.5"),
        ("-2+5", "3"),
        ("2*-3", "-6"),
        ("--5", "5"),
        ("+5", "5"),
        ("2^10", "1024"),
        ("2^3^2", "512"),
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^-1", "0.5"),
        ("2^--2", "4"),
        ("7%3", "1"),
        ("-7%3", "-1"),
        ("7%-3", "1"),
        ("7.5%2", "1.5"),
        ("1e3+1", "1001"),
        ("2E-3", "0.002"),
        (".5*2", "1"),
        (" 1 + 2 ", "3"),
        ("1\n+\t2", "3"),
        ("0.1+0.2", "0.3"),
        ("1/3*3", "1"),
        ("1/3", "1/3 (about 0.333333333333)"),
        ("-2/3", "-2/3 (about -0.666666666667)"),
        ("1/3000", "1/3000 (about 0.000333333333333)"),
        ("1000000/3", "1000000/3 (about 333333.333333)"),
        ("1/8", "0.125"),
        ("-1/8", "-0.125"),
        ("-0", "0"),
        ("0^0", "1"),
        ("0^5", "0"),
        ("(-1)^-3", "-1"),
        ("1^(9^99)", "1"),
        ("2^300/2^299", "2"),
        ("12345678901234567890*98765432109876543210",
         "1219326311370217952237463801111263526900"),
    ],
)  # fmt: skip
def test_results_are_exact(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.row("B20", "B23")
@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "the expression ends too early"),
        ("1 +", "the expression ends too early"),
        ("(1", "the expression ends too early"),
        ("1)", "unexpected ')' at character 2"),
        ("1..2", "unexpected '.' at character 2"),
        ("5.", "unexpected '.' at character 2"),
        ("1 2", "unexpected '2' at character 3"),
        ("1,000", "unexpected ',' at character 2"),
        ("2* *3", "unexpected '*' at character 4"),
        ("2× ÷3", "unexpected '÷' at character 4"),
        ("abc", "unexpected 'a' at character 1"),
        ("__import__('os')", "unexpected '_' at character 1"),
        ("²", "unexpected '²' at character 1"),
        ("١+1", "unexpected '١' at character 1"),
        ("1/0", "division by zero"),
        ("5%0", "division by zero"),
        ("0^-1", "division by zero"),
        ("(-1)^0.5", "an exponent must be a whole number"),
        ("2^(1/3)", "an exponent must be a whole number"),
    ],
)
def test_what_has_no_value_is_a_result_that_says_why(
    expression: str, reason: str
) -> None:
    assert refusal(expression) == f"calculate: {reason}"


@pytest.mark.row("G28", "R32")
@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1" * 1_001, "longer than 1,000 characters"),
        ("(" * 10_000, "longer than 1,000 characters"),
        ("1+" * 500_000, "longer than 1,000 characters"),
        ("(" * 51 + "1" + ")" * 51, "nested more than 50 deep"),
        ("-" * 51 + "1", "nested more than 50 deep"),
        ("2" + "^1" * 51, "nested more than 50 deep"),
        ("9^9^9", "on the way has more than 5,000 digits"),
        ("9^-9^9", "on the way has more than 5,000 digits"),
        ("1e5000", "on the way has more than 5,000 digits"),
        ("1e999999999", "on the way has more than 5,000 digits"),
        ("1e" + "9" * 900, "on the way has more than 5,000 digits"),
        ("((2^900)^50)^50", "on the way has more than 5,000 digits"),
        ("*".join(["9^999"] * 150), "on the way has more than 5,000 digits"),
        ("1e4999", "exact result has 5,000 digits, and fewer than 5,000 are wanted"),
        ("2^-5000", "exact result has 5,001 digits"),
        ("7/2^6000", "it is about 4.625"),
        ("1/3e4999", "exact result has 5,000 digits"),
    ],
)  # fmt: skip
def test_every_limit_is_stated(expression: str, reason: str) -> None:
    assert reason in refusal(expression)


@pytest.mark.row("G28", "R32")
def test_the_most_that_is_accepted() -> None:
    assert calculate("1" * 100) == "1" * 100
    assert calculate("1e99") == "1" + "0" * 99
    assert calculate("1e-99") == "0." + "0" * 98 + "1"
    assert calculate("(" * 50 + "1" + ")" * 50) == "1"
    assert calculate("-" * 50 + "1") == "1"
    assert calculate("2" + "^1" * 50) == "2"
    assert calculate("1 " + " " * 998) == "1"
    assert calculate("(10^4999)/(10^4999)") == "1"


@pytest.mark.row("F30", "T16")
@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2**10", "1024"),
        ("-2**2", "-4"),
        ("2 ** 3 ^ 2", "512"),
        ("6×7", "42"),
        ("7÷2", "3.5"),
        ("5 − 8", "-3"),
        ("−2×−3", "6"),
        ("1e−3", "0.001"),
        ("2E−3÷2", "0.001"),
    ],
)
def test_signs_as_people_write_them(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.row("F30", "T16", "R32")
@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("100*(1+0.05/12)^360", "about 446.774431401"),
        ("-1.07^60", "about -57.9464268345"),
        ("1e100", "about 1.00000000000E+100"),
        ("1e-100", "about 1E-100"),
        ("1e308*10", "about 1.00000000000E+309"),
        ("1/7^200", "about 9.55854957948E-170"),
        ("1e4998", "about 1.00000000000E+4998"),
        ("2^-4998", "about 2.83192450442E-1505"),
    ],
)
def test_a_long_result_is_told_to_twelve_digits(expression: str, result: str) -> None:
    assert calculate(expression) == result


@pytest.mark.row("G28")
def test_deep_nesting_stays_far_from_the_recursion_limit() -> None:
    """A quarter of the usual 1,000 calls is left free even at the deepest."""
    code = (
        "import sys; from satchel.skills.calc import evaluate; "
        "sys.setrecursionlimit(300); print(evaluate('(' * 50 + '1' + ')' * 50))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert out.stdout == "1\n"


def calls_and_imports(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Return every name that is used in a source, and every module it imports."""
    names: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.Import(names=aliases):
                modules.update(alias.name for alias in aliases)
            case ast.ImportFrom(module=module, level=level):
                modules.add("." * level + (module or ""))
            case _:
                pass
    return names, modules


@pytest.mark.row("B21")
def test_the_look_at_the_source_and_no_eval_or_dependency() -> None:
    """Neither by name nor as an attribute; the arithmetic is the standard library."""
    names, modules = calls_and_imports(ast.parse(SOURCE.read_text("utf-8")))
    own = {"satchel.errors", "satchel.model", "satchel.agent", "satchel.tools"}
    foreign = {
        module
        for module in modules - own
        if module.partition(".")[0] not in sys.stdlib_module_names
    }

    assert (
        names
        & {
            *("eval", "exec", "compile", "__import__", "literal_eval", "import_module"),
            *("getattr", "globals", "vars", "system", "popen"),
        }
        == set()
    )
    assert foreign == set()
    assert modules & {"ast", "importlib", "builtins", "subprocess", "os"} == set()

    names, modules = calls_and_imports(
        ast.parse("import os.path\nfrom sympy import x\nre.compile(eval('1'))")
    )

    assert {"compile", "eval"} <= names
    assert modules == {"os.path", "sympy"}


@pytest.mark.row("B20", "B22")
def test_the_skill_and_its_values() -> None:
    skill = calc()

    assert skill.name == "calc"
    assert skill.description.startswith("Use when")
    assert "`calculate`" in skill.instructions
    assert len(skill.instructions) <= 800
    assert skill.tools is not None
    assert skill.tools.name == "calc"
    assert [tool.name for tool in skill.tools] == ["calculate"]

    assert CALCULATE is not None
    assert "error" in CALCULATE.call("calculate", {"expression": 3})  # type: ignore[operator]

    assert evaluate("1/3 + 1/6") == Fraction(1, 2)
    assert write_number(Fraction(1, 2)) == "0.5"


@pytest.mark.row("B23", "B24")
def test_an_agent_answers_from_the_result_and_after_an_error() -> None:
    result = ask(calc(), "calculate", {"expression": "0.1 + 0.2"})

    assert result.text == "It is 0.3."
    assert result.stopped == "answered"

    result = ask(calc(), "calculate", {"expression": "1/0"})

    assert "calculate: division by zero" in result.text
    assert result.stopped == "answered"
