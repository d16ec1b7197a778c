"""Bearer tokens, and the files that they come from."""

import hashlib
import logging
import os
from pathlib import Path

import pytest

from satchel.errors import ConfigError, MissingPathError
from satchel_server import Caller, open_tokens
from satchel_server._guard._tokens import (
    JoinedTokens,
    Token,
    TokenFile,
    digest_of,
    read_one,
    read_several,
)
from tests.unit.server.guard.asking import Clock

WORDS = "correct-horse-battery"
ANA, BO = Caller("ana", ("pdf-*",)), Caller("bo")


def test_a_token_is_found_by_its_digest() -> None:
    ana = Token(ANA, digest_of(WORDS))
    tokens = JoinedTokens([ana, Token(BO, digest_of("x"))])

    assert tokens.find(digest_of(WORDS)) == ANA
    assert tokens.find(digest_of("x")) == BO
    assert tokens.find(digest_of(WORDS + "r")) is None
    assert "digest" not in repr(ana)


def test_every_token_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long it takes says nothing of where the token stands."""
    compared: list[bytes] = []

    def compare(stored: bytes, given: bytes) -> bool:
        compared.append(stored)
        return stored == given

    monkeypatch.setattr("satchel_server._guard._tokens.hmac.compare_digest", compare)
    tokens = JoinedTokens([Token(ANA, b"a"), Token(BO, b"b"), Token(BO, b"c")])

    assert tokens.find(b"a") == ANA
    assert compared == [b"a", b"b", b"c"]


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


ONE = "first-token-of-them-all"
TWO = "second-token-of-them-all"
ANOTHER = hashlib.sha256(b"a token that only its holder has").hexdigest()
SEVERAL = f"""
[[token]]
name = "ci"
token = "{ONE}"
only = ["pdf-*", "house-style"]

[[token]]
name = "desk"
sha256 = "sha256:{ANOTHER}"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"{ONE}\n", "utf-8")
    path.chmod(0o600)
    return path


def test_every_place_counts(file: Path, tmp_path: Path) -> None:
    several = tmp_path / "tokens.toml"
    several.write_text(SEVERAL.replace(ONE, TWO), "utf-8")
    several.chmod(0o600)

    tokens = open_tokens(
        token_file=file,
        tokens_file=several,
        environ={"SATCHEL_TOKEN": "third-token-of-them-all"},
    )

    assert tokens
    assert tokens.find(digest_of(ONE)) == Caller("token")
    assert tokens.find(digest_of(TWO)) == Caller("ci", ("pdf-*", "house-style"))
    assert tokens.find(bytes.fromhex(ANOTHER)) == Caller("desk")
    assert tokens.find(digest_of("third-token-of-them-all")) == Caller("token")
    assert tokens.find(digest_of("another")) is None
    assert open_tokens(environ={}) is None
    assert open_tokens(environ={"SATCHEL_TOKEN": ""}) is None


def test_a_changed_file_is_read_again(file: Path) -> None:
    clock = Clock()
    tokens = JoinedTokens((), [TokenFile(file, read_one, clock)])

    file.write_text(TWO, "utf-8")
    assert tokens.find(digest_of(ONE)), "within the second it is not looked at"
    clock.now += 1

    assert tokens.find(digest_of(TWO))
    assert not tokens.find(digest_of(ONE))


def test_a_file_that_cannot_be_used_changes_nothing_and_one_that_is_gone_does(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    tokens = JoinedTokens((), [TokenFile(file, read_one, clock)])

    file.write_text("two words of a secret", "utf-8")
    for _ in range(3):
        clock.now += 1
        assert tokens.find(digest_of(ONE))

    (result,) = caplog.records
    assert result.levelno == logging.ERROR
    assert "secret" not in caplog.text.replace("import secrets; print(secrets", "")
    caplog.clear()

    file.unlink()
    for _ in range(3):
        clock.now += 1
        assert not tokens.find(digest_of(ONE))
    assert [record.levelno for record in caplog.records] == [logging.ERROR]

    file.write_text(TWO, "utf-8")
    file.chmod(0o600)
    clock.now += 1
    assert tokens.find(digest_of(TWO))


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
@pytest.mark.parametrize(
    ("mode", "fate"),
    [
        *((0o600, "quiet"), (0o400, "quiet"), (0o640, "warned")),
        *((0o444, "warned"), (0o660, "refused"), (0o602, "refused")),
    ],
    ids=lambda value: oct(value) if isinstance(value, int) else "",
)
def test_who_else_may_touch_it(
    file: Path, mode: int, fate: str, caplog: pytest.LogCaptureFixture
) -> None:
    file.chmod(mode)

    if fate == "refused":
        with pytest.raises(ConfigError, match="chmod 600"):
            TokenFile(file, read_one)
    else:
        assert JoinedTokens((), [TokenFile(file, read_one)]).find(digest_of(ONE))
    assert bool(caplog.records) is (fate == "warned")


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"a-token-per-line-1\na-token-per-line-2", b"\xff" * 20, b"x" * 2**21],
    ids=["empty", "blank", "two", "bytes", "large"],
)
def test_a_file_of_one_token_holds_one(file: Path, data: bytes) -> None:
    file.write_bytes(data)

    with pytest.raises(ConfigError) as caught:
        TokenFile(file, read_one)

    assert caught.value.path == str(file)


