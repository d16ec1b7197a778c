"""Who sees what: the form, the session in a cookie, two users, one of OAuth."""

import re
import time
from collections.abc import Callable
from dataclasses import replace

import jwt
import pytest
from mcp.server.auth.provider import AccessToken
from starlette.testclient import TestClient

from satchel import Policy, Satchel, ask, deny
from satchel_server import Caller, GuardSettings, OAuthSettings, ServedLibrary
from satchel_server._guard import _page_sessions
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from tests.page.conftest import ALL, HERE, SOME, TOKENS, client_of, log_in
from tests.page.test_pages import ids
from tools.pictures_of_page import Sample

New = Callable[[], TestClient]


@pytest.mark.parametrize(
    "path", ["/ui", "/ui/skills/refund-rules", "/ui/use", "/ui/state", "/ui/nothing"]
)
def test_a_stranger_sees_the_form_alone(private: New, path: str) -> None:
    answer = private().get(path)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="satchel"'
    assert '<input id="token" name="token" type="password"' in answer.text
    assert f'name="to" value="{path}"' in answer.text
    assert "refund-rules" not in answer.text.replace(path, "")
    assert "skills.example.com" not in answer.text
    assert private().get("/ui/static/style.css").status_code == 200
    assert private().get("/").headers["location"] == "/ui"
    assert private().get("/v1/catalog").status_code == 401


def test_a_token_opens_a_session_that_holds_no_token(private: New) -> None:
    client = private()

    answer = log_in(client, ALL, "/ui/skills/refund-rules?x=1")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/ui/skills/refund-rules?x=1"
    cookie = answer.headers["set-cookie"]
    assert re.search(r"; HttpOnly; Max-Age=28800; Path=/ui; SameSite=strict", cookie)
    assert "Secure" not in cookie
    assert ALL not in cookie
    assert client.get("/ui/skills/refund-rules").status_code == 200
    # It is for the page alone.
    session = {"cookie": f"satchel_session={client.cookies['satchel_session']}"}
    assert private().get("/v1/catalog", headers=session).status_code == 401


def test_behind_tls_the_cookie_is_secure(private: New) -> None:
    headers = {**HERE, "x-forwarded-proto": "https"}

    answer = private().post("/ui/login", data={"token": ALL}, headers=headers)

    assert "; Secure" in answer.headers["set-cookie"]


def test_each_user_sees_their_skills_and_nothing_of_others(
    private: New, made: Sample
) -> None:
    client = private()
    log_in(client, SOME)

    library = client.get("/ui").text
    assert ids(library) == ["refund-rules", "travel-policy"]
    assert "2 skills" in library
    assert "finance (1)" in library
    assert "marketing" not in library
    assert ids(client.get("/ui?q=invoice").text) == []
    assert client.get("/ui/skills/invoice-check").status_code == 404
    assert "not listed: " not in client.get("/ui?q=draft").text
    use = client.get("/ui/use").text
    assert "refund-rules" in use
    for other in (
        "invoice-check",
        "holiday-calendar",
        "Loads that failed",
        "marketing",
    ):
        assert other not in use
    state = client.get("/ui/state").text
    assert "draft" not in state
    for other in ("connection refused", "skills.example.com", "team", ">12<"):
        assert other not in state
    assert '<td class="number">2</td>' in state

    everything = private()
    log_in(everything, ALL)
    assert len(ids(everything.get("/ui").text)) == len(made.library.catalog)


def test_any_replica_with_the_token_accepts_the_session(made: Sample) -> None:
    first, other = (client_of(made.library, tokens=TOKENS) for _ in range(2))
    log_in(first, ALL)
    session = {"cookie": f"satchel_session={first.cookies['satchel_session']}"}

    assert other.get("/ui", headers=session).status_code == 200


