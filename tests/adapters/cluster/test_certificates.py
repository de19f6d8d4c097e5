"""What the authority signs is taken by TLS as strict as OpenSSL has it, for its names alone."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from caliper.adapters.cluster.certificates import Authority, SignedCertificate
from caliper.adapters.cluster.recipes import host_names
from caliper.core.errors import InvalidInput

NOW = datetime.now(UTC).replace(microsecond=0)
YEAR = timedelta(days=365)
NAMES = host_names("kafka", "place")
AUTHORITY = Authority.make("Caliper", NOW, 10 * YEAR)
SIGNED = AUTHORITY.certify(NAMES, NOW, YEAR)


def agreed(signed: SignedCertificate, trusted: Authority, name: str, folder: Path) -> str | None:
    """The version of TLS that a client who wants `name` and a server agree on, in memory."""
    chain, key = folder / "tls.crt", folder / "tls.key"
    chain.write_bytes(signed.chain)
    key.write_bytes(signed.key)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(chain, key)
    calling = ssl.create_default_context(cadata=trusted.text.decode("ascii"))
    calling.verify_flags |= ssl.VERIFY_X509_STRICT
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = calling.wrap_bio(back, there, server_hostname=name)
    server = serving.wrap_bio(there, back, server_side=True)
    for _ in range(5):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return client.version()


@pytest.mark.parametrize(
    "name",
    [
        "kafka",
        "kafka.place.svc",
        "kafka.place.svc.cluster.local",
        "kafka-2.kafka.place.svc.cluster.local",
        "kafka-0.kafka.place.svc",
        "kafka-0.kafka.place",
        "localhost",
        "127.0.0.1",
    ],
)
def test_a_component_is_known_by_its_names(name: str, tmp_path: Path) -> None:
    assert agreed(SIGNED, AUTHORITY, name, tmp_path) == "TLSv1.3"


@pytest.mark.parametrize(
    "name", ["minio", "kafka.elsewhere.svc", "a.b.kafka.place.svc", "127.0.0.2"]
)
def test_and_by_no_other(name: str, tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        agreed(SIGNED, AUTHORITY, name, tmp_path)


def test_another_authority_does_not_vouch_for_it(tmp_path: Path) -> None:
    # Of the same name, as one made anew is.
    other = Authority.make("Caliper", NOW, YEAR)
    with pytest.raises(ssl.SSLCertVerificationError):
        agreed(SIGNED, other, "kafka", tmp_path)


def test_who_was_signed_signs_nobody(tmp_path: Path) -> None:
    between = Authority.read(SIGNED.chain, SIGNED.key)
    limits = between.certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert not limits.value.ca
    made = between.certify(("kafka",), NOW, YEAR)
    whole = SignedCertificate(made.chain + AUTHORITY.text, made.key)
    with pytest.raises(ssl.SSLCertVerificationError, match="invalid CA"):
        agreed(whole, AUTHORITY, "kafka", tmp_path)


def test_how_long_it_is_good() -> None:
    first, second = x509.load_pem_x509_certificates(SIGNED.chain)
    assert second == AUTHORITY.certificate
    assert first.not_valid_after_utc == NOW + YEAR
    # Clocks differ.
    assert first.not_valid_before_utc < NOW
    late = AUTHORITY.certify(NAMES, NOW + 9.5 * YEAR, YEAR)
    outlived = x509.load_pem_x509_certificate(late.chain).not_valid_after_utc
    assert outlived == AUTHORITY.certificate.not_valid_after_utc


def test_an_authority_is_read_as_it_was_written() -> None:
    found = Authority.read(AUTHORITY.text, AUTHORITY.secret)
    assert (found.text, found.secret) == (AUTHORITY.text, AUTHORITY.secret)


@pytest.mark.parametrize(
    ("certificate", "key", "message"),
    [
        (b"", AUTHORITY.secret, "cannot be read"),
        (AUTHORITY.text, b"-----BEGIN PRIVATE KEY-----\n", "cannot be read"),
        (AUTHORITY.text, SIGNED.key, "does not match its certificate"),
    ],
)
def test_an_authority_that_is_none(certificate: bytes, key: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        Authority.read(certificate, key)
    assert "BEGIN" not in str(refused.value)


def faults(given: SignedCertificate, *, authority: Authority = AUTHORITY) -> list[str]:
    return list(authority.faults(given, NAMES))


def test_nothing_is_wrong_with_what_it_signed() -> None:
    assert faults(SIGNED) == []


def test_what_is_wrong_is_said() -> None:
    strange = AUTHORITY.certify(("localhost",), NOW, YEAR)
    assert faults(SignedCertificate(b"", SIGNED.key)) == ["certificate or key cannot be read"]
    assert faults(SignedCertificate(SIGNED.chain, b"x")) == ["certificate or key cannot be read"]
    assert faults(SignedCertificate(SIGNED.chain, strange.key)) == [
        "the key does not match the certificate"
    ]
    assert faults(SIGNED, authority=Authority.make("Caliper", NOW, YEAR)) == [
        "the authority did not sign the certificate"
    ]
    absent = [name for name in NAMES if name != "localhost"]
    assert faults(strange) == [f"the certificate is not for {', '.join(absent)}"]
