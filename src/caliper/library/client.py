"""The verbs of the Python API, on this machine or on an installation, and as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from caliper.analysis.comparability import describe
from caliper.analysis.gate import Policy
from caliper.core.errors import FunctionFailed
from caliper.lazy import lazy_module
from caliper.library.captions import CaptionTable
from caliper.library.inputs import Answerers, Benchmarks, Paths, RunInputs, RunOptions, path_of
from caliper.library.model import Model
from caliper.library.progress import FetchNotes, note, note_reuse, watch
from caliper.library.results import GateDecision, Leaderboard, RunComparison, RunEstimate, RunTrend
from caliper.library.run import Run
from caliper.local.boards import boards_of, check_columns
from caliper.local.comparison import judge_drift, open_comparison
from caliper.local.config import RunConfig
from caliper.local.coroutine_runner import blocking
from caliper.local.data_fetch import UNWATCHED, fetch_data
from caliper.local.directory import RunDirectory, find_run
from caliper.local.entrants import entrants
from caliper.local.estimate import estimate
from caliper.local.gate_results import compared_gate, decided_gate
from caliper.local.policy import check_policy, read_policy
from caliper.local.run import evaluate_config
from caliper.local.setup import RunSetup, prepare
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest
from caliper.pipeline.comparing.gate_decision import GATE_REQUEST
from caliper.ports.watcher import Watcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import access, decoders

if TYPE_CHECKING:
    from caliper.library import remote
else:
    remote = lazy_module("caliper.library.remote")

Runs = Run | Paths
"""A run, or its directory, its name below runs/ or its id."""
Captions = Paths | Mapping[str, Any] | CaptionTable | Callable[..., Any] | Model | None
_FLIPS = 20


@dataclass(frozen=True, slots=True)
class Client:
    """The verbs, on this machine or on the installation whose gateway is at `server`.

    The verbs whose names begin with an a are coroutines. The others wait for these, also in a
    notebook, where they can be interrupted. All raise CaliperError.
    """

    server: str | None = None

    async def aevaluate(
        self,
        captions: Captions = None,
        benchmarks: Benchmarks | None = None,
        judge: Answerers = None,
        *,
        name: str | None = None,
        progress: bool = True,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Evaluate captions or a captioner, like `caliper evaluate`: a run that was interrupted, or
        has failures that may be transient, is resumed, and any other is read.

        `captions` is a mapping of samples to captions (for several benchmarks also by benchmark);
        a pandas or polars data frame or an Arrow table with the columns sample and caption, or
        others that docs/data.md names; a path, as for `--captions`; a function or a `Model` that
        writes them; or a SPEC such as "chat:http://localhost:8000". `benchmarks` maps names to the
        data (a path, or "hf:owner/name@revision"), or to the keys that a run file has for a
        benchmark; or it is the path of a run file, whose captions are taken if none are given.
        `judge` is the judge, or the reader, of all of them: a SPEC, a function or a `Model`;
        without one, the built-in lexical rules. `name` is the checkpoint's label. `options` are the
        other keys of a run file.

        On an installation, models are named as they are there.

        >>> captions = {"nat_001": "Three brown sparrows perch on a stone wall."}
        >>> data = "examples/captionqa/questions.json"
        >>> run = caliper.evaluate(captions, {"captionqa": data}, name="sparrows", progress=False)
        >>> run.state, run.headlines["captionqa"] > 0
        ('finished', True)
        """
        if self.server is not None:
            with TemporaryDirectory(prefix="caliper-captions-") as folder:
                inputs = RunInputs(Path(folder))
                config = inputs.config(captions, benchmarks, judge, name, options)
                return await remote.evaluate(self.server, config, inputs.models, progress=progress)
        inputs = RunInputs()
        config = inputs.config(captions, benchmarks, judge, name, options)
        return await _evaluate_here(inputs, config, progress=progress)

    evaluate = blocking(aevaluate)

    async def aplan(
        self,
        captions: Captions = None,
        benchmarks: Benchmarks | None = None,
        judge: Answerers = None,
        *,
        name: str | None = None,
        **options: Unpack[RunOptions],
    ) -> RunEstimate:
        """Estimate what `evaluate` would take, without calling a model.

        >>> def captioner(images): ...
        >>> data = "examples/captionqa/questions.json"
        >>> plan = caliper.plan(captioner, {"captionqa": data}, name="mine")
        >>> plan.questions, plan.calls, plan.benchmarks[0].captions_to_write
        (128, 0, 23)
        """
        with TemporaryDirectory(prefix="caliper-captions-") as folder:
            # A plan leaves no files.
            inputs = RunInputs(Path(folder), unasked=self.server is not None)
            config = inputs.config(captions, benchmarks, judge, name, options)
            config = await fetch_data(config, media=False)
            reach = replace(access(config.concurrency, inputs.named_specs), functions=inputs.open())
            async with prepare(config, reach, SystemClock()) as prepared:
                parts = tuple([one async for one in estimate(prepared)])
                return RunEstimate("" if self.server else prepared.spec.run_id, parts)

    plan = blocking(aplan)

    async def aload(self, run: Runs) -> Run:
        """A run by its directory, its name below runs/ or its id; on an installation by its id.

        >>> caliper.load("runs/example").name
        'careful'
        """
        if isinstance(run, Run):
            return run
        if self.server is not None:
            return await remote.load(self.server, path_of(run, "run"))
        return Run.in_directory(find_run(path_of(run, "run")))

    load = blocking(aload)

    async def acompare(
        self,
        base: Runs,
        *candidates: Runs,
        anyway: bool = False,
        partial: bool = False,
        flips: int = _FLIPS,
    ) -> RunComparison:
        """Compare runs with a base, like `caliper compare`. At most `flips` questions that got
        better, and as many that got worse, are listed per run.

        >>> comparison = caliper.compare("runs/example", "runs/other")
        >>> difference = comparison.differences["careless"]["captionqa"]["overall.score"]
        >>> difference.value < 0
        True
        """
        names = [_name_of(run) for run in (base, *candidates)]
        request = ComparisonRequest(anyway, partial, flips)
        comparison, thumbnail = await open_comparison(names, self.server, request, pictures=True)
        return RunComparison(comparison, await self._warnings(comparison, names), thumbnail)

    compare = blocking(acompare)

    async def _warnings(self, comparison: Comparison, names: Sequence[str]) -> tuple[str, ...]:
        warnings = [
            describe(distinction)
            for candidate in comparison.candidates
            for distinction in candidate.setup_differences
        ]
        if self.server is None:
            warnings += [f"Judge drift: {text}" async for text in judge_drift(names)]
        return tuple(dict.fromkeys(warnings))

    async def agate(
        self,
        base: Runs,
        candidate: Runs,
        policy: Paths | Mapping[str, Any],
        *,
        anyway: bool = False,
    ) -> GateDecision:
        """Decide whether a candidate may replace a base, like `caliper gate`. `policy` is a file,
        or its content (docs/comparing.md).

        >>> check = {"benchmark": "captionqa", "figure": "overall.score", "max_drop": 1.0}
        >>> caliper.gate("runs/example", "runs/other", {"checks": [check]}).decision
        'regression'
        """
        checks = _policy(policy)
        names = (_name_of(base), _name_of(candidate))
        if gated := await decided_gate(names, self.server, checks):
            return GateDecision(*gated)
        request = replace(GATE_REQUEST, anyway=anyway)
        comparison, _ = await open_comparison(names, self.server, request)
        warnings = await self._warnings(comparison, names)
        return GateDecision(*compared_gate(comparison, checks), warnings)

    gate = blocking(agate)

    async def aleaderboard(
        self,
        *runs: Runs,
        benchmark: str | None = None,
        metric: str | None = None,
        anyway: bool = False,
        partial: bool = False,
    ) -> Leaderboard:
        """Rank runs, like `caliper leaderboard`; without `runs`, all below runs/ that have a
        report.

        >>> board, = caliper.leaderboard("runs/example", "runs/other")
        >>> [row.name for row in board.standings]
        ['careful', 'careless']
        """
        check_columns(benchmark, metric)
        request = ComparisonRequest(anyway, partial)
        competitors = await entrants([_name_of(run) for run in runs], self.server, request, note)
        return Leaderboard(tuple(await boards_of(competitors, benchmark, metric)))

    leaderboard = blocking(aleaderboard)

    async def atrend(self, first: Runs, *runs: Runs, anyway: bool = False) -> RunTrend:
        """The headlines of runs by the training step that their names end with, as a chart in a
        notebook. Without steps, in the order given.

        >>> trend = caliper.trend("runs/example", "runs/other")
        >>> [entry.checkpoint.name for entry in trend.entries]
        ['careful', 'careless']
        """
        return RunTrend.of([await self.aload(run) for run in (first, *runs)], anyway=anyway)

    trend = blocking(atrend)


