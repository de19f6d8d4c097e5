import pytest

from caliper.adapters.models.triton import parse_chat_addresses
from caliper.adapters.models.triton_embedder import parse_embedder_addresses
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
        "https://host/model",
        "https:///model",
        "host:8001,https://host:8002/model",
        "host:8001/model#tls=system",
        "user:secret@host:8001/model",
        "host:8001/mo del",
    ],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_chat_addresses(written)
    assert "secret" not in str(caught.value)


def test_options_are_those_of_the_role() -> None:
    parse_embedder_addresses("host:8001/model#tokenizer=here")
    with pytest.raises(UnknownName, match="'tokenizer'; known: template"):
        parse_chat_addresses("host:8001/model#tokenizer=here")


def test_https_is_for_all_servers_that_are_named() -> None:
    both = parse_chat_addresses("https://a:8001,b:8001/captioner@2#load=yes")
    assert [(each.target, each.encrypted) for each in both] == [("a:8001", True), ("b:8001", True)]
    (plain,) = parse_chat_addresses("a:8001/captioner")
    assert not plain.encrypted


def test_several_servers_of_one_model() -> None:
    found = parse_chat_addresses("a:8001,b:8001,[::1]:8002/captioner@2#load=yes")
    assert [each.target for each in found] == ["a:8001", "b:8001", "[::1]:8002"]
    assert {(each.model, each.version) for each in found} == {("captioner", "2")}
    with pytest.raises(InvalidInput, match="is listed twice"):
        parse_chat_addresses("a:8001,a:8001/captioner")
    both = parse_embedder_addresses("a:8001,b:8001/sentences")
    assert [each.target for each in both] == ["a:8001", "b:8001"]
