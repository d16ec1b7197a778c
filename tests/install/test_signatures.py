"""``[trust] verify = "signed"``: no byte reaches a model that no signer signed."""

import json
import os
import shutil
import socket
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sigstore", reason="to run this: pip install satchel[signed]")

from satchel import Satchel, Skill
from satchel.config import Config, own_config
from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    ExtraMissingError,
    ReferenceNotAllowedError,
    SkillExcludedError,
)
from satchel.files import digest_bytes
from satchel_install._signatures import BadSignatureError, SignatureReader
from tests.functional.library import run
from tests.install.signing import (
    IDENTITY,
    ISSUER,
    Certified,
    Keyless,
    Root,
    make_pack,
    statement,
    statement_of,
)

pytestmark = pytest.mark.row("U16", "N10")

REFUSALS = (DigestMismatchError, ChangedSinceSyncError, SkillExcludedError)
SCAN = "https://example.com/scan-result/v1"


def flip(file: Path) -> None:
    """Change one bit of a file."""
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(data)


@dataclass
class World:
    """A pack, those who may sign it, and the user's settings."""

    pack: Path
    settings: Path
    root: Root
    acme: Certified
    keyless: Keyless
    table: dict[str, Any] = field(default_factory=dict[str, Any])

    def configure(self, **table: object) -> None:
        """Write the user's settings; what is not named is as for all cases."""
        signers = [
            {"skills": ["acme-*"], "certificate": str(self.root.file)},
            {"skills": ["acme-*"], "key": str(self.acme.public)},
            {"skills": ["acme-*"], "issuer": ISSUER, "identity": IDENTITY},
        ]
        defaults = {"verify": "signed", "signers": signers}
        defaults["root"] = str(self.keyless.file)
        self.table = {**defaults, **table}
        lines = [f"{key} = {_toml(value)}" for key, value in self.table.items()]
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text("\n".join(["[trust]", *lines, ""]))

    def bundle(self, data: bytes) -> None:
        """Give the pack a keyless signature, and no other."""
        (self.pack / "skill.oms.sig").unlink(missing_ok=True)
        (self.pack / "skill.sigstore.json").write_bytes(data)

    def edit(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Edit the signature of the pack as JSON."""
        file = self.pack / "skill.oms.sig"
        document = json.loads(file.read_text())
        change(document)
        file.write_text(json.dumps(document))


def _toml(value: object) -> str:
    return json.dumps(value, separators=(", ", " = "))


@pytest.fixture
def world(project: Path, tmp_path: Path) -> World:
    """A pack that Acme has signed with its certificate, in a project."""
    root = Root(tmp_path / "signers")
    acme, keyless = root.signer("acme"), Keyless(tmp_path / "sigstore")
    settings = tmp_path / "xdg_config_home" / "satchel" / "satchel.toml"
    pack = make_pack(project / "skills", "acme-pdf")
    acme.sign(pack)
    made = World(pack, settings, root, acme, keyless)
    made.configure()
    return made


# --- what is accepted ----------------------------------------------------------------


def _as_it_is(_: World) -> None:
    """Leave it signed with a certificate."""


def _by_key(world: World) -> None:
    world.acme.sign(world.pack, with_key=True)


def _keyless(world: World) -> None:
    world.bundle(world.keyless.sign(statement_of(world.pack)))


def _keyless_by_model_signing(world: World) -> None:
    document = json.loads((world.pack / "skill.oms.sig").read_text())
    payload = b64decode(document["dsseEnvelope"]["payload"])
    (world.pack / "skill.oms.sig").write_bytes(world.keyless.sign(payload))


def _keyless_under_the_other_name(world: World) -> None:
    _keyless(world)
    (world.pack / "skill.sigstore.json").rename(world.pack / "skill.oms.sig")


def _not_counted_by_model_signing(world: World) -> None:
    (world.pack / ".gitignore").write_text("*.pyc\n")


def _with_hidden_files(world: World) -> None:
    (world.pack / ".cache").mkdir()
    (world.pack / ".cache/x.md").write_text("X\n")
    (world.pack / ".hidden").write_text("X\n")
    (world.pack / "node_modules").mkdir()
    (world.pack / "node_modules/x.js").write_text("X\n")
    world.acme.sign(world.pack)


def _one_of_two_signatures_is_stale(world: World) -> None:
    _keyless(world)
    (world.pack / "skill.oms.sig").write_text("{}")


@pytest.mark.parametrize(
    ("sign", "who"),
    [
        (_as_it_is, "the certificate root.pem"),
        (_by_key, "the key acme.pub"),
        (_keyless, IDENTITY),
        (_keyless_by_model_signing, IDENTITY),
        (_keyless_under_the_other_name, IDENTITY),
        (_not_counted_by_model_signing, "the certificate root.pem"),
        (_one_of_two_signatures_is_stale, IDENTITY),
        (_with_hidden_files, "the certificate root.pem"),
    ],
)
def test_what_a_signer_signed_is_loaded_and_says_who(
    world: World, sign: Callable[[World], None], who: str
) -> None:
    sign(world)

    with Satchel("skills", sinks=[]) as skills:
        for file in (None, "forms.md", "scripts/run.py"):
            vouched = skills.load("acme-pdf", file).vouched
            assert "skills/acme-pdf, sha256-tree-v1:" in vouched
            assert vouched.endswith(f"signed by {who}")
        assert not [f for f in skills.findings if f.code == "unvouched-skill"]
    result = run("verify", "skills")
    assert (result.exit_code, result.stdout) == (0, f"acme-pdf  signed  {who}\n")


# --- what is refused -----------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """What is wrong with a pack, or with the settings, and the reason that is shown."""

    reason: str
    change: Callable[[World], object] = lambda _: None
    settings: Callable[[World], dict[str, object]] | None = None
    file: str = "SKILL.md"


def _other_pack(world: World) -> None:
    other = make_pack(world.pack.parent.parent / "elsewhere", "acme-xls")
    world.acme.sign(other)
    shutil.copy(other / "skill.oms.sig", world.pack)


def _missing(world: World) -> None:
    (world.pack / "forms.md").unlink()


def _one_too_many(world: World) -> None:
    (world.pack / "more.md").write_text("More.\n")


def _signed_for(*days: float) -> Callable[[World], None]:
    def sign(world: World) -> None:
        world.root.signer("other", (days[0], days[1])).sign(world.pack)

    return sign


def _other_root(world: World) -> None:
    Root(world.root.folder / "other").signer("acme").sign(world.pack)


def _other_key(world: World) -> None:
    world.root.signer("other").sign(world.pack, with_key=True)


def _no_hint(world: World) -> None:
    _by_key(world)
    world.edit(lambda one: one["verificationMaterial"]["publicKey"].pop("hint"))


def _cut_statement(world: World) -> None:
    def change(document: dict[str, Any]) -> None:
        payload = document["dsseEnvelope"]["payload"]
        document["dsseEnvelope"]["payload"] = payload[:400]

    world.edit(change)


def _bundle(**options: Any) -> Callable[[World], None]:  # noqa: ANN401
    def sign(world: World) -> None:
        data = statement_of(world.pack)
        world.bundle(world.keyless.sign(data, **options))

    return sign


def _other_sigstore(world: World) -> None:
    other = Keyless(world.root.folder / "other")
    world.bundle(other.sign(statement_of(world.pack)))


def _scan(world: World) -> None:
    data = json.loads(statement_of(world.pack)) | {"predicateType": SCAN}
    world.bundle(world.keyless.sign(json.dumps(data).encode()))


def _no_digests(world: World) -> None:
    data = json.loads(statement({})) | {"subject": [{"name": "SKILL.md"}]}
    world.bundle(world.keyless.sign(json.dumps(data).encode()))


def _outside(world: World) -> None:
    world.bundle(world.keyless.sign(statement({"../SKILL.md": "0" * 64})))


def _signers(**signer: object) -> Callable[[World], dict[str, object]]:
    def settings(world: World) -> dict[str, object]:
        default = {"skills": ["acme-*"], "certificate": str(world.root.file)}
        return {"signers": [{**default, **signer}]}

    return settings


CASES = {
    "no-signature": Case(
        "it has no signature: no skill.oms.sig and no skill.sigstore.json",
        lambda world: (world.pack / "skill.oms.sig").unlink(),
    ),
    "a-bit-of-the-body": Case(
        "signed SKILL.md as sha256:", lambda world: flip(world.pack / "SKILL.md")
    ),
    "a-bit-of-a-file": Case(
        "signed scripts/run.py as sha256:",
        lambda world: flip(world.pack / "scripts/run.py"),
        file="scripts/run.py",
    ),
    "missing-file": Case("forms.md is missing", _missing, file="forms.md"),
    "one-file-too-many": Case("more.md is not among the files", _one_too_many),
    "of-another-pack": Case("signed SKILL.md as sha256:", _other_pack),
    "expired": Case("certificate has expired: CN=other", _signed_for(-90, -1)),
    "not-yet-valid": Case("certificate is not yet valid", _signed_for(1, 90)),
    "another-root": Case("the certificate root.pem did not sign it", _other_root),
    "another-key": Case("Key mismatch", _other_key),
    "no-name-of-a-key": Case("does not say which key", _no_hint),
    "no-bundle": Case(
        "it is no bundle of Sigstore",
        lambda world: (world.pack / "skill.oms.sig").write_text("{}"),
    ),
    "no-json": Case(
        "it is no bundle of Sigstore",
        lambda world: (world.pack / "skill.oms.sig").write_text("[" * 100_000),
    ),
    "cut-statement": Case("the signature does not fit the statement", _cut_statement),
    "another-identity": Case(
        "actual SANs: {'evil@example.com'}", _bundle(identity="evil@example.com")
    ),
    "another-issuer": Case(
        "expected 'https://issuer.example.com'",
        _bundle(issuer="https://evil.example.com"),
    ),
    "signed-when-expired": Case(
        "cert is not valid at validation time", _bundle(late=timedelta(hours=1))
    ),
    "another-sigstore": Case("failed to build", _other_sigstore),
    "a-scan": Case(f"a statement of another kind: '{SCAN}'", _scan),
    "no-digests": Case("does not list files with SHA-256 digests", _no_digests),
    "a-path-outside": Case("its list cannot be used", _outside),
    "no-statement": Case("without a DSSE envelope", _bundle(raw=True)),
    "revoked": Case(
        "CN=acme is revoked in [trust]",
        settings=lambda world: {"revoked": [world.acme.fingerprint.upper()]},
    ),
    "revoked-by-number": Case(
        "CN=acme is revoked in [trust]",
        settings=lambda world: {
            "revoked": [f"{world.acme.certificate.serial_number:X}"]
        },
    ),
    "another-name": Case(
        "actual SANs: {'acme@example.com'}",
        settings=_signers(identity="boss@example.com"),
    ),
    "bound-to-other-ids": Case(
        "the certificate root.pem signed it, who may sign bank-*",
        settings=_signers(skills=["bank-*"]),
    ),
    "signed-another-way": Case(
        "it is signed so: certificate; and no signer of [trust] signs so",
        settings=lambda _: {
            "signers": [
                {"skills": ["*"], "issuer": ISSUER, "identity": IDENTITY},
            ]
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_is_refused_at_each_door_with_its_reason(world: World, name: str) -> None:
    case = CASES[name]
    case.change(world)
    if case.settings:
        world.configure(**case.settings(world))

    with Satchel("skills", sinks=[]) as skills:
        with pytest.raises(SkillExcludedError) as refused:
            skills.load("acme-pdf")
        (finding,) = (f for f in skills.findings if f.code == "unvouched-skill")
        answer = str(skills.session().call("load_skill", {"skill_id": "acme-pdf"}))
        assert "acme-pdf" not in str(skills.prompt())
    assert refused.value.reason == "unverified"
    assert case.reason in finding.message
    assert finding.severity == "error"
    assert "Error: skill 'acme-pdf' is unverified" in answer
    verified = run("verify", "skills")
    assert verified.exit_code == 1
    assert case.reason in verified.stdout
    assert (
        case.reason
        in json.loads(run("verify", "skills", "--json").stdout)["packs"][0]["detail"]
    )
    assert case.reason in run("doctor", "skills").output
    assert "unvouched-skill" in run("list", "skills").stderr


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if not case.settings])
def test_each_is_refused_where_it_comes_after_the_catalog(
    world: World, name: str
) -> None:
    case = CASES[name]
    with Satchel("skills", sinks=[]) as skills:
        assert skills.load("acme-pdf", case.file).vouched
        case.change(world)
        with pytest.raises(REFUSALS):
            skills.load("acme-pdf", case.file)
        skills.sync()
        assert "acme-pdf" not in skills


@pytest.mark.parametrize("name", CASES)
def test_warn_only_observes(world: World, name: str) -> None:
    case = CASES[name]
    case.change(world)
    world.configure(verify="warn", **(case.settings(world) if case.settings else {}))

    with Satchel("skills", sinks=[]) as skills:
        (finding,) = (f for f in skills.findings if f.code == "unvouched-skill")
        text = skills.load("acme-pdf").text
    assert text
    assert (finding.severity, case.reason in finding.message) == ("warning", True)


def test_a_change_is_counted_once(world: World) -> None:
    """Also that of SKILL.md, which the catalog has, too."""
    flip(world.pack / "SKILL.md")

    stated = run("verify", "skills").stdout
    assert "signed SKILL.md as sha256:" in stated
    assert "more" not in stated


def test_a_file_that_nobody_signed_is_not_handed_out(world: World) -> None:
    (world.pack / ".gitignore").write_text("*.pyc\n")
    with Satchel("skills", sinks=[]) as skills:
        for file in ("skill.oms.sig", ".gitignore"):
            with pytest.raises((DigestMismatchError, ReferenceNotAllowedError)):
                skills.load("acme-pdf", file)


def test_a_certificate_that_expires_while_a_program_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Satchel("skills", sinks=[]) as skills:
        assert skills.load("acme-pdf").vouched
        # After the end of the certificate; OpenSSL's own clock stays as it is.
        late = time.time() + 91 * 86_400
        monkeypatch.setattr(time, "time", lambda: late)
        world.root.signer("other", (-90, -1)).sign(world.pack)
        with pytest.raises(DigestMismatchError, match="has expired"):
            skills.load("acme-pdf")


def test_skills_of_code_need_no_signature(world: World) -> None:
    skill = Skill("mine", description="Use when testing.", instructions="# Mine\n")
    with Satchel("skills", skill, sinks=[]) as skills:
        assert skills.load("mine").vouched == "the program's own code"


# --- settings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("signers = [{ skills = ['*'], key = 'x.pub' }]", "signers: only your own"),
        ("signers = []", "signers: only your own settings may say this"),
        ("revoked = []", "revoked: only your own settings may say this"),
        ("root = ''", "root: only your own settings may say this"),
        ("verify = 'locked'", 'verify: your own settings say "signed", no looser'),
        ("verify = 'warn'", 'verify: your own settings say "signed", no looser'),
    ],
)
@pytest.mark.row("U06")
def test_a_project_names_no_signer_and_loosens_nothing(
    world: World, project: Path, line: str, problem: str
) -> None:
    (project / "satchel.toml").write_text(f"skills = ['skills']\n[trust]\n{line}\n")

    assert problem in run("list").stderr


@pytest.mark.parametrize(
    ("users", "projects", "expected"),
    [
        ("locked", "signed", "no approved satchel.lock"),
        ("locked", "both", "no approved satchel.lock"),
        ("signed", "both", "no approved satchel.lock"),
        ("warn", "signed", ""),
    ],
)
def test_a_project_may_ask_for_more(
    world: World, project: Path, users: str, projects: str, expected: str
) -> None:
    world.configure(verify=users)
    text = f"skills = ['skills']\n[trust]\nverify = '{projects}'\n"
    (project / "satchel.toml").write_text(text)

    with Satchel(sinks=[]) as skills:
        assert ("acme-pdf" in skills) == (not expected)
        if expected:
            assert expected in skills.findings[0].message


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"signers": []}, "name who may sign"),
        ({"signers": [{"skills": ["*"]}]}, "a signer has skills, and issuer"),
        ({"signers": [{"key": "x"}]}, "a signer has skills, and issuer"),
        (
            {"signers": [{"skills": ["*"], "issuer": "x"}]},
            "a signer has skills, and issuer",
        ),
        ({"signers": [{"skills": ["*"], "certificate": "none"}]}, "no such file"),
        ({"signers": [{"skills": ["*"], "key": "x", "identity": "y"}]}, "a signer has"),
        ({"signers": [{"skills": ["*"], "isuer": "x"}]}, "did you mean 'issuer'"),
        ({"signers": "acme"}, "signers: expected a table"),
        ({"signers": [{"skills": ["*"], "key": 1}]}, "signers.key: expected a text"),
        ({"root": "none.json"}, "cannot be used"),
        ({"root": 1}, "root: expected a path"),
    ],
)
def test_settings_that_cannot_be_are_errors(
    world: World, table: dict[str, object], problem: str
) -> None:
    world.configure(**table)

    assert problem in run("list", "skills").stderr


def test_without_the_libraries_it_says_what_to_type(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "model_signing.verifying", None)

    with pytest.raises(ExtraMissingError, match=r"signed"):
        Satchel("skills", sinks=[])


def test_without_a_root_it_is_the_one_that_comes_with_the_library(
    world: World,
) -> None:
    world.configure(root="")
    _keyless(world)

    with Satchel("skills", sinks=[]) as skills:
        assert "failed to build" in skills.findings[0].message


@pytest.mark.parametrize("sign", [_as_it_is, _keyless])
def test_nothing_asks_the_network(
    world: World, monkeypatch: pytest.MonkeyPatch, sign: Callable[[World], None]
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *of, **_: asked.append(of))
    monkeypatch.setattr(socket.socket, "connect", lambda *of: asked.append(of))
    sign(world)

    with Satchel("skills", sinks=[]) as skills:
        assert skills.load("acme-pdf").vouched
    world.configure(root="")
    run("verify", "skills")
    assert asked == []


# --- satchel verify ------------------------------------------------------------------


def test_of_343_packs_exactly_the_stale_ones_are_refused(
    world: World, project: Path
) -> None:
    many = project / "many"
    for number in range(343):
        pack = make_pack(many, f"acme-{number:03}")
        world.acme.sign(pack)
    stale = {
        "acme-007": "signed SKILL.md as",
        "acme-049": "signed scripts/run.py as",
        "acme-111": "forms.md is missing",
        "acme-180": "more.md is not among the files",
        "acme-222": "signed SKILL.md as",
        "acme-301": "it has no signature",
        "acme-342": "certificate has expired",
    }
    flip(many / "acme-007/SKILL.md")
    flip(many / "acme-049/scripts/run.py")
    (many / "acme-111/forms.md").unlink()
    (many / "acme-180/more.md").write_text("More.\n")
    shutil.copy(many / "acme-221/skill.oms.sig", many / "acme-222")
    (many / "acme-301/skill.oms.sig").unlink()
    world.root.signer("old", (-90, -1)).sign(many / "acme-342")

    begun = time.process_time()
    answer = json.loads(run("verify", "many", "--json").stdout)
    took = time.process_time() - begun

    failed = {p["id"]: p["detail"] for p in answer["packs"] if p["state"] != "signed"}
    assert (answer["skills"], answer["failed"], failed.keys()) == (
        343,
        7,
        stale.keys(),
    )
    assert all(reason in failed[name] for name, reason in stale.items())
    assert took < 30
    with Satchel("many", sinks=[]) as skills:
        assert len(skills) == 336
        refused = [f.path for f in skills.findings if f.code == "unvouched-skill"]
    assert {path.split("/")[-2] for path in refused} == stale.keys()


def test_an_installed_project_is_as_locked_and_as_signed(
    world: World, project: Path
) -> None:
    (project / "shared").mkdir()
    world.pack.rename(project / "shared/acme-pdf")
    world.pack.parent.rmdir()
    assert run("add", "shared").exit_code == 0
    world.configure(verify="both")

    result = run("verify")
    assert (result.exit_code, "1 skill, all as locked and signed" in result.stderr) == (
        0,
        True,
    )
    with Satchel(sinks=[]) as skills:
        vouched = skills.load("acme-pdf").vouched
    assert vouched.startswith("satchel.lock: shared, sha256-tree-v1:")
    assert "; skill.oms.sig: " in vouched
    (project / "skills/acme-pdf/skill.oms.sig").unlink()
    result = run("verify")
    assert result.exit_code == 1
    assert "skill.oms.sig is missing" in result.stdout
    assert "acme-pdf  unsigned  it has no signature" in result.stdout
    assert json.loads(run("verify", "--json").stdout)["packs"][0]["state"] == "unsigned"


def test_copies_for_a_client_are_as_signed(world: World, project: Path) -> None:
    (project / "shared").mkdir()
    world.pack.rename(project / "shared/acme-pdf")
    world.pack.parent.rmdir()
    make_pack(project / "shared", "acme-none")
    assert run("add", "shared").exit_code == 0
    shutil.copytree(project / "skills", project / ".claude/skills")
    result = run("verify", "--for", "claude-code")
    assert result.exit_code == 1
    assert "acme-none  unsigned" in result.stdout
    assert "acme-pdf   signed" in result.stdout


def test_an_unsigned_release_is_said_to_be_one(world: World, project: Path) -> None:
    make_pack(project / "plain", "acme-none")
    world.configure(verify="warn")
    assert run("build", "release", "plain").exit_code == 0
    assert run("verify", "release").exit_code == 0
    world.configure()
    result = run("verify", "release")
    assert (result.exit_code, "acme-none  unsigned" in result.stdout) == (1, True)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"revoked": ["zz"]}, "'zz' is not in hex digits"),
        ({"revoked": [""]}, "not in hex digits"),
        ({"signers": [{"skills": ["*"], "key": "gone.pub"}]}, "no such file"),
        ({"signers": [{"skills": ["*"], "certificate": "gone"}]}, "no such file"),
    ],
)
def test_settings_that_cannot_be(
    world: World, table: dict[str, object], reason: str
) -> None:
    world.configure(**table)
    result = run("list", "skills")
    assert (result.exit_code, reason in result.stderr) == (2, True)


def test_a_release_is_compared_with_its_document(world: World, project: Path) -> None:
    world.configure(verify="warn")
    assert run("build", "release", "skills").exit_code == 0
    result = run("verify", "release")
    assert (result.exit_code, "as released" in result.stdout) == (0, True)

    (file,) = (project / "release").rglob("scripts/run.py")
    flip(file)
    result = run("verify", "release")
    assert (result.exit_code, "run.py" in result.stdout) == (1, True)


def test_a_folder_without_anything_to_verify(world: World, project: Path) -> None:
    (project / "empty").mkdir()
    assert run("verify", "empty").exit_code == 1
    world.configure(signers=[])
    result = run("verify", "skills")
    assert "name who may sign them" in result.stderr


def test_a_pack_that_cannot_be_read_is_not_verified(
    world: World, project: Path
) -> None:
    (project / "skills/broken").mkdir()
    (project / "skills/broken/SKILL.md").write_bytes(b"---\nname: [\n---\n")

    result = run("verify", "skills")
    assert (result.exit_code, "broken" in result.stdout) == (1, True)


# --- artifacts -----------------------------------------------------------------------

MANIFEST = b'{"schemaVersion": 2}'
DIGEST = digest_bytes(MANIFEST)


def artifact_signer(bundle: bytes, skill_id: str = "acme-pdf") -> str:
    """Return who signed the manifest, as the user's settings have it."""
    reader = SignatureReader(own_config(os.environ))
    first = reader.artifact_signer(bundle, DIGEST, skill_id)
    assert reader.artifact_signer(bundle, DIGEST, skill_id) == first
    return first


def test_an_artifact_is_signed_by_a_statement_or_as_it_is(world: World) -> None:
    as_statement = world.keyless.sign(statement({"": DIGEST[7:]}))
    for bundle in (as_statement, world.keyless.sign(MANIFEST, raw=True)):
        assert artifact_signer(bundle) == IDENTITY
        assert artifact_signer(bundle, "acme-xls") == IDENTITY


@pytest.mark.parametrize(
    ("subjects", "skill", "reason"),
    [
        ({"": "0" * 64}, "acme-pdf", "and this is sha256:"),
        ({"a": "0" * 64, "b": DIGEST[7:]}, "acme-pdf", "its list cannot be used"),
        ({"": DIGEST[7:]}, "bank-pay", "who may sign acme-*"),
    ],
)
def test_an_artifact_is_refused(
    world: World, subjects: dict[str, str], skill: str, reason: str
) -> None:
    bundle = world.keyless.sign(statement(subjects))

    with pytest.raises(BadSignatureError) as refused:
        artifact_signer(bundle, skill)
    assert reason in str(refused.value)


def test_the_list_of_a_pack_signs_no_artifact(world: World) -> None:
    """A file of a pack may have the bytes of an artifact's manifest."""
    (world.pack / "x.json").write_bytes(MANIFEST)
    world.acme.sign(world.pack)
    bundle = (world.pack / "skill.oms.sig").read_bytes()

    with pytest.raises(BadSignatureError, match="a statement of another kind"):
        artifact_signer(bundle)


def test_what_was_verified_is_kept_for_its_skill_alone(world: World) -> None:
    signer = {"skills": ("acme-pdf",), "certificate": str(world.root.file)}
    reader = SignatureReader(Config(signers=(signer,)))
    bundle = (world.pack / "skill.oms.sig").read_bytes()

    assert reader.signed_files(bundle, "acme-pdf") is reader.signed_files(
        bundle, "acme-pdf"
    )
    with pytest.raises(BadSignatureError, match="who may sign acme-pdf"):
        reader.signed_files(bundle, "bank-pay")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("description", "Do as I say."),
        ("name", "other-name"),
        ("allowed_tools", ["Bash"]),
        ("requires", ["other"]),
        ("status", "deprecated"),
    ],
)
def test_what_a_release_says_of_a_signed_pack_is_what_the_pack_says(
    key: str, value: object, world: World, project: Path
) -> None:
    """A prompt has no words of release.json, which no signer of the pack has seen."""
    assert run("build", "release", "skills").exit_code == 0
    with Satchel("release", sinks=[]) as skills:
        assert skills.load("acme-pdf").vouched
        (before,) = skills.catalog.entries
    document = json.loads((project / "release/release.json").read_bytes())
    document["skills"][0][key] = value
    (project / "release/release.json").write_text(json.dumps(document))

    with Satchel("release", sinks=[]) as skills:
        assert skills.catalog.entries == (before,)
        assert skills.load("acme-pdf").vouched
