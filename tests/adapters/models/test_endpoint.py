from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from caliper.adapters.models.endpoint import Endpoint, parse_endpoints, status_error
from caliper.adapters.retry_after import retry_after
from caliper.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("http://gpu-1:8080", Endpoint("http://gpu-1:8080")),
        ("http://gpu-1:8080/", Endpoint("http://gpu-1:8080")),
        ("https://host/judge/v1#org/model", Endpoint("https://host/judge", "org/model")),
        ("http://host#org/m@7", Endpoint("http://host", "org/m", "7")),
        ("http://host#@7", Endpoint("http://host", "", "7")),
        ("http://[::1]:80/v1/chat/completions/", Endpoint("http://[::1]:80")),
    ],
)
def test_addresses(text: str, endpoint: Endpoint) -> None:
    assert parse_endpoints(text) == (endpoint,)


def test_several_addresses_serve_one_model() -> None:
    found = parse_endpoints("http://a:1/v1,https://b/judge/#org/model")
    assert found == (Endpoint("http://a:1", "org/model"), Endpoint("https://b/judge", "org/model"))


def test_an_address_stands_there_once() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        parse_endpoints("http://a:1/v1,http://b,http://a:1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpu-1:8080",
        "ftp://host",
        "file:///etc/passwd",
        "http://",
        "http://host:notaport",
        "http://host:99999",
        "http://host:0",
        "http://[::1",
        "http://user:hush@host",
        "http://hush@host",
        "http://host?token=hush",
        "http://ho st",
        "http://host\n/v1",
        "http://host#a model",
        "http://host,",
        "http://a,b#model",
    ],
)
def test_addresses_that_cannot_be_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"expected http\(s\)://") as caught:
        parse_endpoints(text)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        (None, None, None),
        ("5", None, 5.0),
        (" 1.5 ", None, 1.5),
        ("-3", None, None),
        ("soon", None, None),
        ("nan", None, None),
        ("Sat, 21 Nov 2026 10:00:30 GMT", "Sat, 21 Nov 2026 10:00:00 GMT", 30.0),
        ("Sat, 21 Nov 2026 09:00:00 GMT", "Sat, 21 Nov 2026 10:00:00 GMT", 0.0),
        ("Fri, 01 Jan 2016 00:00:00 GMT", "rubbish", 0.0),
        ("Sat, 99 Nov 2026 10:00:30 GMT", None, None),
        ("Mon, 01 Jan 2027 00:00:00 +99999999999999", None, None),
    ],
)
def test_retry_after(value: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_after(value, date) == seconds


def test_retry_after_by_this_machines_clock() -> None:
    hence = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    seconds = retry_after(hence, None)
    assert seconds is not None
    assert 80_000 < seconds <= 86_400


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "This model's maximum context length is 4096 tokens. However, you requested 9000"),
        (400, "'max_completion_tokens' is too large: 8192."),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "Input prompt (5000 tokens) is too long and exceeds limit of 4096"),
        (400, "Requested token count exceeds the model's maximum context length of 4096 tokens."),
    ],
    ids=["vllm", "vllm, the reply alone", "tgi", "llama.cpp", "older vllm", "sglang"],
)
def test_a_context_that_is_too_short_names_what_to_lower(status: int, said: str) -> None:
    told = str(status_error(status, {}, said, None))
    assert "lower --caption-tokens" in told
    assert said[:20] in told


def test_another_refusal_is_not_about_the_context() -> None:
    assert "--caption-tokens" not in str(status_error(400, {}, "unknown field: seed", None))
