"""docs/reference/lint-rules.md says what the heads of the codes' pages say."""

import pytest

from tools.lint_rules import PAGE, render


@pytest.mark.row("E02")
def test_the_page_lists_every_rule() -> None:
    assert PAGE.read_text("utf-8") == render()
