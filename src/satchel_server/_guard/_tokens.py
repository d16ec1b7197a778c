"""Bearer tokens: from the environment or a file, compared by their SHA-256."""

import hashlib
import hmac
import logging
import math
import os
import re
import stat
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, cast

from satchel.errors import ConfigError, MissingPathError
from satchel_server._library import Caller

# A shorter token could be guessed; `secrets.token_urlsafe` gives 43.
MIN_CHARS: Final = 16
_MAX_CHARS: Final = 4096
# RFC 6750, section 2.1: b64token.
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
VARIABLE: Final = "SATCHEL_TOKEN"
# Whether file modes say who may read and write a file.
POSIX: Final = os.name == "posix"
# How often a file is checked: how long a token that was taken out still works.
CHECK_S: Final = 1.0
_MAX_BYTES: Final = 1024 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEX: Final = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
_KEYS: Final = ("name", "token", "sha256", "only", "scripts", "rate")

_log = logging.getLogger("satchel.server")


@dataclass(frozen=True, slots=True)
class Token:
    """The caller that a token lets in, and its SHA-256; the token itself is dropped."""

    caller: Caller
    digest: bytes = field(repr=False)


class JoinedTokens:
    """Tokens that stay, and those of files as they are now.

    They are looked up for each request, on the thread of the event loop.
    """

    def __init__(
        self, tokens: Iterable[Token], files: "Iterable[TokenFile]" = ()
    ) -> None:
        self._tokens = tuple(tokens)
        self._files = tuple(files)

    @property
    def name_scripts(self) -> bool:
        """Whether a caller may run the scripts of any skill."""
        return any(token.caller.scripts for token in self._every())

    def _every(self) -> Iterable[Token]:
        return chain(self._tokens, *(file.tokens for file in self._files))

    def named(self, name: str) -> Iterator[Token]:
        """Yield the tokens of callers of this name."""
        return (token for token in self._every() if token.caller.name == name)

    def find(self, digest: bytes) -> Caller | None:
        """Return the caller with the token of this digest, of several the last one.

        Each is compared, also after a match, in constant time: that reveals nothing.
        """
        caller = None
        for token in self._every():
            if hmac.compare_digest(token.digest, digest):
                caller = token.caller
        return caller