async def _evaluate_here(inputs: RunInputs, config: RunConfig, *, progress: bool) -> Run:
    def watching(prepared: RunSetup) -> AbstractContextManager[Watcher]:
        return watch(config, prepared, progress=progress)

    reach = replace(access(config.concurrency, inputs.named_specs), functions=inputs.open())
    try:
        ended = await evaluate_config(
            config,
            reach,
            SystemClock(),
            watching,
            decoders(),
            FetchNotes() if progress else UNWATCHED,
        )
    except FunctionFailed as error:
        # Task groups drop causes.
        raise error from error.cause
    if progress:
        note_reuse(ended)
    return Run.in_directory(RunDirectory(ended.directory))


def _name_of(run: Runs) -> str:
    if isinstance(run, Run):
        return run.id if run.path is None else str(run.path)
    return path_of(run, "run")


def _policy(policy: Paths | Mapping[str, Any]) -> Policy:
    if isinstance(policy, Mapping):
        return check_policy(dict(policy), file="policy")
    return read_policy(Path(path_of(policy, "policy")))


def connect(server: str) -> Client:
    """The same verbs on the installation whose gateway is at `server`: host:port, or
    https://host:port for TLS.

    >>> caliper.connect("localhost:50051")
    Client(server='localhost:50051')
    """
    return Client(server)


_HERE = Client()
evaluate, aevaluate = _HERE.evaluate, _HERE.aevaluate
plan, aplan = _HERE.plan, _HERE.aplan
load, aload = _HERE.load, _HERE.aload
compare, acompare = _HERE.compare, _HERE.acompare
gate, agate = _HERE.gate, _HERE.agate
leaderboard, aleaderboard = _HERE.leaderboard, _HERE.aleaderboard
trend, atrend = _HERE.trend, _HERE.atrend
