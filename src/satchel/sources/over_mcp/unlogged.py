"""Keys in the query of a server's URL, kept out of what others log."""

from collections.abc import Awaitable, Callable

import httpx2

__all__ = ["shown_url", "with_query"]


class _Unlogged(httpx2.URL):
    """A URL that is sent whole, and shown without its query.

    httpx2 logs the URL of every request, at a level that applications turn on.
    """

    def __str__(self) -> str:
        return shown_url(self)


def shown_url(url: httpx2.URL) -> str:
    """Return what of a URL anybody may see."""
    return str(httpx2.URL(url, query=None, fragment=None))


def with_query(url: httpx2.URL) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Return a hook that sends what is for the URL as shown to the whole one."""
    shown = httpx2.URL(shown_url(url))

    async def hook(request: httpx2.Request) -> None:
        request.url = _Unlogged(url if request.url == shown else request.url)

    return hook
