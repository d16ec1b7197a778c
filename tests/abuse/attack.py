"""What an attack is: bytes to send, and how its sender behaves then."""

from dataclasses import dataclass
from enum import Enum


class Manner(Enum):
    """How the sender behaves."""

    WAIT = "sends all, and waits for the answer"
    STALL = "sends a part, and waits to be given up"
    DRIP = "sends byte after byte, and waits"
    LEAVE = "sends, and closes"
    RESET = "sends, and resets the connection"
    HALF = "sends, closes its side alone, and waits"
    DEAF = "sends, and reads nothing before it closes"


@dataclass(frozen=True)
class Attack:
    """One of them; ``kind`` is what the report counts it under.

    ``unanswered`` says that a closed connection will do for an answer.
    """

    kind: str
    data: bytes
    manner: Manner = Manner.WAIT
    unanswered: bool = False
