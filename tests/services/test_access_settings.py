"""What would be open to everybody, or tell everybody a secret, does not start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.certificates import certify
from tests.fakes.command import Command, Ended
from tests.fakes.loopback_server import TOKENS, token_file
from tests.fakes.sources import python_path

_ANSWERS_WITHIN = 60.0


NOBODY = "0" * 16


def refused(kind: str, folder: Path, given: dict[str, str]) -> Ended:
    """A service on all addresses of this machine, which has to end by itself."""
    prefix = f"CALIPER_{kind.upper()}_"
    settings = {"LISTEN": "0.0.0.0:0", "KAFKA": "127.0.0.1:1", "STORE": str(folder / "store")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CALIPER_")}
    ours = {"PYTHONPATH": python_path()}
    found = subprocess.run(
        [sys.executable, "-m", f"services.{kind}"],
        env=kept | ours | {prefix + name: value for name, value in (settings | given).items()},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_ANSWERS_WITHIN,
        check=False,
    )
    return Ended(found.returncode, found.stdout, found.stderr)


@pytest.mark.parametrize(
    "kind", ["aggregator", "captioner", "gateway", "judge", "qa_reader", "suites"]
)
def test_no_service_is_open_to_everybody(kind: str, tmp_path: Path) -> None:
    model = {"MODEL": "tgi:http://127.0.0.1:1"} if kind == "captioner" else {}
    ended = refused(kind, tmp_path, model)
    assert ended.code == 2
    ours = f"CALIPER_{kind.upper()}"
    needed = " and ".join(f"{ours}_{name}" for name in ("TLS_CERTIFICATE", "TLS_KEY", "TOKENS"))
    expected = f"{ours}_LISTEN: other machines can reach 0.0.0.0:0, so {needed} must be set"
    assert expected in ended.err


def test_tls_without_tokens_is_open_as_well(tmp_path: Path) -> None:
    made = certify(tmp_path / "tls")
    given = {"TLS_CERTIFICATE": str(made.certificate), "TLS_KEY": str(made.key)}
    ended = refused("judge", tmp_path, given)
    assert ended.code == 2
    assert "so CALIPER_JUDGE_TOKENS must be set" in ended.err


def test_tokens_without_tls_are_open_as_well(tmp_path: Path) -> None:
    tokens = {"CALIPER_GATEWAY_TOKENS": str(token_file(tmp_path))}
    ended = Command(tmp_path, tokens)("serve", "--listen", "0.0.0.0:0", code=2)
    must = "so CALIPER_GATEWAY_TLS_CERTIFICATE and CALIPER_GATEWAY_TLS_KEY must be set"
    assert must in ended.err


def test_a_token_is_not_sent_in_plaintext_to_another_machine(tmp_path: Path) -> None:
    caliper = Command(tmp_path, {"CALIPER_SERVER_TOKEN": TOKENS["read"]})
    # Nobody is asked: the name would not even be found.
    for command in (("runs",), ("cancel", NOBODY), ("watch", NOBODY), ("report", NOBODY)):
        ended = caliper(*command, "--server", "caliper.invalid:50051", code=2)
        assert "the token would go to caliper.invalid:50051 in plaintext" in ended.err
        assert "https://caliper.invalid:50051, and CALIPER_SERVER_CA" in ended.err
        assert TOKENS["read"] not in ended.err


def test_the_gateway_sends_none_either(tmp_path: Path) -> None:
    given = {"LISTEN": "127.0.0.1:0", "PEER_TOKEN": "a-secret", "JUDGE": "judge.invalid:50053"}
    ended = refused("gateway", tmp_path, given)
    assert ended.code == 2
    expected = "CALIPER_GATEWAY_JUDGE: the token would go to judge.invalid:50053 in plaintext"
    assert expected in ended.err
    assert "a-secret" not in ended.err


def test_a_stage_sends_its_model_none_either(tmp_path: Path) -> None:
    model = {"MODEL": "tgi:http://model.invalid:8080", "MODEL_TOKEN": "a-secret"}
    ended = refused("judge", tmp_path, {"LISTEN": "127.0.0.1:0", **model})
    assert ended.code == 2
    assert "the token would go to model.invalid:8080 in plaintext; give https://" in ended.err
    assert "a-secret" not in ended.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TIMEOUT", "environment: CALIPER_CAPTIONER_TIMEOUT: "),
        ("NOSUCH", "CALIPER_CAPTIONER_NOSUCH"),
    ],
)
def test_a_captioner_that_is_served_reads_its_settings_as_the_others(
    tmp_path: Path, name: str, told: str
) -> None:
    command = Command(tmp_path, {f"CALIPER_CAPTIONER_{name}": "abc"})
    words = ("serve", "--listen", "127.0.0.1:0", "--captioner", "tgi:http://127.0.0.1:9")
    assert told in command(*words, code=2).err
