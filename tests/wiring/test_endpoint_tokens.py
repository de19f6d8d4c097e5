"""Whom a token goes to, and files of tokens that are refused without a word of what they hold."""

import os
from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput
from caliper.wiring.endpoint_tokens import (
    Audience,
    EndpointTokens,
    endpoint_places,
    endpoint_receivers,
    read_token_lines,
)
from caliper.wiring.settings import access

SECRET = "sesame-4711"


def written(folder: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file = folder / "tokens"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return file


def sources(tokens: EndpointTokens, spec: str) -> list[str]:
    found = [tokens.of(place) for place in endpoint_places(spec)]
    return ["" if token is None else token.source for token in found]


@pytest.mark.parametrize(
    ("audience", "spec", "included"),
    [
        ("model.test", "tgi:https://model.test/v1", True),
        ("model.test", "chat:https://model.test/v1", True),
        ("Model.Test", "tgi:https://MODEL.test:8443", True),
        ("model.test:443", "tgi:https://model.test", True),
        ("model.test:8443", "tgi:https://model.test", False),
        ("model.test", "tgi:https://model.test.evil.test", False),
        ("model.test", "tgi:https://evil-model.test", False),
        ("model.test", "tgi:https://evil.test/model.test", False),
        ("model.test/a", "tgi:https://model.test/a/v1", True),
        ("model.test/a", "tgi:https://model.test/a/b", True),
        ("model.test/a/", "tgi:https://model.test/a", True),
        ("model.test/a", "tgi:https://model.test/ab", False),
        ("model.test/a", "tgi:https://model.test", False),
        # Clients take these for /b.
        ("model.test/a", "tgi:https://model.test/a/../b", False),
        ("model.test/a", "tgi:https://model.test/a/%2e%2e/b", False),
        # Some servers do.
        ("model.test/a", "tgi:https://model.test/a/..;/b", False),
        ("[::1]:8080", "tgi:http://[::1]:8080", True),
        ("model.test:8001", "triton:https://model.test:8001/llm#revision=1", True),
        ("model.test/llm", "triton:https://model.test:8001/llm", False),
    ],
)
def test_whom_a_token_is_for(audience: str, spec: str, included: bool) -> None:
    (place,) = endpoint_places(spec)
    assert Audience.parse(audience).includes(place) is included


def test_the_most_exact_line_counts_and_each_replica_gets_its_own(tmp_path: Path) -> None:
    lines = "# ours\nmodel.test a\n\nmodel.test:443 b\nmodel.test/team c\nother.test d\n"
    found = EndpointTokens(lines=read_token_lines(written(tmp_path, lines), "F"))
    urls = "https://model.test/team,https://model.test,https://model.test:1,https://other.test"
    assert sources(found, f"tgi:{urls}") == ["F line 5", "F line 4", "F line 2", "F line 6"]
    assert sources(found, "tgi:https://third.test") == [""]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"a.test x\n{SECRET}\n", r"tokens:2: expected HOST\[:PORT\]\[/PATH\] TOKEN"),
        (f"a.test {SECRET} {SECRET}\n", "tokens:1: expected HOST"),
        (f"https://a.test {SECRET}\n", "tokens:1: .* without https://"),
        (f"{SECRET}= a.test\n", "tokens:1: expected HOST"),
        (f"a.test:0 {SECRET}\n", "tokens:1: expected HOST"),
        (f"a.test:99999 {SECRET}\n", "tokens:1: expected HOST"),
        (f"a.test {SECRET}\u00e9\n", "tokens:1: the token has a character"),
        (f"a.test x\nA.test {SECRET}\n", "tokens:2: the same endpoint as in F line 1"),
        (f"a.test {SECRET}\n".encode() + b"\xff", "tokens: not UTF-8"),
        (f"a.test {SECRET}\n" * 4000, "tokens: larger than 65,536 bytes"),
    ],
)
def test_a_wrong_file_is_told_without_its_tokens(
    tmp_path: Path, text: str | bytes, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told) as caught:
        read_token_lines(written(tmp_path, text), "F")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640])
