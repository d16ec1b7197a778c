"""One repository of an OCI registry: what is asked of it, and what is sent to it.

Every byte is compared with its digest here. Source: the OCI distribution specification
1.1, and Docker's for tokens.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast
from urllib.parse import urlencode

from satchel.errors import (
    DigestMismatchError,
    ExtraMissingError,
    LimitExceededError,
    ReferenceNotFoundError,
    SourceUnavailableError,
)
from satchel.files import digest_bytes, is_digest
from satchel_install.oci._reference import OciReference

try:
    from satchel_store.http import (
        Credential,
        HttpClient,
        HttpRequest,
        HttpResponse,
        credential_of,
        parse_url,
    )
except ImportError as error:
    raise ExtraMissingError("a registry", "http") from error

MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
INDEX: Final = "application/vnd.oci.image.index.v1+json"
# What registries accept at least, and the most of Docker's (specification, "Pushing
# Manifests").
MANIFEST_BYTES: Final = 4 * 1024 * 1024
_DOCKER: Final = "application/vnd.docker.distribution.manifest"
_TYPES: Final = (MANIFEST, INDEX, f"{_DOCKER}.v2+json", f"{_DOCKER}.list.v2+json")
_TOKEN_BYTES: Final = 64 * 1024
_CHUNK_BYTES: Final = 4 * 1024 * 1024
# A chunk is sent so often while the registry has no more of the upload.
_ATTEMPTS: Final = 3
_TIMEOUT_S: Final = 60.0
_PARAMETER: Final = re.compile(r'([a-z_]+)="([^"]*)"')
_RANGE: Final = re.compile(r"(?:bytes=)?0-(\d+)")
_FOUND, _UNAUTHORIZED, _FORBIDDEN, _MISSING = 200, 401, 403, 404


class OciRepository:
    """Asks for manifests and blobs, and sends them. Safe across threads."""

    def __init__(self, reference: OciReference, *, allow_private: bool) -> None:
        """Ask nothing yet; the user's credentials are read once they are asked for."""
        self.label: Final = str(reference)
        self._of = reference
        how: dict[str, Any] = {"allow_private": allow_private, "timeout_s": _TIMEOUT_S}
        self._client = HttpClient(reference.home, label=self.label, **how)
        self._authorization = ""

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._client.close()

    def digest_of(self, which: str, *, missing_ok: bool = False) -> str:
        """Return the digest that a tag has now.

        ``missing_ok`` is for one that may not be there: then it is empty.
        """
        answer = self._ask("HEAD", f"manifests/{which}")
        if missing_ok and answer.status == _MISSING:
            return ""
        self._checked(answer, which)
        digest = answer.headers.get("docker-content-digest", "")
        return digest if is_digest(digest) else self.manifest(which)[0]

    def manifest(self, which: str) -> tuple[str, bytes]:
        """Return the digest and the bytes of what a tag or a digest names now.

        Raises:
            SourceUnavailableError: The registry does not answer, or has none.
            DigestMismatchError: It is not the one of the digest.
        """
        answer = self._ask("GET", f"manifests/{which}", MANIFEST_BYTES)
        self._checked(answer, which)
        digest = digest_bytes(answer.body)
        if is_digest(which) and digest != which:
            detail = f"the manifest is {digest}, and not {which}"
            raise DigestMismatchError(self.label, which, detail=detail)
        return digest, answer.body

    def blob(self, digest: str, size: int) -> bytes:
        """Return the bytes of a digest, which are exactly ``size`` many.

        Raises:
            ReferenceNotFoundError: The registry has no such blob.
            DigestMismatchError: Others came.
        """
        try:
            answer = self._ask("GET", f"blobs/{digest}", size)
        except LimitExceededError as error:
            detail = f"it has more than its {size:,} bytes"
            raise DigestMismatchError(self.label, digest, detail=detail) from error
        if answer.status == _MISSING:
            raise ReferenceNotFoundError(self.label, digest)
        self._checked(answer, digest)
        data = answer.body
        if len(data) != size or digest_bytes(data) != digest:
            came = f"{len(data):,} bytes, {digest_bytes(data)}"
            detail = f"expected {size:,} bytes, {digest}; there came {came}"
            raise DigestMismatchError(self.label, digest, detail=detail)
        return data

    def referrers(self, digest: str) -> bytes:
        """Return the index of what refers to a manifest, such as signatures, if any.

        A registry without this API has it under a tag that is named by the digest
        (specification, "Referrers Tag Schema").
        """
        for path in (f"referrers/{digest}", f"manifests/{digest.replace(':', '-')}"):
            answer = self._ask("GET", path, MANIFEST_BYTES)
            if answer.status == _FOUND:
                return answer.body
        return b""

    def keep_blob(self, data: bytes) -> str:
        """Send bytes that the registry has not yet, and return their digest."""
        digest = digest_bytes(data)
        if self._ask("HEAD", f"blobs/{digest}").status == _FOUND:
            return digest
        answer = self._send("POST", self._url("blobs/uploads/"))
        place = self._location(answer, "blobs/uploads/")
        start = 0
        if len(data) > _CHUNK_BYTES:
            place, start = self._send_chunks(data, place)
        mark = "&" if "?" in place else "?"
        self._send("PUT", f"{place}{mark}{urlencode({'digest': digest})}", data[start:])
        return digest

    def put_manifest(self, which: str, data: bytes) -> str:
        """Put a manifest under a tag or its digest, and return its digest."""
        if len(data) > MANIFEST_BYTES:
            most, of = MANIFEST_BYTES, "the manifest"
            raise LimitExceededError("release_bytes", most, len(data), "bytes", of)
        kind = {"Content-Type": MANIFEST}
        self._send("PUT", self._url(f"manifests/{which}"), data, kind)
        return digest_bytes(data)

    def _send_chunks(self, data: bytes, place: str) -> tuple[str, int]:
        """Send it in chunks; one that got lost is sent again from where it was."""
        start = attempts = 0
        while start < len(data):
            chunk = data[start : start + _CHUNK_BYTES]
            part = {"Content-Range": f"{start}-{start + len(chunk) - 1}"}
            try:
                answer = self._send("PATCH", place, chunk, part, attempts=1)
            except SourceUnavailableError:
                attempts += 1
                if attempts == _ATTEMPTS:
                    raise
                # How much of it is there, which may be some of the chunk that failed.
                answer = self._send("GET", place)
            else:
                attempts = 0
            there = _RANGE.fullmatch(answer.headers.get("range", ""))
            start = int(there[1]) + 1 if there and there[1] != "0" else start
            place = self._location(answer, place)
        return place, start

    def _location(self, answer: HttpResponse, last: str) -> str:
        """Return where an upload goes on, which may be relative."""
        place = answer.headers.get("location", "")
        try:
            url = parse_url(place or last, answer.url)
        except ValueError as error:
            raise self._away(f"it names no place to send to: {error}") from None
        if url.origin != self._client.home.origin:
            detail = "it wants what is sent at another server: "
            raise self._away(detail + url.authority)
        return f"{url}?{url.query}" if url.query else str(url)

    def _url(self, path: str) -> str:
        return f"{self._of.home}v2/{self._of.repository}/{path}"

    def _ask(self, method: str, path: str, most: int = 0) -> HttpResponse:
        headers = {"Accept": ", ".join(_TYPES)} if "blobs" not in path else {}
        of = parse_url(self._url(path)), "release_bytes", most
        how: dict[str, Any] = {"attempts": _ATTEMPTS, "may_be_empty": True}
        return self._request(HttpRequest(*of, method=method, headers=headers, **how))

    def _send(
        self,
        method: str,
        url: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        attempts: int = _ATTEMPTS,
    ) -> HttpResponse:
        kind = {"Content-Type": "application/octet-stream"} if body else {}
        of = parse_url(url), "release_bytes", _TOKEN_BYTES
        how: dict[str, Any] = {"attempts": attempts, "may_be_empty": True, "body": body}
        how["headers"] = {**kind, **(headers or {})}
        answer = self._request(HttpRequest(*of, method=method, **how))
        return self._checked(answer, method)

    def _request(self, request: HttpRequest) -> HttpResponse:
        """Make a request; if it is not authorized, again with a new token."""
        home = self._client.home.origin

        def once() -> HttpResponse:
            headers = {**request.headers}
            if self._authorization and request.url.origin == home:
                headers["Authorization"] = self._authorization
            return self._client.get(replace(request, headers=headers))

        answer = once()
        # What another server asks for, after a redirect, it does not get.
        if answer.status == _UNAUTHORIZED and answer.url.origin == home:
            asked = answer.headers.get("www-authenticate", "")
            self._authorization = self._authorized(asked)
            answer = once()
        return answer

    def _authorized(self, asked: str) -> str:
        """Return the authorization that a registry asks for."""
        credential = credential_of(self._of.host)
        kind, _, rest = asked.partition(" ")
        if kind.lower() == "basic":
            return f"Basic {credential.basic}" if credential else ""
        if kind.lower() != "bearer":
            detail = f"it asks for {kind[:40]!r}, which is neither Basic nor Bearer"
            raise self._away(detail)
        return f"Bearer {self._token(dict(_PARAMETER.findall(rest)), credential)}"

    def _token(self, asked: Mapping[str, str], credential: Credential | None) -> str:
        names = {key: asked[key] for key in ("service", "scope") if key in asked}
        headers: dict[str, str] = {}
        method, body = "GET", b""
        realm = asked.get("realm", "")
        if credential is not None and credential.token:
            form = {"grant_type": "refresh_token", "refresh_token": credential.secret}
            body = urlencode({**names, **form, "client_id": "satchel"}).encode()
            method = "POST"
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        else:
            realm += f"{'&' if '?' in realm else '?'}{urlencode(names)}"
            if credential is not None:
                headers["Authorization"] = f"Basic {credential.basic}"
        try:
            url = parse_url(realm)
        except ValueError as error:
            raise self._away(f"the address for its tokens: {error}") from None
        if url.scheme != self._client.home.scheme == "https":
            raise self._away("the address for its tokens is without TLS")
        of = url, "index_bytes", _TOKEN_BYTES
        how: dict[str, Any] = {"method": method, "headers": headers, "body": body}
        answer = self._client.get(HttpRequest(*of, **how))
        try:
            document: object = json.loads(answer.body or b"null")
        except (ValueError, RecursionError):
            document = None
        is_table = isinstance(document, dict)
        fields = cast("dict[str, object]", document) if is_table else {}
        token = fields.get("token") or fields.get("access_token")
        if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
            detail = f"no token came from {url}, which answers {answer.status}"
            raise self._away(f"{detail}; {self._advice()}")
        return token

    def _checked(self, answer: HttpResponse, which: str) -> HttpResponse:
        """Return an answer that is one; raise what is wrong, and what to do."""
        refused = f"it is not allowed (status {answer.status}); {self._advice()}"
        reasons = {_MISSING: f"the registry has no {which} in {self._of.repository}"}
        reasons |= {_UNAUTHORIZED: refused, _FORBIDDEN: refused}
        other = f"the registry answers {answer.status}"
        if answer.status not in range(200, 300):
            raise self._away(reasons.get(answer.status, other))
        if answer.encoding_problem:
            raise self._away(answer.encoding_problem)
        return answer

    def _away(self, detail: str) -> SourceUnavailableError:
        return SourceUnavailableError(self.label, detail)

    def _advice(self) -> str:
        return f"log in with: docker login {self._of.host}"
