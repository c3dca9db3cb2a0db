"""Certificates for mutual TLS: one authority, one certificate per party with its role inside.

The role and the party's name are the certificate's host name, so that both ends of a
connection check them in the TLS handshake itself. The authority's key is never written:
whoever wants another party makes all certificates anew.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whatleaks.errors import CryptoError, UsageError, argument

CA_FILE, CERTIFICATE_FILE, KEY_FILE = "ca.pem", "certificate.pem", "key.pem"
_SUFFIX = ".whatleaks"


def host_name(party: str, role: str) -> str:
    """Return the host name that stands for a party in a role: ``passive-2.passive.whatleaks``."""
    return f"{party}.{role}{_SUFFIX}"


def read_host_name(name: str) -> tuple[str, str] | None:
    """Return party and role of such a host name, or None for any other."""
    party, dot, role = name.removesuffix(_SUFFIX).partition(".")
    return (party, role) if name.endswith(_SUFFIX) and dot else None


@dataclass(frozen=True)
class Credentials:
    """A party's own key and certificate, and the authority it trusts; the key has no repr."""

    folder: Path
    authority: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)


def load_credentials(folder: Path) -> Credentials:
    """Read the three files of one party."""
    parts = []
    for name in (CA_FILE, CERTIFICATE_FILE, KEY_FILE):
        try:
            parts.append((folder / name).read_bytes())
        except OSError as error:
            raise UsageError(
                f"cannot read {folder / name}: {error.strerror}. Make it with `whatleaks keys`"
            ) from None
    return Credentials(folder, *parts)


def make_certificates(folder: Path, parties: Mapping[str, str], days: int = 30) -> list[Path]:
    """Write one sub-folder per party (name -> role) and return the sub-folders."""
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ModuleNotFoundError as error:
        raise CryptoError(
            f"certificates need {error.name}: pip install 'whatleaks[processes]'"
        ) from None
    if days < 1:
        raise UsageError(
            f"{argument('days')} is {days}: certificates must be valid for at least 1 day"
        )
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=5)
    end = start + datetime.timedelta(days=days)
    pem = serialization.Encoding.PEM

    def signed(subject: str, key: Any, issuer: str, issuer_key: Any, *extensions: Any) -> Any:
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(issuer_key, hashes.SHA256())

    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = "whatleaks authority"
    ca = signed(
        authority,
        authority_key,
        authority,
        authority_key,
        (x509.BasicConstraints(ca=True, path_length=0), True),
    )
    both_ends = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    made = []
    for party, role in parties.items():
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host_name(party, role))])
        certificate = signed(
            party,
            key,
            authority,
            authority_key,
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (names, False),
            (x509.ExtendedKeyUsage(both_ends), False),
        )
        own = folder / party
        _write(own / CA_FILE, ca.public_bytes(pem))
        _write(own / CERTIFICATE_FILE, certificate.public_bytes(pem))
        _write(
            own / KEY_FILE,
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        )
        made.append(own)
    return made


def _write(path: Path, data: bytes) -> None:
    """Write a file that only its owner reads; an existing one is refused."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} exists: choose another folder, keys are never replaced") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
