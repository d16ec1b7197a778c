"""Who signed which bytes: bundles are read by the libraries that define them.

A bundle has a statement, its signature, and what shows who signed: a certificate of
some minutes with an entry of a public log (keyless), a chain of certificates, or the
mark of a key. `sigstore` verifies the first kind, `model-signing` the others. Nothing
here asks the network.
Source: docs/decisions/0036-signatures.md.
"""

import json
import logging
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from math import inf
from pathlib import Path
from string import hexdigits
from typing import Any, Final, NamedTuple, cast

from satchel.config import Config
from satchel.errors import ConfigError, ExtraMissingError
from satchel.files import LruCache, digest_bytes, path_problem

# Where a pack has its signature: the name of OpenSSF model signing, and of Sigstore.
SIGNATURE_FILES: Final = ("skill.oms.sig", "skill.sigstore.json")
# A statement has some 150 bytes a file, and is in the bundle as base64.
MAX_BUNDLE_BYTES: Final = 4 << 20
_CACHED: Final = 10_000
_SHOWN: Final = 300
# Which of issuer, identity, certificate and key a signer has.
_FORMS: Final = {(1, 1, 0, 0), (0, 0, 1, 0), (0, 1, 1, 0), (0, 0, 0, 1)}
PREDICATE_TYPE: Final = "https://sigstore.dev/cosign/sign/v1"
_MODEL_SIGNING: Final = "https://model_signing/signature/v1.0"
# Statements that say "I made these bytes". Others, such as the result of a scan, may be
# signed by the same identity and say that the bytes are bad.
_MADE: Final = (PREDICATE_TYPE, _MODEL_SIGNING, "https://slsa.dev/provenance/v1")
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_NEWEST_BUNDLE: Final = "application/vnd.dev.sigstore.bundle.v0.3+json"
# What reading JSON raises that anybody may have written.
_MALFORMED: Final = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_HEX: Final = re.compile(r"[0-9a-f]{64}")


class BadSignatureError(ValueError):
    """A bundle does not show that a trusted signer made these bytes; says why."""


@dataclass(frozen=True, slots=True)
class Signer:
    """Who may sign the skills whose ids match ``skills``.

    Keyless has an ``issuer`` and an ``identity``; else it is a file of root
    certificates, of which ``identity`` may choose a name, or a public ``key``.
    """

    skills: tuple[str, ...]
    issuer: str = ""
    identity: str = ""
    certificate: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        """Check that it is of one kind, else raise `ConfigError`."""
        texts = self.issuer, self.identity, self.certificate, self.key
        if not self.skills or tuple(map(bool, texts)) not in _FORMS:
            detail = "a signer has skills, and issuer and identity, certificate or key"
            raise ConfigError("[trust] signers", detail)
        file = self.certificate or self.key
        if file and not Path(file).is_file():
            raise ConfigError("[trust] signers", f"{file}: no such file")

    @property
    def kind(self) -> str:
        """How it signs: ``keyless``, with a ``certificate`` or with a ``key``."""
        return "certificate" if self.certificate else "key" if self.key else "keyless"

    def __str__(self) -> str:
        place = Path(self.certificate or self.key).name
        return self.identity or f"the {self.kind} {place}"

    def may_sign(self, skill_ids: Collection[str]) -> bool:
        """Tell whether all of these are its own; of none it is not."""
        own = (any(fnmatchcase(one, p) for p in self.skills) for one in skill_ids)
        return bool(skill_ids) and all(own)


class SignedFiles(NamedTuple):
    """Digests by path, as signed, and who signed; it counts ``until`` then."""

    files: Mapping[str, str]
    signer: str
    until: float = inf


