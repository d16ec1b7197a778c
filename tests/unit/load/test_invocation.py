"""A skill as its user calls it: every placeholder, once."""

from typing import Any

import pytest

from satchel.load import invoke_skill
from satchel.load._invocation import fill_arguments
from satchel.model import ClientFields, Descriptor, Loaded

PDF = Descriptor("pdf", "Use.")
TWO = "fix 'the bug'"


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        ("Do $ARGUMENTS.", TWO, "Do fix 'the bug'."),
        ("Do $ARGUMENTS.", "", "Do ."),
        ("Do $0, then $1.", TWO, "Do fix, then the bug."),
        ("Do $ARGUMENTS[1].", TWO, "Do the bug."),
        ("$0 costs $2 or $ARGUMENTS[7]", TWO, "fix costs $2 or $ARGUMENTS[7]"),
        ("$ARGUMENTS[x]", "a", "a[x]"),
        ("v$ARGUMENTS[0]beta", "1", "v1beta"),
        ("$0th $0_ $ARGUMENTSX $٠ $", "a", "$0th $0_ $ARGUMENTSX $٠ $\n\nARGUMENTS: a"),
        (r"\$0 \$ARGUMENTS \$ARGUMENTS[0] $0", "a", "$0 $ARGUMENTS $ARGUMENTS[0] a"),
        (r"\\$0 \\\$0", "a", r"\\a \\\a"),
        ("$0", '"a b" c', "a b"),
        ("$0|$1", r"a\ b c", "a b|c"),
        ("$0|$1", "", "$0|$1"),
        ("Do it.\n", "now", "Do it.\n\nARGUMENTS: now"),
        ("", "now", "ARGUMENTS: now"),
        ("Do it.\n", " ", "Do it.\n"),
        (r"Print \$0.", "now", "Print $0.\n\nARGUMENTS: now"),
    ],
)
def test_arguments_are_filled_in(body: str, arguments: str, expected: str) -> None:
    """Indexes start at 0; an index without a word, or in a word, is left alone."""
    assert fill_arguments(body, arguments).text == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$issue on $branch", "12 on main"),
        ("$issue-id, $issue_id, $issue", "7, $issue_id, 12"),
        ("$branch-backup $branches", "main-backup $branches"),
        (r"\$issue $who!", "$issue !"),
        ("$Issue", "$Issue\n\nARGUMENTS: 12 main 7"),
    ],
)
def test_names_stand_for_words_in_order(body: str, expected: str) -> None:
    """The longest name that fits; a name without a word is empty."""
    names = ("issue", "branch", "issue-id", "who", "")

    assert fill_arguments(body, "12 main 7", names=names).text == expected


@pytest.mark.row("U04", "F66")
@pytest.mark.parametrize(
    "body",
    [
        "Grants end at $1,000 and begin at $0.50.",
        "It costs $1.5M, $1k, $1'000, $1\u2019000, $1 000 or $1\u00a0000.",
        "US$1 or C$0 a head.",
        "$0th $1_000",
        "s/a/$1b/",
    ],
)
def test_an_amount_is_no_argument(body: str) -> None:
    """Not even of a pack that declares arguments."""
    assert fill_arguments(body, "north south").text.startswith(body)


@pytest.mark.row("U04", "F66")
@pytest.mark.parametrize(
    ("declared", "filled"),
    [
        ({}, False),
        ({"arguments": ("place",)}, True),
        ({"argument_hint": "[place]"}, True),
    ],
)
def test_digits_are_filled_only_where_arguments_are_declared(
    declared: dict[str, Any], filled: bool
) -> None:
    """Of ``$ARGUMENTS`` no pack has to say that it wants them."""
    body = "A form costs $0: {print $1}. To $ARGUMENTS[0], as $ARGUMENTS.\n"
    loaded = Loaded(PDF, "SKILL.md", b"", body, "", body=body)

    invoked = invoke_skill(loaded, "north now", ClientFields(**declared), None)

    ends = "To north, as north now."
    left = "$0 is left as it is: the skill declares no arguments"
    if filled:
        assert f"A form costs north: {{print now}}. {ends}" in invoked.text
        assert invoked.notes == ("filled in: $0, $1, $ARGUMENTS[0], $ARGUMENTS",)
    else:
        assert f"A form costs $0: {{print $1}}. {ends}" in invoked.text
        assert invoked.notes == (left, "filled in: $ARGUMENTS[0], $ARGUMENTS")


@pytest.mark.row("U04")
@pytest.mark.parametrize("body", ["Pay $1.", "Do it.", r"Print \$1."])
def test_what_no_pack_asks_for_follows_the_text(body: str) -> None:
    loaded = Loaded(PDF, "SKILL.md", b"", body, "", body=body)

    text = invoke_skill(loaded, "north now", ClientFields(), None, "lean").text

    assert f"{body}\n\nARGUMENTS: north now" in text


@pytest.mark.parametrize("arguments", ["it's broken", 'say "no', "a \\"])
def test_odd_quotes_are_split_at_blanks_and_said(arguments: str) -> None:
    found = fill_arguments("$0", arguments)

    assert found.text == arguments.split(maxsplit=1)[0]
    assert found.notes == ("the quotes in the arguments do not match; split at blanks",)
    assert fill_arguments("$ARGUMENTS", arguments).notes == ()


def test_the_folder_is_filled_in() -> None:
    """A backslash does not keep these."""
    body = r"run ${CLAUDE_SKILL_DIR}/a.py \${SKILL_DIR}"

    found = fill_arguments(body, "", folder=r"C:\skills\1")

    assert found.text == r"run C:\skills\1/a.py \C:\skills\1"
    assert found.notes == ()


def test_what_has_no_value_is_left_and_said_once() -> None:
    body = "${SKILL_DIR}/a ${SKILL_DIR}/b ${CLAUDE_PROJECT_DIR} ${HOME} ${CLAUDE_x}"

    found = fill_arguments(body, "", folder=None)

    assert found.text == body
    assert found.notes == (
        "${SKILL_DIR} has no value here and is left as it is",
        "${CLAUDE_PROJECT_DIR} has no value here and is left as it is",
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("Status: !`git status`", True),
        ("!`git status`\n", True),
        ("```!\ngit status\n```\n", True),
        ("Wow!`x`", False),
        ("```sh\n! x\n```\n", False),
    ],
)
@pytest.mark.row("E26")
def test_commands_are_left_inert_and_said(body: str, *, said: bool) -> None:
    found = fill_arguments(body, "")

    assert found.text == body
    assert found.notes == (
        ("commands in the text, !`...` and ```!, are not run",) if said else ()
    )
