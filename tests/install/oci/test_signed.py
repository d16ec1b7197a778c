"""``verify = "signed"`` for a registry: who signs a manifest, signs each file."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sigstore", reason="to run this: pip install satchel[signed]")

from satchel.errors import SkillError
from tests.install.oci.conftest import FakeRegistry, edit, opened, pushed
from tests.install.oci.test_bundles import attach
from tests.install.signing import IDENTITY, ISSUER, Keyless, statement

pytestmark = pytest.mark.row("U16", "N10")


@pytest.fixture
def keyless(tmp_path: Path) -> Keyless:
    """A root of the test's own, and the user's settings with one signer."""
    made = Keyless(tmp_path / "sigstore")
    settings = tmp_path / "xdg_config_home/satchel/satchel.toml"
    settings.parent.mkdir(parents=True)
    signer = f'{{ skills = ["pdf"], issuer = "{ISSUER}", identity = "{IDENTITY}" }}'
    text = (
        f'allow_private = true\n[trust]\nsigners = [{signer}]\nroot = "{made.file}"\n'
    )
    settings.write_text(text)
    return made


def signed_alone(tmp_path: Path) -> None:
    """From here on, only what is signed counts."""
    settings = tmp_path / "xdg_config_home/satchel/satchel.toml"
    settings.write_text(settings.read_text() + 'verify = "signed"\n')


def test_a_signed_release_loads_and_says_who(
    keyless: Keyless, fake: FakeRegistry, library: Path, tmp_path: Path
) -> None:
    digest = pushed(fake, library)
    attach(fake, digest, keyless.sign(statement({"": digest[7:]})))
    signed_alone(tmp_path)
    with opened(fake) as skills:
        loaded = skills.load("pdf", "scripts/fill.py")
        assert loaded.vouched.endswith(f"{digest}, signed by {IDENTITY}")
        # Whom the signer may not sign for is refused.
        assert [entry.id for entry in skills.catalog.entries] == ["pdf"]
        with pytest.raises(SkillError, match="who may sign pdf"):
            skills.load("sql")


def _nothing(_: Keyless, __: str) -> bytes:
    return b""


def _of_another(keyless: Keyless, _: str) -> bytes:
    return keyless.sign(statement({"": "0" * 64}))


def _no_bundle(_: Keyless, __: str) -> bytes:
    return b"<html>"


@pytest.mark.parametrize(
    "case",
    [
        (_nothing, "no signature"),
        (_of_another, "and this is sha256:"),
        (_no_bundle, "no bundle of Sigstore"),
    ],
)
def test_what_no_signer_signed_is_refused(
    case: tuple[Callable[[Keyless, str], bytes], str],
    keyless: Keyless,
    fake: FakeRegistry,
    library: Path,
    tmp_path: Path,
) -> None:
    made, reason = case
    digest = pushed(fake, library)
    if bundle := made(keyless, digest):
        attach(fake, digest, bundle)
    signed_alone(tmp_path)
    with opened(fake) as skills:
        assert not skills.catalog.entries
        with pytest.raises(SkillError, match=reason):
            skills.load("pdf")


def test_a_signature_does_not_pass_to_the_next_release(
    keyless: Keyless, fake: FakeRegistry, library: Path, tmp_path: Path
) -> None:
    digest = pushed(fake, library)
    attach(fake, digest, keyless.sign(statement({"": digest[7:]})))
    edit(library, "pdf", "More.")
    pushed(fake, library)
    new = fake.manifests["prod"]
    fake.manifests["prod"] = fake.manifests[digest]
    signed_alone(tmp_path)
    with opened(fake) as skills:
        assert skills.load("pdf").data
        fake.manifests["prod"] = new
        skills.sync()
        with pytest.raises(SkillError, match="no signature"):
            skills.load("pdf")


def test_a_changed_blob_is_refused_under_a_good_signature(
    keyless: Keyless, fake: FakeRegistry, library: Path, tmp_path: Path
) -> None:
    digest = pushed(fake, library)
    attach(fake, digest, keyless.sign(statement({"": digest[7:]})))
    signed_alone(tmp_path)
    data = (library / "pdf/scripts/fill.py").read_bytes()
    for name, blob in fake.blobs.items():
        if blob == data:
            fake.blobs[name] = data.replace(b"filled", b"fillee")
    shutil.rmtree(tmp_path / "store", ignore_errors=True)
    with opened(fake) as skills:
        with pytest.raises(SkillError, match=r"digest|bytes"):
            skills.load("pdf", "scripts/fill.py")
        assert skills.load("pdf").data
