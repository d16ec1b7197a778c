"""Who asks a server, as far as it was found out."""

from dataclasses import dataclass
from typing import Final

__all__ = ["ANYBODY", "Caller"]


@dataclass(frozen=True, slots=True)
class Caller:
    """One who may come in: what it is called, and which skills are its.

    ``name`` is that of its token, empty where none is asked for. ``only`` are shell
    patterns over ids, None for every skill. It says nothing of the secret.
    """

    name: str = ""
    only: tuple[str, ...] | None = None


ANYBODY: Final = Caller()
