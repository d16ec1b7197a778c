"""What a trial asks a model for: one request, one reply, and how it may fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Messages and tools, in the form of OpenAI's Chat Completions."""

    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallText:
    """A tool call as a model wrote it; ``arguments`` may be no JSON at all."""

    name: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model answers. The tokens are None where the endpoint does not say."""

    calls: tuple[ToolCallText, ...] = ()
    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class ModelError(Exception):
    """A model gave no usable answer; the same request again cannot help."""


class ModelBusyError(ModelError):
    """A model gave no answer now; another attempt may get one.

    ``after_s`` is how many seconds the endpoint asks to wait, None if it does not say.
    """

    def __init__(self, detail: str, after_s: float | None = None) -> None:
        super().__init__(detail, after_s)
        self.detail = detail
        self.after_s = after_s

    def __str__(self) -> str:
        return self.detail


class ModelDeniedError(ModelError):
    """The endpoint takes no request of this caller, so that no other is sent."""


class ChatModel(Protocol):
    """A language model, or whatever plays one. It is called from several threads."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's next message.

        Raises:
            ModelError: There is no usable answer; the classes below it say whether
                another attempt may help. Anything else that is raised is no answer,
                too.
        """
        ...
