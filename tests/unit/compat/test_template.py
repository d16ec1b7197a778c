"""Conditions, commands, placeholders, in this order."""

import pytest

from satchel_compat import render_template

VALUES = {
    "A": "one",
    "EMPTY": "",
    "NONE": None,
    "ZERO": 0,
    "OFF": False,
    "OTHER": "{{A}}",
}


@pytest.mark.row("E17")
@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{A}} and {{A}}", "one and one"),
        (
            "{{MISSING}} {{A B}} {{}} { {A} } {{ A }}",
            "{{MISSING}} {{A B}} {{}} { {A} } {{ A }}",
        ),
        ("{{EMPTY}}{{NONE}}{{ZERO}}", "0"),
        ("{{OTHER}}", "{{A}}"),
        ("{{#IF A}}yes{{/IF}}.", "yes."),
        ("{{#IF MISSING}}yes{{/IF}}.", "."),
        ("{{#IF EMPTY}}yes{{/IF}}{{#IF NONE}}yes{{/IF}}.", "."),
        ("{{#IF ZERO}}yes{{/IF}}.", "yes."),
        ("{{#IF OFF}}yes{{/IF}}{{#IF_NOT OFF}}no: {{OFF}}{{/IF}}.", "no: False."),
        ("{{#IF_NOT A}}no{{/IF}}.", "."),
        ("{{#IF_NOT MISSING}}no{{/IF}}{{#IF_NOT EMPTY}}no{{/IF}}.", "nono."),
        ("{{#IF_NOT MISSING}}no{{/IF_NOT}}.", "no."),
        ("{{#IF A}}\na {{A}}\n{{/IF}}\n{{#IF_NOT A}}\nb\n{{/IF}}\n", "\na one\n\n\n"),
        ("{{#IF_NOT A}}x{{/IF}}{{#IF A}}y{{/IF}}{{#IF B}}z{{/IF}}", "y"),
        ("{{#IF  A}}two blanks{{/IF}}", "two blanks"),
        ("{{#IF A}}x{{#IF MISSING}}y{{/IF}}z{{/IF}}", "x{{#IF MISSING}}yz{{/IF}}"),
        ("{{#IF A}}never ends {{A}}", "{{#IF A}}never ends one"),
        ("{{/IF}}{{#IF}}x{{/IF}}", "{{/IF}}{{#IF}}x{{/IF}}"),
        ("", ""),
    ],
)
def test_conditions_and_placeholders(template: str, text: str) -> None:
    assert render_template(template, VALUES) == text


@pytest.mark.row("G24", "E17")
def test_commands_stay_unless_there_is_somebody_to_run_them() -> None:
    assert render_template("!`rm -rf {{A}}` {{A}}", VALUES) == "!`rm -rf one` one"


@pytest.mark.row("E17")
def test_commands_run_after_conditions_and_before_placeholders() -> None:
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return f"<{command} {{{{A}}}} !`again`>"

    text = render_template(
        "{{#IF MISSING}}!`never`{{/IF}}!` one {{A}} ` ``! !`two\nlines`",
        VALUES,
        run=run,
    )

    assert ran == ["one {{A}}", "two\nlines"]
    assert text == ("<one one one !`again`> ``! <two\nlines one !`again`>")


@pytest.mark.row("E17")
@pytest.mark.parametrize(
    "template",
    [
        "{{#IF A}}" * 40_000,
        "{{#IF_NOT B}}" * 40_000 + "{{/IF}}",
        "{{#IF A}}x{{/IF}}" * 40_000,
        "{{#IF " + " " * 400_000,
        "{{#IF " + "A" * 400_000,
        "{{" * 200_000,
        "{{" + "A" * 400_000,
        "{{A" * 100_000,
        "!`" * 200_000,
        "!" * 400_000 + "`" + "x" * 400_000,
        "{{/IF}}" * 60_000,
    ],
    ids=[
        *("open", "open-not", "blocks", "blanks", "name", "braces", "placeholder"),
        *("placeholders", "commands", "command", "ends"),
    ],
)
def test_no_text_takes_more_than_a_pass(template: str) -> None:
    """A second look at each place would take minutes here, and the suite would hang."""
    assert isinstance(render_template(template, VALUES, run=lambda _: ""), str)