class SignatureReader:
    """Reads bundles, and keeps what it has verified. Safe across threads."""

    def __init__(self, config: Config) -> None:
        """Take who may sign what from the user's own settings.

        Raises:
            ConfigError: They name nobody, or a signer or a file that cannot be.
            ExtraMissingError: The libraries that verify are not installed.
        """
        self._signers = tuple(Signer(**row) for row in config.signers)
        if not self._signers:
            detail = "name who may sign, in `signers` of [trust] in your own file"
            raise ConfigError("[trust] verify", detail)
        self._revoked = {one.replace(":", "").lower() for one in config.revoked}
        for one in self._revoked:
            if not one or set(one) - set(hexdigits):
                raise ConfigError("[trust] revoked", f"{one!r} is not in hex digits")
        self._cache: LruCache[tuple[str, str], SignedFiles] = LruCache(_CACHED)
        try:
            self._keyless_verifier = _keyless_verifier(config.root, self._signers)
        except ImportError as error:
            raise ExtraMissingError("verifying signatures", "signed") from error

    def signed_files(
        self, bundle: bytes, skill_id: str, digest: str = ""
    ) -> SignedFiles:
        """Return which files a bundle signs, by a signer of this skill.

        With the ``digest`` of an artifact it is the one file ``it``.

        Raises:
            BadSignatureError: No signer of this skill made it; says who expected what.
        """
        at = digest_bytes(bundle), f"{digest} {skill_id}"
        cached = self._cache.find(at)
        if cached is None or cached.until <= time.time():
            payload, signer, until = self.read(bundle, (skill_id,), digest)
            of = "it" * bool(digest)
            signed = {of: digest} if of and not payload else _subjects(payload, of)
            cached = SignedFiles(signed, signer, until)
            self._cache.put(at, cached)
        return cached

    def artifact_signer(self, bundle: bytes, digest: str, skill_id: str) -> str:
        """Return who signed an artifact of this digest, and may sign this skill.

        The bundle has a statement about the digest, or signs it as it is.

        Raises:
            BadSignatureError: No such signer did; says who expected what.
        """
        cached = self.signed_files(bundle, skill_id, digest)
        if cached.files["it"] != digest:
            detail = f"{cached.signer} signed {cached.files['it']}, and this is "
            raise BadSignatureError(f"{detail}{digest}")
        return cached.signer

    def read(
        self, bundle: bytes, skills: Collection[str], digest: str = ""
    ) -> tuple[bytes, str, float]:
        """Return the statement of a bundle, who signed it, and until when it counts.

        The statement is empty where the bundle signs the ``digest`` of an artifact.

        Raises:
            BadSignatureError: No signer of these skills made it.
        """
        try:
            document: Any = json.loads(bundle)
            material = document["verificationMaterial"].keys()
            is_newest = document["mediaType"] == _NEWEST_BUNDLE
        except _MALFORMED:
            raise BadSignatureError("it is no bundle of Sigstore") from None
        kind = "key" if "publicKey" in material else "keyless"
        # In older bundles, what is keyless has a chain, too.
        if is_newest and "x509CertificateChain" in material:
            kind = "certificate"
        reasons: list[str] = []
        signers = [signer for signer in self._signers if signer.kind == kind]
        # Of those who may not sign these skills, the name is all that is of use.
        for signer in sorted(signers, key=lambda one: not one.may_sign(skills)):
            try:
                payload, until = self._verified(signer, bundle, document, digest)
            except BadSignatureError as error:
                reasons.append(f"{signer} did not sign it: {error}")
                continue
            if signer.may_sign(skills):
                return payload, str(signer), until
            may = ", ".join(signer.skills)
            reasons.append(f"{signer} signed it, who may sign {may}")
        nobody = f"it is signed so: {kind}; and no signer of [trust] signs so"
        raise BadSignatureError("; ".join(reasons) or nobody)

    def _verified(
        self, signer: Signer, bundle: bytes, document: dict[str, Any], digest: str
    ) -> tuple[bytes, float]:
        """Return the statement that this signer signed, and until when it counts."""
        try:
            if signer.kind == "keyless":
                return self._keyless(signer, bundle, digest), inf
            return self._certified(signer, document)
        except BadSignatureError:
            raise
        # The libraries raise what they like for bytes that anybody may have written.
        except Exception as error:
            reason = " ".join(str(error).split())[:_SHOWN]
            reason = reason or "the signature does not fit the statement"
            raise BadSignatureError(reason) from error

    def _keyless(self, signer: Signer, bundle: bytes, digest: str) -> bytes:
        """Return the statement; empty where the bundle signs a digest itself."""
        from sigstore.hashes import Hashed
        from sigstore.models import Bundle
        from sigstore.verify.policy import Identity
        from sigstore_models.common.v1 import HashAlgorithm

        read = Bundle.from_json(bundle)
        self._check_revoked(read.signing_certificate)
        policy = Identity(identity=signer.identity, issuer=signer.issuer)
        # Only an artifact has a digest that can be signed without a statement.
        if digest and "messageSignature" in json.loads(bundle):
            raw = bytes.fromhex(digest.removeprefix("sha256:"))
            hashed = Hashed(algorithm=HashAlgorithm.SHA2_256, digest=raw)
            self._keyless_verifier.verify_artifact(hashed, read, policy)
            return b""
        kind, payload = self._keyless_verifier.verify_dsse(read, policy)
        if kind != _PAYLOAD_TYPE:
            raise BadSignatureError(f"it signs {kind!r}, and no statement")
        return bytes(payload)

    def _certified(
        self, signer: Signer, document: dict[str, Any]
    ) -> tuple[bytes, float]:
        from model_signing._signing import (
            sign_certificate,
            sign_ec_key,
            sign_sigstore_pb,
        )
        from sigstore_models.bundle.v1 import Bundle

        material = document["verificationMaterial"]
        material.setdefault("tlogEntries", [])
        # Without a hint the library prints a warning, into the protocol of a server.
        if signer.key and not material["publicKey"].get("hint"):
            raise BadSignatureError("it does not say which key it was signed with")
        bundle: Any = cast("Any", Bundle).from_dict(document)
        signature, until = sign_sigstore_pb.Signature(bundle), inf
        if signer.certificate:
            chain = bundle.verification_material.x509_certificate_chain
            until = self._check_chain(signer, [c.raw_bytes for c in chain.certificates])
            sign_certificate.Verifier([Path(signer.certificate)]).verify(signature)
        else:
            sign_ec_key.Verifier(Path(signer.key)).verify(signature)
        return bundle.dsse_envelope.payload, until

    def _check_chain(self, signer: Signer, certificates: list[bytes]) -> float:
        """Check certificates as of now; return until when they are valid.

        `model-signing` looks at them as of when the first one was made, for nobody
        proves when a pack was signed.
        """
        from cryptography import x509
        from OpenSSL import crypto
        from sigstore.verify.policy import Identity

        store, of = crypto.X509Store(), crypto.X509.from_cryptography
        roots = Path(signer.certificate).read_bytes()
        for root in x509.load_pem_x509_certificates(roots):
            store.add_cert(of(root))
        leaf, *others = map(of, map(x509.load_der_x509_certificate, certificates))
        try:
            context = crypto.X509StoreContext(store, leaf, others)
            chain = [one.to_cryptography() for one in context.get_verified_chain()]
        except crypto.X509StoreContextError as error:
            bad = error.certificate.to_cryptography()
            start, end = bad.not_valid_before_utc.date(), bad.not_valid_after_utc.date()
            detail = f"{error}: {bad.subject.rfc4514_string()}, valid {start} to {end}"
            raise BadSignatureError(detail) from error
        for certificate in chain:
            self._check_revoked(certificate)
        if signer.identity not in {"", chain[0].subject.rfc4514_string()}:
            Identity(identity=signer.identity).verify(chain[0])
        return min(one.not_valid_after_utc.timestamp() for one in chain)

    def _check_revoked(self, certificate: Any) -> None:  # noqa: ANN401
        from cryptography.hazmat.primitives.hashes import SHA256

        fingerprint = certificate.fingerprint(SHA256()).hex()
        if self._revoked & {fingerprint, f"{certificate.serial_number:x}"}:
            name = certificate.subject.rfc4514_string() or "the certificate"
            raise BadSignatureError(f"{name} is revoked in [trust]: {fingerprint}")


