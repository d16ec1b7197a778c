"""What the HTTP side is told when it starts."""

from dataclasses import dataclass

__all__ = ["HttpSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How skills are offered over HTTP.

    ``private`` says that callers need a token: answers are then for their caller alone
    (``Cache-Control: private``), and the API's description names the token. ``cors``
    are the origins whose pages may read ``/v1`` and the indexes, ``*`` for any.
    ``old_index`` adds the index of discovery v0.1.0.
    """

    private: bool = False
    cors: tuple[str, ...] = ()
    old_index: bool = False