def digest_of(secret: str, where: str = "") -> bytes:
    """Return the SHA-256 of a token; with ``where``, check an operator's first."""
    if where and not (
        MIN_CHARS <= len(secret) <= _MAX_CHARS and _TOKEN.fullmatch(secret)
    ):
        raise ConfigError(
            where,
            f"expected one token of {MIN_CHARS} to {_MAX_CHARS} characters out of A-Z, "
            "a-z, 0-9 and ._~+/-; to make one: "
            "python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    # Digests are equally long, so comparing them does not show a token's length.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def open_tokens(
    *,
    token_file: Path | None = None,
    tokens_file: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> JoinedTokens | None:
    """Return the tokens of all places that are given, None if there are none.

    Args:
        token_file: One token, on a line of its own.
        tokens_file: TOML with several tokens, each in a table ``[[token]]``.
        environ: Where ``SATCHEL_TOKEN`` is looked up; empty means that it is not set.

    Raises:
        MissingPathError: A file does not exist.
        ConfigError: A file cannot be used; the message quotes nothing from it.
    """
    tokens: list[Token] = []
    if secret := environ.get(VARIABLE, ""):
        tokens.append(Token(Caller("token"), digest_of(secret.strip(), VARIABLE)))
    files = [
        TokenFile(path, read)
        for path, read in ((token_file, read_one), (tokens_file, read_several))
        if path is not None
    ]
    return JoinedTokens(tokens, files) if tokens or files else None


class TokenFile:
    """The tokens of one file as it is now: rotation needs no restart."""

    def __init__(
        self,
        path: Path,
        read: Callable[[str, str], tuple[Token, ...]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path, self._read, self._clock = path, read, clock
        self._signature: tuple[int, ...] = ()
        self._next_check = clock() + CHECK_S
        if not path.is_file():
            raise MissingPathError(str(path))
        self._tokens = self._load()

    @property
    def tokens(self) -> tuple[Token, ...]:
        now = self._clock()
        if now >= self._next_check:
            # Set first, so that a file that fails is not read again for each request.
            self._next_check = now + CHECK_S
            self._refresh()
        return self._tokens

    def _refresh(self) -> None:
        before = self._signature
        try:
            if _signature(self._path.stat()) != before:
                self._tokens = self._load()
        # Deleting the file is a way to shut out everyone, so the old tokens go.
        except FileNotFoundError:
            self._signature = ()
            self._tokens = ()
            if before:
                _log.error("the file of tokens is gone: none of its tokens works now")
        # A file that is half written must not lock out every caller.
        except (ConfigError, OSError) as error:
            detail = error.detail if isinstance(error, ConfigError) else "unreadable"
            _log.error("tokens stay as they were: %s", detail)

    def _load(self) -> tuple[Token, ...]:
        where = str(self._path)
        try:
            with self._path.open("rb") as file:
                # Of the open file, since the path may name another one meanwhile.
                status = os.fstat(file.fileno())
                # Before anything can fail, so that a failure is logged once.
                self._signature = _signature(status)
                _check_mode(status, where)
                # One byte too many shows that it is too large, without reading all.
                data = file.read(_MAX_BYTES + 1)
            if len(data) > _MAX_BYTES:
                raise ConfigError(where, f"over {_MAX_BYTES:,} bytes")
            # Editors on Windows put a byte order mark first.
            text = data.decode("utf-8-sig")
        # `_refresh` treats a deleted file differently from an unreadable one.
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ConfigError(where, error.strerror or "cannot be read") from error
        except UnicodeDecodeError:
            raise ConfigError(where, "not UTF-8") from None
        return self._read(text, where)


def read_one(text: str, where: str) -> tuple[Token, ...]:
    """Read one token on a line of its own; its caller is named ``token``."""
    return (Token(Caller("token"), digest_of(text.strip(), where)),)


def read_several(text: str, where: str) -> tuple[Token, ...]:
    """Read TOML: ``[[token]]`` with ``name``, ``token`` or ``sha256``, and patterns."""
    try:
        document: Mapping[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # Its message may quote a character of the line; the position is enough.
        at = re.search(r"\(at .*\)", str(error))
        raise ConfigError(where, f"not TOML {at[0] if at else ''}".strip()) from None
    tables = document.get("token")
    if set(document) - {"token"} or not isinstance(tables, list) or not tables:
        raise ConfigError(where, "expected tables [[token]] and nothing else")
    tokens = tuple(
        _token(table, f"{where}: token {number}")
        for number, table in enumerate(cast("list[object]", tables), 1)
    )
    # Rates and sessions are counted by name, so its tokens are of one caller: the one
    # that goes, and the one that comes.
    callers = {token.caller for token in tokens}
    if len({caller.name for caller in callers}) < len(callers):
        detail = "tokens of one name have the same only, scripts and rate"
        raise ConfigError(where, detail)
    if len({token.digest for token in tokens}) < len(tokens):
        raise ConfigError(where, "two names have one token")
    return tokens


def _token(table: object, where: str) -> Token:
    if not isinstance(table, dict):
        raise ConfigError(where, "expected a table [[token]]")
    values = cast("dict[str, object]", table)
    if set(values) - set(_KEYS):
        raise ConfigError(where, f"a key is not one of {', '.join(_KEYS)}")
    name = values.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        detail = "name: expected 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'"
        raise ConfigError(where, detail)
    only = _patterns(values, "only", where)
    rate = values.get("rate")
    is_rate = isinstance(rate, int | float) and rate > 0 and math.isfinite(rate)
    if rate is not None and (not is_rate or isinstance(rate, bool)):
        raise ConfigError(where, "rate: expected requests a second, above 0")
    scripts = _patterns(values, "scripts", where) or ()
    return Token(
        Caller(name, only, scripts, cast("float | None", rate)),
        _digest(values.get("token"), values.get("sha256"), where),
    )


def _digest(secret: object, sha256: object, where: str) -> bytes:
    if isinstance(secret, str) and sha256 is None:
        return digest_of(secret, where)
    match = _HEX.fullmatch(sha256) if isinstance(sha256, str) else None
    if match is None or secret is not None:
        raise ConfigError(where, "expected token, or sha256 with its 64 hex digits")
    return bytes.fromhex(match[1])


def _patterns(
    values: Mapping[str, object], key: str, where: str
) -> tuple[str, ...] | None:
    value = values.get(key)
    if value is None:
        return None
    # Anything but a list becomes one item that is not text, and so is refused.
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    patterns = tuple(item for item in items if isinstance(item, str))
    if len(patterns) < len(items):
        raise ConfigError(where, f"{key}: expected a list of patterns over skill ids")
    return patterns


def _check_mode(status: os.stat_result, where: str) -> None:
    if not POSIX:
        return
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        detail = "others may write to it, and so let themselves in: chmod 600 it"
        raise ConfigError(where, detail)
    # Only a warning: containers mount secrets as readable by others (0444, 0644).
    if status.st_mode & (stat.S_IRGRP | stat.S_IROTH):
        _log.warning("the file of tokens can be read by others: chmod 600 it")


def _signature(status: os.stat_result) -> tuple[int, ...]:
    # The inode tells a file that was renamed into place; the mode, a chmod alone.
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
