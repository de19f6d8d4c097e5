"""Reading the address of a model of a Triton server."""

from pathlib import Path

import pytest

from caliper.adapters.models.triton import parse_chat_addresses
from caliper.adapters.models.triton_embedder import parse_embedder_address
from caliper.core.errors import InvalidInput, UnknownName


def test_server_model_version_and_options_are_told_apart() -> None:
    (found,) = parse_chat_addresses("gpu-1:8001/captioner@3#template=chatml&image_token=%3Cpic%3E")
    assert (found.target, found.model, found.version) == ("gpu-1:8001", "captioner", "3")
    assert found.options == {"template": "chatml", "image_token": "<pic>"}


def test_version_and_options_may_be_left_out() -> None:
    (found,) = parse_chat_addresses("[::1]:8001/my.model-1")
    assert (found.target, found.model) == ("[::1]:8001", "my.model-1")
    assert (found.version, dict(found.options)) == ("", {})


@pytest.mark.parametrize(
    "written",
    [
        "",
        "host/model",
        "host:0/model",
        "host:65536/model",
        "host:8001",
        "host:8001/",
        "host:8001/model@x",
        "host:8001/a/b",
        "host:8001,/model",
        "a:8001,b/model",
        "host:8001/model#template",
        "host:8001/model#template=",
        "host:8001/model#load=no",
        "http://host:8001/model",
        "user:secret@host:8001/model",
        "host:8001/mo del",
    ],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_chat_addresses(written)
    assert "secret" not in str(caught.value)


def test_options_are_those_of_the_role() -> None:
    parse_embedder_address("host:8001/model#tokenizer=here")
    with pytest.raises(UnknownName, match="'tokenizer'; known: template"):
        parse_chat_addresses("host:8001/model#tokenizer=here")


def test_certificates_are_read_from_the_file_that_is_named(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(b"PEM")
    (named,) = parse_chat_addresses(f"h:1/m#tls={file}")
    (system,) = parse_chat_addresses("h:1/m#tls=system")
    (absent,) = parse_chat_addresses(f"h:1/m#tls={tmp_path}/none.pem")
    assert named.certificates == b"PEM"
    assert system.certificates is None
    with pytest.raises(InvalidInput, match="cannot read it"):
        _ = absent.certificates


def test_several_servers_of_one_model() -> None:
    found = parse_chat_addresses("a:8001,b:8001,[::1]:8002/captioner@2#load=yes")
    assert [each.target for each in found] == ["a:8001", "b:8001", "[::1]:8002"]
    assert {(each.model, each.version) for each in found} == {("captioner", "2")}
    with pytest.raises(InvalidInput, match="stands there twice"):
        parse_chat_addresses("a:8001,a:8001/captioner")
    with pytest.raises(InvalidInput, match="an embedder has one server"):
        parse_embedder_address("a:8001,b:8001/sentences")
