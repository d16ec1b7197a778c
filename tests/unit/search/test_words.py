"""What the index sees of a text."""

import pytest

from satchel.search._fts import index_text, query_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a plain text", ["a", "plain", "text"]),
        ("饺", ["饺"]),
        ("饺子", ["饺子"]),
        ("做饺子吧", ["做饺", "饺子", "子吧"]),
        ("make 饺子 now", ["make", "饺子", "now"]),
    ],
)
def test_runs_without_spaces_become_overlapping_pairs(
    text: str, words: list[str]
) -> None:
    assert index_text(text).split() == words


def test_common_words_are_left_out_where_others_remain() -> None:
    assert query_words("what is the Form of a form") == ["form"]
    assert query_words("what is it") == ["what", "is", "it"]
