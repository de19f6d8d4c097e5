"""The evaluation requests for checkpoints whose captions are delivered, or written here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions, is_empty
from caliper.local.caption_passes import CheckpointCaptions
from caliper.local.checkpoint_captioner import CheckpointCaptioner, CheckpointModels
from caliper.local.config import RunConfig, check_config
from caliper.local.installation_requests import benchmark_request
from caliper.local.patient_gateway import PatientGateway
from caliper.local.request import run_request
from caliper.local.sample_captions import captions_as_named
from caliper.local.serve_config import ServeConfig, suite_serving
from caliper.local.suite_config import suite_run
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.owners import read_owners, suite_owners
from caliper.pipeline.store.supplies import put_captions
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.slots import ServingSlot
from caliper.ports.clock import Clock
from caliper.ports.serving import CheckpointEndpoint
from caliper.ports.storage import DeletableStore
from caliper.wiring.hosts import HostRoom
from caliper.wiring.specs import CHAT_KINDS


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """A request, and for people, which captions it lacks. `pack` is the digest of the prompts for
    its captions; empty if they were written elsewhere.
    """

    request: EvaluationRequest
    shortfall: str = ""
    pack: str = ""

    def foreign(self, spec: RunSpec, checkpoint: CheckpointRevision) -> str:
        """Why a run's captions are not those of the checkpoint; empty if they are."""
        if self.pack not in ("", spec.pack):
            return "written with other prompts than the installation's; set CALIPER_SUITES_PACK"
        for part in spec.benchmarks:
            captioner = part.models.get("captioner")
            if captioner is not None and captioner.revision != checkpoint.revision:
                return f"the captioner serves {captioner.label}, not revision {checkpoint.revision}"
        return ""


@dataclass(frozen=True, slots=True)
class SlotCaptioner:
    """Serves checkpoints in the slots of a store and captions with them. `warn` receives a line for
    each leftover that cannot be removed.
    """

    store: DeletableStore
    clock: Clock
    hosts: HostRoom
    captioner: CheckpointCaptioner
    warn: Callable[[str], None]

    async def request(
        self, suite: Suite, claim: EntryClaim, pay: Callable[[Spending], None]
    ) -> CheckpointRequest:
        """The request for a checkpoint with the captions that it wrote. `pay` is called with their
        cost.

        Raises what `ServingSlot.use` and `CheckpointCaptioner.write` raise.
        """
        plan, checkpoint = _plan(suite), claim.entry.checkpoint
        server = self.hosts.server(plan.model_dump(), Path(os.devnull))
        slot = ServingSlot(
            self.store,
            self.clock,
            plan.place,
            self.hosts.clear,
            self.warn,
            plan.server_place,
        )

        owners = await read_owners(self.store, suite_owners(suite.name))
        ownership = self.captioner.ownership

        async def work(
            served: CheckpointEndpoint,
        ) -> tuple[EvaluationRequest, CheckpointCaptions]:
            await claim.note_server()
            config = suite_run(suite, checkpoint, served)
            request = _request(suite, config)
            models = CheckpointModels(_specs(config, served), checkpoint.revision, not plan.pod)
            note = partial(claim.note_progress, phase="captioning")
            with ownership.acting_for(owners):
                return request, await self.captioner.write(request, models, note, pay)

        label = f"{suite.name} {checkpoint.label}"
        request, captions = await slot.use(server, checkpoint, label, plan.use, work)
        with ownership.acting_for(owners):
            digests = {
                name: await put_captions(self.store, texts, captions.lacking[name], ownership)
                for name, texts in captions.texts.items()
            }
        parts = (_captioned(part, digests[part.name]) for part in request.benchmarks)
        request = replace(request, benchmarks=tuple(parts), terms=captions.terms)
        return CheckpointRequest(request, captions.shortfall, self.captioner.pack.digest)


@dataclass(frozen=True, slots=True)
class CheckpointRequests:
    """Creates the requests for checkpoints of suites. Without `serving`, none is served."""

    gateway: PatientGateway
    captions: BucketCaptions
    serving: SlotCaptioner | None = None

    async def served(
        self, suite: Suite, claim: EntryClaim, pay: Callable[[Spending], None]
    ) -> CheckpointRequest:
        """The request for a checkpoint that this installation serves. Raises what
        `SlotCaptioner.request` raises.
        """
        if self.serving is None:
            raise InvalidInput("no server for checkpoints is configured here", field="serve")
        return await self.serving.request(suite, claim, pay)

    async def delivered(
        self, suite: Suite, checkpoint: CheckpointRevision
    ) -> CheckpointRequest | None:
        """The request for a checkpoint whose captions exist, or that the installation's captioner
        serves; None if there are no captions. Raises what `BucketCaptions.fetched` raises.
        """
        stored = check_config(suite.values["run"], file=f"suite {suite.name}")
        if all(part.captioner is not None for part in stored.benchmarks.values()):
            return CheckpointRequest(_request(suite, suite_run(suite, checkpoint)))
        async with self.captions.fetched(checkpoint) as here:
            if is_empty(Path(here.source)):
                return None
            config = suite_run(suite, here)
            parts = [await self._with_captions(suite, config, name) for name in config.benchmarks]
        return CheckpointRequest(run_request(config, config.label, parts))

    async def _with_captions(self, suite: Suite, config: RunConfig, name: str) -> BenchmarkRequest:
        request, part = benchmark_request(suite, config, name), config.benchmarks[name]
        if part.captions is None:
            return request
        # The data are not here: keys must be the samples' names.
        texts = await asyncio.to_thread(captions_as_named, name, part.captions)
        digest = await self.gateway.call(lambda: self.gateway.gateway.upload(name, texts))
        return replace(request, captions=digest)


def _plan(suite: Suite) -> ServeConfig:
    plan = suite_serving(suite.values)
    assert plan is not None  # noqa: S101 - asked before
    return plan


def _request(suite: Suite, config: RunConfig) -> EvaluationRequest:
    parts = [benchmark_request(suite, config, name) for name in config.benchmarks]
    return run_request(config, config.label, parts)


def _captioned(part: BenchmarkRequest, captions: str) -> BenchmarkRequest:
    """The request, with captions that now exist."""
    return replace(
        part,
        captions=captions,
        captioner=None,
        preparation=None,
        taxonomy={},
        caption_tokens=None,
    )


def _specs(config: RunConfig, served: CheckpointEndpoint) -> dict[str, str]:
    """The SPEC of each benchmark's captioner. Raises InvalidInput for other servers: anybody may
    have written the suite, and the token is not theirs.
    """
    specs = {}
    for name, part in config.benchmarks.items():
        specs[name] = spec = part.captioner or ""
        own = (*(f"{kind}:{served.url}#" for kind in CHAT_KINDS), f"triton:{served.url}/")
        if not f"{spec}#".startswith(own):
            message = "expected chat:{endpoint}#..., tgi:{endpoint}#... or triton:{endpoint}/..."
            raise InvalidInput(message, field=f"benchmarks.{name}.captioner")
    return specs
