import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.fakes.loopback_server import (
    OPTIONS,
    TOKENS,
    bearer,
    calling,
    code_of,
    forever,
    judging,
    token_file,
)
from tests.fakes.methods import CONTRACTS, PERMITTED, called, contract, methods, path_of

from caliper.serving.grpc_server import Service
from caliper.serving.permissions import RULES

PROTOS = Path(__file__).resolve().parents[2] / "proto"
OUR_OWN = ("/grpc.health.v1.Health", "/grpc.reflection.v1alpha.ServerReflection")
DENIED = grpc.StatusCode.PERMISSION_DENIED
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
ANSWERS = (grpc.StatusCode.OK, grpc.StatusCode.UNIMPLEMENTED)


def unwritten() -> Iterator[Service]:
    """Every service, without a method."""
    return (Service(service, None) for service in contract())


def test_the_table_has_a_row_for_every_method_and_no_other() -> None:
    assert {path_of(method) for method in methods()} == set(RULES) == set(PERMITTED)


def test_every_method_that_a_proto_declares_is_walked() -> None:
    declared = {
        f"/{package[1]}.{service}/{method}"
        for file in PROTOS.rglob("*.proto")
        if (
            package := re.search(
                r"^package ([\w.]+);", text := file.read_text("utf-8"), re.MULTILINE
            )
        )
        for service, body in re.findall(
            r"^service (\w+) \{(.*?)^\}", text, re.MULTILINE | re.DOTALL
        )
        for method in re.findall(r"^\s*rpc (\w+)\(", body, re.MULTILINE)
    }
    walked = {path_of(method) for method in methods()}
    assert declared == {path for path in walked if not path.startswith(OUR_OWN)}
    assert len({path.rpartition("/")[0] for path in declared}) >= 5


@pytest.mark.parametrize("method", methods(), ids=path_of)
async def test_who_may_call(method: Any, tmp_path: Path) -> None:
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    async with calling(*unwritten(), options=options) as channel:
        assert await called(channel, method, ()) is UNAUTHENTICATED
        assert await called(channel, method, bearer("token-of-nobody")) is UNAUTHENTICATED
        for role, token in TOKENS.items():
            code = await called(channel, method, bearer(token))
            if role in PERMITTED[path_of(method)]:
                assert code in ANSWERS
            else:
                assert code is DENIED


@pytest.mark.parametrize(
    "metadata",
    [
        (("authorization", TOKENS["admin"]),),
        (("authorization", f"Basic {TOKENS['admin']}"),),
        (("authorization", "Bearer "),),
        (("authorization", "Bearer"),),
        (*bearer(TOKENS["admin"]), *bearer(TOKENS["admin"])),
        (("token", TOKENS["admin"]),),
        (("authorization", f"Bearer {TOKENS['admin']}x"),),
    ],
)
async def test_what_is_no_token(metadata: Any, tmp_path: Path) -> None:
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    async with calling(*unwritten(), options=options) as channel:
        assert await called(channel, methods()[0], metadata) is UNAUTHENTICATED


async def test_without_a_token_file_loopback_callers_may_do_everything() -> None:
    async with calling(*unwritten()) as channel:
        for method in methods():
            assert await called(channel, method, ()) in ANSWERS


async def test_a_method_without_a_row_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    method = CONTRACTS["JudgeService"].methods_by_name["Judge"]
    monkeypatch.delitem(RULES, path_of(method))  # type: ignore[arg-type]
    async with calling(judging(forever)) as channel:
        assert await called(channel, method, ()) is DENIED


@pytest.mark.parametrize(
    "path",
    [
        # Today's grpcurl asks for it first, and falls back when it is told so.
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/caliper.api.evaluate.v1.EvaluateService/NotThere",
        "/caliper.api.tomorrow.v1.TomorrowService/Start",
    ],
)
async def test_what_is_not_there_is_unimplemented_for_callers_who_are_known(
    path: str, tmp_path: Path
) -> None:
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    known = [bearer(token) for token in TOKENS.values()]
    async with calling(*unwritten(), options=options) as channel:
        for metadata in ((), bearer("token-of-nobody")):
            call = channel.unary_unary(path)(b"", metadata=metadata)
            assert await code_of(call) is UNAUTHENTICATED
        for metadata in known:
            call = channel.unary_unary(path)(b"", metadata=metadata)
            assert await code_of(call) is grpc.StatusCode.UNIMPLEMENTED
    async with calling(*unwritten()) as channel:
        call = channel.unary_unary(path)(b"")
        assert await code_of(call) is grpc.StatusCode.UNIMPLEMENTED


async def test_a_refusal_says_what_is_needed(tmp_path: Path) -> None:
    options = replace(OPTIONS, tokens=token_file(tmp_path))
    judge = "/caliper.api.judge.v1.JudgeService/Judge"
    async with calling(*unwritten(), options=options) as channel:
        for token, reason in (
            (TOKENS["read"], "a-read has the role read; this needs evaluate"),
            ("token-of-nobody", "a valid bearer token is needed"),
        ):
            with pytest.raises(grpc.aio.AioRpcError, match=reason):
                await channel.unary_unary(judge)(b"", metadata=bearer(token))
