"""Answers over HTTP that end where too much would come."""

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

__all__ = ["bounded"]


class _TooMuchError(httpx2.StreamError):
    """More bytes than one answer may have; mcp tells it as an answer not to be read."""


class _Counted(httpx2.AsyncByteStream):
    """The bytes of an answer, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise _TooMuchError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded(max_bytes: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return a hook that bounds each answer to ``max_bytes``; packed ones are refused.

    A stream that waits for changes (a GET) has no end, and is bounded by its events.
    """

    async def hook(response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise _TooMuchError("the answer is packed, which was not asked for")
        stream = response.stream
        if response.request.method != "GET" and isinstance(
            stream, httpx2.AsyncByteStream
        ):
            response.stream = _Counted(stream, max_bytes)

    return hook
