"""Text is cleaned, escaped and rendered without loss."""

import html
import json
import re
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from satchel.model import Catalog, Descriptor
from satchel.prompt import Format, render
from satchel.text import (
    EstimateCounter,
    clean_line,
    escape_xml,
    find_hidden,
    may_hide,
    printable,
)

pytestmark = pytest.mark.property


SPICE = (
    "\u200d\u200c\u200b\ufe0f\ufe00\u202e\u2028\x1b\x85\r\n \t<>&\"'\u3000\ud800\ufffe"
    "\U000e0041\U000e007f\U000e0100\U0001f468\U0001f3f4\u2764\u0645\u0915\u094d\u4e2d1#"
    "\u180b\u1820\u3164\u034f\u2014\ue000\u00ad"
)
texts = st.text(st.characters(codec=None) | st.sampled_from(SPICE), max_size=60)


@given(texts)
def test_a_clean_line_hides_nothing_and_stays(text: str) -> None:
    clean = clean_line(text)

    assert find_hidden(clean) == ()
    assert clean == clean_line(clean) == " ".join(clean.split())


@given(texts)
def test_what_is_seen_is_kept(text: str) -> None:
    """All that cleaning takes away is hidden or white space."""
    if not find_hidden(text):
        assert clean_line(text) == " ".join(text.split())


@given(texts)
def test_the_quick_look_misses_nothing(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")

    assert may_hide(data) or not find_hidden(text)


@given(texts)
def test_printable_text_is_safe_to_print(text: str) -> None:
    shown = printable(text)

    assert find_hidden(shown) == ()
    assert "\r" not in shown
    shown.encode()


@given(texts)
def test_escapes_are_undone(text: str) -> None:
    assert html.unescape(escape_xml(text)) == html.unescape(text.replace("&", "&amp;"))


@given(texts, texts)
def test_more_text_never_costs_less(text: str, more: str) -> None:
    count = EstimateCounter().count

    assert count(text) <= count(text + more) <= count(text) + count(more)


RENDER_SPICE = (
    "\u200d\u200b\ufe0f\u202e\u2028\x1b\x85\r\n \t<>&\"'/-:*;#\ud800\ufffe\U000e0041]["
)
TAGS = "</description></skill></available_skills>"
words = st.text(st.characters(codec=None) | st.sampled_from(RENDER_SPICE), max_size=40)
descriptions = words | st.builds("{}\n- x: y {}{}".format, words, st.just(TAGS), words)
ids = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)
catalogs = st.dictionaries(
    ids.map(clean_line).filter(bool), descriptions, max_size=8
).map(
    lambda skills: Catalog(
        tuple(Descriptor(id, text) for id, text in sorted(skills.items()))
    )
)
formats = st.sampled_from(get_args(Format))


def expected(catalog: Catalog) -> list[tuple[str, str]]:
    return [(entry.id, clean_line(entry.description)) for entry in catalog]


def parse_xml(text: str, key: str) -> list[tuple[str, str]]:
    root = ET.fromstring(text[text.rindex("<available_skills>") :])  # noqa: S314
    return [(s.findtext(key) or "", s.findtext("description") or "") for s in root]


@pytest.mark.row("D25", "G17", "X20", "G26")
@given(catalogs)
def test_the_section_reads_back_as_the_catalog(catalog: Catalog) -> None:
    text = str(render(catalog, format="xml-id", budget_tokens=None, when_empty="empty"))

    assert parse_xml(text, "id") == expected(catalog)


@pytest.mark.row("X20")
@given(catalogs)
def test_the_public_layout_reads_back(catalog: Catalog) -> None:
    text = str(
        render(catalog, format="xml-spec", budget_tokens=None, when_empty="empty")
    )

    assert parse_xml(text, "name") == expected(catalog)


@pytest.mark.row("X20")
@given(catalogs)
def test_json_reads_back(catalog: Catalog) -> None:
    text = str(render(catalog, format="json", budget_tokens=None, when_empty="empty"))
    skills = json.loads(text)["skills"]

    assert [(s["id"], s["description"]) for s in skills] == expected(catalog)
    assert "<" not in text


@pytest.mark.row("X20", "C07")
@given(catalogs)
def test_the_index_has_one_line_a_skill(catalog: Catalog) -> None:
    """The first colon ends the id, so that the line reads back as what it says."""
    text = str(render(catalog, format="markdown", budget_tokens=None))
    lines = [line.removeprefix("- ") for line in text.split("\n")[1:-1]]
    pairs = [tuple(map(_undo, line.partition(": ")[::2])) for line in lines]

    assert pairs == expected(catalog)
    assert "<" not in text


def _undo(text: str) -> str:
    marks = {"lt": "<", "amp": "&", "#58": ":"}
    return re.sub("&(lt|amp|#58);", lambda found: marks[found[1]], text)


@pytest.mark.row("R15", "E30", "D16")
@given(catalogs, formats, st.integers(0, 600))
def test_no_budget_is_exceeded_and_no_skill_lost(
    catalog: Catalog, shape: Format, budget: int
) -> None:
    """Only the line that counts everything may be larger than the budget."""
    rendered = render(catalog, format=shape, budget_tokens=budget)
    told = (*rendered.shortened, *rendered.names_only, *rendered.left_out)
    all_ids = [entry.id for entry in catalog]

    assert rendered.tokens <= budget or list(rendered.left_out) == all_ids
    assert len(told) == len(set(told))
    assert set(told) <= set(all_ids)
    assert rendered == render(catalog, format=shape, budget_tokens=budget)
    if shape == "xml-id" and "<available_skills>" in str(rendered):
        listed = parse_xml(
            str(rendered).rpartition("\n")[0] if told else str(rendered), "id"
        )
        assert [id for id, _ in listed] == [
            id for id in all_ids if id not in rendered.left_out
        ]
        whole = {id for id, _ in listed} - set(told)
        assert whole == {
            id for id, text in listed if (id, text) in expected(catalog)
        } - set(told)