def _keyless_verifier(root: str, signers: tuple[Signer, ...]) -> Any:  # noqa: ANN401
    """Return what verifies keyless bundles; None where nobody signs so."""
    # So that a library that is missing is known before a skill is read.
    if any(signer.kind != "keyless" for signer in signers):
        import_module("model_signing.verifying")
    if all(signer.kind != "keyless" for signer in signers):
        return None
    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier

    # It warns that it is offline, which is what was asked for.
    logging.getLogger("sigstore").addHandler(logging.NullHandler())
    try:
        if root:
            return Verifier(trusted_root=TrustedRoot.from_file(root))
        return Verifier.production(offline=True)
    # A file that is damaged raises what its parser does.
    except Exception as error:
        detail = f"{root or 'the root of sigstore'} cannot be used: {error}"
        raise ConfigError("[trust] root", detail) from error


def _subjects(payload: bytes, of: str = "") -> dict[str, str]:
    """Return the digests that a signed statement lists, by path.

    A statement ``of`` an artifact has one, whatever its name is.

    Raises:
        BadSignatureError: It says something else.
    """
    try:
        statement: Any = json.loads(payload)
        kinds = statement["_type"], statement["predicateType"]
        is_list = kinds[1] == _MODEL_SIGNING
        rows = statement["predicate"]["resources"] if is_list else statement["subject"]
        pairs = [
            (of or one["name"], one["digest"] if is_list else one["digest"]["sha256"])
            for one in rows
            if not is_list or one["algorithm"] == "sha256"
        ]
        bad = [name for name, digest in pairs if not _HEX.fullmatch(digest)]
        digests = {name: f"sha256:{digest}" for name, digest in pairs}
        problem = next((text for name in digests if (text := path_problem(name))), "")
    except _MALFORMED as error:
        detail = "its statement does not list files with SHA-256 digests"
        raise BadSignatureError(detail) from error
    # A file of a pack may have the bytes of an artifact's manifest.
    if kinds[0] != STATEMENT_TYPE or kinds[1] not in _MADE or (of and is_list):
        raise BadSignatureError(f"it is a statement of another kind: {kinds[1]!r}")
    if problem or bad or not rows or not len(digests) == len(pairs) == len(rows):
        detail = problem or "a digest is not SHA-256, or a path is there twice"
        raise BadSignatureError(f"its list cannot be used: {detail}")
    return digests
