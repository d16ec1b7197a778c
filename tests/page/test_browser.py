"""The page in a real Chromium: each view, search, two users, axe, no script."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import (  # type: ignore[import-untyped]
    Axe,
)
from playwright.sync_api import Browser, Page, expect

from tests.page.conftest import ALL, SOME, TOKENS, looking
from tools.pictures_of_page import Sample

pytestmark = pytest.mark.slow

VIEWS = (
    *("/ui", "/ui?q=refund+money", "/ui/skills/refund-rules", "/ui/skills/draft"),
    "/ui/skills/refund-rules/history",
    *("/ui/use", "/ui/use/skills", "/ui/use/acts", "/ui/state", "/ui/nothing"),
    "/ui/skills/refund-rules/files/references/rules.md",
)


def violations(page: Page) -> list[str]:
    """Return what axe finds that is serious or critical."""
    response: dict[str, Any] = Axe().run(page).response
    return [
        f"{page.url} {item['id']}: {node['target']}"
        for item in response["violations"]
        if item["impact"] in {"serious", "critical"}
        for node in item["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    browser: Browser, made: Sample, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 800}
    how: dict[str, Any] = {"color_scheme": scheme, "viewport": size}
    with looking(browser, made.library, usage=made.usage, **how) as (page, _):
        found: list[str] = []
        for path in VIEWS:
            page.goto(path)
            found += violations(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    with looking(browser, made.library, tokens=TOKENS, **how) as (page, _):
        page.goto("/ui")
        found += violations(page)

    assert found == []


def test_search_answers_while_one_types(browser: Browser, made: Sample) -> None:
    with looking(browser, made.library) as (page, _):
        page.goto("/ui")
        page.get_by_role("searchbox").press_sequentially("refund")
        expect(page.locator(".skills li")).to_have_count(1)
        expect(page.locator(".skills h2")).to_have_text("refund-rules")
        assert page.url.endswith("/ui?q=refund")
        page.get_by_label("Owner").select_option("legal")
        expect(page.locator(".skills li")).to_have_count(0)
        page.get_by_role("searchbox").fill("")
        expect(page.locator(".skills li")).to_have_count(2)


def test_two_users_see_different_skills(browser: Browser, made: Sample) -> None:
    counts: list[int] = []
    for token in (ALL, SOME):
        with looking(browser, made.library, tokens=TOKENS) as (page, url):
            page.goto("/ui/use")
            page.get_by_label("Token").fill("a-token-of-nobody-at-all")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert")).to_be_visible()
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Log in").click()
            expect(page).to_have_url(f"{url}/ui/use")
            page.get_by_role("link", name="Library").click()
            counts.append(page.locator(".skills li").count())
            assert page.evaluate("document.cookie") == ""
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_label("Token")).to_be_visible()
            page.goto("/ui")
            expect(page.get_by_label("Token")).to_be_visible()

    assert counts == [13, 2]


@pytest.mark.row("N15")
@pytest.mark.parametrize("script", [True, False])
def test_five_facts_are_three_clicks_away(
    browser: Browser, made: Sample, *, script: bool
) -> None:
    """What is dead, whose is it, what does it cost, what is away, why not listed?"""
    how: dict[str, Any] = {"java_script_enabled": script}
    with looking(browser, made.library, usage=made.usage, **how) as (page, _):

        def clicks(*names: str) -> None:
            page.goto("/ui")
            for name in names:
                page.get_by_role("link", name=name, exact=True).first.click()

        clicks("Use")
        dead = page.locator("section", has=page.locator("#dead"))
        expect(dead.get_by_role("link", name="travel-policy")).to_be_visible()
        clicks("sql-style")
        facts = page.get_by_role("complementary")
        expect(facts.get_by_role("link", name="data")).to_be_visible()
        expect(facts).to_contain_text("when it is loaded")
        clicks("1 source away: https://skills.example.com")
        expect(page.get_by_text("connection refused")).to_be_visible()
        clicks("1 pack not listed")
        expect(page.locator("body")).to_contain_text("there is no description")


def test_it_is_used_by_the_keyboard_alone(browser: Browser, made: Sample) -> None:
    with looking(browser, made.library) as (page, _):
        page.goto("/ui")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to the content")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_attribute("type", "search")
        page.keyboard.type("invoice")
        page.keyboard.press("Enter")
        link = page.get_by_role("link", name="invoice-check", exact=True)
        expect(link).to_be_visible()
        link.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("invoice-check")


def test_the_lines_to_connect_can_be_copied(browser: Browser, made: Sample) -> None:
    how: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
    with looking(browser, made.library, **how) as (page, _):
        page.goto("/ui/skills/refund-rules")
        page.get_by_role("button", name="Copy").last.click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")

    assert copied == 'load_skill(skill_id="refund-rules")'