def test_a_file_has_to_be_there_and_a_folder_of_a_mount_is_none(
    tmp_path: Path,
) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(MissingPathError):
            open_tokens(token_file=place, environ={})


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "expected tables"),
        ("token = 1", "expected tables"),
        ("token = []", "expected tables"),
        ("token = [1]", "expected a table"),
        ("[[token]\nname='a'", "not TOML"),
        (f"other = 1\n{SEVERAL}", "nothing else"),
        ("[[token]]\nname='a'\nsecret='hidden-hidden-hidden'", "a key is not one of"),
        ("[[token]]\ntoken='hidden-hidden-hidden'", "name"),
        ("[[token]]\nname='a b'\ntoken='hidden-hidden-hidden'", "name"),
        ("[[token]]\nname=1\ntoken='hidden-hidden-hidden'", "name"),
        ("[[token]]\nname='a'", "token, or sha256"),
        ("[[token]]\nname='a'\ntoken=1", "token, or sha256"),
        ("[[token]]\nname='a'\ntoken='hidden'", "characters"),
        ("[[token]]\nname='a'\nsha256='hidden'", "64 hex"),
        (f"[[token]]\nname='a'\ntoken='{TWO}'\nsha256='{ANOTHER}'", "token, or"),
        (f"[[token]]\nname='a'\nsha256='{ANOTHER}'\nonly='pdf'", "only"),
        (f"[[token]]\nname='a'\nsha256='{ANOTHER}'\nonly=[1]", "only"),
        (SEVERAL + f"[[token]]\nname='ci'\ntoken='{TWO}'", "one name"),
        *(
            (f"[[token]]\nname='a'\nsha256='{ANOTHER}'\nrate={rate}", "rate")
            for rate in ("0", "-1", "true", "'5'", "nan", "inf", "[]")
        ),
        (SEVERAL + f"[[token]]\nname='other'\ntoken='{ONE}'", "one token"),
    ],
)
def test_several_tokens_are_checked(text: str, detail: str) -> None:
    with pytest.raises(ConfigError, match=detail) as caught:
        read_several(text, "tokens.toml")

    assert "hidden" not in str(caught.value)
    assert ONE not in str(caught.value)


def test_a_caller_may_have_two_tokens_while_one_replaces_the_other() -> None:
    """Its rate is its own, with either."""
    table = "[[token]]\nname='a'\nonly=['x']\nrate=5\ntoken='{}'\n"

    tokens = JoinedTokens(read_several(table.format(ONE) + table.format(TWO), "t"))

    assert tokens.find(digest_of(ONE)) == tokens.find(digest_of(TWO))
    assert tokens.find(digest_of(ONE)) == Caller("a", ("x",), (), 5)


def test_no_pattern_is_no_skill() -> None:
    text = f"[[token]]\nname='a'\nsha256='{ANOTHER}'\nonly=[]"

    (token,) = read_several(text, "tokens.toml")

    assert token.caller == Caller("a", ())


def test_a_file_that_cannot_be_opened_says_so(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object, mode: str) -> None:
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("satchel_server._guard._tokens.Path.open", refuse)

    with pytest.raises(ConfigError) as caught:
        TokenFile(file, read_one)

    assert caught.value.detail == "Permission denied"


def test_modes_are_of_posix_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.chmod(0o666)
    monkeypatch.setattr("satchel_server._guard._tokens.POSIX", False)

    assert JoinedTokens((), [TokenFile(file, read_one)]).find(digest_of(ONE))
