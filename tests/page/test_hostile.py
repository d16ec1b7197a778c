"""A pack is hostile: what it puts into each field does nothing."""

import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from playwright.sync_api import Browser

from satchel import Satchel
from satchel_server import ServedLibrary
from satchel_server._page._body import _TAGS as TAGS, body_html
from tests.page.conftest import client_of, looking

MARKUP = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'--></textarea>"
BIDI = "\u202egpj.exe\u2066\u200b\u0000"
BODY = f"""\
# {MARKUP}

<iframe src="https://evil.example"></iframe><style>body {{ display: none }}</style>
<form action="https://evil.example"><input name=q autofocus></form>
<a href="javascript:alert(1)" onclick=alert(1)>raw</a> <svg onload=alert(1)>

![pixel](https://evil.example/pixel.png) [script](javascript:alert(1))
[data](data:text/html,<script>alert(1)</script>) [relative](//evil.example/x)
[ref]: javascript:alert(1)
[up](../../../../etc/passwd) [file](references/a.md) <javascript:alert(1)>

{BIDI}

| {MARKUP} | b |
|---|---|
| `{MARKUP}` | {{{{ 7 * 700 }}}} |
"""


def hostile_library(home: Path) -> ServedLibrary:
    fields = {
        "description": f"{MARKUP} {BIDI} {{{{ 7 * 700 }}}} " + "long" * 200,
        "license": MARKUP,
        "compatibility": MARKUP,
    }
    lines = [f"{key}: {_yaml(value)}" for key, value in fields.items()]
    lines += ["metadata:", f"  owner: {_yaml(MARKUP + BIDI)}", "  tags:"]
    lines += [f"    - {_yaml(text)}" for text in (MARKUP, BIDI, "t" * 3_000)]
    packs = {
        "plain": BODY,
        "x" * 64: "# Long name\n",
        "quote-&-<b>": "# Markup in its name\n",
        "right\u202eleft": "# Bidi in its name\n",
        "deep": ">" * 100_000,
        "wide": "word" * 60_000,
        "table": "|a" * 2_000 + "\n" + "|-" * 2_000 + "\n",
    }
    for name, body in packs.items():
        pack = home / name
        (pack / "references").mkdir(parents=True)
        head = "\n".join([f"name: {_yaml(name)}", *lines])
        (pack / "SKILL.md").write_text(f"---\n{head}\n---\n{body}", "utf-8")
        (pack / "references" / "a.md").write_text(BODY, "utf-8")
        (pack / "references" / f"{MARKUP.replace('/', '')[:60]}.html").write_text(
            MARKUP
        )
        (pack / "references" / "b.bin").write_bytes(b"\x00\xff" * 10)
    return ServedLibrary(Satchel(home, sinks=()))


def _yaml(text: str) -> str:
    import json

    return json.dumps(text)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ServedLibrary:
    return hostile_library(tmp_path_factory.mktemp("hostile"))


class Markup(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    @property
    def names(self) -> list[str]:
        return [tag for tag, _ in self.tags]

    @property
    def attributes(self) -> set[str]:
        return {name for _, attributes in self.tags for name in attributes}

    @property
    def addresses(self) -> set[str]:
        values = (a.get(key) for _, a in self.tags for key in ("href", "src", "action"))
        return {value for value in values if value}


def test_no_page_has_markup_of_a_pack(library: ServedLibrary) -> None:
    client = client_of(library)
    seen: set[str] = set()
    waiting = {"/ui", "/ui?q=long", "/ui/state"}

    while waiting and len(seen) < 120:
        path = waiting.pop()
        seen.add(path)
        answer = client.get(path)
        text = answer.text
        assert answer.status_code == 200, path
        if "/static/" in path:
            continue
        markup = Markup(text)
        waiting |= {a for a in markup.addresses if a.startswith("/ui")} - seen
        assert not {"iframe", "style", "img", "textarea"} & {*markup.names}, path
        assert markup.names.count("script") == 1
        assert not any(name.startswith("on") for name in markup.attributes), path
        assert "style" not in markup.attributes
        for address in markup.addresses:
            assert re.match(r"/ui|#|https?://", address), path
        assert "4900" not in text, path
        assert not set(text) & set(BIDI.replace("gpj.exe", "")), path
    assert len(seen) > 30


def test_links_of_a_body_lead_to_its_own_files_or_say_where(
    library: ServedLibrary,
) -> None:
    text = client_of(library).get("/ui/skills/plain").text

    body = text[text.index('<div class="text">') : text.index('id="files"')]
    assert Markup(body).addresses == {
        "https://evil.example/pixel.png",
        "/ui/skills/plain/files/references/a.md",
        "/ui/skills/plain/files/SKILL.md",
    }
    rels = {a.get("rel") for tag, a in Markup(body).tags if tag == "a" and "href" in a}
    assert rels == {"noopener noreferrer nofollow", None}  # None is our own line
    assert "&lt;iframe src=" in body


@pytest.mark.parametrize(
    "text",
    [
        *(">" * 100_000, "[" * 200_000, "<a " * 80_000, "<!--" * 60_000),
        *("![a](" * 50_000, "*a **" * 50_000, "`" * 200_000, "- " * 50_000),
        "|a" * 50_000 + "\n" + "|-" * 50_000 + "\n" + "|x" * 50_000,
        "x" * 1_000_000,
    ],
    ids=lambda text: text[:5],
)
def test_no_text_keeps_a_server_busy(text: str) -> None:
    start = time.process_time()

    body_html(text, lambda _: None, "SKILL.md")

    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    "bad", [b"\xff\xfe---", b"", b"\x00" * 5_000, b"---\nname: [\n"]
)
def test_a_pack_that_cannot_be_read_breaks_no_page(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_bytes(bad)
    client = client_of(ServedLibrary(Satchel(tmp_path, sinks=())))

    for path in ("/ui", "/ui/state", "/ui/skills/bad", "/ui?q=bad"):
        assert client.get(path).status_code in {200, 404}


@pytest.mark.slow
def test_chromium_runs_and_fetches_nothing_of_a_pack(
    library: ServedLibrary, browser: Browser
) -> None:
    """`looking` fails for a dialog, an error, or a request to another place."""
    with looking(browser, library, viewport={"width": 360, "height": 700}) as (page, _):
        page.goto("/ui")
        links = page.locator(".skills h2 a").evaluate_all("all => all.map(a => a.href)")
        assert len(links) == 7
        for link in links:
            page.goto(link)
            assert page.title().endswith(" - Satchel")
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= 360, link
            assert page.evaluate("getComputedStyle(document.body).display") == "block"


@pytest.mark.property
@given(
    st.text(
        st.sampled_from("<>&\"'`*_[]()!#|-~\\/:;=\n\t ajavscriptx\u202e\x00"),
        max_size=80,
    )
)
def test_no_text_becomes_another_tag(text: str) -> None:
    html = body_html(text, lambda path: f"/ui/{len(path)}", "SKILL.md")

    assert html is not None
    markup = Markup(html)
    assert {*markup.names} <= TAGS
    assert markup.attributes <= {"href", "rel"}
    for address in markup.addresses:
        assert re.match(r"/ui/\d+$|https?://|https?:|mailto:", address)
