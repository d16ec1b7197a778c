"""The words that search sees."""

import pytest

from satchel.search._words import Stemmer, name_words, query_words, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A plain text.", ["a", "plain", "text"]),
        ("snake_case and kebab-case", ["snake", "case", "and", "kebab", "case"]),
        ("Café NAÏVE cafe\u0301", ["cafe", "naive", "cafe"]),
        ("\u2121 \uff21", ["tel", "a"]),
        ("饺", ["饺"]),
        ("饺子", ["饺子"]),
        ("做饺子吧", ["做饺", "饺子", "子吧"]),
        ("make 饺子 now", ["make", "饺子", "now"]),
        ("한국어", ["한국", "국어"]),
        ("a\ud800b", ["a", "b"]),
        ("\x00\x1f", []),
    ],
)
def test_words_have_no_case_and_no_accents_and_runs_are_pairs(
    text: str, words: list[str]
) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pdf-forms", ["pdf", "forms"]),
        ("pdf_forms", ["pdf", "forms"]),
        ("pdfForms", ["pdfforms", "pdf", "forms"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("GitHub", ["github", "git", "hub"]),
    ],
)
def test_a_name_is_taken_apart(name: str, words: list[str]) -> None:
    assert name_words(name) == words


def test_common_words_are_left_out_where_others_remain() -> None:
    assert query_words("what is the Form of a form") == ["form"]
    assert query_words("what is it") == ["what", "is", "it"]


def test_each_word_gets_its_own_stem() -> None:
    """They are made in one call, and come back by their places."""
    words = ["forms", "é", "running", "做饺", "queries", "c99", "ran" * 20, "", "a b"]

    stems = Stemmer().stems(words)

    assert list(stems) == words
    assert stems["forms"] == "form"
    assert stems["running"] == "run"
    assert stems["queries"] == "queri"
    assert [stems[word] for word in ("é", "做饺", "c99", "", "a b")] == [
        *("é", "做饺", "c99", "", "a b")
    ]
    assert len(stems["ran" * 20]) <= 40


def test_a_stemmer_can_be_asked_again() -> None:
    stemmer = Stemmer()

    assert [stemmer.stems(["tests"]), stemmer.stems([])] == [{"tests": "test"}, {}]
    assert stemmer.stems(["tested"]) == {"tested": "test"}
