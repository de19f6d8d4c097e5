from pathlib import Path

import pytest
from pydantic import SecretStr

from caliper.core.errors import InvalidInput
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.service_settings import GatewaySettings
from caliper.wiring.targets import target

TOKEN = SecretStr("not for everybody")
CA = Path("ca.pem")
FAR = ("judge:50053", "10.0.0.1:1", "[2001:db8::1]:1", "localhost.example:1", "0.0.0.0:1")
NEAR = ("localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1")


@pytest.mark.parametrize("server", [*FAR, *NEAR])
def test_tls_is_asked_for_by_the_address_or_by_a_ca(server: str) -> None:
    for given, ca in ((f"https://{server}", None), (server, CA), (f"https://{server}", CA)):
        found = target(given, "--server", TOKEN, ca, "CALIPER_SERVER_CA")
        assert (found.address, found.token, found.ca, found.tls) == (server, TOKEN, ca, True)
    assert not target(server, "--server", None, None, "CALIPER_SERVER_CA").tls


@pytest.mark.parametrize("server", NEAR)
def test_a_token_may_go_to_this_machine_in_plaintext(server: str) -> None:
    found = target(server, "--server", TOKEN, None, "CALIPER_SERVER_CA")
    assert (found.token, found.tls) == (TOKEN, False)


@pytest.mark.parametrize("server", FAR)
def test_a_token_goes_nowhere_else_in_plaintext(server: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        target(server, "--server", TOKEN, None, "CALIPER_SERVER_CA")
    assert f"--server: the token would go to {server} in plaintext" in str(refused.value)
    assert f"give https://{server}, and CALIPER_SERVER_CA" in str(refused.value)
    assert TOKEN.get_secret_value() not in str(refused.value)


@pytest.mark.parametrize(
    "server", ["", "judge", "http://judge:1", "https://judge", "https://judge:1/", "grpc://a:1"]
)
def test_what_is_no_address(server: str) -> None:
    with pytest.raises(InvalidInput, match="CALIPER_X: expected host:port"):
        target(server, "CALIPER_X", None, None, "CALIPER_Y")


def test_the_gateway_names_its_own_variables() -> None:
    settings = GatewaySettings(peer_token=TOKEN)
    for service in ("aggregator", "captioner", "judge", "qa_reader"):
        name = f"CALIPER_GATEWAY_{service.upper()}: the token would go to far:1 in plaintext"
        with pytest.raises(InvalidInput, match=f"{name}; give https://far:1, and .*PEER_CA"):
            settings.peer(service, "far:1")
        assert settings.peer(service, "https://far:1").tls


def test_a_service_shows_its_certificate_to_others() -> None:
    pair = Path("tls.crt"), Path("tls.key")
    settings = GatewaySettings(tls_certificate=pair[0], tls_key=pair[1], peer_ca=CA)
    assert settings.peer("judge", "judge:1").identity == pair
    assert GatewaySettings(peer_ca=CA).peer("judge", "judge:1").identity is None


def test_the_command_line_names_its_own() -> None:
    with pytest.raises(InvalidInput, match=r"--server: the token .* and CALIPER_SERVER_CA"):
        ClientSettings(server_token=TOKEN).gateway("far:1")
