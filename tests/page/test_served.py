"""``satchel serve`` as a whole: its options and variables, in a process of its own."""

import http.client
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from satchel.testing import write_pack
from tests.functional.serving import serving

pytestmark = pytest.mark.slow
TOKEN = "a-token-for-everybody"  # noqa: S105 - made up


def ask(
    url: str, path: str, *, form: dict[str, str] | None = None, cookie: str = ""
) -> tuple[int, str, str]:
    """Return the status, the body, and the cookie that is set."""
    host = urlsplit(url).netloc
    headers = {"Accept": "text/html", "Origin": url, "Cookie": cookie}
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        if form is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, urlencode(form), headers)
        answer = connection.getresponse()
        set_cookie = answer.headers["set-cookie"] or ""
        return answer.status, answer.read().decode(), set_cookie.partition(";")[0]


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    write_pack(tmp_path / "skills", "alpha", "Use for alpha.", "Do alpha.")
    return tmp_path / "skills"


def test_the_page_is_served_and_shows_use(packs: Path, tmp_path: Path) -> None:
    env = {"SATCHEL_USAGE": f"sqlite://{tmp_path / 'usage.db'}"}
    with serving(str(packs), cwd=tmp_path, env=env) as server:
        assert f"  page       {server.url}/ui" in server.said
        assert ask(server.url, "/")[0] == 303
        assert "Use for alpha." in ask(server.url, "/ui")[1]
        assert "Loads by day" in ask(server.url, "/ui/use")[1]


def test_it_can_be_turned_off(packs: Path, tmp_path: Path) -> None:
    off = {"SATCHEL_USAGE": "off"}
    with serving(str(packs), "--no-ui", cwd=tmp_path, env=off) as server:
        assert not any("/ui" in line for line in server.said)
        assert ask(server.url, "/ui")[0] == 404
    with serving(str(packs), cwd=tmp_path, env=off) as server:
        assert "Use is not recorded here" in ask(server.url, "/ui/use")[1]


def test_a_session_outlives_a_restart_with_the_same_token(
    packs: Path, tmp_path: Path
) -> None:
    cookies: list[str] = []
    for key in ("", "", "a-key-of-all-replicas"):
        env = {"SATCHEL_TOKEN": TOKEN, "SATCHEL_SESSION_KEY": key}
        env["SATCHEL_USAGE"] = "off"
        with serving(str(packs), cwd=tmp_path, env=env) as server:
            assert ask(server.url, "/ui")[0] == 401
            if cookies:
                status = ask(server.url, "/ui", cookie=cookies[0])[0]
                assert status == (401 if key else 200)
            answer = ask(server.url, "/ui/login", form={"token": TOKEN, "to": "/ui"})
            assert answer[0] == 303
            cookies.append(answer[2])
            assert ask(server.url, "/ui", cookie=answer[2])[0] == 200
