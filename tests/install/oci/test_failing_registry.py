"""A registry that fails: an error that says how, and the last good release goes on."""

import json
import re
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from satchel import Satchel
from satchel.errors import SkillError
from satchel_install.oci._reference import parse_reference
from satchel_install.oci._registry import OciRepository
from tests.functional.library import run
from tests.install.oci.conftest import (
    PRIVATE,
    FakeRegistry,
    Request,
    digest,
    edit,
    opened,
    pushed,
)

pytestmark = pytest.mark.slow

_BLOB = "/v2/team/skills/blobs/"


def _is_blob(request: Request) -> bool:
    return request.command == "GET" and "/blobs/" in request.path


def _is_manifest(request: Request) -> bool:
    return request.command == "GET" and "/manifests/" in request.path


def _is_tag(request: Request) -> bool:
    return request.command == "HEAD" and request.path.endswith("/prod")


def _refuses(request: Request) -> bool:
    request.answer(403)
    return True


def _fails(request: Request) -> bool:
    request.answer(500)
    return True


def _hangs(request: Request) -> bool:
    time.sleep(3)
    request.close_connection = True
    return True


def _closes(request: Request) -> bool:
    request.close_connection = True
    return True


def _cuts_a_blob(request: Request) -> bool:
    if not _is_blob(request):
        return False
    request.answer(200, b"short", Content_Length="500")
    request.close_connection = True
    return True


def _wrong_digest(request: Request) -> bool:
    if not _is_blob(request):
        return False
    size = len(request.registry.blobs[request.name])
    request.answer(200, b"x" * size)
    return True


def _wrong_length(request: Request) -> bool:
    if not _is_blob(request):
        return False
    request.answer(200, request.registry.blobs[request.name][:-1])
    return True


def _longer(request: Request) -> bool:
    if not _is_blob(request):
        return False
    request.answer(200, request.registry.blobs[request.name] + b"x")
    return True


def _busy(request: Request) -> bool:
    request.answer(429)
    return True


def _busy_for_an_hour(request: Request) -> bool:
    request.answer(429, Retry_After="3600")
    return True


def _redirects_away(request: Request) -> bool:
    request.answer(307, Location="http://169.254.169.254/latest/meta-data")
    return True


def _redirects_in_a_circle(request: Request) -> bool:
    request.answer(307, Location=request.path)
    return True


def _huge_manifest(request: Request) -> bool:
    if not _is_manifest(request):
        return False
    request.answer(200, b" " * (5 * 1024 * 1024))
    return True


def _document(value: object) -> Callable[[Request], bool]:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()

    def fault(request: Request) -> bool:
        if "/manifests/prod" in request.path or "/manifests/sha256" in request.path:
            request.answer(200, data, Docker_Content_Digest=digest(data))
            return True
        return False

    return fault


def _lies_about_the_digest(request: Request) -> bool:
    if not _is_tag(request):
        return False
    request.answer(200, Docker_Content_Digest=digest(b"another"))
    return True


def _asks_for_something_else(request: Request) -> bool:
    request.answer(401, WWW_Authenticate="Negotiate abc")
    return True


def _asks_a_forbidden_realm(request: Request) -> bool:
    request.answer(401, WWW_Authenticate='Bearer realm="http://169.254.169.254/token"')
    return True


def _gives_no_token(request: Request) -> bool:
    if "/token" in request.path:
        request.answer(200, b'{"token": 5}')
    else:
        realm = f"http://{request.registry.host}/token"
        request.answer(401, WWW_Authenticate=f'Bearer realm="{realm}",service="a"')
    return True


def _compressed(request: Request) -> bool:
    if not _is_blob(request):
        return False
    request.answer(200, b"x", Content_Encoding="gzip")
    return True


