"""Signers of the tests' own: a root of certificates, and all of a small Sigstore.

Each key is made in memory and used once. What is signed is signed for real, so that
the libraries verify all of it; nothing of a public service is asked.
Source of the forms: RFC 6962 for the proof of a certificate's log, and the formats of
Sigstore's bundle, trusted root and log entries.
"""

import hashlib
import json
import struct
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import model_signing
import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from satchel_install._signatures import PREDICATE_TYPE, STATEMENT_TYPE

PEM = serialization.Encoding.PEM
PACK = "---\nname: {0}\ndescription: Use {0} when testing.\n---\n# {0}\n"
ISSUER = "https://issuer.example.com"
IDENTITY = "release@acme.example.com"


def make_pack(folder: Path, name: str) -> Path:
    """Write a pack of three files, and return its folder."""
    pack = folder / name
    (pack / "scripts").mkdir(parents=True)
    (pack / "SKILL.md").write_text(PACK.format(name))
    (pack / "scripts/run.py").write_text(f"print({name!r})\n")
    (pack / "forms.md").write_text(f"# Forms of {name}\n")
    return pack


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=ca,
        crl_sign=ca,
        encipher_only=False,
        decipher_only=False,
    )


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    times: tuple[datetime, datetime],
    *,
    ca: bool,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(times[0])
        .not_valid_after(times[1])
        .add_extension(x509.BasicConstraints(ca, 0 if ca else None), critical=True)
        .add_extension(_usage(ca=ca), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _days(first: float, last: float) -> tuple[datetime, datetime]:
    now = datetime.now(UTC)
    return now + timedelta(days=first), now + timedelta(days=last)


@dataclass
class Root:
    """A root, below which are certificates that sign packs."""

    folder: Path
    name: str = "Acme Root"
    key: ec.EllipticCurvePrivateKey = field(default_factory=_key)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name, key = _name(self.name), self.key.public_key()
        root = _certificate(name, key, name, _days(-900, 900), ca=True)
        self.file = self.folder / "root.pem"
        self.file.write_bytes(root.sign(self.key, hashes.SHA256()).public_bytes(PEM))

    def signer(self, name: str, days: tuple[float, float] = (-1, 90)) -> "Certified":
        """Return somebody with a certificate of this root for so many days."""
        key = _key()
        made = _certificate(
            _name(name), key.public_key(), _name(self.name), _days(*days), ca=False
        )
        address = x509.SubjectAlternativeName([x509.RFC822Name(f"{name}@example.com")])
        made = made.add_extension(address, critical=False)
        return Certified(self, name, key, made.sign(self.key, hashes.SHA256()))


@dataclass
class Certified:
    """Somebody who signs with a certificate, or with its key alone."""

    root: Root
    name: str
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def __post_init__(self) -> None:
        start = self.root.folder / self.name
        self.key_file, self.public = (
            start.with_suffix(".key"),
            start.with_suffix(".pub"),
        )
        self.file = start.with_suffix(".pem")
        plain = serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        self.key_file.write_bytes(self.key.private_bytes(PEM, form, plain))
        public = serialization.PublicFormat.SubjectPublicKeyInfo
        self.public.write_bytes(self.key.public_key().public_bytes(PEM, public))
        self.file.write_bytes(self.certificate.public_bytes(PEM))

    @property
    def fingerprint(self) -> str:
        return self.certificate.fingerprint(hashes.SHA256()).hex()

    def sign(self, pack: Path, *, with_key: bool = False) -> None:
        """Sign a pack as `model_signing sign` does."""
        # Its types are not complete.
        library: Any = model_signing
        config = library.signing.Config()
        if with_key:
            config.use_elliptic_key_signer(private_key=self.key_file)
        else:
            config.use_certificate_signer(
                private_key=self.key_file,
                signing_certificate=self.file,
                certificate_chain=[self.root.file],
            )
        ignored = [pack / "skill.oms.sig"]
        hashing = library.hashing.Config().set_ignored_paths(paths=ignored)
        config.set_hashing_config(hashing).sign(pack, pack / "skill.oms.sig")


# --- keyless ------------------------------------------------------------------------


def _b64(data: bytes) -> str:
    return b64encode(data).decode()


def _der(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.DER, form)


def _sign(key: ec.EllipticCurvePrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def statement_of(pack: Path) -> bytes:
    """Return a statement about all files of a pack."""
    files = sorted(path for path in pack.rglob("*") if path.is_file())
    return statement(
        {
            path.relative_to(pack).as_posix(): hashlib.sha256(
                path.read_bytes()
            ).hexdigest()
            for path in files
            if path.name not in {"skill.oms.sig", "skill.sigstore.json"}
        }
    )


def statement(subjects: Mapping[str, str], kind: str = PREDICATE_TYPE) -> bytes:
    """Return a statement about names and digests in hex."""
    rows = [{"name": name, "digest": {"sha256": of}} for name, of in subjects.items()]
    fields: dict[str, Any] = {
        "_type": STATEMENT_TYPE,
        "predicateType": kind,
        "predicate": {},
    }
    return json.dumps(fields | {"subject": rows}).encode()


class Keyless:
    """A Sigstore of the tests' own: its authority, its two logs, and its root."""

    def __init__(self, folder: Path, when: datetime | None = None) -> None:
        self.when = when or datetime(2026, 1, 15, 12, tzinfo=UTC)
        self._ca, self._proofs, self._log = _key(), _key(), _key()
        name, wide = _name("Keyless CA"), timedelta(days=30)
        times = self.when - wide, self.when + wide
        ca = _certificate(name, self._ca.public_key(), name, times, ca=True)
        self._authority = ca.sign(self._ca, hashes.SHA256())
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "trusted_root.json"
        self.file.write_text(json.dumps(self._root()))

    def _root(self) -> dict[str, Any]:
        der = self._authority.public_bytes(serialization.Encoding.DER)
        authority = {
            "subject": {"commonName": "Keyless CA", "organization": "Tests"},
            "uri": "https://ca.example.com",
            "certChain": {"certificates": [{"rawBytes": _b64(der)}]},
            "validFor": {"start": "2020-01-01T00:00:00Z"},
        }
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [self._log_of(self._log, "https://log.example.com")],
            "ctlogs": [self._log_of(self._proofs, "https://ct.example.com")],
            "certificateAuthorities": [authority],
        }

    @staticmethod
    def _log_of(key: ec.EllipticCurvePrivateKey, url: str) -> dict[str, Any]:
        public = {
            "rawBytes": _b64(_der(key)),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": {"start": "2020-01-01T00:00:00Z"},
        }
        log_id = {"keyId": _b64(hashlib.sha256(_der(key)).digest())}
        return {
            "baseUrl": url,
            "hashAlgorithm": "SHA2_256",
            "logId": log_id,
            "publicKey": public,
        }

    def _leaf(
        self, key: ec.EllipticCurvePrivateKey, identity: str, issuer: str
    ) -> x509.Certificate:
        """Return a certificate of ten minutes, with the proof that it was logged."""
        times = self.when - timedelta(minutes=5), self.when + timedelta(minutes=5)
        name = self._authority.subject
        made = _certificate(x509.Name([]), key.public_key(), name, times, ca=False)
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
        address = x509.SubjectAlternativeName([x509.RFC822Name(identity)])
        of_ca = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            self._ca.public_key()
        )
        oid = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
        made = (
            made.add_extension(usage, critical=False)
            .add_extension(address, critical=True)
            .add_extension(of_ca, critical=False)
            .add_extension(
                x509.UnrecognizedExtension(oid, issuer.encode()), critical=False
            )
        )
        unproven = made.sign(self._ca, hashes.SHA256()).tbs_certificate_bytes
        at = int(self.when.timestamp() * 1000)
        signed = (
            struct.pack("!BBQH", 0, 0, at, 1) + hashlib.sha256(_der(self._ca)).digest()
        )
        signed += len(unproven).to_bytes(3, "big") + unproven + b"\0\0"
        signature = _sign(self._proofs, signed)
        log_id = hashlib.sha256(_der(self._proofs)).digest()
        proof = b"\0" + log_id + struct.pack("!QHBBH", at, 0, 4, 3, len(signature))
        proof += signature
        proofs = struct.pack("!HH", len(proof) + 2, len(proof)) + proof
        # An OCTET STRING of DER, whose length is one byte below 128.
        head = b"\x04" + (b"" if len(proofs) < 128 else b"\x81") + bytes([len(proofs)])
        oid = ExtensionOID.PRECERT_SIGNED_CERTIFICATE_TIMESTAMPS
        extension = x509.UnrecognizedExtension(oid, head + proofs)
        return made.add_extension(extension, critical=False).sign(
            self._ca, hashes.SHA256()
        )

    def sign(
        self,
        data: bytes,
        identity: str = IDENTITY,
        *,
        issuer: str = ISSUER,
        late: timedelta = timedelta(0),
        raw: bool = False,
    ) -> bytes:
        """Return the bundle of a statement, or of ``raw`` bytes.

        ``late`` after the certificate was made, the log had its entry.
        """
        key = _key()
        leaf = self._leaf(key, identity, issuer)
        if raw:
            content, body = self._message(key, leaf, data)
        else:
            content, body = self._envelope(key, leaf, data)
        der = leaf.public_bytes(serialization.Encoding.DER)
        entry = self._entry(body, self.when + late)
        material = {"certificate": {"rawBytes": _b64(der)}, "tlogEntries": [entry]}
        media = "application/vnd.dev.sigstore.bundle.v0.3+json"
        bundle = {"mediaType": media, "verificationMaterial": material, **content}
        return json.dumps(bundle).encode()

    @staticmethod
    def _message(
        key: ec.EllipticCurvePrivateKey, leaf: x509.Certificate, data: bytes
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        signature, digest = _sign(key, data), hashlib.sha256(data)
        of = {"algorithm": "SHA2_256", "digest": _b64(digest.digest())}
        content = {"signature": _b64(signature), "messageDigest": of}
        spec = {
            "data": {"hash": {"algorithm": "sha256", "value": digest.hexdigest()}},
            "signature": {
                "content": _b64(signature),
                "publicKey": {"content": _b64(leaf.public_bytes(PEM))},
            },
        }
        body = {"kind": "hashedrekord", "apiVersion": "0.0.1", "spec": spec}
        return {"messageSignature": content}, body

    @staticmethod
    def _envelope(
        key: ec.EllipticCurvePrivateKey, leaf: x509.Certificate, data: bytes
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        kind = "application/vnd.in-toto+json"
        signed = f"DSSEv1 {len(kind)} {kind} {len(data)} ".encode() + data
        signature = _b64(_sign(key, signed))
        envelope = {
            "payload": _b64(data),
            "payloadType": kind,
            "signatures": [{"sig": signature}],
        }

        def digest(text: bytes) -> dict[str, str]:
            return {"algorithm": "sha256", "value": hashlib.sha256(text).hexdigest()}

        verifier = _b64(leaf.public_bytes(PEM))
        spec = {
            "payloadHash": digest(data),
            "envelopeHash": digest(json.dumps(envelope).encode()),
            "signatures": [{"signature": signature, "verifier": verifier}],
        }
        body = {"kind": "dsse", "apiVersion": "0.0.1", "spec": spec}
        return {"dsseEnvelope": envelope}, body

    def _entry(self, body: dict[str, Any], when: datetime) -> dict[str, Any]:
        """Return the entry of a log that has nothing else."""
        data, at = rfc8785.dumps(body), int(when.timestamp())
        log_id = hashlib.sha256(_der(self._log)).digest()
        leaf = hashlib.sha256(b"\0" + data).digest()
        note = f"log.example.com\n1\n{_b64(leaf)}\n"
        line = _b64(log_id[:4] + _sign(self._log, note.encode()))
        promise: dict[str, Any] = {
            "body": _b64(data),
            "integratedTime": at,
            "logID": log_id.hex(),
            "logIndex": 0,
        }
        return {
            "logIndex": "0",
            "logId": {"keyId": _b64(log_id)},
            "kindVersion": {"kind": body["kind"], "version": "0.0.1"},
            "integratedTime": str(at),
            "canonicalizedBody": _b64(data),
            "inclusionPromise": {
                "signedEntryTimestamp": _b64(_sign(self._log, rfc8785.dumps(promise)))
            },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": _b64(leaf),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": f"{note}\n— log.example.com {line}\n"},
            },
        }
