"""What a tool returned, as the text that a model reads."""

from dataclasses import fields, is_dataclass
from typing import Any, cast

__all__ = ["result_text"]


def result_text(result: object) -> str:
    """Return text as it is, and anything else as JSON on one line.

    Dataclasses and pydantic models are written as objects, sets as arrays in the
    order of their texts; whatever else JSON has no form for, as ``str`` writes it.
    A lone surrogate, which no request could be sent with, becomes a question mark.
    Never raises: what cannot be written is an error with the code ``internal-error``.
    """
    if isinstance(result, str):
        return _sendable(result)
    import json

    try:
        return _sendable(json.dumps(result, ensure_ascii=False, default=_plain))
    except Exception as error:  # noqa: BLE001 - a tool's own value (R33)
        message = f"the result cannot be written: {type(error).__name__}"
        return json.dumps({"error": {"code": "internal-error", "message": message}})


def _plain(value: Any) -> object:  # noqa: ANN401 - json asks about anything
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[object]", value), key=str)
    return str(value)


def _sendable(text: str) -> str:
    """Return text that UTF-8 can carry: names of files may come with surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