_LAYER = {"mediaType": "text/plain", "digest": digest(b"a"), "size": 1}
FAULTS: dict[str, tuple[Callable[[Request], bool], str]] = {
    "refuses": (_refuses, "not allowed"),
    "fails": (_fails, "answers 500"),
    "hangs": (_hangs, "no answer|took too long|broke off|timed out"),
    "closes": (_closes, "broke off"),
    "cuts a blob": (_cuts_a_blob, "broke off"),
    "wrong digest": (_wrong_digest, "digest|is not|expected"),
    "wrong length": (_wrong_length, "bytes"),
    "longer": (_longer, "bytes"),
    "429": (_busy, "answers 429"),
    "429 for an hour": (_busy_for_an_hour, "answers 429"),
    "redirects away": (_redirects_away, "no skill is fetched from"),
    "redirects in a circle": (_redirects_in_a_circle, "redirects"),
    "huge manifest": (_huge_manifest, "release_bytes"),
    "not JSON": (_document(b"<html>"), "not JSON"),
    "deep JSON": (_document(b"[" * 100_000), "nested too deeply|not JSON"),
    "a list": (_document([]), "expected an object"),
    "no layers": (_document({"schemaVersion": 2}), "layers"),
    "empty layers": (_document({"layers": []}), "has none"),
    "layer without a digest": (_document({"layers": [{"mediaType": "a"}]}), "digest"),
    "size below zero": (_document({"layers": [{**_LAYER, "size": -1}]}), "size"),
    "another type": (_document({"layers": [_LAYER]}), "are no skills here"),
    "an index of two": (
        _document({"manifests": [{"digest": digest(b"a")}, {"digest": digest(b"b")}]}),
        "index of 2",
    ),
    "an index of none": (_document({"manifests": []}), "index of 0"),
    "a tag's digest is another": (_lies_about_the_digest, "has no sha256|manifest is"),
    "Negotiate": (_asks_for_something_else, "neither Basic nor Bearer"),
    "a forbidden realm": (_asks_a_forbidden_realm, "no skill is fetched from"),
    "no token": (_gives_no_token, "no token came"),
    "compressed": (_compressed, "compressed"),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for less than a user would."""
    from satchel_store.http import _client

    monkeypatch.setattr(_client, "BACK_OFF_S", 0.01)
    monkeypatch.setattr(OciRepository.__init__, "__kwdefaults__", {"timeout_s": 2.0})


@pytest.mark.parametrize("name", FAULTS)
def test_it_says_how_the_registry_fails(
    name: str, fake: FakeRegistry, library: Path
) -> None:
    fault, expected = FAULTS[name]
    pushed(fake, library)
    fake.fault = fault
    with opened(fake) as skills:
        if skills.catalog.entries:  # it fails for files only
            with pytest.raises(SkillError, match=expected):
                skills.load("pdf")
            return
        (problem,) = skills.registry.health().problems
    assert re.search(expected, problem), problem


@pytest.mark.parametrize("name", FAULTS)
def test_the_last_good_release_goes_on(
    name: str, fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    with opened(fake) as skills:
        before = skills.load("pdf").data
        release = skills.catalog.release
        edit(library, "sql", "More.")
        pushed(fake, library)
        fake.fault = FAULTS[name][0]
        skills.sync()
        assert skills.load("pdf").data == before
        assert skills.load("pdf", "SKILL.md").data
        fake.fault = lambda _: False
        skills.sync()
        assert skills.catalog.release != release
        assert skills.load("sql").data.endswith(b"More.\n")


def test_what_nobody_has_read_is_there_while_the_registry_is_away(
    fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    with opened(fake) as skills:
        blobs = [layer["digest"] for layer in fake.manifest("prod")["layers"]]
        end = time.monotonic() + 30
        while not all(f"GET {_BLOB}{one}" in fake.requests for one in blobs):
            assert time.monotonic() < end
            time.sleep(0.05)
        fake.fault = _refuses
        skills.sync()
        assert skills.load("pdf", "scripts/fill.py").text == "print('filled')\n"


def test_a_tag_that_moves_between_two_requests(
    fake: FakeRegistry, library: Path
) -> None:
    first = pushed(fake, library)
    edit(library, "pdf", "More.")
    second = pushed(fake, library)
    assert first != second
    newer = fake.manifests["prod"]
    fake.manifests["prod"] = fake.manifests[first]

    def moves(request: Request) -> bool:
        if request.command == "HEAD" and request.path.endswith("/prod"):
            data = fake.manifests["prod"]
            request.answer(200, data, Docker_Content_Digest=digest(data))
            fake.manifests["prod"] = newer
            return True
        return False

    fake.fault = moves
    with opened(fake) as skills:
        assert skills.catalog.release == first
        assert not skills.load("pdf").data.endswith(b"More.\n")
        skills.sync()
        assert skills.catalog.release == second
        assert skills.load("pdf").data.endswith(b"More.\n")


def test_a_registry_that_says_no_digest(fake: FakeRegistry, library: Path) -> None:
    first = pushed(fake, library)

    def silent(request: Request) -> bool:
        name = request.path.rpartition("/")[2]
        if "/manifests/" in request.path and name in fake.manifests:
            request.answer(200, fake.manifests[name])
            return True
        return False

    fake.fault = silent
    with opened(fake) as skills:
        assert skills.catalog.release == first
    run("withdraw", fake.address(), "pdf")
    with opened(fake) as skills, pytest.raises(SkillError, match="withdrawn"):
        skills.load("pdf")


def test_a_list_that_is_gone_takes_nothing_back(
    fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    run("withdraw", fake.address(), "pdf")
    with opened(fake) as skills:
        del fake.manifests["withdrawn"]
        edit(library, "sql", "More.")
        pushed(fake, library)
        skills.sync()
        assert not skills.registry.health().problems
        assert skills.load("sql").data.endswith(b"More.\n")
        with pytest.raises(SkillError, match="withdrawn"):
            skills.load("pdf")


def test_a_release_is_refused_once_it_is_too_old(
    fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    with opened(fake) as skills:
        (source,) = skills.registry.sources.values()
        source.limit_age(0.2)  # type: ignore[attr-defined]
        assert skills.load("pdf").data
        fake.fault = _refuses
        time.sleep(0.3)
        with pytest.raises(SkillError, match="--max-age"):
            skills.load("pdf")
        skills.sync()
        assert not skills.catalog.entries
        fake.fault = lambda _: False
        skills.sync()
        assert skills.load("pdf").data


def test_an_upload_that_breaks_off_goes_on_from_there(
    fake: FakeRegistry, library: Path
) -> None:
    data = bytes(range(256)) * 40_000  # 10 MB: three chunks
    cut: list[int] = []

    def cuts(request: Request) -> bool:
        if request.command != "PATCH" or len(cut) > 1:
            return False
        # Some of the chunk arrives, and the answer does not.
        cut.append(len(request.sent) // 2)
        fake.uploads[request.path] += request.sent[: cut[-1]]
        request.close_connection = True
        return True

    fake.fault = cuts
    repository = OciRepository(parse_reference(fake.address()), allow_private=True)
    assert repository.keep_blob(data) == digest(data)
    assert fake.blobs[digest(data)] == data
    assert len(cut) == 2
    assert sum(one.startswith("PATCH") for one in fake.requests) == 4


@pytest.mark.parametrize(
    "at",
    ["POST", "PATCH", "PUT /v2/team/skills/blobs", "PUT /v2/team/skills/manifests"],
)
def test_a_push_that_fails_leaves_the_tag_as_it_was(
    at: str, fake: FakeRegistry, library: Path
) -> None:
    first = pushed(fake, library)
    edit(library, "sql", "More.")

    def fails(request: Request) -> bool:
        if f"{request.command} {request.path}".startswith(at):
            request.answer(507)
            return True
        return False

    if at == "PATCH":
        (library / "sql/data.bin").write_bytes(bytes(5_000_000))
    fake.fault = fails
    result = run("push", fake.address(), "--skills", str(library))
    assert result.exit_code == 1
    assert "answers 507" in result.output
    assert "Traceback" not in result.output
    assert digest(fake.manifests["prod"]) == first
    fake.fault = lambda _: False
    assert pushed(fake, library) != first


def test_nothing_is_sent_to_another_server(fake: FakeRegistry, library: Path) -> None:
    other = FakeRegistry()

    def elsewhere(request: Request) -> bool:
        if request.command == "POST":
            request.answer(202, Location=f"http://{other.host}/v2/upload")
            return True
        return False

    fake.fault = elsewhere
    result = run("push", fake.address(), "--skills", str(library))
    assert result.exit_code == 1
    assert f"another server: {other.host}" in result.output
    assert not other.requests
    other.close()


@pytest.mark.parametrize("name", ["registry.test", "other.example"])
def test_no_other_name_of_a_certificate_will_do(
    name: str, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = make_certificate(tmp_path, name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    # The user's own authority, and a name that leads to this machine.
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    real = socket.getaddrinfo

    def resolve(host: str, *more: Any, **named: Any) -> object:  # noqa: ANN401
        return real("127.0.0.1" if host == "registry.test" else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    fake = FakeRegistry()
    pushed(fake, library)
    fake.server.socket = context.wrap_socket(fake.server.socket, server_side=True)
    address = f"oci://registry.test:{fake.server.server_address[1]}/team/skills:prod"
    with Satchel(address, options=PRIVATE) as skills:
        problems = skills.registry.health().problems
        if name == "registry.test":
            assert skills.load("pdf").data
        else:
            assert "certificate" in problems[0]
            assert not skills.catalog.entries
    fake.close()


def make_certificate(
    folder: Path, name: str, *, rsa_key: bool = False
) -> tuple[Path, Path]:
    """Make a certificate of our own for a name."""
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    key: Any = ec.generate_private_key(ec.SECP256R1())
    if rsa_key:
        key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    who = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    of = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(*of, serialization.NoEncryption()))
    return certificate, secret
