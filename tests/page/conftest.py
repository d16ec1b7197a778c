"""A made-up library behind a guard, for clients in memory and for a real Chromium."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from httpx2 import Response
from playwright.sync_api import Browser, Page
from starlette.testclient import TestClient

from satchel import Satchel
from satchel.sources import MemorySource
from satchel_server import Caller, GuardSettings, ServedLibrary, guarded_app
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from tools.pictures_of_page import CHROMIUM, Sample, sample, served

ALL, SOME = "a-token-for-all-skills", "a-token-for-two-skills"
TOKENS = JoinedTokens(
    [
        Token(Caller("ana"), digest_of(ALL)),
        Token(Caller("ben", ("refund-*", "travel-*")), digest_of(SOME)),
    ]
)
HERE = {"origin": "http://127.0.0.1", "host": "127.0.0.1"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample(tmp_path_factory.mktemp("library"))


def client_of(library: ServedLibrary, usage: str = "", **guarded: Any) -> TestClient:  # noqa: ANN401 - of `GuardSettings`
    """Return a browser without JavaScript, at the whole server."""
    settings = GuardSettings(page=True, **guarded)
    app = guarded_app(library, settings, usage=usage)
    return TestClient(
        app,
        base_url="http://127.0.0.1",
        raise_server_exceptions=False,
        follow_redirects=False,
        headers={"accept": "text/html", "host": "127.0.0.1"},
    )


def library_of(packs: dict[str, dict[str, str]]) -> ServedLibrary:
    return ServedLibrary(Satchel(MemorySource(packs), sinks=()))


@pytest.fixture(scope="module")
def client(made: Sample) -> TestClient:
    return client_of(made.library, made.usage)


@pytest.fixture(scope="module")
def private(made: Sample) -> Callable[[], TestClient]:
    """Return a new browser at a server with two users."""
    return lambda: client_of(made.library, made.usage, tokens=TOKENS)


def log_in(client: TestClient, token: str, to: str = "/ui") -> Response:
    return client.post("/ui/login", data={"token": token, "to": to}, headers=HERE)


# Not for longer: its event loop would be in the way of other tests of this process.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no {CHROMIUM}; to install it: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@contextmanager
def looking(
    browser: Browser,
    library: ServedLibrary,
    *,
    usage: str = "",
    tokens: JoinedTokens | None = None,
    **how: Any,  # noqa: ANN401 - of a context of Playwright
) -> Generator[tuple[Page, str]]:
    """Give a page of Chromium at a server; fail for each error that it reports."""
    settings = GuardSettings(page=True, tokens=tokens)
    with served(guarded_app(library, settings, usage=usage)) as url:
        context = browser.new_context(base_url=url, **how)
        page = context.new_page()
        problems: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        yield page, url
        context.close()
    # An answer of 4xx is a line on the console, too.
    assert [p for p in problems if "status of 4" not in p] == []
    assert [address for address in asked if not address.startswith(url)] == []
