"""Callers of three teams at one gateway with quotas, and an administrator. The token of each is its
name, and they share no replies.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from tests.fakes import tiny
from tests.fakes.chat_server import answer
from tests.fakes.clock import PATIENCE
from tests.fakes.installation import over

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.report import VerdictRow
from caliper.local.config import RunConfig, check_config
from caliper.local.submission import send
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.run_record import Evaluation

RIGHT = answer('{"score": 1, "reason": "so says the server"}')
TOKENS_A_CALL = 10
CALLERS = {
    "ana": "evaluate red",
    "cleo": "evaluate blue",
    "dora": "evaluate green",
    "root": "admin",
}


def write_tokens(folder: Path) -> Path:
    """The token file."""
    lines = []
    for name, known in CALLERS.items():
        role, *team = known.split()
        lines.append(" ".join((name, role, hashlib.sha256(name.encode()).hexdigest(), *team)))
    (folder / "tokens").write_text("\n".join(lines), "utf-8")
    return folder / "tokens"


def write_quotas(folder: Path, text: str) -> Path:
    """The file of quotas."""
    (folder / "quotas.yaml").write_text(text, "utf-8")
    return folder / "quotas.yaml"


@dataclass
class Teams:
    """The gateway as each caller has it."""

    folder: Path
    gateways: dict[str, RemoteGateway]

    def config(self, caller: str, name: str) -> RunConfig:
        part: dict[str, Any] = {each: str(self.folder / each) for each in ("data", "captions")}
        fields = {"name": name, "replicate": list(CALLERS).index(caller) + 1}
        return check_config({**fields, "benchmarks": {"capability": part}})

    async def start(self, caller: str, name: str = "ours") -> str:
        config = self.config(caller, name)
        return (await send(config, self.gateways[caller])).spec.run_id

    async def end(self, caller: str, run: str) -> Evaluation:
        # The limit only ends a test that would hang.
        async with asyncio.timeout(PATIENCE):
            return await over(self.gateways[caller], run)

    async def verdicts(self, caller: str, run: str) -> list[VerdictRow]:
        rows, _ = await self.gateways[caller].verdicts(run, VerdictQuery(size=1000))
        return rows

    async def used(self, caller: str) -> dict[tuple[str, str], int]:
        return {(each.team, each.name): each.used for each in await self.gateways[caller].quotas()}


@asynccontextmanager
async def calling(folder: Path, address: str, samples: int) -> AsyncIterator[Teams]:
    """The callers of a gateway, who evaluate captions of so many samples, one call each."""
    tiny.write_scenes(folder, samples)
    async with AsyncExitStack() as stack:
        gateways = {
            name: await stack.enter_async_context(RemoteGateway(Target(address, SecretStr(name))))
            for name in CALLERS
        }
        yield Teams(folder, gateways)
