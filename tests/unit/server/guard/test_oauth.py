import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from satchel.errors import ConfigError
from satchel_server import Caller, GuardSettings, OAuthSettings, guard
from satchel_server._guard._authentication import oauth_caller
from satchel_server._guard._settings import METADATA_PATH
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of
from tests.unit.server.guard.asking import Application, ask
from tests.unit.server.guard.issuer import RESOURCE, Issuer


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


def settings(issuer: Issuer) -> GuardSettings:
    keys = f"{issuer.url}/keys"
    oauth = OAuthSettings(
        issuer=issuer.url, resource=RESOURCE, jwks_url=keys, only_claim="skills"
    )
    return GuardSettings(oauth=oauth)


GOOD = "good"
ONE = {"kid": "one"}
UNVERIFIED: Any = {"verify_signature": False}


class Verifier:
    """Takes one token; what it says of it is up to the test."""

    def __init__(self, says: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.says = {"client_id": "desk", "scopes": ["skills:read"], **says}

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, **self.says) if token == GOOD else None


def own(verifier: Verifier) -> OAuthSettings:
    return OAuthSettings(
        issuer="https://issuer.test", resource=RESOURCE, verifier=verifier
    )


@pytest.mark.parametrize(
    ("claim", "only"),
    [
        (["pdf-*", "house-style"], ("pdf-*", "house-style")),
        ("pdf-* house-style", ("pdf-*", "house-style")),
        ([], ()),
        (None, ()),
        (7, ()),
        ([7, "pdf-*"], ("pdf-*",)),
    ],
    ids=["list", "text", "empty", "none", "number", "mixed"],
)
def test_a_good_token_lets_in(
    issuer: Issuer, claim: object, only: tuple[str, ...]
) -> None:
    app = Application()

    answer = ask(guard(app, settings(issuer)), bearer=issuer.sign(skills=claim))

    assert answer.status == 200
    assert app.state["caller"] == Caller("desk", only)
    user = app.scopes[-1]["user"]
    assert isinstance(user, AuthenticatedUser)
    assert (user.access_token.subject, user.access_token.token) == ("ana", "")
    assert (user.access_token.claims or {})["iss"] == issuer.url
    assert app.scopes[-1]["auth"].scopes == ["skills:read", "openid"]


def wrong_tokens(issuer: Issuer) -> dict[str, str]:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    good = issuer.sign()
    public, claims = issuer.jwk["n"], jwt.decode(good, options=UNVERIFIED)
    head, _, rest = good.partition(".")
    return {
        "another issuer": issuer.sign(iss="https://evil.test"),
        "for another resource": issuer.sign(aud="https://other.test/mcp"),
        "for nobody": issuer.sign(aud=None),
        "expired": issuer.sign(exp=int(time.time()) - 60),
        "without an end": issuer.sign(exp=None),
        "not yet": issuer.sign(nbf=int(time.time()) + 600),
        "of nobody": issuer.sign(client_id=None, sub=None),
        "signed by another": issuer.sign(other),
        "unsigned": jwt.encode(claims, "", "none", ONE),
        "signed with the public key": jwt.encode(claims, public, "HS256", ONE),
        "of an unknown key": jwt.encode(claims, issuer.key, "RS256", {"kid": "two"}),
        "without a key": jwt.encode(claims, issuer.key, "RS256"),
        "changed": f"{head}.e30.{rest.rpartition('.')[2]}",
        "no JWT": "not-a-jwt",
        "empty parts": "..",
        "deep": "W" * 7000,
    }


def test_no_other_token_does(issuer: Issuer) -> None:
    app = Application()
    guarded = guard(app, settings(issuer))

    for what, token in wrong_tokens(issuer).items():
        answer = ask(guarded, bearer=token)

        assert (answer.status, answer.code) == (401, "token-unknown"), what
        assert token not in answer.body.decode()
    assert not app.scopes


