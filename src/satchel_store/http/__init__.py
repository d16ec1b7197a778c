"""Skills of a site: by anybody's index, or one release of ours by its pin."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from satchel.errors import ExtraMissingError
from satchel.lazy import lazy_door
from satchel.model import Limits

if TYPE_CHECKING:
    from satchel_store.http._addresses import (
        CheckedBackend as CheckedBackend,
        RequestRefusedError as RequestRefusedError,
        request_deadline as request_deadline,
        resolve_host as resolve_host,
    )
    from satchel_store.http._client import (
        HttpClient as HttpClient,
        HttpRequest as HttpRequest,
        HttpResponse as HttpResponse,
        retry_after_s as retry_after_s,
    )
    from satchel_store.http._credentials import (
        Credential as Credential,
        credential_of as credential_of,
    )
    from satchel_store.http._headers import checked_headers as checked_headers
    from satchel_store.http._source import (
        HttpSource as HttpSource,
        PinnedSource as PinnedSource,
    )
    from satchel_store.http._urls import parse_url as parse_url

__getattr__ = lazy_door(
    __name__,
    {
        "_client": "HttpClient HttpRequest HttpResponse retry_after_s",
        "_credentials": "Credential credential_of",
        "_headers": "checked_headers",
        "_addresses": "CheckedBackend RequestRefusedError request_deadline"
        " resolve_host",
        "_source": "HttpSource PinnedSource",
        "_urls": "parse_url",
    },
)


def open_site(  # noqa: PLR0913 - those of `satchel.sources.http`
    url: str,
    *,
    pin: str | None,
    label: str | None,
    allow_private: bool,
    hosts: Sequence[str],
    headers: Mapping[str, str] | None,
    timeout_s: float,
    cache: str | os.PathLike[str] | None,
    limits: Limits,
) -> "HttpSource | PinnedSource":
    """Return the source of a site; see `satchel.sources.http`."""
    try:
        from satchel_store.http._client import HttpClient
        from satchel_store.http._source import HttpSource, PinnedSource
    except ImportError as error:
        raise ExtraMissingError("a source over HTTP", "http") from error
    client = HttpClient(
        url,
        label=label,
        allow_private=allow_private,
        hosts=hosts,
        headers=headers,
        timeout_s=timeout_s,
    )
    if pin is None:
        return HttpSource(client, cache=cache, limits=limits)
    return PinnedSource(client, pin=pin, cache=cache, limits=limits)


def open_address(
    url: str, *, pin: str | None, allow_private: bool, limits: Limits
) -> "HttpSource | PinnedSource":
    """Return the source of an address that `satchel.Satchel` was given."""
    from satchel.sources import http

    site = http(url, pin=pin, allow_private=allow_private, limits=limits)
    return cast("HttpSource | PinnedSource", site)
