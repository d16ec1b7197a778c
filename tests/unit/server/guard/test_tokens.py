import hashlib

import pytest

from satchel.errors import ConfigError
from satchel.server import Caller
from satchel.server._guard._tokens import FixedTokens, JoinedTokens, Token, digest_of

WORDS = "correct-horse-battery"
ANA, BO = Caller("ana", ("pdf-*",)), Caller("bo")


def test_a_token_is_found_by_its_digest() -> None:
    tokens = FixedTokens([Token(ANA, digest_of(WORDS)), Token(BO, digest_of("x"))])

    assert tokens.find(digest_of(WORDS)) == ANA
    assert tokens.find(digest_of("x")) == BO
    assert tokens.find(digest_of(WORDS + "r")) is None


def test_every_token_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it takes says nothing of where the token stands."""
    compared: list[bytes] = []

    def compare(kept: bytes, given: bytes) -> bool:
        compared.append(kept)
        return kept == given

    monkeypatch.setattr("satchel.server._guard._tokens.hmac.compare_digest", compare)
    tokens = JoinedTokens(
        [
            FixedTokens([Token(ANA, b"a"), Token(BO, b"b")]),
            FixedTokens([Token(BO, b"c")]),
        ]
    )

    assert tokens.find(b"a") == ANA
    assert compared == [b"a", b"b", b"c"]


def test_a_token_does_not_show_its_digest() -> None:
    assert "digest" not in repr(Token(ANA, digest_of(WORDS)))


@pytest.mark.parametrize(
    "secret",
    ["", "short", "x" * 15, "x" * 5000, "with a blank inside", "with-\x00-inside-it!"],
    ids=["empty", "short", "15", "5000", "blank", "nul"],
)
def test_an_unfit_token_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(ConfigError) as caught:
        digest_of(secret, "SATCHEL_TOKEN")

    assert not secret or secret not in str(caught.value)
    assert "token_urlsafe" in str(caught.value)


def test_a_caller_may_show_anything() -> None:
    assert digest_of("\ud800")
    assert digest_of("a") == hashlib.sha256(b"a").digest()
