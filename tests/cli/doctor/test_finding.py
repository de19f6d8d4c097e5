import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.cli.doctor.findings import ComponentState, Diagnosis, failed_check
from caliper.core.errors import ERROR_POLICIES, CaliperError

SECRET = "open sesame"


@given(st.text(), st.text())
def test_no_secret_is_told(before: str, after: str) -> None:
    text = f"{before}{SECRET}{after}"
    found = Diagnosis("judge", ComponentState.PROBLEM, text, text, {"model": text, "latency_ms": 3})
    hidden = found.redact([SECRET])
    assert SECRET not in f"{hidden.message}{hidden.advice}{hidden.facts['model']}"
    assert hidden.facts["latency_ms"] == 3


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ("http://me:word@host:9000/x failed", "http://***@host:9000/x failed"),
        ("https://host/path?key=word is gone", "https://host/path?*** is gone"),
        ("two\n lines", "two lines"),
        ("mail me@host?", "mail me@host?"),
    ],
)
def test_what_urls_hold_is_hidden_without_being_known(said: str, becomes: str) -> None:
    assert Diagnosis("store", ComponentState.OK, said).redact([]).message == becomes


def test_a_short_secret_is_not_looked_for() -> None:
    assert Diagnosis("a", ComponentState.OK, "a cat").redact(["", "a"]).message == "a cat"


@pytest.mark.parametrize(
    "kind",
    [kind for kind in ERROR_POLICIES if "Backend" in kind.__name__ or "Store" in kind.__name__],
)
def test_every_failure_of_surroundings_has_advice(kind: type[CaliperError]) -> None:
    found = failed_check("store", kind("gone"))
    assert found.state is ComponentState.PROBLEM
    assert found.advice
