"""What a trial asks a model for, and its answers on disk: one line of JSON each."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final, Protocol, cast


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


_CHARS_PER_TOKEN: Final = 4
# Of the key and the fields of an answer.
_KINDS: Final = ["str", "str", "str", "int", "int", "bool", "int"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What decides a trial, and what it cost: ``attempts`` are requests sent.

    ``tool`` is the first that was called, empty for none. ``is_estimate`` is whether
    the endpoint left out tokens, which are then a quarter of the characters.
    """

    tool: str
    arguments: str
    input_tokens: int
    output_tokens: int
    is_estimate: bool
    attempts: int

    @classmethod
    def of(cls, reply: ChatReply, request: ChatRequest, attempts: int) -> "Answer":
        """Return the answer for a reply, with estimates for what it does not say."""
        given, written = reply.input_tokens, reply.output_tokens
        is_estimate = given is None or written is None
        if given is None:
            given = len(json.dumps([request.messages, request.tools]))
            given //= _CHARS_PER_TOKEN
        if written is None:
            written = len(f"{reply.text}{reply.calls}") // _CHARS_PER_TOKEN
        name, arguments = "", ""
        if reply.calls:
            name, arguments = reply.calls[0].name, reply.calls[0].arguments
        # A call without a name is one all the same.
        tool = name or "?" * bool(reply.calls)
        return cls(tool, arguments, given, written, is_estimate, attempts)

    @property
    def tokens(self) -> int:
        """Tokens of the request and of the reply."""
        return self.input_tokens + self.output_tokens


class AnswerFile:
    """Answers by the key of their trial; with a path, also those of earlier runs.

    A line is written at once and as a whole, so a killed process leaves what it paid
    for. A line that is no answer is skipped, and counted in ``problems``. What cannot
    be written is used all the same, and ``problems`` says so. Not safe across threads.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Read the file, where there is one.

        Raises:
            OSError: It is there, and cannot be read.
        """
        self.problems: list[str] = []
        self._path = path
        self._answers: dict[str, Answer] = {}
        data = b""
        with suppress(FileNotFoundError):
            if path is not None:
                with open(path, "rb") as file:  # noqa: PTH123 - as it was given
                    data = file.read()
        self._is_cut_off = bool(data) and not data.endswith(b"\n")
        lines = [line for line in data.split(b"\n") if line.strip()]
        answers = [*_parsed(lines)]
        for key, answer in answers:
            self._answers.setdefault(key, answer)
        # What was being written when the process was killed is no news.
        if len(lines) - len(answers) > self._is_cut_off:
            unread = len(lines) - len(answers)
            self.problems.append(f"{unread:,} lines of the cache could not be read")

    def of(self, keys: Iterable[str]) -> dict[str, Answer]:
        """Return the answers that there are, by key."""
        return {key: self._answers[key] for key in keys if key in self._answers}

    def put(self, key: str, answer: Answer) -> None:
        """Store the answer of a trial that has none."""
        self._answers[key] = answer
        if self._path is None:
            return
        line = json.dumps({"key": key, **asdict(answer)}, separators=(",", ":"))
        try:
            # After a line that was cut off, one of its own.
            _append(self._path, b"\n" * self._is_cut_off + f"{line}\n".encode())
            self._is_cut_off = False
        except OSError as error:
            problem = f"the cache could not be written: {error.strerror}"
            self.problems += [problem] * (problem not in self.problems)


def _append(path: str | os.PathLike[str], data: bytes) -> None:
    # One call of the system, at the end of the file: two processes can share it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def _parsed(lines: Sequence[bytes]) -> Iterator[tuple[str, Answer]]:
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            values = json.loads(line)
            key, answer = values.pop("key"), Answer(**values)
            kinds = [type(value).__name__ for value in (key, *astuple(answer))]
            counts = answer.input_tokens, answer.output_tokens, answer.attempts - 1
            if kinds == _KINDS and min(counts) >= 0:
                yield key, answer


def as_list(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def as_mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
