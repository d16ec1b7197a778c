"""Sending an attack over a socket, and judging what comes back."""

import re
import socket
import struct
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.abuse.attack import Attack, Manner

PATIENCE_S: Final = 10.0
"""Without an end after this long it is a hang."""
_MOST: Final = 8 * 1024 * 1024
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
_STREAM: Final = b"content-type: text/event-stream"

SECRETS: Final = tuple(
    text.encode()
    for text in (
        "Traceback",
        'File "',
        "site-packages",
        str(Path(__file__).parents[2]),
        sys.prefix,
        sysconfig.get_paths()["stdlib"],
        '"code":-32603',  # MCP: an internal error, which no caller may cause
    )
)
"""What would tell a caller of our insides."""


class Failure(Exception):
    """The server did not do what it has to."""


def send(port: int, attack: Attack) -> bytes:
    """Send an attack, and return all that the server said.

    Raises:
        Failure: It said nothing for too long, or what it must not.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        output = _talk(client, attack)
    judge(attack, output)
    return output


def judge(attack: Attack, output: bytes) -> None:
    """Look at an answer.

    Raises:
        Failure: It is none, a fault of the server's own, or tells of its insides.
    """
    for secret in SECRETS:
        if secret in output:
            at = output.index(secret)
            raise Failure(f"{attack.kind}: told {output[max(0, at - 80) : at + 80]!r}")
    actual = _STATUS.match(output)
    if actual is None:
        if output or not (attack.unanswered or attack.manner is not Manner.WAIT):
            raise Failure(f"{attack.kind}: answered {output[:80]!r}")
    elif actual[1] >= b"500":
        raise Failure(f"{attack.kind}: {output[:400]!r}")


def _talk(client: socket.socket, attack: Attack) -> bytes:
    output = b""
    # Who refuses may close before it has read all; what it said is there to be read.
    with suppress(ConnectionError):
        if attack.manner is Manner.DRIP:
            output = _drip(client, attack.data)
        else:
            client.sendall(attack.data)
    match attack.manner:
        case Manner.LEAVE | Manner.DEAF:
            return b""
        case Manner.RESET:
            linger = struct.pack("ii", 1, 0)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return b""
        case Manner.HALF:
            with suppress(OSError):
                client.shutdown(socket.SHUT_WR)
        case _:
            pass
    return output + _rest(client, attack)


def _drip(client: socket.socket, data: bytes) -> bytes:
    """Send a byte, listen for a moment, send the next, until the server has enough."""
    client.settimeout(0.02)
    output = b""
    for item in data:
        client.sendall(bytes([item]))
        with suppress(TimeoutError):
            output = client.recv(65_536)
            break
    client.settimeout(PATIENCE_S)
    return output


def _rest(client: socket.socket, attack: Attack) -> bytes:
    parts: list[bytes] = []
    size = 0
    deadline = time.monotonic() + PATIENCE_S
    try:
        while part := client.recv(65_536):
            parts.append(part)
            size += len(part)
            if _STREAM in parts[0] or size > _MOST:
                break
            client.settimeout(max(0.001, deadline - time.monotonic()))
    except ConnectionError:
        pass
    except TimeoutError:
        output = b"".join(parts)[:80]
        raise Failure(f"{attack.kind}: no end, after {output!r}") from None
    return b"".join(parts)
