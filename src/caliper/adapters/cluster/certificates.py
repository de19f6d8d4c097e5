"""Certificates of an installation: one authority, and one certificate per component."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from caliper.core.errors import InvalidInput

# Certificates are backdated, because the clocks of machines differ.
_BACKDATE = timedelta(minutes=10)
_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


@dataclass(frozen=True, slots=True)
class SignedCertificate:
    """A certificate chain that ends with the authority's, and an unencrypted key, both PEM."""

    chain: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Authority:
    """The certificate authority of an installation. It signs components, not authorities."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def make(cls, name: str, now: datetime, lifetime: timedelta) -> Authority:
        """Create an authority that is valid until `now + lifetime`."""
        key = ec.generate_private_key(ec.SECP256R1())
        return cls._signed(_common_name(name), key, now, now + lifetime)

    def renewed(self, now: datetime, lifetime: timedelta) -> Authority:
        """The authority until `now + lifetime`. Its name and key stay, so each of its certificates
        vouches for whatever it signed before or will sign.
        """
        return self._signed(self.certificate.subject, self.key, now, now + lifetime)

    @classmethod
    def _signed(
        cls, name: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, until: datetime
    ) -> Authority:
        builder = _builder(name, name, key, now, until)
        for extension, critical in (
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (_usage("key_cert_sign", "crl_sign"), True),
        ):
            builder = builder.add_extension(extension, critical)
        return cls(builder.sign(key, hashes.SHA256()), key)

    @classmethod
    def read(cls, certificate: bytes, key: bytes) -> Authority:
        """Load an authority from PEM. Raises InvalidInput, whose message repeats no PEM text."""
        try:
            private_key = serialization.load_pem_private_key(key, password=None)
            authority = x509.load_pem_x509_certificate(certificate)
        except (ValueError, TypeError):
            raise InvalidInput("certificate or key of the authority cannot be read") from None
        if not isinstance(private_key, ec.EllipticCurvePrivateKey):
            raise InvalidInput("the authority's key is not an elliptic-curve key")
        if private_key.public_key() != authority.public_key():
            raise InvalidInput("the authority's key does not match its certificate")
        return cls(authority, private_key)

    @property
    def text(self) -> bytes:
        """The certificate as PEM."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def secret(self) -> bytes:
        """The key as PEM, without a password."""
        return _pem(self.key)

    def vouched(self, bundle: bytes) -> bool:
        """Whether a bundle has a certificate of the authority's key, even from before a renewal."""
        key = self.certificate.public_key()
        try:
            return any(each.public_key() == key for each in _load(bundle))
        except ValueError:
            return False

    def bundled(self, bundle: bytes) -> bytes:
        """A bundle of certificates with this one instead of those from before a renewal."""
        key = self.certificate.public_key()
        rest = (each for each in _load(bundle) if each.public_key() != key)
        return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in rest) + self.text

    def certify(
        self, names: Sequence[str], now: datetime, lifetime: timedelta
    ) -> SignedCertificate:
        """A certificate for these host names and addresses; the first is its subject.

        Valid until `now + lifetime`, but never longer than the authority.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        until = min(now + lifetime, self.certificate.not_valid_after_utc)
        subject = _common_name(names[0])
        builder = _builder(subject, self.certificate.subject, key, now, until)
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        for extension, critical in (
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (_usage("digital_signature"), True),
            # Brokers use theirs as servers and as clients of each other.
            (x509.ExtendedKeyUsage(both), False),
            (x509.SubjectAlternativeName([_general(name) for name in names]), False),
            (signer, False),
        ):
            builder = builder.add_extension(extension, critical)
        signed = builder.sign(self.key, hashes.SHA256())
        own = signed.public_bytes(serialization.Encoding.PEM)
        return SignedCertificate(own + self.text, _pem(key))

    def faults(self, signed: SignedCertificate, names: Sequence[str]) -> Iterator[str]:
        """Why this pair cannot serve these names, in words; empty if it can. Expiry does
        not count: see `end`.
        """
        try:
            certificate = x509.load_pem_x509_certificate(signed.chain)
            key = serialization.load_pem_private_key(signed.key, password=None)
        except (ValueError, TypeError):
            yield "certificate or key cannot be read"
            return
        if key.public_key() != certificate.public_key():
            yield "the key does not match the certificate"
        try:
            certificate.verify_directly_issued_by(self.certificate)
        except (ValueError, TypeError, InvalidSignature):
            yield "the authority did not sign the certificate"
        if absent := [name for name in names if name not in _names(certificate)]:
            yield f"the certificate is not for {', '.join(absent)}"


_load = x509.load_pem_x509_certificates


def end(chain: bytes) -> datetime:
    """When the first certificate of a chain ends. Raises ValueError for anything else."""
    return x509.load_pem_x509_certificate(chain).not_valid_after_utc


def _builder(
    name: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    until: datetime,
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(until)
        .add_extension(identifier, critical=False)
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _usage(*usages: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{usage: usage in usages for usage in _USAGES})


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _names(certificate: x509.Certificate) -> set[str]:
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return {str(each.value) for each in extension.value}


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    # PKCS #8: the format of Kafka's PEM keystores.
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