def test_a_file_as_secrets_are_mounted_is_read(tmp_path: Path, mode: int) -> None:
    assert read_token_lines(written(tmp_path, f"a.test {SECRET}\n", mode), "F")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_that_somebody_else_shares_with_a_group_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, f"a.test {SECRET}\n", 0o640)
    os.chown(file, 12345, 0)
    with pytest.raises(InvalidInput, match=r"\(mode 0640\); chmod 600"):
        read_token_lines(file, "F")


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o620, 0o660, 0o444])
def test_a_file_of_others_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(InvalidInput, match=rf"\(mode {mode:04o}\); chmod 600 .*tokens$"):
        read_token_lines(written(tmp_path, f"a.test {SECRET}\n", mode), "F")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, told in (("pipe", "not a file"), ("absent", "No such file"), ("", "director|a file")):
        with pytest.raises(InvalidInput, match=told):
            read_token_lines(tmp_path / name, "F")


@pytest.mark.parametrize(
    ("named", "spec", "goes"),
    [
        ("tgi:https://a.test", "tgi:https://a.test", True),
        ("tgi:https://a.test", "tgi:https://a.test:8443", False),
        ("tgi:https://a.test", "tgi:https://evil.test", False),
        ("", "tgi:https://evil.test", False),
        # On a shared machine a port may be somebody else's.
        ("", "tgi:http://127.0.0.1:9999", False),
        ("tgi:http://127.0.0.1:1 tgi:https://a.test", "tgi:https://a.test", True),
        ("tgi:http://127.0.0.1:1 tgi:https://a.test", "tgi:http://127.0.0.1:1", True),
        ("tgi:https://a.test,https://b.test", "tgi:https://b.test", True),
        ("tgi:https://a.test tgi:https://b.test", "tgi:https://a.test", False),
        ("tgi:https://a.test tgi:wrong lexical", "tgi:https://a.test", True),
        ("triton:https://a.test:1/m", "triton:https://a.test:1/m#revision=1", True),
    ],
)
def test_one_token_goes_only_to_what_the_command_line_names(
    monkeypatch: pytest.MonkeyPatch, named: str, spec: str, goes: bool
) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    tokens = access(1, named.split()).tokens
    if goes:
        assert sources(tokens, spec) == ["CALIPER_TOKEN"]
    else:
        with pytest.raises(InvalidInput, match=r"^CALIPER_TOKEN: .* CALIPER_TOKEN_HOSTS") as told:
            sources(tokens, spec)
        assert SECRET not in str(told.value)


def test_replicas_are_told_of_although_one_gets_no_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    monkeypatch.setenv("CALIPER_TOKENS_FILE", str(written(tmp_path, "b.test own\n")))
    found = endpoint_receivers(access(1).tokens, ["tgi:https://a.test,https://b.test"])
    assert found == {"a.test:443": [], "b.test:443": ["CALIPER_TOKENS_FILE line 1"]}


def test_hosts_that_are_listed_get_it_and_no_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    monkeypatch.setenv("CALIPER_TOKEN_HOSTS", "a.test:443, b.test")
    monkeypatch.setenv("CALIPER_TOKENS_FILE", str(written(tmp_path, "b.test/x own\n")))
    tokens = access(1, ["tgi:https://c.test"]).tokens
    urls = "https://a.test,https://a.test:1,https://b.test,https://b.test/x,https://c.test"
    own = "CALIPER_TOKENS_FILE line 1"
    assert sources(tokens, f"tgi:{urls}") == ["CALIPER_TOKEN", "", "CALIPER_TOKEN", own, ""]
    monkeypatch.setenv("CALIPER_TOKEN_HOSTS", "https://a.test")
    with pytest.raises(InvalidInput, match="environment: CALIPER_TOKEN_HOSTS: expected HOST"):
        access(1)
