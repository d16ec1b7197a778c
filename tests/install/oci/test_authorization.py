"""The user's own credentials, as Docker keeps them: used, and never shown."""

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from satchel_store.http import credential_of
from tests.functional.library import run
from tests.install.oci.conftest import (
    FakeRegistry,
    Registry,
    Request,
    debian_registry,
    edit,
    opened,
    pushed,
)

pytestmark = pytest.mark.slow

_SECRET = "pass-word-1"  # noqa: S105 - of a test


def docker_config(folder: Path, document: object) -> Path:
    """Write the user's file, and return it."""
    file = folder / "docker/config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document))
    return file


def basic(word: str = _SECRET) -> str:
    """Return a name and a secret as the file and the header have them."""
    return base64.b64encode(f"ada:{word}".encode()).decode()


@pytest.fixture(autouse=True)
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let Docker's folder be one of the test."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    return tmp_path


def test_basic_authentication_of_a_real_registry(docker: Path, library: Path) -> None:
    passwords = docker / "htpasswd"
    passwords.write_text(hashed())
    auth = f"auth: {{htpasswd: {{realm: a, path: {passwords}}}}}"
    with debian_registry(docker, auth, f"Basic {basic()}") as registry:
        refused = run("push", registry.address(), "--skills", str(library))
        assert refused.exit_code == 1
        assert f"docker login {registry.host}" in refused.output
        docker_config(docker, {"auths": {registry.host: {"auth": basic("x")}}})
        refused = run("push", registry.address(), "--skills", str(library))
        assert refused.exit_code == 1
        docker_config(docker, {"auths": {registry.host: {"auth": basic()}}})
        name = pushed(registry, library)
        with opened(registry) as skills:
            assert skills.catalog.release == name
            assert skills.load("pdf", "scripts/fill.py").data
        assert _SECRET not in refused.output
        assert basic() not in refused.output


def hashed() -> str:
    """Return a line of a file of passwords, made by the C library."""
    crypt = pytest.importorskip("crypt", reason="Python 3.13 has no crypt")
    salt = crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16)
    return f"ada:{crypt.crypt(_SECRET, salt)}\n"


class _Tokens(BaseHTTPRequestHandler):
    """A server of tokens, as Docker's specification has it."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        """Give a token for what is asked, to one who has the password."""
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("Authorization", "")))
        query = parse_qs(urlsplit(self.path).query)
        if self.headers.get("Authorization") != f"Basic {basic()}":
            self.answer(401, {})
            return
        self.answer(200, {"token": server.make(query.get("scope", []))})

    def do_POST(self) -> None:
        """Give a token for an identity token."""
        server: Any = self.server
        data = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = parse_qs(data)
        server.asked.append((data, ""))
        if form.get("refresh_token") != ["identity-1"]:
            self.answer(401, {})
            return
        self.answer(200, {"access_token": server.make(form.get("scope", []))})

    def answer(self, status: int, document: Mapping[str, Any]) -> None:
        """Answer with JSON."""
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def token_server(folder: Path, life_s: int = 600) -> Iterator[Any]:
    """Run a server of tokens that Debian's registry accepts."""
    jwt = pytest.importorskip("jwt")
    from cryptography.hazmat.primitives import serialization

    from tests.install.oci.test_failing_registry import make_certificate

    certificate, key = make_certificate(folder, "tokens.test", rsa_key=True)
    der = _der(certificate)
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Tokens)
    server.asked = []
    server.life_s = life_s

    def make(scopes: list[str]) -> str:
        now = int(time.time())
        access = []
        for scope in " ".join(scopes).split():
            kind, name, actions = scope.split(":")
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        claims: dict[str, object] = {
            "iss": "tokens",
            "sub": "ada",
            "aud": "registry",
            "jti": str(now),
        }
        claims |= {"exp": now + server.life_s, "nbf": now - 60, "iat": now}
        secret = serialization.load_pem_private_key(key.read_bytes(), None)
        head = {"x5c": [base64.b64encode(der).decode()]}
        token: str = jwt.encode({**claims, "access": access}, secret, "RS256", head)
        return token

    server.make = make
    server.certificate = certificate
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _der(certificate: Path) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    loaded = x509.load_pem_x509_certificate(certificate.read_bytes())
    return loaded.public_bytes(serialization.Encoding.DER)


@contextmanager
def registry_with_tokens(
    folder: Path, life_s: int = 600
) -> Iterator[tuple[Registry, Any]]:
    """Run Debian's registry with a server of tokens."""
    with token_server(folder, life_s) as server:
        realm = f"http://127.0.0.1:{server.server_address[1]}/token"
        bundle = f"rootcertbundle: {server.certificate}"
        parts = f"realm: '{realm}', service: registry, issuer: tokens, {bundle}"
        with debian_registry(folder, f"auth: {{token: {{{parts}}}}}") as registry:
            yield registry, server


