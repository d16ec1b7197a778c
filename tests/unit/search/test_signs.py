"""Names that end in a sign or begin with one are names of their own."""

import pytest

from satchel.search._words import bag_of_words, words_of
from tests.unit.search.test_ranker import described

LANGUAGES = {
    "one": "Style of the C language.",
    "two": "Style of the C++ language.",
    "three": "Style of the C# language.",
    "four": "Style of the F# language.",
    "five": "Style of the Java language.",
}
WEB = {
    "one": "Write angular momentum into a net of nodes with js.",
    "two": "Set up @angular/core for a page.",
    "three": "Host a .NET service.",
    "four": "Start a Node.js server.",
    "five": "Follow $ref and $defs in a schema; a ref is no $ref.",
}


@pytest.mark.row("F88")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("C++, C# and F#.", ["c++", "c#", "and", "f#"]),
        ("c++17 (C#), notepad++", ["c++", "17", "c#", "notepad", "notepad++"]),
        (".NET or ASP.NET", ["net", ".net", "or", "asp", "net", ".net"]),
        ("node.js", ["node", "js", ".js"]),
        ("@angular/core $ref", ["angular", "@angular", "core", "ref", "$ref"]),
        ("C#入门", ["c#", "入门"]),
        ("The end. A+ is for #5, 100+ $5 1.5 a+b", "the end a is for 5 100 5 1 5 a b"),
        ("... and ...so on ## page#part _.a", "and so on page part a"),
        ("someone@example.com", ["someone", "example", "com", ".com"]),
    ],
)
def test_a_sign_belongs_to_the_name_it_touches(
    text: str, words: list[str] | str
) -> None:
    expected = words.split() if isinstance(words, str) else words

    assert words_of(text) == expected
    assert sorted(bag_of_words(text)) == sorted(
        word for word in expected if word[0] not in ".@$"
    )


@pytest.mark.row("F01", "F88")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("c", "one"),
        ("C++", "two"),
        ("style of c#", "three"),
        ("an F# function", "four"),
    ],
)
def test_a_name_that_ends_in_a_sign_is_another_name(query: str, best: str) -> None:
    first, *rest = described(**LANGUAGES).find(query)

    assert first.id == best
    assert all(hit.weak for hit in rest)


def test_the_plain_name_finds_the_one_with_a_sign_behind_it_after_its_own() -> None:
    found = [hit.id for hit in described(**LANGUAGES).find("c")]

    assert found == ["one", "three", "two"]


@pytest.mark.row("F88")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        (".net", "three"),
        ("@angular", "two"),
        ("node.js", "four"),
        ("$ref", "five"),
        ("$defs", "five"),
    ],
)
def test_a_name_that_begins_with_a_sign_goes_first(query: str, best: str) -> None:
    assert described(**WEB).find(query)[0].id == best


@pytest.mark.row("F88")
@pytest.mark.parametrize("query", ["node", "js", "net", "angular", "ref", "core"])
def test_the_plain_word_is_found_still(query: str) -> None:
    assert described(**WEB).find(query)


@pytest.mark.parametrize(
    ("query", "best"), [(".core", "two"), ("$angular", "one"), ("net+", "three")]
)
def test_a_sign_that_no_skill_has_is_no_hindrance(query: str, best: str) -> None:
    assert best in [hit.id for hit in described(**WEB).find(query)]