def test_a_session_ends_with_its_token_and_with_its_time(
    made: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(made.library, tokens=TOKENS)
    log_in(client, ALL)
    session = {"cookie": f"satchel_session={client.cookies['satchel_session']}"}
    changed = JoinedTokens([Token(Caller("ana"), digest_of("another-token-of-ana"))])
    keyed = client_of(made.library, tokens=TOKENS, session_key=b"k")

    for other in (client_of(made.library, tokens=changed), keyed):
        assert other.get("/ui", headers=session).status_code == 401
    assert client.get("/ui").status_code == 200
    monkeypatch.setattr(_page_sessions, "time", _Earlier())
    log_in(client, ALL)
    assert client.get("/ui").status_code == 401


class _Earlier:
    def time(self) -> float:
        return time.time() - 8 * 3600 - 1


def test_nothing_forged_is_accepted(private: New) -> None:
    client = private()
    log_in(client, SOME)
    value = client.cookies["satchel_session"]
    head, payload, signature = value.split(".")
    forged = _page_sessions.new_session({"name": "ana"}, b"guessed" * 8)
    assert forged is not None
    unsigned = jwt.encode({"name": "ana", "exp": time.time() + 9}, "", "none")
    endless = jwt.encode(
        {"name": "ana"}, _page_sessions.session_secret(b"", digest_of(ALL))
    )

    for cookie in (
        forged.value,
        unsigned,
        endless,
        f"{head}.{payload}.",
        f"{head}.{payload}x.{signature}",
        f"{value}.{value}",
        "x",
        "é",
        f"{head}.W10.{signature}",  # a list
        "." * 4_000,
    ):
        sent = {"cookie": f"satchel_session={cookie}".encode()}
        assert private().get("/ui", headers=sent).status_code == 401, cookie  # type: ignore[arg-type]
    twice = {"cookie": f"satchel_session={value}; satchel_session={value}"}
    assert private().get("/ui", headers=twice).status_code == 401


def test_a_wrong_token_is_told_and_counted(made: Sample) -> None:
    client = client_of(made.library, tokens=TOKENS, burst=3, rate_per_s=0.001)

    answers = [log_in(client, "a-token-of-nobody-here") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    assert 'role="alert">This token is not known here, or no longer.' in answers[0].text
    assert "<h1>Too many requests</h1>" in answers[3].text
    assert "a-token-of-nobody-here" not in answers[0].text


def test_log_out_ends_it_and_is_no_get(private: New) -> None:
    client = private()
    log_in(client, ALL)

    assert client.get("/ui/logout").status_code == 405
    assert client.get("/ui").status_code == 200
    answer = client.post("/ui/logout", headers=HERE)

    assert answer.headers["location"] == "/ui/login"
    assert client.get("/ui").status_code == 401
    assert client.get("/ui/login").status_code == 200


@pytest.mark.parametrize(
    "origin", ["", "null", "http://127.0.0.1:1", "http://localhost", "https://evil"]
)
def test_no_other_page_may_send_the_forms(private: New, origin: str) -> None:
    headers = {"origin": origin} if origin else {}

    for path in ("/ui/login", "/ui/logout"):
        answer = private().post(path, data={"token": ALL}, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "to",
    ["https://evil", "//evil", "/ui\\evil", "/uix", "/ui/\r\nx: y", "", "/ui/login"],
)
def test_a_login_leads_to_the_page_only(private: New, to: str) -> None:
    answer = log_in(private(), ALL, to)

    expected = to if to == "/ui\\evil" else "/ui"
    assert answer.headers["location"] in (expected, "/ui")
    assert answer.headers["location"].startswith("/ui")


def test_a_large_form_is_refused(private: New) -> None:
    answer = private().post("/ui/login", data={"token": "x" * 20_000}, headers=HERE)

    assert answer.status_code == 403


class _Verifier:
    """Knows one access token, which ends in a minute."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token != "an-access-token":  # noqa: S105
            return None
        return AccessToken(
            token=token,
            client_id="desk",
            scopes=["skills:read"],
            expires_at=int(time.time()) + 60,
            resource="https://skills.example.com/mcp",
            subject="cleo",
            claims={"iss": "https://login.example.com", "skills": "refund-*", "x": "y"},
        )


OAUTH = OAuthSettings(
    issuer="https://login.example.com",
    resource="https://skills.example.com/mcp",
    verifier=_Verifier(),
    only_claim="skills",
)


def test_an_access_token_opens_a_session_that_ends_with_it(made: Sample) -> None:
    client = client_of(made.library, oauth=OAUTH)

    answer = log_in(client, "an-access-token")

    cookie = answer.headers["set-cookie"]
    age = int(re.findall(r"Max-Age=(\d+)", cookie)[0])
    assert 50 < age <= 60
    assert "an-access-token" not in cookie
    assert ids(client.get("/ui").text) == ["refund-rules"]
    assert "<bdi>desk</bdi>" in client.get("/ui").text
    assert log_in(client, "another").status_code == 401
    session = {"cookie": f"satchel_session={client.cookies['satchel_session']}"}
    # Other scopes, or another resource, and it is no longer good.
    for other in (
        replace(OAUTH, scopes=("skills:admin",)),
        replace(OAUTH, resource="https://other.example.com/mcp"),
    ):
        changed = client_of(made.library, oauth=other)
        assert changed.get("/ui", headers=session).status_code == 401


def test_replicas_share_sessions_of_access_tokens_by_a_key(made: Sample) -> None:
    first = client_of(made.library, oauth=OAUTH, session_key=b"one key for all")
    log_in(first, "an-access-token")
    session = {"cookie": f"satchel_session={first.cookies['satchel_session']}"}

    for key, status in ((b"one key for all", 200), (b"another", 401)):
        other = client_of(made.library, oauth=OAUTH, session_key=key)
        assert other.get("/ui", headers=session).status_code == status


def test_a_server_without_tokens_has_no_form(client: TestClient) -> None:
    assert client.get("/ui/login").headers["location"] == "/ui"
    assert "Log out" not in client.get("/ui").text
    assert "key" not in repr(GuardSettings(session_key=b"secret"))


def test_rules_hold_on_the_page_too(made: Sample) -> None:
    """Who may not list or load a skill sees nothing of it, nor of the whole server."""
    library = made.library
    denied = deny("invoice-*", unless=lambda who: who.get("client") == "ana")
    skills = Satchel(
        *library.skills.registry.sources.values(), policy=Policy(denied), sinks=()
    )
    tokens = JoinedTokens(
        [Token(Caller("ana"), digest_of(ALL)), Token(Caller("dan"), digest_of(SOME))]
    )
    seen: dict[str, tuple[int, int, bool, bool]] = {}
    for token in (ALL, SOME):
        client = client_of(ServedLibrary(skills), made.usage, tokens=tokens)
        log_in(client, token)
        seen[token] = (
            len(ids(client.get("/ui").text)),
            client.get("/ui/skills/invoice-check").status_code,
            "invoice-check" in client.get("/ui/use").text,
            "Weak queries" in client.get("/ui/use").text,
        )

    assert seen == {ALL: (13, 200, True, True), SOME: (12, 404, False, False)}


def test_what_somebody_has_to_approve_is_not_shown(made: Sample) -> None:
    sources = made.library.skills.registry.sources.values()
    skills = Satchel(*sources, policy=Policy(ask("refund-*")), sinks=())
    client = client_of(ServedLibrary(skills))

    shown = client.get("/ui/skills/refund-rules").text
    statuses = [
        client.get(f"/ui/skills/refund-rules/{path}").status_code
        for path in (
            "files/SKILL.md",
            "files/references/rules.md",
            "history",
            "history/x",
        )
    ]

    assert "somebody has to approve each load" in shown
    assert "Follow these steps" not in shown
    assert statuses == [403, 403, 403, 403]
    assert "Follow these steps" in client.get("/ui/skills/sql-style").text
