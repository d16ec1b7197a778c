"""What an extra says of a newest release that failed, and of one that passed."""

import tomllib

import pytest

from tools.newest import PROJECT, bound, free

EXTRAS = """\
langchain = ["langchain>=1.2.11"]
openai = ["openai>=1.66"]
openai-agents = ["openai-agents>=0.23.1"]
claude-agent-sdk = ["claude-agent-sdk>=0.2.176", "mcp>=2"]
"""


@pytest.mark.row("F100")
def test_what_failed_is_bounded_and_nothing_else() -> None:
    bounded = bound(EXTRAS, "openai", "3.57.0")

    assert tomllib.loads(bounded) == tomllib.loads(EXTRAS) | {
        "openai": ["openai>=1.66,<3.57.0"]
    }


@pytest.mark.row("F100")
@pytest.mark.parametrize("extra", ["openai", "claude-agent-sdk", "langchain"])
def test_the_bound_is_gone_before_the_newest_are_tried_again(extra: str) -> None:
    assert free(bound(EXTRAS, extra, "9.0.0rc1")) == EXTRAS


@pytest.mark.parametrize("extra", ["opena", "mcp", "", ".*"])
def test_what_is_no_extra_is_an_error(extra: str) -> None:
    with pytest.raises(LookupError, match="has no lower bound alone"):
        bound(EXTRAS, extra, "1")


def test_a_bound_is_not_put_upon_another() -> None:
    with pytest.raises(LookupError, match="has no lower bound alone"):
        bound(bound(EXTRAS, "openai", "2"), "openai", "3")


@pytest.mark.row("F100")
def test_the_extras_of_this_project_can_be_bounded() -> None:
    project = free(PROJECT.read_text("utf-8"))

    assert 'langchain>=1.2.11,<99"' in bound(project, "langchain", "99")
    assert free(bound(project, "llama-index", "99")) == project
