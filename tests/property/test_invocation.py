"""Whatever a body and a user write, it is filled once and nothing raises."""

from hypothesis import given, strategies as st

from satchel.load._invocation import fill_arguments

PARTS = st.lists(
    st.sampled_from(["$ARGUMENTS", "$ARGUMENTS[0]", "$0", "$9", "$name", "$", "!`x`"])
    | st.sampled_from(["${SKILL_DIR}", "${CLAUDE_SESSION_ID}", " ", "\n"])
    | st.sampled_from(["\\", "'", '"', "a"])
    | st.text(max_size=3)
).map("".join)


@given(PARTS, PARTS)
def test_nothing_raises_and_equal_calls_agree(body: str, arguments: str) -> None:
    first = fill_arguments(body, arguments, names=("name",))

    assert first == fill_arguments(body, arguments, names=("name",))


@given(PARTS)
def test_what_is_filled_in_is_never_looked_at_again(arguments: str) -> None:
    """Placeholders in the arguments come out as they were typed."""
    found = fill_arguments("<$ARGUMENTS>", arguments, names=("name",), folder="/f")

    assert found.text == f"<{arguments}>"


@given(PARTS)
def test_a_body_without_placeholders_comes_out_as_it_is(body: str) -> None:
    plain = body.replace("$", "")

    assert fill_arguments(plain, "").text == plain
