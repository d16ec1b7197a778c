"""Answers of models on disk: one line of JSON each, appended when it is there."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, cast

from satchel.evals._model import ChatReply, ChatRequest, ToolCallText

# Calls of one answer that are kept; only the first decides.
_MAX_CALLS: Final = 8
_CHARS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply without its text, and what it cost: ``attempts`` are requests sent.

    ``is_estimate`` is whether the endpoint left out tokens, which are then a quarter of
    the characters.
    """

    calls: tuple[ToolCallText, ...]
    input_tokens: int
    output_tokens: int
    is_estimate: bool = False
    attempts: int = 1

    @classmethod
    def of(cls, reply: ChatReply, request: ChatRequest, attempts: int) -> "Answer":
        """Return the answer for a reply, with estimates for what it does not say."""
        given, written = reply.input_tokens, reply.output_tokens
        if given is None:
            sent = json.dumps([request.messages, request.tools])
            given = len(sent) // _CHARS_PER_TOKEN
        if written is None:
            chars = sum(len(call.name) + len(call.arguments) for call in reply.calls)
            written = (len(reply.text) + chars) // _CHARS_PER_TOKEN
        is_estimate = None in {reply.input_tokens, reply.output_tokens}
        calls = reply.calls[:_MAX_CALLS]
        return cls(calls, given, written, is_estimate, attempts)

    @property
    def reply(self) -> ChatReply:
        """The reply as far as it decides a trial."""
        return ChatReply(self.calls)

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
        self._is_torn = False
        if path is not None:
            self._read(path)

    def get(self, key: str) -> Answer | None:
        """Return the answer of a trial, or None."""
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer; the first one of a key stays."""
        if key in self._answers:
            return
        self._answers[key] = answer
        if self._path is None:
            return
        line = json.dumps({"key": key, **asdict(answer)}, separators=(",", ":"))
        # After a line that was cut off, one of its own.
        data = b"\n" * self._is_torn + f"{line}\n".encode()
        try:
            _append(self._path, data)
        except OSError as error:
            # With the path it would not be the same text on every machine.
            reason = error.strerror or type(error).__name__
            problem = f"the cache could not be written: {reason}"
            if problem not in self.problems:
                self.problems.append(problem)
        else:
            self._is_torn = False

    def _read(self, path: str | os.PathLike[str]) -> None:
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - as it was given
                data = file.read()
        except FileNotFoundError:
            return
        self._is_torn = bool(data) and not data.endswith(b"\n")
        lines = [line for line in data.split(b"\n") if line.strip()]
        answers = [*_parsed(lines)]
        for key, answer in answers:
            self._answers.setdefault(key, answer)
        unread = len(lines) - len(answers)
        # What was being written when the process was killed is no news.
        if unread > self._is_torn:
            self.problems.append(f"{unread:,} lines of the cache could not be read")


def _append(path: str | os.PathLike[str], data: bytes) -> None:
    # One call of the system, at the end of the file: two processes can share it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def _parsed(lines: Iterable[bytes]) -> Iterable[tuple[str, Answer]]:
    for line in lines:
        try:
            fields: Any = json.loads(line)
            yield _answer_of(cast("Mapping[str, Any]", fields))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue


def _answer_of(fields: Mapping[str, Any]) -> tuple[str, Answer]:
    calls = tuple(
        ToolCallText(_typed(call["name"], str), _typed(call["arguments"], str))
        for call in _typed(fields["calls"], list)
    )
    counts = (
        _typed(fields[name], int)
        for name in ("input_tokens", "output_tokens", "attempts")
    )
    given, written, attempts = counts
    if min(given, written) < 0 or attempts < 1:
        raise ValueError(attempts)
    answer = Answer(calls, given, written, attempts=attempts)
    is_estimate = bool(fields.get("is_estimate"))
    return _typed(fields["key"], str), replace(answer, is_estimate=is_estimate)


def _typed(value: Any, kind: type) -> Any:  # noqa: ANN401 - any JSON
    if type(value) is not kind:
        raise TypeError(kind)
    return value
