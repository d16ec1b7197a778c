"""A skill as its user calls it: every placeholder, once."""

import pytest

from satchel.load._invocation import fill_arguments

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


@pytest.mark.parametrize("arguments", ["it's broken", 'say "no', "a \\"])
def test_odd_quotes_are_split_at_blanks_and_said(arguments: str) -> None:
    found = fill_arguments("$0", arguments)

    assert found.text == arguments.split(maxsplit=1)[0]
    assert found.notes == ("the quotes in the arguments do not match; split at blanks",)
    assert fill_arguments("$ARGUMENTS", arguments).notes == ()


def test_the_folder_and_the_session_are_filled_in() -> None:
    """A backslash does not keep these."""
    body = r"run ${CLAUDE_SKILL_DIR}/a.py \${SKILL_DIR} ${CLAUDE_SESSION_ID}"

    found = fill_arguments(body, "", folder=r"C:\skills\1", session="s-1")

    assert found.text == r"run C:\skills\1/a.py \C:\skills\1 s-1"
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