def test_the_keys_are_fetched_once(issuer: Issuer) -> None:
    """For tokens of a client, of a subject alone, and of one that lacks a scope."""
    app = Application()
    guarded = guard(app, settings(issuer))
    before = issuer.asked

    assert ask(guarded, bearer=issuer.sign()).status == 200
    token = issuer.sign(client_id=None, scope=None, scp=["skills:read"])
    assert ask(guarded, bearer=token).status == 200
    assert app.state["caller"].name == "ana"
    answer = ask(guarded, bearer=issuer.sign(scope="openid"))

    assert issuer.asked == before + 1
    assert (answer.status, answer.code) == (403, "scope-missing")
    challenge = answer.header("www-authenticate")
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="skills:read"' in challenge


def test_no_issuer_is_no_wrong_token() -> None:
    with Issuer() as issuer:
        token = issuer.sign()
        app = guard(Application(), settings(issuer))

    for _ in range(3):
        answer = ask(app, bearer=token)

        assert (answer.status, answer.code) == (503, "issuer-unavailable")
        assert answer.header("retry-after")
        assert "127.0.0.1" not in answer.message


def test_the_metadata_say_where_to_get_a_token(issuer: Issuer) -> None:
    app = guard(Application(), settings(issuer))

    refused = ask(app)
    assert (refused.status, refused.code) == (401, "token-required")
    url = "https://skills.test/.well-known/oauth-protected-resource/mcp"
    challenge = refused.header("www-authenticate")
    assert f'resource_metadata="{url}"' in challenge
    assert "error=" not in challenge

    for path in (METADATA_PATH, f"{METADATA_PATH}/mcp"):
        result = ask(app, path)
        assert result.status == 200
        metadata = json.loads(result.body)
        assert metadata["resource"] == RESOURCE
        assert metadata["authorization_servers"] == [f"{issuer.url}/"]
        assert metadata["scopes_supported"] == ["skills:read"]


@pytest.mark.parametrize(
    ("says", "status"),
    [
        ({"resource": RESOURCE}, 200),
        ({"resource": RESOURCE.upper() + "/"}, 200),
        ({"resource": "https://other.test"}, 401),
        ({}, 401),
        ({"resource": RESOURCE, "expires_at": int(time.time()) + 86_400}, 200),
        ({"resource": RESOURCE, "expires_at": int(time.time()) - 60}, 401),
        ({"resource": RESOURCE, "scopes": []}, 403),
    ],
    ids=["good", "spelling", "other", "none", "lives", "expired", "scope"],
)
def test_a_verifier_of_ones_own(says: dict[str, Any], status: int) -> None:
    app = guard(Application(), GuardSettings(oauth=own(Verifier(says))))

    assert ask(app, bearer=GOOD).status == status
    assert ask(app, bearer="bad").status == 401


def test_tokens_of_both_kinds() -> None:
    application = Application()
    stored = JoinedTokens([Token(Caller("ci"), digest_of("static"))])
    oauth = own(Verifier({"resource": RESOURCE}))
    app = guard(application, GuardSettings(tokens=stored, oauth=oauth))

    assert ask(app, bearer="static").status == 200
    assert application.state["caller"] == Caller("ci")
    assert ask(app, bearer=GOOD).status == 200
    assert application.state["caller"] == Caller("desk")
    assert ask(app, bearer="bad").status == 401


def test_a_name_is_one_line() -> None:
    token = AccessToken(token="", client_id="a\x1b[31m\n" + "b" * 99, scopes=[])

    name = oauth_caller(token, own(Verifier())).name

    assert name.isprintable()
    assert len(name) == 64


@pytest.mark.parametrize(
    "wrong",
    [
        {"verifier": None},
        {"jwks_url": "https://issuer.test/keys"},
        {"issuer": "http://issuer.test"},
        {"resource": "skills.test"},
        {"resource": "https://skills.test/mcp#here"},
        {"issuer": "https://issuer.test?x=1"},
        {"verifier": None, "jwks_url": "file:///etc/passwd"},
    ],
    ids=["neither", "both", "http", "no URL", "fragment", "query", "file"],
)
def test_settings_that_would_let_in_others(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        replace(own(Verifier()), **wrong)
