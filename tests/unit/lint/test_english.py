"""Which descriptions are judged, and where their point begins."""

from __future__ import annotations

import pytest

from satchel.lint._english import is_english, opening_chars


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fill in the fields of a form and count pages.", True),
        ("Fills forms with values", True),
        ("Rellena los campos de un formulario PDF y cuenta las paginas", False),
        ("Füllt Formulare aus und zählt die Seiten", False),
        ("Remplit les formulaires et compte les pages du document", False),
        ("填写 the PDF 表单 and 检查每一页的内容 for 错误", False),
        ("Automate Demio tasks via Rube MCP. Always search tools first.", True),
        ("Capture failures, corrections, lessons; persists across sessions.", True),
        ("Polymarket trading. Browse markets, place bets, manage positions.", True),
        ("Build-Skripte mit Docker und Tasks; Review der Tools", False),
        ("Support de review pour les tests et le plan", False),
        ("Plan de review; run de pruebas para el equipo", False),
        ("PDF", False),
        ("123", False),
        ("", False),
    ],
)
def test_english_is_told_from_what_is_not(text: str, expected: bool) -> None:
    assert is_english(text) is expected


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Fill in PDF forms.", "Fill in PDF forms."),
        ("This skill should be used when the user asks to fill a form", "fill a form"),
        ("A comprehensive guide for PDF forms", "PDF forms"),
        ("the user's forms", "forms"),
        ("use this when", ""),
    ],
)
def test_where_the_first_word_of_meaning_stands(text: str, rest: str) -> None:
    assert text[opening_chars(text) :] == rest
