"""What the HTTP side is told when it starts."""

from dataclasses import dataclass

__all__ = ["HttpSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How skills are offered over HTTP.

    ``private`` says that callers need a token, so that the API's description names it.
    ``old_index`` adds the index of discovery v0.1.0.
    """

    private: bool = False
    old_index: bool = False
