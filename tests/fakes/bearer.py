"""Tokens as processes have them."""

from pydantic import SecretStr

from caliper.wiring.endpoint_tokens import EndpointTokens, NamedToken


def token_for_all(text: str) -> EndpointTokens:
    """A token for every endpoint, as a service has it."""
    return EndpointTokens(NamedToken(SecretStr(text), "TOKEN"))
