"""Certificates are renewed before they end, and what was signed before is still trusted after."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.x509 import DNSName, load_pem_x509_certificate, load_pem_x509_certificates
from cryptography.x509.verification import PolicyBuilder, Store
from tests.adapters.cluster.test_secrets import Interrupted, Killed, held, killed

from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.recipes import SERVING, SecretPlan, SecretRecipe, recipes
from caliper.adapters.cluster.secrets import complete

START = datetime(2026, 11, 21, tzinfo=UTC)
YEAR, DAY = timedelta(days=365), timedelta(days=1)
OWN = {f"caliper-tls-{each}/{file}" for each in SERVING for file in ("tls.crt", "tls.key")}
LEAVES = OWN | {"caliper-tls-kafka/keystore.pem"}


def at(time: datetime) -> tuple[SecretRecipe, ...]:
    return recipes(SecretPlan("caliper", time, 10 * YEAR, YEAR))


def changed(folder: Path, time: datetime) -> set[str]:
    """The files that a run at that time changes."""
    before = held(folder)
    assert complete(FolderSecrets(folder), at(time)) == []
    after = held(folder)
    assert set(after) == set(before)
    return {name for name in before if before[name] != after[name]}


def trusted(chain: bytes, bundle: bytes, time: datetime) -> None:
    """Verify a chain for the judge as a caller that trusts the bundle would."""
    store = Store(load_pem_x509_certificates(bundle))
    leaf, *more = load_pem_x509_certificates(chain)
    PolicyBuilder().store(store).time(time).build_server_verifier(DNSName("judge")).verify(
        leaf, more
    )


def ends(files: Mapping[str, bytes], name: str) -> datetime:
    return load_pem_x509_certificate(files[name]).not_valid_after_utc


def test_certificates_are_renewed_45_days_before_they_end(folder: Path) -> None:
    soon = START + YEAR - 45 * DAY
    assert changed(folder, soon) == set()
    bundle = held(folder)["caliper-ca-certificate/ca.crt"]
    assert changed(folder, soon + DAY) == LEAVES
    after = held(folder)
    assert all(ends(after, f"caliper-tls-{each}/tls.crt") == soon + DAY + YEAR for each in SERVING)
    trusted(after["caliper-tls-judge/tls.crt"], bundle, soon + DAY)
    assert changed(folder, soon + 2 * DAY) == set()


def test_certificates_that_have_ended_are_renewed_as_well(folder: Path) -> None:
    assert changed(folder, START + 2 * YEAR) == LEAVES


def test_the_authority_is_renewed_with_its_key(folder: Path) -> None:
    soon = START + 10 * YEAR - 44 * DAY
    changed(folder, START + 9 * YEAR)
    before = held(folder)
    authority = {"caliper-ca/ca.crt", "caliper-ca-certificate/ca.crt"}
    assert changed(folder, soon) == LEAVES | authority | {
        f"caliper-tls-{each}/ca.crt" for each in SERVING
    }
    after = held(folder)
    assert ends(after, "caliper-ca/ca.crt") == soon + 10 * YEAR
    assert ends(after, "caliper-tls-judge/tls.crt") == soon + YEAR
    # Whoever has read only one of both trusts the other.
    for certificates, callers in ((before, after), (after, before)):
        bundle = callers["caliper-ca-certificate/ca.crt"]
        trusted(certificates["caliper-tls-judge/tls.crt"], bundle, soon)
    assert changed(folder, soon + DAY) == set()


def test_a_bundle_keeps_the_other_authorities(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    complete(FolderSecrets(other), at(START)[:1])
    theirs = held(other)["caliper-ca/ca.crt"]
    file = folder / "caliper-ca-certificate" / "ca.crt"
    file.write_bytes(theirs + file.read_bytes())
    changed(folder, START + 10 * YEAR)
    assert file.read_bytes() == theirs + held(folder)["caliper-ca/ca.crt"]


@pytest.mark.parametrize("number", range(len(SERVING) + 2))
def test_a_renewal_that_was_killed_is_finished_by_the_next(folder: Path, number: int) -> None:
    late = START + 10 * YEAR
    with pytest.raises(Killed):
        complete(Interrupted(FolderSecrets(folder), number, killed), at(late))
    assert complete(FolderSecrets(folder), at(late)) == []
    after = held(folder)
    for each in SERVING:
        assert ends(after, f"caliper-tls-{each}/tls.crt") == late + YEAR
    assert changed(folder, late) == set()