@pytest.mark.parametrize("entry", [{"auth": basic()}, {"identitytoken": "identity-1"}])
def test_tokens_of_a_real_registry(
    entry: Mapping[str, str], docker: Path, library: Path
) -> None:
    with registry_with_tokens(docker) as (registry, server):
        docker_config(docker, {"auths": {registry.host: entry}})
        name = pushed(registry, library)
        with opened(registry) as skills:
            assert skills.catalog.release == name
            assert skills.load("pdf").data
        assert any("push" in asked for asked, _ in server.asked)


def test_a_token_that_expired_is_asked_for_again(docker: Path, library: Path) -> None:
    # The registry allows for a minute between two clocks.
    with registry_with_tokens(docker, life_s=-58) as (registry, server):
        docker_config(docker, {"auths": {registry.host: {"auth": basic()}}})
        pushed(registry, library)
        with opened(registry) as skills:
            before = len(server.asked)
            time.sleep(3)
            edit(library, "sql", "More.")
            skills.sync()
            assert not skills.registry.health().problems
            assert len(server.asked) > before


def test_no_other_host_gets_the_credentials(
    docker: Path, library: Path, fake: FakeRegistry
) -> None:
    pushed(fake, library)
    docker_config(docker, {"auths": {fake.host: {"auth": basic()}}})
    other = FakeRegistry()
    other.blobs = fake.blobs
    seen: list[str | None] = []

    def elsewhere(request: Request) -> bool:
        if not request.headers.get("Authorization"):
            request.answer(401, WWW_Authenticate='Basic realm="a"')
            return True
        if request.command == "GET" and "/blobs/" in request.path:
            request.answer(307, Location=f"http://{other.host}{request.path}")
            return True
        return False

    def noted(request: Request) -> bool:
        seen.append(request.headers.get("Authorization"))
        return False

    fake.fault, other.fault = elsewhere, noted
    with opened(fake) as skills:
        assert skills.load("pdf").data
    assert seen
    assert set(seen) == {None}
    other.close()


def test_another_server_may_not_ask_for_the_credentials(
    docker: Path, library: Path, fake: FakeRegistry
) -> None:
    pushed(fake, library)
    docker_config(docker, {"auths": {fake.host: {"auth": basic()}}})
    other = FakeRegistry()
    seen: list[str | None] = []

    def elsewhere(request: Request) -> bool:
        if request.command == "GET" and "/blobs/" in request.path:
            request.answer(307, Location=f"http://{other.host}{request.path}")
            return True
        return False

    def asking(request: Request) -> bool:
        seen.append(request.headers.get("Authorization"))
        realm = f"http://{other.host}/token"
        request.answer(401, WWW_Authenticate=f'Bearer realm="{realm}",service="a"')
        return True

    fake.fault, other.fault = elsewhere, asking
    with opened(fake) as skills:
        (problem,) = skills.registry.health().problems
        assert "not allowed" in problem
    assert set(seen) == {None}
    assert not any("/token" in line for line in other.requests)
    other.close()


HELPER = """#!/bin/sh
read server
test "$server" = "{host}" || exit 1
echo '{answer}'
"""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"Username": "ada", "Secret": _SECRET}, ("ada", _SECRET, False)),
        ({"Username": "<token>", "Secret": "identity-1"}, ("", "identity-1", True)),
    ],
)
@pytest.mark.parametrize("key", ["credHelpers", "credsStore"])
def test_helpers(
    key: str,
    answer: Mapping[str, str],
    expected: tuple[str, str, bool],
    docker: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = docker / "bin/docker-credential-test"
    program.parent.mkdir()
    program.write_text(HELPER.format(host="a.example", answer=json.dumps(answer)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    value = {"a.example": "test"} if key == "credHelpers" else "test"
    docker_config(docker, {key: value})
    credential = credential_of("a.example")
    assert credential is not None
    assert (credential.user, credential.secret, credential.token) == expected
    assert _SECRET not in repr(credential)
    assert credential_of("b.example") is None


BAD = {
    "no JSON": "{",
    "no base64": '{"auths": {"a.example": {"auth": "%%"}}}',
    "no colon": '{"auths": {"a.example": {"auth": "YWRh"}}}',
    "a helper with a path": '{"credHelpers": {"a.example": "../../evil"}}',
    "a helper that is missing": '{"credHelpers": {"a.example": "missing"}}',
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_file_is_named_and_not_shown(name: str, docker: Path) -> None:
    file = docker_config(docker, {})
    file.write_text(BAD[name])
    result = run("push", "oci://a.example/team/skills:prod", "--skills", ".")
    assert "Traceback" not in result.output
    with pytest.raises(Exception, match=r"config\.json|docker-credential") as caught:
        credential_of("a.example")
    assert "%%" not in str(caught.value)


@pytest.mark.parametrize(
    "document", [{}, {"auths": {}}, {"auths": {"a.example": {}}}, {"auths": []}, []]
)
def test_no_credential_is_none(document: object, docker: Path) -> None:
    docker_config(docker, document)
    assert credential_of("a.example") is None
